//! The backend as a service: health, readiness, metrics, logs, the service manager, and shutdown.

#![expect(clippy::disallowed_methods, reason = "deletes the folder of an ended backend")]

use std::{io::Write as _, net::TcpStream, os::unix::net::UnixDatagram};

use serde_json::{Value, json};

use crate::program::{Place, Running, send};

pub(crate) fn get(address: &str, path: &str) -> (u16, String) {
    let (status, _, body) = send(address, "GET", path, "", ("text/plain", b""));
    (status, body)
}

/// Sends a request on its own connection. The answer is read later.
pub(crate) fn begin(address: &str, path: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    write!(stream, "{head}Authorization: Bearer {token}\r\n\r\n").unwrap();
    stream
}

pub(crate) fn rest(mut stream: impl std::io::Read) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Registers a device and sends its hello. Returns its id and its token.
pub(crate) fn greeted(running: &Running, user: &str) -> (String, String) {
    let device = crate::backup::device(running, user);
    let text = |name: &str| device[name].as_str().unwrap().to_owned();
    let (id, token) = (text("device_id"), text("device_token"));
    let hello = json!({ "agent_version": "1.3.0", "boot_id": "1", "epoch": 1, "last_seq": 0, "inflight": [],
        "serving": [] });
    let (status, said) = running.call("POST", &format!("/api/v1/agent/{id}/hello"), &token, &hello);
    assert_eq!(status, 200, "{said}");
    (id, token)
}

/// Waits until a poll is parked.
pub(crate) fn parked(metrics: &str) {
    while !get(metrics, "/metrics").1.contains("link_parked_polls 1\n") {}
}

#[test]
fn the_numbers_of_what_happened_are_told_on_a_listener_of_their_own() {
    let place = Place::new();
    let running = place.serve(&["--metrics-listen", "127.0.0.1:0"]);
    let metrics = running.metrics.clone().expect("it says where");
    let user = running.set_up();
    let (id, token) = greeted(&running, &user);
    let update = json!({ "version": "1.4.0" });
    let path = format!("/api/v1/devices/{id}/update");
    assert_eq!(running.call("POST", &path, &user, &update).0, 202);
    let waiting = get(&metrics, "/metrics").1;
    assert!(waiting.contains("link_commands_waiting{state=\"queued\"} 1\n"), "{waiting}");
    let path = format!("/api/v1/agent/{id}/commands?wait=0&after=");
    assert_eq!(running.call("GET", &format!("{path}0"), &token, &Value::Null).0, 200);
    assert_eq!(running.call("GET", &format!("{path}1"), &token, &Value::Null).0, 200);
    let report = json!({ "status": "online", "agent_version": "1.3.0", "uptime_s": 1 });
    let path = format!("/api/v1/agent/{id}/status");
    let (status, said) = running.call("PUT", &path, &token, &report);
    assert!(status < 300, "{said}");
    get(&running.address, "/api/v1/devices/dev_nobody/nothing");

    let (status, text) = get(&metrics, "/metrics");
    assert_eq!(status, 200);
    for line in [
        "link_commands_placed_total 1\n",
        "link_commands_acknowledged_total 1\n",
        "link_commands_waiting{state=\"queued\"} 0\n",
        "link_devices 1\n",
        "link_devices_online 1\n",
        "link_parked_polls 0\n",
        "link_ready 1\n",
        "link_reports_total{kind=\"lifecycle\"} 1\n",
        "link_requests_total{method=\"GET\",route=\"/api/v1/agent/{device_id}/commands\",\
         status=\"200\"} 2\n",
        "link_requests_total{method=\"GET\",route=\"unmatched\",status=\"404\"} 1\n",
        "link_request_duration_seconds_bucket{method=\"POST\",route=\"/api/v1/setup\",le=\"60\"} 1\n",
        "link_database_seconds_count{what=\"count\"}",
        "link_process_memory_bytes ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains(&id) && !text.contains("dev_nobody"), "no identifier is a label");
    assert_eq!(get(&running.address, "/metrics").0, 404, "never on the public listener");
}

#[test]
fn the_first_signal_ends_it_in_order_and_answers_what_waits() {
    let place = Place::new();
    let file = place.file("backend.toml", "[shutdown]\nnotice_s = 600\n");
    let metrics = ["--metrics-listen", "127.0.0.1:0"];
    for (notice, config) in [(true, Some(file.to_str().unwrap())), (false, None)] {
        let arguments: Vec<&str> =
            config.iter().flat_map(|file| ["--config", file]).chain(metrics).collect();
        let running = place.serve(&arguments);
        let metrics = running.metrics.clone().unwrap();
        assert_eq!(get(&running.address, "/readyz").0, 200);
        assert_eq!(get(&running.address, "/healthz").0, 200);
        if notice {
            running.signal("-TERM");
            while get(&running.address, "/readyz").0 == 200 {}
            let (status, body) = get(&running.address, "/readyz");
            let problem: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status, problem["code"].as_str()), (503, Some("not-ready")));
            assert_eq!(problem["detail"], "the backend is stopping");
            assert_eq!(get(&running.address, "/healthz").0, 200, "it is alive");
            assert!(get(&metrics, "/metrics").1.contains("link_ready 0\n"));
            running.signal("-INT");
            let (status, _) = running.ended();
            assert_eq!(status.code(), Some(130), "the second signal ends it at once");
            std::fs::remove_dir_all(place.data()).unwrap();
        } else {
            let user = running.set_up();
            let (id, token) = greeted(&running, &user);
            let path = format!("/api/v1/agent/{id}/commands?wait=50");
            let poll = begin(&running.address, &path, &token);
            parked(&metrics);
            running.signal("-TERM");
            assert!(rest(poll).starts_with("HTTP/1.1 200"));
            let (status, _) = running.ended();
            assert_eq!(status.code(), Some(0));
        }
    }
}

#[test]
fn a_record_of_a_request_has_its_id_and_no_secret() {
    let place = Place::new();
    let running = place.serve(&["--log-format", "json", "--log", "debug"]);
    for line in &running.said_first {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "every line is a record: {line}");
    }
    let user = running.set_up();
    let mut stream = TcpStream::connect(&running.address).unwrap();
    let head = "GET /api/v1/models/nonsense HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    write!(stream, "{head}X-Request-Id: proxy-0123\r\nAuthorization: Bearer {user}\r\n\r\n")
        .unwrap();
    let answer = rest(stream);
    assert!(
        answer.contains("x-request-id: proxy-0123")
            && answer.contains("\"request_id\":\"proxy-0123\"")
    );
    let mut stream = TcpStream::connect(&running.address).unwrap();
    let head = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    write!(stream, "{head}X-Request-Id: a b\"c\r\n\r\n").unwrap();
    assert!(!rest(stream).contains("a b"), "what could not stand in a log is replaced");

    let token = running.token.clone().unwrap();
    running.signal("-TERM");
    let (_, lines) = running.ended();
    let records: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_it = records.iter().find(|record| record["span"]["id"] == "proxy-0123").unwrap();
    assert_eq!(of_it["span"]["path"], "/api/v1/models/nonsense");
    let refused = records.iter().find(|record| {
        record["span"]["id"] == "proxy-0123" && record["fields"]["message"] == "refused"
    });
    let fields = &refused.unwrap()["fields"];
    assert_eq!(
        fields["client"], "127.0.0.1",
        "a firewall can be told who is refused again and again"
    );
    assert!(answer.contains(&format!("\"code\":{}", fields["code"])), "{fields}: {answer}");
    for secret in [&user, &token, crate::program::PASSWORD] {
        assert!(!lines.iter().any(|line| line.contains(secret)), "{secret} is in the log");
    }
}

#[test]
fn behind_a_proxy_a_refused_login_is_logged_with_the_address_that_the_proxy_has_added() {
    let place = Place::new();
    let settings = place.file("link.toml", "client_address = \"forwarded\"\n");
    let running = place.serve(&["--log-format", "json", "--config", settings.to_str().unwrap()]);
    let login = json!({ "email": "ada@example.org", "password": "guessed" }).to_string();
    let mut stream = TcpStream::connect(&running.address).unwrap();
    let head = "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    let address = "X-Forwarded-For: 203.0.113.9, 192.0.2.7\r\n";
    let length = login.len();
    write!(
        stream,
        "{head}{address}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{login}"
    )
    .unwrap();
    assert!(rest(stream).starts_with("HTTP/1.1 401"));
    running.signal("-TERM");
    let (_, lines) = running.ended();
    let refused = lines.iter().find(|line| line.contains("\"refused\"")).unwrap();
    let record: Value = serde_json::from_str(refused).unwrap();
    let fields = &record["fields"];
    let seen = [&fields["status"], &fields["code"], &fields["client"]];
    assert_eq!(seen, [&json!(401), &json!("invalid-credentials"), &json!("192.0.2.7")]);
    assert!(!refused.contains("guessed") && !refused.contains("ada@example.org"));
}

#[test]
fn a_warning_that_repeats_becomes_one_record() {
    for format in ["text", "json"] {
        let place = Place::new();
        let running = place.serve(&["--log-format", format]);
        running.set_up();
        let login = json!({ "email": "ada@example.org", "password": crate::program::PASSWORD });
        let refresh = |tokens: &Value| {
            let body = json!({ "refresh_token": tokens["refresh_token"] });
            running.call("POST", "/api/v1/auth/refresh", "", &body)
        };
        for _ in 0..5 {
            let (_, tokens) = running.call("POST", "/api/v1/auth/login", "", &login);
            let (_, successor) = refresh(&tokens);
            assert_eq!(refresh(&successor).0, 200);
            assert_eq!(refresh(&tokens).0, 401);
        }
        running.signal("-TERM");
        let (_, lines) = running.ended();
        let warnings = lines.iter().filter(|line| line.contains("a refresh token was used twice"));
        assert_eq!(warnings.count(), 1, "{format}: {lines:#?}");
    }
}

#[test]
fn the_service_manager_is_told_that_it_is_ready_alive_and_stopping() {
    let place = Place::new();
    let path = place.folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "300000");
    let running = Running::start(command);
    let next = || {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let until = |wanted: &str| while !next().contains(wanted) {};
    until("READY=1");
    until("WATCHDOG=1");
    running.signal("-TERM");
    until("STOPPING=1");
    assert_eq!(running.ended().0.code(), Some(0));
}
