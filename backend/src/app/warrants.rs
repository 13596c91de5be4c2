//! What entitles a person to a session, between the request that asks for it and the transaction that stores it.

use crate::{
    auth::access::Identity,
    database::StoreError,
    domain::{refusal::Refusal, session::Warrant},
    failure::AppError,
};

/// Returns what entitles `caller`, or a new user if there is none, to a session.
pub(super) fn warrant_of(caller: Option<&Identity>) -> Warrant {
    caller.and_then(Identity::session).map_or(Warrant::Consumed, Warrant::Session)
}

/// Returns the failure of a login whose warrant ended while it was under way.
pub(super) fn warranted(error: StoreError) -> AppError {
    if matches!(error, StoreError::NotFound) {
        return Refusal::Unauthorized.into();
    }
    error.into()
}
