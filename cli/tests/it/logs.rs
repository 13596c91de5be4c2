//! `link logs` and the completion of names, against a backend that answers or is slow.

use std::{
    os::unix::fs::symlink,
    process::Command,
    time::{Duration, Instant},
};

use axum::{Json, Router, extract::RawQuery, routing::get};
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in};

#[test]
fn logs_are_printed_oldest_first_and_filtered_by_the_backend() {
    let (home, backend) = (Home::new(), Backend::start(app(Duration::ZERO)));
    log_in(&home, &backend);
    let ran = home.link(&["logs", "workstation", "--severity", "warning", "--limit", "2"]);
    assert_eq!(
        ran.stdout,
        "2026-10-01T12:00:01Z warning  the engine ended\n2026-10-01T12:00:02Z error    full\n",
        "{ran:?}"
    );
    let device = id("dev", 1);
    assert!(
        backend
            .seen()
            .contains(&format!("GET /api/v1/devices/{device}/logs?limit=2&severity=warning")),
        "{:?}",
        backend.seen()
    );
    let records = home.link(&["logs", "workstation", "--json"]).stdout_json();
    assert_eq!(records[1]["number"], 8);
}

#[test]
fn local_logs_are_those_of_the_agent() {
    let home = Home::new();
    let ran = home.link(&["logs", "--local"]);
    assert!(ran.code == 1 && ran.stderr.contains("there is no log yet"), "{ran:?}");
    let log = ran.stderr.split('`').nth(1).unwrap().to_owned();
    std::fs::create_dir_all(std::path::Path::new(&log).parent().unwrap()).unwrap();
    std::fs::write(&log, "one\ntwo\nthree\n").unwrap();
    let ran = home.link(&["logs", "--local", "--limit", "2"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "two\nthree\n"), "{ran:?}");
}

#[test]
fn names_complete_at_once_or_not_at_all() {
    let (home, backend) = (Home::new(), Backend::start(app(Duration::ZERO)));
    log_in(&home, &backend);
    let complete = |home: &Home, words: &[&str]| {
        let words: Vec<&str> = ["complete", "--"].iter().chain(words).copied().collect();
        let ran = home.link(&words);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.stdout
    };
    assert_eq!(complete(&home, &["link", "device", "show", ""]), "attic\nworkstation\n");
    assert_eq!(complete(&home, &["link", "device", "show", "wo"]), "workstation\n");
    assert_eq!(complete(&home, &["link", "device", "list", "--select", "tag"]), "tag=lab\n");
    assert_eq!(complete(&home, &["link", "status", ""]), "");

    let slow = Backend::start(app(Duration::from_secs(20)));
    log_in(&home, &slow);
    let started = Instant::now();
    assert_eq!(complete(&home, &["link", "device", "show", ""]), "");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(complete(&Home::new(), &["link", "device", "show", ""]), "", "nobody is logged in");
}

#[test]
fn bash_completes_names_and_commands() {
    let (home, backend) = (Home::new(), Backend::start(app(Duration::ZERO)));
    log_in(&home, &backend);
    let script = home.file("completions.bash", &home.link(&["completions", "bash"]).stdout);
    symlink(env!("CARGO_BIN_EXE_link"), home.path("linkctl")).unwrap();
    let complete = |words: &str, word: &str| {
        let line = format!(
            "source {script}; COMP_WORDS=({words} '{word}'); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _link_names link '{word}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let ran = Command::new("bash")
            .args(["--norc", "-c", &line])
            .env_clear()
            .env("LINK_HOME", home.path(""))
            .env("PATH", format!("{}:/usr/bin:/bin", home.path("")))
            .output()
            .unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    assert_eq!(complete("link device show", "wo"), "workstation\n");
    assert_eq!(complete("link device", "sh"), "show\n");
    assert!(complete("link device show", "--js").contains("--json"));
}

fn app(wait: Duration) -> Router {
    let records = |RawQuery(query): RawQuery| async move {
        let _asked = query;
        let record = |number: u64, severity: &str, message: &str| {
            json!({
                "number": number, "received_at": format!("2026-10-01T12:00:0{}Z", number - 6),
                "severity": severity, "category": "other", "message": message,
            })
        };
        Json(json!({
            "items": [record(8, "error", "full"), record(7, "warning", "the engine ended")],
            "next_cursor": null,
        }))
    };
    let devices = move || async move {
        tokio::time::sleep(wait).await;
        Json(json!({
            "items": [device(1, "workstation"), device(2, "attic")], "next_cursor": null,
        }))
    };
    Router::new()
        .route("/api/v1/devices", get(devices))
        .route("/api/v1/devices/{id}/logs", get(records))
}

fn device(number: u32, name: &str) -> Value {
    json!({
        "device_id": id("dev", number), "name": name, "online": true, "status": "online",
        "agent_version": "1.3.0", "tags": ["lab"], "registered_at": "2026-10-01T00:00:00Z",
        "last_seen_at": null,
        "platform": { "os": "linux", "arch": "x86_64", "hostname": name },
    })
}
