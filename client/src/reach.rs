//! Whether a backend can be reached from this process, and what its clock says.

use std::time::Duration;

use jiff::Timestamp;
use link_protocol::problem::{Code, Problem};
use reqwest::{Url, header, redirect};
use serde::Deserialize;

use crate::{
    download,
    http::{self, Cause},
    retry,
};

/// A path that every backend answers without a login.
const PATH: &str = "/readyz";

/// Timeout of the whole exchange.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest answer that is read, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024;

/// The answer at the backend's address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reached {
    pub status: u16,
    /// Whether a backend of Link has answered, rather than a proxy or the login page of a network.
    pub is_backend: bool,
    /// Why the backend cannot serve requests. None if it can.
    pub not_ready: Option<String>,
    /// The time of the server's clock, in whole seconds. None if the answer has no date.
    pub server_time: Option<Timestamp>,
}

/// Nothing answered at the backend's address.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct Unreached {
    pub why: String,
    /// What TLS or a proxy has to do with it, and how to fix it, as text for a person.
    pub advice: Option<&'static str>,
}

/// The members of a backend's answer. Others have pages there, or other members.
#[derive(Deserialize)]
struct Ready {
    #[serde(rename = "status")]
    _status: String,
    #[serde(rename = "version")]
    _version: semver::Version,
}

/// Asks the backend at `base`, through the proxies that the environment of this process names.
///
/// # Errors
/// [`Unreached`] if nothing answers in time.
pub async fn reach(base: &str) -> Result<Reached, Unreached> {
    let plain = |why: String| Unreached { why, advice: None };
    let url = Url::parse(&format!("{}{PATH}", base.trim_end_matches('/')))
        .map_err(|error| plain(format!("`{base}` is not an address: {error}")))?;
    let builder = http::builder_for(&url).redirect(redirect::Policy::none()).timeout(TIMEOUT);
    let client = http::build(builder).map_err(|error| plain(error.to_string()))?;
    let failed = |error: reqwest::Error| Unreached {
        advice: download::tls_or_proxy(&error),
        why: Cause::of(&error).to_string(),
    };
    let mut response = client.get(url).send().await.map_err(failed)?;
    let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
    let server_time = date.and_then(retry::parse_date);
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while body.len() < ANSWER_LIMIT
        && let Some(chunk) = response.chunk().await.map_err(failed)?
    {
        body.extend_from_slice(&chunk);
    }
    let is_ready = serde_json::from_slice::<Ready>(&body).is_ok();
    let problem = serde_json::from_slice::<Problem>(&body).ok();
    let not_ready = problem.filter(|problem| problem.known_code() == Some(Code::NotReady));
    let not_ready = not_ready.map(|problem| problem.detail);
    Ok(Reached { status, is_backend: is_ready || not_ready.is_some(), not_ready, server_time })
}

#[cfg(test)]
mod tests {
    use axum::{Json, Router, http::StatusCode, routing::get};

    use super::*;

    /// Serves `app` on this machine, and returns its address.
    async fn server(app: Router) -> String {
        crate::install_crypto();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, app).await });
        format!("http://127.0.0.1:{port}")
    }

    #[tokio::test]
    async fn a_backend_is_told_from_the_login_page_of_a_network() {
        let healthy = serde_json::json!({"status": "ok", "version": "1.3.0"});
        let backend = server(Router::new().route(PATH, get(|| async { Json(healthy) }))).await;
        let found = reach(&backend).await.unwrap();
        assert!(found.status == 200 && found.is_backend && found.server_time.is_some());
        let starting = Problem::new(Code::NotReady, "the database does not answer");
        let starting = (StatusCode::SERVICE_UNAVAILABLE, Json(starting));
        let starting = server(Router::new().route(PATH, get(|| async { starting }))).await;
        let found = reach(&starting).await.unwrap();
        assert!(found.status == 503 && found.is_backend, "{found:?}");
        assert_eq!(found.not_ready.as_deref(), Some("the database does not answer"));
        let portal = server(Router::new().fallback(|| async { "<html>Please log in" })).await;
        let found = reach(&portal).await.unwrap();
        assert!(found.status == 200 && !found.is_backend, "{found:?}");
    }

    #[tokio::test]
    async fn a_port_where_nobody_listens_is_named_in_words() {
        crate::install_crypto();
        // Held, so that no other program of the machine listens there meanwhile.
        let silent = tokio::net::TcpSocket::new_v4().unwrap();
        silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = silent.local_addr().unwrap().port();
        let refused = reach(&format!("http://127.0.0.1:{port}")).await.unwrap_err();
        assert!(refused.why.contains("Connection refused"), "{refused:?}");
        assert_eq!(refused.advice, None);
        assert!(reach("nonsense").await.unwrap_err().why.contains("not an address"));
    }
}
