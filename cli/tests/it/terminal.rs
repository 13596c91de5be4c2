//! The command at a terminal: width, confirmations, and prompts that end.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use axum::{
    Json, Router,
    http::StatusCode,
    routing::{delete, get, post},
};
use link_protocol::problem::Code;
use serde_json::json;

use crate::support::{Backend, Home, id, log_in, refuse};

/// Runs `link` at a terminal of `columns` and types `keys`; returns what was shown.
fn at_a_terminal(home: &Home, columns: u16, words: &str, keys: &str) -> String {
    let link = env!("CARGO_BIN_EXE_link");
    let line = format!("stty cols {columns} rows 50; exec '{link}' {words}");
    let mut child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .env("LINK_HOME", home.path(""))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(keys.as_bytes()).unwrap();
    let shown = child.wait_with_output().unwrap().stdout;
    String::from_utf8_lossy(&shown).replace('\r', "")
}

#[test]
fn a_table_fits_its_terminal_and_is_whole_in_a_pipe() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let piped = home.link(&["device", "list"]).stdout;
    assert!(piped.contains(&id("dev", 1)) && piped.contains("2026-10-01T00:00:00Z"), "{piped}");
    for columns in [60, 100] {
        let shown = at_a_terminal(&home, columns, "device list", "");
        assert!(shown.lines().all(|line| line.chars().count() <= columns.into()), "{shown}");
        assert!(shown.contains("NAME") && !shown.contains(&id("dev", 1)), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
    let shown = at_a_terminal(&home, 200, "device list --full --utc", "");
    assert!(shown.contains(&id("dev", 1)) && shown.contains("2026-10-01T00:00:00Z"), "{shown}");
}

#[test]
fn a_deletion_is_confirmed_at_a_terminal_and_meant_in_a_script() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let deletion = format!("DELETE /api/v1/models/{}", id("mdl", 1));
    let shown = at_a_terminal(&home, 100, "model delete smollm", "n\n");
    assert!(shown.contains("Delete `smollm` and its file"), "{shown}");
    assert!(shown.contains("nothing was changed"), "{shown}");
    assert!(!backend.seen().contains(&deletion));
    let shown = at_a_terminal(&home, 100, "model delete smollm", "y\n");
    assert!(shown.contains("deleted `smollm`"), "{shown}");
    assert!(backend.seen().contains(&deletion));
    for words in [&["model", "delete", "smollm"][..], &["model", "delete", "smollm", "--yes"]] {
        assert_eq!(home.link(words).code, 0);
        assert!(backend.seen().contains(&deletion));
    }
}

#[test]
fn the_end_of_input_cancels_and_a_second_first_account_is_told_at_once() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let words = format!("login --email a@b.c --backend {}", backend.url);
    let shown = at_a_terminal(&home, 100, &words, "\u{4}");
    assert!(shown.contains("error: cancelled"), "{shown}");
    for words in [
        format!("account create --backend {}", backend.url),
        format!("account create --setup-token-file /nowhere --backend {}", backend.url),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ran = home.link(&words);
        assert_eq!(ran.code, 77, "{ran:?}");
        let wanted = "error: this backend has its first account\n hint: use `link login`\n";
        assert_eq!(ran.stderr, wanted);
    }
}

#[test]
fn a_broken_configuration_is_told_at_once_with_its_line() {
    let home = Home::new();
    let path = home.file(
        "config/agent.json",
        "{\n  \"schema_version\": \"2.1\",\n  \"local_api\": {\"port\": 70000}\n}\n",
    );
    for words in [&["start"][..], &["restart"]] {
        let ran = home.link(words);
        assert_eq!(ran.code, 41, "{ran:?}");
        assert!(ran.stderr.contains(&format!("`{path}` has a fault")), "{ran:?}");
        assert!(ran.stderr.contains("line 3, local_api.port"), "{ran:?}");
    }
    let ran = home.link(&["status"]);
    assert!(ran.stderr.contains("line 3, local_api.port"), "{ran:?}");
    home.file("config/agent.json", "{\n  \"schema_version\": oops\n}");
    let ran = home.link(&["start", "--json"]).stderr_json();
    assert_eq!(ran["error"], "configuration");
    assert!(ran["message"].as_str().unwrap().contains("line 2, column"), "{ran}");
}

fn app() -> Router {
    let device = json!({
        "device_id": id("dev", 1), "name": "workstation", "online": true, "status": "online",
        "agent_version": "1.3.0", "tags": ["lab", "second-floor", "left", "behind the door"],
        "registered_at": "2026-10-01T00:00:00Z", "last_seen_at": "2026-10-01T00:00:00Z",
        "platform": { "os": "linux", "arch": "x86_64", "hostname": "workstation" },
    });
    let model = json!({
        "model_id": id("mdl", 1), "name": "smollm", "file_name": "m.gguf", "url": null,
        "sha256": null, "size_bytes": null, "plugin": "language_model", "shared": false,
        "ready": true, "owned": true, "created_at": "2026-08-07T12:00:00Z",
    });
    let page = |item: serde_json::Value| {
        move || {
            let page = json!({ "items": [item.clone()], "next_cursor": null });
            async move { Json(page) }
        }
    };
    let set_up = || async { refuse(Code::AlreadySetUp, "this backend has its first account") };
    Router::new()
        .route("/api/v1/devices", get(page(device)))
        .route("/api/v1/models", get(page(model)))
        .route("/api/v1/models/{id}", delete(|| async { StatusCode::NO_CONTENT }))
        .route("/api/v1/setup", post(set_up))
}
