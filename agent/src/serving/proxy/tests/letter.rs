//! Exact HTTP and CORS behaviour of a port that several models share.

use link_protocol::counter::Generation;
use std::sync::{Mutex, PoisonError};

use super::*;

/// An origin that may call `tiny` but not `big`.
const OF_TINY: &str = "https://tiny.example";
/// An origin that may call `big` but not `tiny`.
const OF_BIG: &str = "https://big.example";

#[tokio::test]
async fn a_request_says_once_and_clearly_that_it_is_for_this_device() {
    let port = shared_port().await;
    let ours = format!("host: 127.0.0.1:{port}");
    for (line, headers, status) in [
        ("GET /v1/models HTTP/1.1", vec![ours.as_str()], 200),
        ("GET http://localhost/v1/models HTTP/1.1", vec!["host: evil.example"], 200),
        ("GET http://evil.example/v1/models HTTP/1.1", vec![&ours], 403),
        ("GET /v1/models HTTP/1.1", vec!["host: evil.example"], 403),
        ("GET /v1/models HTTP/1.1", vec![&ours, &ours], 400),
        ("GET /v1/models HTTP/1.1", vec![], 400),
        ("GET /v1/models HTTP/1.0", vec![], 403),
    ] {
        let answer = say(port, line, &headers, "").await;
        assert_eq!(answer.status, status, "{line} {headers:?}");
    }
}

#[tokio::test]
async fn head_answers_as_get_does_without_the_body() {
    let port = shared_port().await;
    for path in ["/v1/models", "/v1/models/tiny", "/tiny/v1/models", "/v1/models/none"] {
        let (get, head) = (ask(port, "GET", path).await, ask(port, "HEAD", path).await);
        assert_eq!(get.status, head.status, "{path}");
        assert_eq!(get.header("content-length"), head.header("content-length"), "{path}");
        assert!(!get.body.is_empty() && head.body.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn the_list_of_models_has_an_entry_for_each_with_its_age() {
    let port = shared_port().await;
    let list = ask(port, "GET", "/v1/models").await.json();
    assert_eq!(list["data"].as_array().unwrap().len(), 3);
    let entry = ask(port, "GET", "/v1/models/tiny").await.json();
    assert_eq!(entry, list["data"][0]);
    assert_eq!((&entry["id"], &entry["object"]), (&json!("tiny"), &json!("model")));
    assert_eq!(entry["created"], 1_700_000_000);
    let alone = ask(port, "GET", "/big/v1/models").await.json();
    assert_eq!(alone["data"], json!([list["data"][1]]));
    assert_eq!(ask(port, "GET", "/big/v1/models/big").await.json()["id"], "big");

    let unknown = ask(port, "GET", "/v1/models/gpt-4o").await;
    assert_eq!(unknown.status, 404);
    let unknown = unknown.json();
    assert_eq!(unknown["error"]["message"], "no model `gpt-4o`; served here: tiny, big, closed");
    assert_eq!(unknown["code"], unknown["error"]["code"]);
    // A page sees only the models it may call.
    let origin = format!("origin: {OF_TINY}");
    let shown = say(port, "GET /v1/models HTTP/1.1", &[HOST, &origin], "").await.json();
    assert_eq!(shown["data"], json!([list["data"][0]]));
}

#[tokio::test]
async fn an_engine_gets_the_query_of_a_request() {
    let port = shared_port().await;
    let path = "/tiny/v1/chat/completions?trace=a%20b&c";
    let head = ask(port, "POST", path).await.json()["head"].take();
    let head = head.as_str().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions?trace=a%20b&c HTTP/1.1\r\n"), "{head}");
}

#[tokio::test]
async fn a_path_that_is_not_served_is_refused_with_those_that_are() {
    let port = shared_port().await;
    for path in ["/v1/files", "/tiny/v1/files", "/props", "/tiny/props", "/v1/modelsx"] {
        let refused = ask(port, "POST", path).await;
        assert_eq!(refused.status, 404, "{path}");
        let problem = refused.json();
        assert_eq!(problem["code"], "path-not-served", "{path}");
        let message = problem["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("/v1/completions, ") && message.contains(", /v1/models; "),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_answered_with_those_that_are() {
    let port = shared_port().await;
    let line = "POST /zz/v1/chat/completions HTTP/1.1";
    let refused = say(port, line, &[HOST], r#"{"model": "tiny"}"#).await;
    assert_eq!(refused.status, 404);
    let message = &refused.json()["error"]["message"];
    assert_eq!(message, "no model `zz`; served here: tiny, big, closed");
}

#[tokio::test]
async fn a_path_says_which_methods_it_takes() {
    let port = shared_port().await;
    for (line, status, allow) in [
        ("PUT /v1/models HTTP/1.1", 405, "GET, OPTIONS"),
        ("DELETE /v1/models/tiny HTTP/1.1", 405, "GET, OPTIONS"),
        ("PUT /tiny/v1/models HTTP/1.1", 405, "GET, OPTIONS"),
        ("GET /tiny/v1/chat/completions HTTP/1.1", 405, "POST, OPTIONS"),
        // Without an origin, no allowlist applies.
        ("OPTIONS /v1/models HTTP/1.1", 204, "GET, OPTIONS"),
        ("OPTIONS /tiny/v1/chat/completions HTTP/1.1", 204, "POST, OPTIONS"),
    ] {
        let answer = say(port, line, &[HOST], "").await;
        assert_eq!((answer.status, answer.header("allow").unwrap()), (status, allow), "{line}");
    }
}

#[tokio::test]
async fn a_page_that_says_two_origins_is_on_no_allowlist() {
    let port = shared_port().await;
    let (good, evil) = (format!("origin: {OF_TINY}"), "origin: https://evil.example");
    for line in ["GET /v1/models HTTP/1.1", "OPTIONS /v1/models HTTP/1.1"] {
        for headers in [[HOST, &good, evil], [HOST, evil, &good], [HOST, &good, &good]] {
            assert_eq!(say(port, line, &headers, "").await.status, 403, "{line} {headers:?}");
        }
    }
}

#[tokio::test]
async fn every_answer_has_the_id_of_its_request() {
    let port = shared_port().await;
    let chat = "POST /tiny/v1/chat/completions HTTP/1.1";
    for line in [chat, "GET /v1/models HTTP/1.1", "GET /nothing HTTP/1.1", "OPTIONS / HTTP/1.1"] {
        let given = say(port, line, &[HOST, "x-request-id: from-the-client.1"], "").await;
        assert_eq!(given.header("x-request-id").unwrap(), "from-the-client.1", "{line}");
        let made = say(port, line, &[HOST, "x-request-id: no good"], "").await;
        assert_eq!(made.header("x-request-id").unwrap().len(), 32, "{line}");
    }
    let answer = say(port, chat, &[HOST, "x-request-id: from-the-client.1"], "").await;
    assert!(answer.body.contains("x-request-id: from-the-client.1"), "{}", answer.body);
    let refused = ask(port, "GET", "/nothing").await;
    assert_eq!(refused.json()["request_id"], refused.header("x-request-id").unwrap());
}

#[tokio::test]
async fn a_request_that_its_engine_did_not_answer_is_named_in_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _logged = tracing::subscriber::set_default(subscriber);
    // This engine accepts connections and closes them.
    let engine = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port =
        shared_port_before(Port::try_from(engine.local_addr().unwrap().port()).unwrap()).await;
    tokio::spawn(async move { while engine.accept().await.is_ok() {} });
    let line = "POST /tiny/v1/chat/completions HTTP/1.1";
    let refused = say(port, line, &[HOST, "x-request-id: from-the-client.1"], "{}").await;
    assert_eq!(refused.status, 502);
    let log = log.text();
    let warning = log.lines().find(|line| line.contains("the engine did not answer")).unwrap();
    assert!(warning.contains("WARN") && warning.contains("from-the-client.1"), "{log}");
}

#[tokio::test]
async fn a_preflight_that_names_a_model_is_answered_from_its_list_alone() {
    let port = shared_port().await;
    for (path, origin, status) in [
        ("/tiny/v1/chat/completions", OF_TINY, 204),
        ("/big/v1/chat/completions", OF_TINY, 403),
        ("/big/v1/chat/completions", OF_BIG, 204),
        ("/v1/models/big", OF_TINY, 403),
        ("/big/v1/models", OF_TINY, 403),
        // A list without origins lets no page in, whatever the other lists of the port say.
        ("/closed/v1/chat/completions", OF_TINY, 403),
        ("/closed/v1/chat/completions", OF_BIG, 403),
        ("/v1/models/closed", OF_TINY, 403),
        // Only the body names the model.
        ("/v1/chat/completions", OF_TINY, 204),
        ("/v1/chat/completions", OF_BIG, 204),
        ("/v1/chat/completions", "https://evil.example", 403),
    ] {
        let line = format!("OPTIONS {path} HTTP/1.1");
        let origin = format!("origin: {origin}");
        let headers = [HOST, &origin, "access-control-request-method: POST"];
        assert_eq!(say(port, &line, &headers, "").await.status, status, "{path} {origin}");
    }
}

#[tokio::test]
async fn a_page_that_may_call_another_model_of_the_port_reads_why_it_is_refused() {
    let port = shared_port().await;
    let line = "POST /v1/chat/completions HTTP/1.1";
    let origin = format!("origin: {OF_TINY}");
    let refused = say(port, line, &[HOST, &origin], r#"{"model": "big"}"#).await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.header("access-control-allow-origin").unwrap(), OF_TINY);
    assert!(refused.header("access-control-expose-headers").unwrap().contains("x-request-id"));
    assert!(refused.header("access-control-expose-headers").unwrap().contains("link-device"));
    assert_eq!(refused.header("link-device"), Some(DEVICE));
    let problem = refused.json();
    assert_eq!(problem["code"], "origin-not-allowed");
    let message = problem["error"]["message"].as_str().unwrap();
    assert!(message.contains("`big`") && message.contains("link repair-serving"), "{message}");

    let stranger = say(port, line, &[HOST, "origin: https://evil.example"], "{}").await;
    assert_eq!(stranger.status, 403);
    assert_eq!(stranger.header("access-control-allow-origin"), None);
    assert_eq!(stranger.header("link-device"), None);
    assert_eq!(say(port, line, &[HOST], "{}").await.header("link-device"), None);
}

const HOST: &str = "host: localhost";

/// An answer, read until its connection closes.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(other, _)| *other == name).map(|(_, value)| value).next()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// The captured log as text.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Opens a port like [`shared_port_before`], with an engine that echoes.
async fn shared_port() -> Port {
    shared_port_before(echo().await).await
}

/// Opens a port with `tiny` and `big`, each with its own allowed page, and with `closed`, which no page may call, in
/// front of the engine at `engine`.
async fn shared_port_before(engine: Port) -> Port {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
    let client = Arc::new(Engine::new(HeaderValue::from_static(DEVICE)));
    let frontend = Frontend::open(&tokio::runtime::Handle::current(), listener, client);
    for (number, alias, origin) in
        [(1, "tiny", Some(OF_TINY)), (2, "big", Some(OF_BIG)), (3, "closed", None)]
    {
        // The time in a version 7 UUID: 1,700,000,000,000 ms.
        let digits = format!("018bcfe5680070008000{number:012}");
        let route = Route {
            pipeline_id: format!("pip_{digits}").parse().unwrap(),
            model_id: format!("mdl_{digits}").parse().unwrap(),
            alias: alias.parse().unwrap(),
            plugin: "language_model".to_owned(),
            port,
            allowlist: Allowlist::new(origin.map(|origin| origin.parse().unwrap())),
            telemetry: false,
            generation: Generation(1),
            engine: Some(Run(1)),
        };
        let address = Address {
            channel: Channel::Port(engine),
            base_path: String::new(),
            secret: Secret::new("secret"),
            pid: std::process::id(),
        };
        let usage = usage_queue().0;
        frontend.set(Live {
            route,
            plugin: crate::serving::plugins::language_model(),
            task: None,
            build: None,
            engine: Some(Line::new(address)),
            usage,
        });
    }
    // The port stays open as long as the test's runtime.
    std::mem::forget(frontend);
    port
}

async fn ask(port: Port, method: &str, path: &str) -> Answer {
    say(port, &format!("{method} {path} HTTP/1.1"), &[HOST], "").await
}

async fn say(port: Port, line: &str, headers: &[&str], body: &str) -> Answer {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port.get())).await.unwrap();
    let mut request = format!("{line}\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    headers.iter().for_each(|header| request.extend([header, "\r\n"]));
    request.extend(["\r\n", body]);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Starts an engine that answers with the head of each request.
async fn echo() -> Port {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    if stream.read_line(&mut head).await.unwrap_or_default() == 0 {
                        return;
                    }
                }
                let body = json!({"head": head}).to_string();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                     x-request-id: of-the-engine\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).await.ok();
            });
        }
    });
    port
}
