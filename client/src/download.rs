//! The client that files are downloaded with, from an address that somebody else chose.
//!
//! A redirect may lead to another host, as file servers do, but neither from https to http nor into
//! this machine or its private network unless the address itself was there.

mod destination;

use std::{sync::Arc, time::Duration};

use reqwest::{StatusCode, Url, redirect};

use self::destination::{Resolver, may_follow};
use crate::http::{self, InvalidAddress};

/// Redirects that are followed.
const HOPS: usize = 5;

/// Makes the client for `address`; a server that is silent for `stall` counts as gone.
///
/// # Errors
/// [`InvalidAddress`] when `address` is not an http or https address.
pub fn client(address: &str, stall: Duration) -> Result<reqwest::Client, InvalidAddress> {
    let invalid = || InvalidAddress::NotHttp(address.chars().take(200).collect());
    let url = Url::parse(address).map_err(|_| invalid())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(invalid());
    }
    let policy = redirect::Policy::custom(|attempt| {
        let from = attempt.previous().first();
        let allowed = from.is_some_and(|from| may_follow(from, attempt.url()));
        if allowed && attempt.previous().len() <= HOPS { attempt.follow() } else { attempt.stop() }
    });
    let builder = http::builder_for(&url).read_timeout(stall).redirect(policy);
    http::build(builder.dns_resolver(Arc::new(Resolver::new(&url))))
}

/// Gets a small document; nothing when the server has none at this address.
///
/// # Errors
/// Why it could not be had, for a person.
pub async fn document(
    address: &str,
    limit: usize,
    patience: Duration,
) -> Result<Option<Vec<u8>>, String> {
    let client = client(address, patience).map_err(|error| error.to_string())?;
    let failed = |error: reqwest::Error| match error.is_timeout() {
        true => "no answer in time".to_owned(),
        false => "the server cannot be reached".to_owned(),
    };
    let mut response = client.get(address).timeout(patience).send().await.map_err(failed)?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Ok(None),
        status => return Err(format!("the server answered {status}")),
    }
    let mut document = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        document.extend_from_slice(&chunk);
        if document.len() > limit {
            return Err(format!("the answer is longer than {limit} bytes"));
        }
    }
    Ok(Some(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_are_taken() {
        for bad in ["file:///etc/passwd", "ftp://a.example/m", "m.gguf", ""] {
            assert!(client(bad, Duration::from_secs(1)).is_err(), "{bad}");
        }
    }
}
