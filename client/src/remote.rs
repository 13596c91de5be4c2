//! Files on third-party servers. This device never sends its tokens there.

use reqwest::{Client, header};

use crate::http::InvalidAddress;
use link_protocol::limits;

/// Returns the size of the file at `url` in bytes, if the server states it. Follows redirects.
///
/// # Errors
/// [`InvalidAddress`] when TLS cannot be set up.
pub async fn size_of(url: &str) -> Result<Option<u64>, InvalidAddress> {
    let client = Client::builder()
        .user_agent(concat!("link/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(limits::CONNECT_TIMEOUT)
        .timeout(limits::CONNECT_TIMEOUT + limits::HANDLER_TIMEOUT)
        .build()
        .map_err(|error| InvalidAddress::Tls(error.to_string()))?;
    let Ok(response) = client.head(url).header(header::ACCEPT_ENCODING, "identity").send().await
    else {
        return Ok(None);
    };
    let length = response.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|text| text.to_str().ok()).and_then(|text| text.parse().ok());
    Ok(length.filter(|size| response.status().is_success() && *size > 0))
}

#[cfg(test)]
mod tests {
    use axum::{Router, http::StatusCode, response::Redirect, routing::any};

    use super::*;

    #[tokio::test]
    async fn the_size_is_known_when_the_server_tells_it() {
        crate::install_crypto();
        let app = Router::new()
            .route("/file", any(|| async { "12345" }))
            .route("/moved", any(|| async { Redirect::to("/file") }))
            .route("/missing", any(|| async { StatusCode::NOT_FOUND }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        for (path, size) in [("file", Some(5)), ("moved", Some(5)), ("missing", None)] {
            assert_eq!(size_of(&format!("{base}/{path}")).await.unwrap(), size, "{path}");
        }
    }
}
