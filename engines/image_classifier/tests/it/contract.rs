//! The contract that all classifiers share: secret, paths, bounds, deadlines, the end.
#![expect(clippy::disallowed_methods, reason = "a test starts and ends programs")]

use std::{
    io::{BufReader, Write as _},
    os::unix::net::UnixStream,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    PAGE, PATH, PROGRAM,
    engine::{self, SECRET, assert_failure, outcome, reply, wait_for},
    orientation,
};

#[test]
fn everything_but_the_health_needs_the_secret() {
    let Some(engine) = orientation() else { return };
    let get = |path: &str, authorization: &str| {
        let close = "Host: h\r\nConnection: close";
        engine.exchange(format!("GET {path} HTTP/1.1\r\n{close}\r\n{authorization}\r\n").as_bytes())
    };
    let health = get("/health", "");
    assert_eq!((health.status, &health.body["status"]), (200, &"ok".into()));
    let secret = format!("Authorization: Bearer {SECRET}\r\n");
    let props = get("/props", &secret);
    assert_eq!((props.status, &props.body["alias"]), (200, &"mine".into()));
    assert_eq!(props.body["labels"], 4);
    assert!(props.body["build"].is_string());
    for wrong in ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic eDp5\r\n"] {
        for path in ["/props", PATH, "/v1/anything"] {
            assert_failure(&get(path, wrong), 401, "invalid_api_key");
        }
    }
    assert_failure(&get("/v1/anything", &secret), 404, "not_found");
    assert_failure(&get("/", ""), 404, "not_found");
    let reply = get(PATH, &secret);
    assert_failure(&reply, 405, "method_not_allowed");
    assert!(reply.head.contains("allow: post"));
    assert_failure(&engine.send("POST", "/health", "", b""), 405, "method_not_allowed");
    assert_failure(&engine.send("DELETE", "/props", "", b""), 405, "method_not_allowed");
}

#[test]
fn a_body_beyond_the_bound_is_refused_before_it_is_read_or_as_soon_as_it_exceeds_it() {
    let Some(engine) = orientation() else { return };
    let head = format!("POST {PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {SECRET}\r\n");
    // Not one byte of the body is sent.
    let claimed = engine.exchange(format!("{head}Content-Length: 33554433\r\n\r\n").as_bytes());
    assert_failure(&claimed, 413, "body_too_large");
    let endless = format!("{head}Content-Length: 99999999999999999999999\r\n\r\n");
    assert!([400, 413].contains(&engine.exchange(endless.as_bytes()).status));
    let without = engine.exchange(format!("{head}Connection: close\r\n\r\n").as_bytes());
    assert_failure(&without, 411, "length_required");

    let mut stream = engine.connect();
    stream.write_all(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    let chunk = [b"100000\r\n", &[0; 1 << 20][..], b"\r\n"].concat();
    for _ in 0..32 {
        stream.write_all(&chunk).unwrap();
    }
    stream.write_all(b"1\r\n\0\r\n").unwrap();
    assert_failure(&reply(&mut stream), 413, "body_too_large");
    assert!(engine.peak_memory() < 300 << 20);
}

#[test]
fn bodies_that_wait_have_a_bound_and_a_client_that_leaves_gives_its_room_back() {
    let Some(engine) = orientation() else { return };
    let head = format!("POST {PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {SECRET}\r\n");
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = engine.connect();
            stream.write_all(format!("{head}Content-Length: 33554432\r\n\r\n").as_bytes()).unwrap();
            stream
        })
        .collect();
    let refused = until(|| Some(engine.send("POST", PATH, "", PAGE)).filter(|r| r.status == 503));
    assert_failure(&refused, 503, "queue_full");
    assert!(refused.head.contains("retry-after: 1"));
    drop(waiting);
    until(|| Some(engine.send("POST", PATH, "", PAGE)).filter(|reply| reply.status == 200));
}

#[test]
fn a_head_that_does_not_end_is_cut_off_and_a_body_that_is_cut_off_is_no_file() {
    let Some(engine) = orientation() else { return };
    let mut slow = engine.connect();
    slow.write_all(b"GET /health HTTP/1.1\r\nHost:").unwrap();
    let mut cut = engine.connect();
    let head = format!("POST {PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {SECRET}\r\n");
    cut.write_all(format!("{head}Content-Length: 100\r\n\r\nshort").as_bytes()).unwrap();
    cut.shutdown(std::net::Shutdown::Write).unwrap();
    assert!([0, 400].contains(&reply(&mut cut).status));
    let began = Instant::now();
    assert!([0, 408].contains(&reply(&mut slow).status));
    let waited = began.elapsed();
    assert!((5..20).contains(&waited.as_secs()), "{waited:?}");
    assert_eq!(engine.send("POST", PATH, "", PAGE).status, 200);
}

#[test]
fn the_engine_answers_on_a_socket_and_leaves_nothing_when_it_is_told_to_end() {
    let Some(prepared) = engine::prepared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("engine.sock");
    let mut command = engine::command(PROGRAM, &prepared.join("orientation.tar"), folder.path());
    command.arg("--socket").arg(&socket);
    command.env("ORT_DYLIB_PATH", prepared.join("libonnxruntime.so.1.31.1"));
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    wait_for(&mut log, "listening at ");
    // The address is bound before the model is loaded.
    let close = "Host: h\r\nConnection: close";
    let health = || {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(format!("GET /health HTTP/1.1\r\n{close}\r\n\r\n").as_bytes()).unwrap();
        reply(&mut stream)
    };
    let first = health();
    let state = first.body["status"].as_str().unwrap().to_owned();
    assert!([(200, "ok"), (503, "loading")].contains(&(first.status, state.as_str())));
    wait_for(&mut log, "ready: ");
    assert_eq!(health().status, 200);

    let mut request = UnixStream::connect(&socket).unwrap();
    let head = format!("POST {PATH} HTTP/1.1\r\n{close}\r\nAuthorization: Bearer {SECRET}\r\n");
    let length = PAGE.len();
    request.write_all(format!("{head}Content-Length: {length}\r\n\r\n").as_bytes()).unwrap();
    request.write_all(&PAGE[..length / 2]).unwrap();
    // The half of the body is not seen from outside; a second answer shows that the loop has turned.
    assert_eq!(health().status, 200);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    wait_for(&mut log, "stopping");
    assert!(!socket.exists(), "the socket is removed at once");
    request.write_all(&PAGE[length / 2..]).unwrap();
    assert_eq!(reply(&mut request).status, 200, "the request in progress is answered");
    let (code, _) = outcome(child, Duration::from_secs(5));
    assert_eq!(code, Some(0));
}

#[test]
fn the_help_and_the_version_are_printed() {
    for (argument, wanted) in
        [("--version", env!("CARGO_PKG_VERSION")), ("--help", "Examples:"), ("--help", "--socket")]
    {
        let output = Command::new(PROGRAM).arg(argument).output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains(wanted), "{argument}");
    }
}

/// Repeats a request until it has the answer that is waited for.
fn until<T>(attempt: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "waited in vain");
    }
}
