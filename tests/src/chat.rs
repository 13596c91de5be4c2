//! Requests for chat completions, like those of a web page in a browser.

use futures_util::StreamExt as _;
use link_protocol::port::Port;
use reqwest::{Method, Response};
use serde_json::{Value, json};

/// Sends the preflight of a chat request from a page of `origin`.
///
/// # Panics
/// Panics if the port does not answer.
pub async fn preflight(port: Port, origin: &str) -> Response {
    reqwest::Client::new()
        .request(Method::OPTIONS, url(port))
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type")
        .send()
        .await
        .unwrap()
}

/// Sends a chat request. `origin` is absent for a client that is not a web page.
///
/// # Errors
/// Panics if the port does not answer.
pub async fn ask(port: Port, origin: Option<&str>, stream: bool) -> reqwest::Result<Response> {
    let mut request = reqwest::Client::new().post(url(port)).json(&body(stream));
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    request.send().await
}

/// Returns the text and the usage of an answer that is not streamed.
///
/// # Panics
/// Panics if the response is not an answer.
pub async fn whole(response: Response) -> (String, Value) {
    assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    let mut answer: Value = response.json().await.unwrap();
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    (text, answer["usage"].take())
}

/// Returns the text of a streamed answer.
///
/// # Panics
/// Panics if the stream is cut.
pub async fn streamed(response: Response) -> String {
    assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(chunk) = stream.next().await {
        bytes.extend_from_slice(&chunk.unwrap());
    }
    text_of(std::str::from_utf8(&bytes).unwrap())
}

/// Returns the text in the events of a stream.
#[must_use]
pub fn text_of(events: &str) -> String {
    events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect()
}

fn url(port: Port) -> String {
    format!("http://127.0.0.1:{port}/v1/chat/completions")
}

fn body(stream: bool) -> Value {
    json!({"messages": [{"role": "user", "content": "hi"}], "stream": stream})
}
