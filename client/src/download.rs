//! The HTTP client for downloads from untrusted addresses.
//!
//! A redirect may lead to another host, which is common for file servers. It may not lead from
//! https to http. It may only lead to this machine or its private network if the first address was
//! there as well.

mod destination;

use std::{sync::Arc, time::Duration};

use reqwest::{StatusCode, Url, redirect};

use self::destination::{Resolver, may_follow};
use crate::http::{self, InvalidAddress, with_causes};

/// The largest number of redirects that are followed.
const HOPS: usize = 5;

/// Creates the client for `address`. A server that is silent for `stall` has timed out.
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

/// Downloads a small document. Returns `None` if the server has no document at this address.
///
/// # Errors
/// The reason why the download failed, for a person.
pub async fn document(
    address: &str,
    limit: usize,
    patience: Duration,
) -> Result<Option<Vec<u8>>, String> {
    let client = client(address, patience).map_err(|error| error.to_string())?;
    let failed = |error: reqwest::Error| {
        let reason = match error.is_timeout() {
            true => "no answer in time",
            false => tls_or_proxy(&error).unwrap_or("the server is unreachable"),
        };
        reason.to_owned()
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

/// Explains a failure that TLS or a proxy caused, and how to fix it. The text does not contain the
/// address.
pub(crate) fn tls_or_proxy(error: &reqwest::Error) -> Option<&'static str> {
    explain(&with_causes(error))
}

fn explain(causes: &str) -> Option<&'static str> {
    let causes = causes.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| causes.contains(word));
    // Never by a number: a time or a port in the text may have the same digits.
    if says(&["proxy auth"]) {
        Some("the proxy asks for a name and a password; give them in HTTPS_PROXY")
    } else if says(&["expired", "not valid yet", "notvalidyet"]) {
        Some(
            "its certificate is not valid at this machine's time; correct the clock, and if \
             that is right, the host needs a new certificate",
        )
    } else if says(&["not valid for name", "notvalidforname"]) {
        Some(
            "its certificate has another name; check whether this network asks you to log in first",
        )
    } else if says(&["unknownissuer", "unknown issuer", "self-signed"]) {
        Some(
            "this machine does not trust the issuer of its certificate; if a proxy of your network opens \
             TLS, set SSL_CERT_FILE to the file with its certificate",
        )
    } else if says(&["certificate", "handshake", "tls"]) {
        Some("TLS failed; check the address, and whether this network asks you to log in first")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::{Router, response::Redirect, routing::get};

    use super::*;

    #[test]
    fn a_fault_of_tls_or_of_a_proxy_is_told_apart_with_what_helps() {
        for (causes, helps) in [
            ("invalid peer certificate: UnknownIssuer", "SSL_CERT_FILE"),
            ("invalid peer certificate: certificate expired: verification time", "the clock"),
            (
                "certificate not valid yet: verification time 1795840700 (UNIX), but certificate",
                "the clock",
            ),
            ("invalid peer certificate: certificate not valid for name \"a\"", "log in first"),
            ("received corrupt message of type InvalidContentType: tls", "TLS failed"),
            ("client error (Connect): proxy authorization required", "HTTPS_PROXY"),
        ] {
            assert!(explain(causes).is_some_and(|text| text.contains(helps)), "{causes}");
        }
        for causes in ["Connection refused (os error 111)", "tcp connect error: 127.0.0.1:40799"] {
            assert_eq!(explain(causes), None, "{causes}");
        }
    }

    const PATIENCE: Duration = Duration::from_secs(10);

    /// Serves `app` on this machine, and returns its address.
    async fn server(app: Router) -> u16 {
        crate::install_crypto();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, app).await });
        port
    }

    #[tokio::test]
    async fn neither_a_redirect_nor_a_name_leads_a_download_into_this_machine() {
        let inner = server(Router::new().route("/", get(|| async { "of this machine" }))).await;
        let address = format!("http://127.0.0.1:{inner}/");
        let named = document(&address, 100, PATIENCE).await;
        assert_eq!(named, Ok(Some(b"of this machine".to_vec())), "what was named is fetched");
        let to = Redirect::temporary(&address);
        let outer = server(Router::new().route("/", get(|| async { to }))).await;
        let redirected = document(&format!("http://127.0.0.1:{outer}/"), 100, PATIENCE).await;
        assert_eq!(redirected, Err("the server answered 307 Temporary Redirect".to_owned()));
        let client = client("http://a.example/", PATIENCE).unwrap();
        let looked_up = client.get(format!("http://localhost:{inner}/")).send().await;
        assert!(looked_up.is_err(), "{looked_up:?}");
    }

    #[tokio::test]
    async fn a_document_without_an_end_is_not_read_to_its_end() {
        let endless = || async {
            let parts = std::iter::repeat_n("x".repeat(100), 100).map(Ok::<_, Infallible>);
            axum::body::Body::from_stream(futures_util::stream::iter(parts))
        };
        let port = server(Router::new().route("/", get(endless))).await;
        let read = document(&format!("http://127.0.0.1:{port}/"), 1000, PATIENCE).await;
        assert_eq!(read, Err("the answer is longer than 1000 bytes".to_owned()));
    }

    #[test]
    fn only_http_addresses_are_taken() {
        for bad in ["file:///etc/passwd", "ftp://a.example/m", "m.gguf", ""] {
            assert!(client(bad, Duration::from_secs(1)).is_err(), "{bad}");
        }
    }
}
