//! Who may read and who may act. Who comes over the socket is a program of this user and may do both;
//! who comes by the port needs a token for everything that not every user of the machine may see.
//!
//! A token is looked at before the path and the body, so nothing is learned without it.

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

/// How a request has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Way {
    /// By the port, which every user of the machine reaches.
    Port,
    /// By the socket, which this user's programs alone reach.
    Private,
}

/// What opens the local API to who comes by the port.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// Opens everything; made for each run of the agent.
    pub(super) control: Secret,
    /// Opens what is read; kept, so that a monitoring tool may have it.
    reader: Secret,
}

/// A request that may act; always the first argument of a handler.
pub(super) struct Control;

/// A request that may read everything.
pub(super) struct Reader;

/// How much of the state a request may see.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sight {
    Everything,
    WhatIsOpen,
}

impl Way {
    /// Returns how a request with these extensions has come.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self::Port)
    }
}

impl Tokens {
    /// Writes the tokens where only this user can read them.
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
            Err(Refusal::new(Code::ControlTokenRequired, "no or a wrong token"))
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
        // Who gives a wrong one is told, and not shown less than they think there is.
        if is(given, control) | is(given, reader) {
            Ok(Self::Everything)
        } else {
            Err(unreadable())
        }
    }
}

fn unreadable() -> Refusal {
    Refusal::new(Code::ReaderTokenRequired, "no or a wrong token")
}

fn random() -> Secret {
    Secret::new(BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()))
}

fn keep(path: std::path::PathBuf, token: &Secret) {
    if let Err(error) = fs::write_private(&path, token.expose().as_bytes()) {
        // Who comes by the port is opened nothing then; everything else goes on.
        tracing::warn!("{error}");
    }
}

/// What a request gives in its header for a token.
fn given(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?;
    Some(given.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default())
}

/// The digests are compared, so that the time it takes says nothing of the token.
fn is(given: &str, token: &Secret) -> bool {
    Sha256::digest(given) == Sha256::digest(token.expose())
}
