//! The caller of an operation, with the permission that the operation needs.
//!
//! A handler gets its caller by naming a permission, so no handler can forget the check. The OpenAPI document contains
//! the same permission, and a test compares the two.

use std::{marker::PhantomData, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};
use link_protocol::permission::Permission;

use crate::{
    api::{cookie, extract::bearer, peer, problem::Rejection, query},
    app::App,
    auth::access::Identity,
    connections::seat::Seat,
    domain::{connections::Party, refusal::Refusal},
};

/// A caller that has the permission `P`.
pub(crate) struct Caller<P>(pub(crate) Identity, pub(crate) PhantomData<P>);

/// The caller, if the request has a token or the cookie of a session.
pub(crate) struct MaybeCaller(pub(crate) Option<Identity>);

/// A permission as a type.
pub(crate) trait Needs {
    const PERMISSION: Permission;
}

macro_rules! needs {
    ($($name:ident)+) => {
        /// The permissions, each as a type.
        pub(crate) mod may {
            use super::{Needs, Permission};
            $(
                #[doc = concat!("[`Permission::", stringify!($name), "`].")]
                pub(crate) struct $name;
                impl Needs for $name {
                    const PERMISSION: Permission = Permission::$name;
                }
            )+
        }
    };
}

needs! {
    ReadAccount ActInPerson ReadMembers WriteMembers ReadKeys WriteKeys ReadDevices OperateDevices
    WriteDevices ReadModels WriteModels ReadDeployments WriteDeployments OperateServing ReadCommands
    ReadSettings WriteSettings ReadAudit ReadUsage
}

impl<P: Needs> FromRequestParts<Arc<App>> for Caller<P> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Rejection> {
        let identity = identified(parts, app).await?;
        identity.check(P::PERMISSION)?;
        query::check(parts)?;
        Ok(Self(identity, PhantomData))
    }
}

impl FromRequestParts<Arc<App>> for MaybeCaller {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Rejection> {
        Ok(Self(identity(parts, app).await?))
    }
}

async fn identified(parts: &Parts, app: &App) -> Result<Identity, Rejection> {
    let identity = identity(parts, app).await?.ok_or(Refusal::Unauthorized)?;
    if let Some(seat) = parts.extensions.get::<Seat>() {
        seat.know(Party::User(identity.account, identity.user));
    }
    Ok(identity)
}

/// Returns the person of the token or, if the request has none, of the cookie. The two are never mixed: beside a token,
/// a cookie is ignored.
async fn identity(parts: &Parts, app: &App) -> Result<Option<Identity>, Rejection> {
    if parts.headers.contains_key(header::AUTHORIZATION) {
        let identity = app.identify(bearer(&parts.headers)?, peer::of(parts, app)).await?;
        return Ok(Some(identity));
    }
    cookie::caller(parts, app).await
}
