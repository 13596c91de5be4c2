//! Tests each rule of the client against a real server on a free port.

use std::{future::pending, time::Duration};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Redirect},
    routing::{any, get, post},
};
use link_protocol::{
    problem::{CONTENT_TYPE, Code, Problem},
    secret::Secret,
};
use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn a_success_gives_the_answer() {
    let http = server(Router::new().route("/", get(|| async { Json(json!({"a": 1})) }))).await;
    assert_eq!(http.get::<Value>("/").await.unwrap(), Some(json!({"a": 1})));
}

#[tokio::test]
async fn an_answer_without_a_body_is_a_success_of_a_post() {
    let http = server(Router::new().route("/", post(|| async { StatusCode::NO_CONTENT }))).await;
    assert_eq!(http.post("/", &json!({})).await, Ok(true));
}

// Holds: S7-4
#[tokio::test]
async fn a_timeout_is_retryable() {
    let http = server(Router::new().route("/", any(pending::<StatusCode>))).await;
    let call = || Call::get("/").timeout(Duration::from_millis(50));
    let failure = http.call::<Value>(call()).await.unwrap_err();
    assert!(matches!(failure, Failure::Unavailable { cause: Cause::Timeout, .. }), "{failure:?}");
    assert_eq!(or_none(http.call::<Value>(call()).await), Ok(None));
}

#[tokio::test]
async fn a_body_that_stalls_is_a_timeout_too() {
    let stall = || async {
        axum::body::Body::from_stream(futures_util::stream::pending::<
            Result<&'static str, std::io::Error>,
        >())
    };
    let http = server(Router::new().route("/", get(stall))).await;
    let call = Call::get("/").timeout(Duration::from_millis(50));
    assert_eq!(or_none(http.call::<Value>(call).await), Ok(None));
}

// Holds: S7-4
#[tokio::test]
async fn a_refused_connection_is_retryable_and_its_cause_is_named() {
    let (http, _silent) = nobody();
    assert_eq!(http.post("/", &json!({})).await, Ok(false));
    assert_eq!(http.put("/", &json!({})).await, Ok(false));
    assert_eq!(http.delete("/").await, Ok(false));
    assert_eq!(http.get::<Value>("/").await, Ok(None));
    let failure = http.call::<Value>(Call::get("/")).await.unwrap_err();
    let text = failure.to_string();
    assert!(text.starts_with("no answer from http://127.0.0.1:"), "{text}");
    assert!(text.contains("cannot connect: Connection refused"), "{text}");
}

// Holds: S7-4
#[tokio::test]
async fn every_5xx_is_retryable_and_says_how_long_to_wait() {
    let busy = || async {
        let problem = Problem::new(Code::Overloaded, "too many requests at once");
        (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "7")], Json(problem))
    };
    let broken = || async { StatusCode::INTERNAL_SERVER_ERROR };
    let http = server(Router::new().route("/busy", any(busy)).route("/broken", any(broken))).await;
    assert_eq!(http.post("/broken", &json!({})).await, Ok(false));
    assert_eq!(http.get::<Value>("/busy").await, Ok(None));
    let failure = http.call::<Value>(Call::get("/busy")).await.unwrap_err();
    assert_eq!(failure.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(failure.code(), Some(Code::Overloaded));
    assert!(failure.to_string().ends_with("it answered 503: too many requests at once"));
}

// Holds: S7-5
#[tokio::test]
async fn every_4xx_is_fatal_and_carries_its_problem() {
    let refuse = || async {
        let problem = Problem::new(Code::DeviceOffline, "device dev_x is offline");
        (StatusCode::CONFLICT, [(header::CONTENT_TYPE, CONTENT_TYPE)], Json(problem))
    };
    let http = server(Router::new().route("/", any(refuse))).await;
    let error = http.post("/", &json!({})).await.unwrap_err();
    assert_eq!((error.status, error.retryable), (409, false));
    assert_eq!(error.reason, "device dev_x is offline");
    assert_eq!(error.problem.unwrap().known_code(), Some(Code::DeviceOffline));
}

// Holds: S7-5
#[tokio::test]
async fn an_error_body_that_is_no_problem_leaves_the_status_in_words() {
    for status in [400, 401, 403, 404, 408, 422, 429] {
        let refuse = move || async move {
            (StatusCode::from_u16(status).unwrap(), "<html>secret page</html>")
        };
        let http = server(Router::new().route("/", any(refuse))).await;
        let error = http.get::<Value>("/").await.unwrap_err();
        assert_eq!((error.status, error.retryable, &error.problem), (status, false, &None));
        let words = StatusCode::from_u16(status).unwrap().canonical_reason().unwrap();
        assert_eq!(error.reason, words);
    }
}

#[tokio::test]
async fn an_endless_error_body_is_not_read_to_its_end() {
    let refuse = || async {
        let endless =
            futures_util::stream::repeat(Ok::<_, std::convert::Infallible>("xxxxxxxxxxxxxxxx"));
        (StatusCode::BAD_REQUEST, axum::body::Body::from_stream(endless))
    };
    let http = server(Router::new().route("/", any(refuse))).await;
    assert_eq!(http.get::<Value>("/").await.unwrap_err().reason, "Bad Request");
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let large = || async {
        let spaces = axum::body::Bytes::from(vec![b' '; 1 << 20]);
        let parts = std::iter::repeat_n(spaces, 65).chain([axum::body::Bytes::from("{}")]);
        let parts = parts.map(Ok::<_, std::convert::Infallible>);
        axum::body::Body::from_stream(futures_util::stream::iter(parts))
    };
    let http = server(Router::new().route("/", get(large))).await;
    let failure = http.call::<Value>(Call::get("/")).await.unwrap_err();
    assert!(failure.to_string().contains("longer than 67108864 bytes"), "{failure}");
}

#[tokio::test]
async fn a_success_that_is_not_of_this_api_may_be_tried_again() {
    let portal = || async { "<html>please sign in</html>" };
    let http = server(Router::new().route("/", get(portal))).await;
    assert_eq!(http.get::<Value>("/").await, Ok(None));
    let failure = http.call::<Value>(Call::get("/")).await.unwrap_err();
    assert!(failure.to_string().contains("its answer does not fit this API"), "{failure}");
}

/// The clock is the test's: it jumps to the next deadline when nothing else can go on.
// Holds: S8-5
#[expect(clippy::disallowed_methods, reason = "reads the clock of the test")]
#[tokio::test(start_paused = true)]
async fn a_silent_server_is_waited_for_ten_seconds_and_one_that_is_not_there_for_three() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    // Linux answers no further connection once the queue of a listener is full.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let full = socket.listen(1).unwrap();
    let absent = full.local_addr().unwrap();
    let connect = || std::net::TcpStream::connect_timeout(&absent, Duration::from_millis(100));
    let queued: Vec<_> = std::iter::from_fn(|| connect().ok()).take(64).collect();
    assert!(queued.len() < 64, "the queue has an end");
    crate::install_crypto();
    for (address, waited) in [(silent.local_addr().unwrap(), 10), (absent, 3)] {
        let http = Http::new(&format!("http://{address}")).unwrap();
        let began = tokio::time::Instant::now();
        assert_eq!(http.get::<Value>("/").await, Ok(None));
        assert_eq!(began.elapsed().as_secs(), waited, "{address}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the server of this test is slow")]
#[tokio::test]
async fn an_answer_that_keeps_coming_may_take_longer_than_the_timeout() {
    let slow = || async {
        let parts = futures_util::stream::unfold(0, |sent| async move {
            tokio::time::sleep(Duration::from_millis(60)).await;
            (sent < 5).then_some((Ok::<_, std::convert::Infallible>("1"), sent + 1))
        });
        axum::body::Body::from_stream(parts)
    };
    let http = server(Router::new().route("/", get(slow))).await;
    let call = Call::get("/").timeout(Duration::from_millis(200));
    assert_eq!(http.call::<u32>(call).await.unwrap(), 11111);
}

#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed() {
    let other = server(Router::new().route("/", any(|| async { Json(json!("stolen")) }))).await;
    let target = format!("{}/", other.base());
    let redirect = move || {
        let target = target.clone();
        async move { Redirect::temporary(&target) }
    };
    let http = server(Router::new().route("/", any(redirect))).await.with_bearer(Secret::new("t"));
    let error = http.get::<Value>("/").await.unwrap_err();
    assert_eq!(error.status, 307);
    assert_eq!(error.reason, format!("redirected to {}/", other.base()));
}

#[tokio::test]
async fn a_redirect_within_the_server_keeps_the_method_the_token_and_the_body() {
    let echo = |headers: HeaderMap, Json(body): Json<Value>| async move {
        let token = headers[header::AUTHORIZATION].to_str().unwrap().to_owned();
        Json(json!([token, body]))
    };
    let app = Router::new()
        .route("/", post(|| async { Redirect::permanent("/new") }))
        .route("/new", post(echo))
        .route("/changes-method", post(|| async { Redirect::to("/new") }));
    let http = server(app).await.with_bearer(Secret::new("t"));
    let answer: Value = http.call(Call::post("/").json(&json!({"b": 2}))).await.unwrap();
    assert_eq!(answer, json!(["Bearer t", {"b": 2}]));
    assert_eq!(http.post("/changes-method", &json!({})).await.unwrap_err().status, 303);
}

#[tokio::test]
async fn requests_name_their_version_and_never_show_their_token() {
    let agent = |headers: HeaderMap| async move {
        headers[header::USER_AGENT].to_str().unwrap().to_owned().into_response()
    };
    let quote = move |headers| async move { Json(json!(body_text(agent(headers).await).await)) };
    let http = server(Router::new().route("/", get(quote))).await;
    let version = concat!("link/", env!("CARGO_PKG_VERSION"));
    assert_eq!(http.get::<Value>("/").await.unwrap(), Some(json!(version)));
    let secret = http.with_bearer(Secret::new("canary"));
    assert!(!format!("{secret:?}").contains("canary"));
}

#[test]
fn only_plain_http_addresses_are_accepted() {
    crate::install_crypto();
    for (given, base) in [
        ("http://127.0.0.1:1/", "http://127.0.0.1:1"),
        ("http://[::1]:1", "http://[::1]:1"),
        ("http://host/below/", "http://host/below"),
    ] {
        assert_eq!(Http::new(given).unwrap().base(), base);
    }
    for bad in ["", "host", "ftp://host", "http://user@host", "http://host?a", "file:///x"] {
        assert_eq!(Http::new(bad).unwrap_err(), InvalidAddress::NotHttp(bad.to_owned()));
    }
}

async fn body_text(response: axum::response::Response) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn server(app: Router) -> Http {
    crate::install_crypto();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    Http::new(&base).unwrap()
}

/// Returns a client of a port that refuses connections for as long as the socket is held.
fn nobody() -> (Http, tokio::net::TcpSocket) {
    crate::install_crypto();
    let silent = tokio::net::TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    (Http::new(&format!("http://{}", silent.local_addr().unwrap())).unwrap(), silent)
}
