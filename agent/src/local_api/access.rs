//! Access control: which clients may read, and which may request actions. Clients on the socket are
//! programs of this user and may do both. Clients on the port need a token, except for the state
//! that every user of the machine may see.
//!
//! The token is checked before the path and the body, so a client without one learns nothing.

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{Extensions, HeaderMap, header, request::Parts},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use link_platform::{fs, paths::Roots};
use link_protocol::{problem::Code, secret::Secret};
use sha2::{Digest as _, Sha256};

use super::{LocalApi, Refusal};

/// The length of a token as text.
const TOKEN_LENGTH: usize = 43;

/// The route by which a request arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Way {
    /// On the port, which every user of the machine can reach.
    Port,
    /// On the socket, which only this user's programs can reach.
    Private,
}

/// The tokens that grant access on the port.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// Grants everything; new for each run of the agent.
    pub(super) control: Secret,
    /// Grants reading; kept across runs, for monitoring tools.
    reader: Secret,
}

/// Proof that a request may perform actions; always the first argument of a handler.
pub(super) struct Control;

/// Proof that a request may read everything.
pub(super) struct Reader;

/// The part of the state that a request may see.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sight {
    Everything,
    WhatIsOpen,
}

impl Way {
    /// Returns how a request with these extensions arrived.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self::Port)
    }
}

impl Tokens {
    /// Writes the tokens to files that only this user can read.
    pub(crate) fn write(roots: &Roots) -> Self {
        let control = random();
        keep(roots.control_token(), &control);
        let kept = fs::read_limited(&roots.reader_token(), 1024).ok();
        let kept =
            kept.map(|text| text.trim().to_owned()).filter(|text| text.len() >= TOKEN_LENGTH);
        let reader = kept.map_or_else(
            || {
                let reader = random();
                keep(roots.reader_token(), &reader);
                reader
            },
            Secret::new,
        );
        Self { control, reader }
    }
}

impl FromRequestParts<LocalApi> for Control {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &LocalApi) -> Result<Self, Refusal> {
        let may = match Way::of(&parts.extensions) {
            Way::Private => true,
            Way::Port => given(&parts.headers).is_some_and(|given| is(given, &api.tokens.control)),
        };
        if may {
            Ok(Self)
        } else {
            Err(Refusal::new(Code::ControlTokenRequired, "the token is missing or wrong"))
        }
    }
}

impl<S> FromRequestParts<S> for Reader
where
    LocalApi: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Sight::from_request_parts(parts, &LocalApi::from_ref(state)).await? {
            Sight::Everything => Ok(Self),
            Sight::WhatIsOpen => Err(unreadable()),
        }
    }
}

impl FromRequestParts<LocalApi> for Sight {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &LocalApi) -> Result<Self, Refusal> {
        if Way::of(&parts.extensions) == Way::Private {
            return Ok(Self::Everything);
        }
        let Some(given) = given(&parts.headers) else { return Ok(Self::WhatIsOpen) };
        let Tokens { control, reader } = &api.tokens;
        // A wrong token is an error rather than a reduced view, so that the client notices.
        if is(given, control) | is(given, reader) {
            Ok(Self::Everything)
        } else {
            Err(unreadable())
        }
    }
}

fn unreadable() -> Refusal {
    Refusal::new(Code::ReaderTokenRequired, "the token is missing or wrong")
}

fn random() -> Secret {
    Secret::new(BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()))
}

fn keep(path: std::path::PathBuf, token: &Secret) {
    if let Err(error) = fs::write_private(&path, token.expose().as_bytes()) {
        // Without the files, no client on the port has a valid token. Everything else works.
        tracing::warn!("{error}");
    }
}

/// Returns the token in a request's header.
fn given(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?;
    let words = given.to_str().ok().and_then(|value| value.split_once(' '));
    let token = words.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"));
    Some(token.map(|(_, token)| token.trim()).unwrap_or_default())
}

/// Compares the digests of two tokens, so that timing reveals nothing about the tokens.
fn is(given: &str, token: &Secret) -> bool {
    Sha256::digest(given) == Sha256::digest(token.expose())
}
