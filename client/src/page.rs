//! Requests to the public port of a model on this machine, as the browser of a page sends them.
//!
//! A browser adds the header `Origin` and hides the answer from the page. This client sees the answer.

use std::{collections::BTreeMap, time::Duration};

use link_protocol::{port::Port, problem::Problem};
pub use reqwest::Method;
use reqwest::{Url, header, redirect};

use crate::http::{self, Cause, Failure};

/// Timeout of the whole exchange. The agent answers these requests without the engine.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest answer that is read, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024;

/// A request of a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageRequest {
    pub method: Method,
    pub path: String,
    /// The value of the header `Origin`: an origin, or `null`.
    pub origin: String,
    pub headers: Vec<(&'static str, String)>,
}

/// The answer, as the browser sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageAnswer {
    pub status: u16,
    /// The headers by their lower-case names. Values of a repeated header are joined with `, `.
    pub headers: BTreeMap<String, String>,
    /// The problem document, if the agent refuses.
    pub problem: Option<Box<Problem>>,
}

/// Sends `request` to `port` of this machine.
///
/// # Errors
/// [`Failure`] if nothing answers in time.
pub async fn ask(port: Port, request: PageRequest) -> Result<PageAnswer, Failure> {
    let address = format!("http://127.0.0.1:{port}{}", request.path);
    let unavailable = |cause| Failure::Unavailable { url: address.clone(), cause };
    let unusable = |why: String| unavailable(Cause::Unreadable(why));
    let url = Url::parse(&address).map_err(|error| unusable(error.to_string()))?;
    let builder = http::builder_for(&url).redirect(redirect::Policy::none()).timeout(TIMEOUT);
    let client = http::build(builder).map_err(|error| unusable(error.to_string()))?;
    let failed = |error: reqwest::Error| unavailable(Cause::of(&error));
    let mut asked = client.request(request.method, url).header(header::ORIGIN, &request.origin);
    for (name, value) in request.headers {
        asked = asked.header(name, value);
    }
    let mut response = asked.send().await.map_err(failed)?;
    let mut headers = BTreeMap::<String, String>::new();
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes());
        let values = headers.entry(name.as_str().to_owned()).or_default();
        if !values.is_empty() {
            values.push_str(", ");
        }
        values.push_str(&value);
    }
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while body.len() < ANSWER_LIMIT
        && let Some(chunk) = response.chunk().await.map_err(failed)?
    {
        body.extend_from_slice(&chunk);
    }
    Ok(PageAnswer { status, headers, problem: serde_json::from_slice(&body).ok() })
}

#[cfg(test)]
mod tests {
    use axum::{Router, response::AppendHeaders, routing::any};

    use super::*;

    #[tokio::test]
    async fn the_origin_is_sent_and_every_header_of_the_answer_is_kept() {
        crate::install_crypto();
        let answer = |headers: axum::http::HeaderMap| async move {
            assert_eq!(headers["access-control-request-method"], "POST");
            let origin = headers["origin"].to_str().unwrap().to_owned();
            AppendHeaders([
                ("access-control-allow-origin", origin),
                ("vary", "a".into()),
                ("vary", "b".into()),
            ])
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = Router::new().route("/v1/models", any(answer));
        tokio::spawn(async move { axum::serve(listener, app).await });
        let request = PageRequest {
            method: Method::OPTIONS,
            path: "/v1/models".to_owned(),
            origin: "null".to_owned(),
            headers: vec![("access-control-request-method", "POST".to_owned())],
        };
        let answer = ask(port.try_into().unwrap(), request).await.unwrap();
        assert_eq!((answer.status, answer.problem), (200, None));
        assert_eq!(answer.headers["access-control-allow-origin"], "null");
        assert_eq!(answer.headers["vary"], "a, b");
    }
}
