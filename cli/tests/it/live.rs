//! Output that goes on: `--watch`, `--follow`, and a table that is longer than the screen.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use axum::{Json, Router, routing::get};
use serde_json::{Value, json};

use crate::{
    support::{Backend, Home, id, log_in},
    terminal::at_a_terminal,
};

#[test]
fn a_watched_list_is_printed_again_after_each_change_and_ends_with_its_reader() {
    let (home, backend) = (Home::new(), Backend::start(app(2)));
    log_in(&home, &backend);
    let mut watch = Follower::start(&home, &["device", "list", "--watch", "--json"]);
    // The answers of the backend: two devices twice, then two others.
    let counts: Vec<usize> =
        [watch.next(), watch.next()].iter().map(|list| list.as_array().unwrap().len()).collect();
    assert_eq!(counts, [2, 2]);
    watch.ends_with_its_reader();
}

#[test]
fn followed_logs_print_each_record_once_and_end_with_their_reader() {
    let (home, backend) = (Home::new(), Backend::start(app(1)));
    log_in(&home, &backend);
    let mut follow = Follower::start(&home, &["logs", "device-1-1", "--follow", "--json"]);
    let numbers: Vec<Value> = (0..4).map(|_| follow.next()["number"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3, 4], "oldest first, none twice");
    follow.ends_with_its_reader();
}

#[test]
fn a_table_longer_than_the_screen_goes_through_the_pager_and_a_pipe_does_not() {
    let (home, backend) = (Home::new().with("PAGER", "sed s/^/paged:/"), Backend::start(app(80)));
    log_in(&home, &backend);
    let shown = at_a_terminal(&home, 100, "device list", "");
    assert!(shown.lines().filter(|line| line.starts_with("paged:")).count() > 80, "{shown}");
    let piped = home.link(&["device", "list"]);
    assert!(!piped.stdout.contains("paged:"), "{piped:?}");

    let (home, backend) = (Home::new().with("PAGER", "sed s/^/paged:/"), Backend::start(app(2)));
    log_in(&home, &backend);
    let shown = at_a_terminal(&home, 100, "device list", "");
    assert!(shown.contains("device-1-2") && !shown.contains("paged:"), "it fits: {shown}");
}

/// A command that prints documents, one on each line, until it is stopped.
struct Follower {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Follower {
    fn start(home: &Home, words: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_link"))
            .args(words)
            .env_clear()
            .env("LINK_HOME", home.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    /// Closes the output as `head` does: the command ends with the next line, and without an error.
    fn ends_with_its_reader(mut self) {
        drop(self.lines);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// A backend with `count` devices, which have other names after every second question, and with one
/// more log record at each question.
fn app(count: u32) -> Router {
    let asked = Arc::new(AtomicU32::new(0));
    let devices = move || {
        let turn = asked.fetch_add(1, Ordering::Relaxed) / 2 + 1;
        let devices: Vec<Value> = (1..=count).map(|number| device(turn, number)).collect();
        async move { Json(json!({ "items": devices, "next_cursor": null })) }
    };
    let written = Arc::new(AtomicU32::new(1));
    let records = move || {
        let newest = written.fetch_add(1, Ordering::Relaxed) + 1;
        let records: Vec<Value> = (1..=newest).rev().map(record).collect();
        async move { Json(json!({ "items": records, "next_cursor": null })) }
    };
    Router::new()
        .route("/api/v1/devices", get(devices))
        .route("/api/v1/devices/{id}/logs", get(records))
}

fn device(turn: u32, number: u32) -> Value {
    json!({
        "device_id": id("dev", number), "name": format!("device-{turn}-{number}"), "online": true,
        "status": "online", "agent_version": "1.3.0", "tags": ["lab"],
        "registered_at": "2026-10-01T00:00:00Z", "last_seen_at": null,
        "platform": { "os": "linux", "arch": "x86_64", "hostname": "host" },
    })
}

fn record(number: u32) -> Value {
    json!({
        "number": number, "received_at": "2026-10-01T12:00:00Z", "severity": "info",
        "category": "other", "message": format!("record {number}"),
    })
}
