//! The main tables at every width of a terminal and in a pipe, as one golden file.
//!
//! Times of the test are either so old that a terminal shows a date, or some hours ago, which the golden file holds as a
//! fixed time.

use axum::{Json, Router, routing::get};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    status::agent_at,
    support::{Backend, Home, log_in, register},
    terminal::at_a_terminal,
};

const OLD: &str = "2020-01-31T12:00:00Z";
const RECENT: &str = "2026-10-01T12:00:00Z";

#[test]
fn the_main_tables_are_the_committed_ones() {
    let recent = Timestamp::now() - SignedDuration::from_secs(9000);
    let recent = recent.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let (home, backend) = (Home::new(), Backend::start(app(&recent)));
    log_in(&home, &backend);
    register(&home);
    let _agent = agent_at(&home, "connected", "stable");
    let operation = format!("operation show {}", id("op", 1));
    let commands = [
        "device list",
        "model list",
        "audit",
        "commands list",
        "operation list",
        &operation,
        "fleet list",
        "key list",
        "status",
    ];
    let mut seen = String::new();
    for words in commands {
        for columns in [60, 100, 200] {
            let shown = without_service(&at_a_terminal(&home, columns, words, ""));
            assert!(!shown.contains('\u{1b}'), "{shown:?}");
            seen.push_str(&format!("$ link {words} # {columns} columns\n{shown}\n"));
        }
        let words: Vec<&str> = words.split(' ').collect();
        let ran = home.link(&words);
        assert_eq!(ran.code, 0, "{ran:?}");
        let shown = without_service(&ran.stdout).replace(&recent, RECENT);
        seen.push_str(&format!("$ link {} | cat\n{shown}\n", words.join(" ")));
    }
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/golden/tables.txt");
    if std::env::var_os("LINK_UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, &seen).unwrap();
    }
    let committed = std::fs::read_to_string(golden).unwrap_or_default();
    assert_eq!(seen, committed, "run with LINK_UPDATE_GOLDEN=1 if the change is meant");
}

/// Leaves out the line of `link status` that depends on the machine.
fn without_service(shown: &str) -> String {
    shown.split_inclusive('\n').filter(|line| !line.starts_with("Service  ")).collect()
}

fn app(recent: &str) -> Router {
    let operations = vec![
        operation(1, recent, &json!({ "kind": "deploy", "model_id": id("mdl", 1) })),
        operation(2, OLD, &json!({ "kind": "update", "version": "1.4.0" })),
        operation(3, OLD, &json!({ "kind": "tag", "tags": ["lab", "second-floor"] })),
    ];
    let shown = operations[0].clone();
    Router::new()
        .route("/api/v1/devices", list(devices(recent)))
        .route("/api/v1/models", list(models()))
        .route("/api/v1/members", list(members()))
        .route("/api/v1/audit", list(entries(recent)))
        .route("/api/v1/commands", list(sent(recent)))
        .route("/api/v1/keys", list(keys()))
        .route("/api/v1/operations", list(operations))
        .route("/api/v1/operations/{id}", get(|| async { Json(shown) }))
        .route("/api/v1/operations/{id}/devices", list(results(recent)))
}

/// Returns an id that differs from others in its first characters, as the ids of objects do.
fn id(prefix: &str, number: u16) -> String {
    format!("{prefix}_{number:04x}{:028x}", 0)
}

fn list(items: Vec<Value>) -> axum::routing::MethodRouter {
    let page = json!({ "items": items, "next_cursor": null });
    get(|| async { Json(page) })
}

fn devices(recent: &str) -> Vec<Value> {
    let device = |number, name: &str, online: bool, seen: Option<&str>, tags: &[&str]| {
        json!({
            "device_id": id("dev", number), "name": name, "online": online, "status": "online",
            "agent_version": if online { "1.4.0" } else { "1.3.0" }, "tags": tags,
            "platform": { "os": "linux", "arch": "x86_64", "hostname": name },
            "registered_at": OLD, "last_seen_at": seen,
        })
    };
    vec![
        device(1, "workstation", true, Some(recent), &["lab", "second-floor"]),
        device(2, "büro-größe 🦀 with a long name", false, Some(OLD), &["lab"]),
        device(0x10, "new", false, None, &[]),
    ]
}

fn models() -> Vec<Value> {
    let model = |number, name: &str, owned: bool, ready: bool| {
        json!({
            "model_id": id("mdl", number), "name": name, "file_name": "m.gguf", "url": null,
            "sha256": null, "size_bytes": ready.then_some(271_000_000), "shared": !owned,
            "plugin": "language_model", "ready": ready, "owned": owned,
            "publisher": if owned { "ada" } else { "example-lab" }, "created_at": OLD,
        })
    };
    vec![
        model(1, "smollm2-360m-instruct", true, true),
        model(2, "qwen2.5-coder-32b-instruct-q4", false, true),
        model(3, "half-uploaded", true, false),
    ]
}

fn members() -> Vec<Value> {
    let email = "ada@example.com";
    vec![json!({ "user_id": id("usr", 1), "email": email, "role": "owner", "joined_at": OLD })]
}

fn entries(recent: &str) -> Vec<Value> {
    let entry = |at: &str, kind: &str, who: Option<String>, action: &str, on: String, why: &str| {
        json!({
            "entry_id": id("aud", 1), "at": at, "actor": { "kind": kind, "id": who },
            "action": action, "subject": on, "address": who.is_some().then_some("192.0.2.7"),
            "outcome": if kind == "token" { "refused" } else { "done" }, "detail": why,
        })
    };
    let ada = Some(id("usr", 1));
    vec![
        entry(recent, "user", ada, "device.update", id("dev", 1), ""),
        entry(OLD, "system", None, "operation.end", id("op", 2), "3 devices of 40 have failed"),
        entry(OLD, "token", Some(id("pat", 1)), "model.delete", id("mdl", 9), "a scope is missing"),
    ]
}

fn sent(recent: &str) -> Vec<Value> {
    let command = |number, kind: &str, state: &str, at: &str, device| {
        json!({
            "command_id": id("cmd", number), "type": kind, "state": state, "port": null,
            "model_id": id("mdl", 1), "device_id": id("dev", device), "created_at": at,
            "expires_at": at, "result": null,
        })
    };
    vec![
        command(1, "REPAIR_SERVING", "sent", recent, 1),
        command(2, "UPDATE_AGENT", "expired", OLD, 9),
    ]
}

fn keys() -> Vec<Value> {
    let key = |number, kind: &str, name: &str, expires: Option<&str>, most: Option<u32>| {
        json!({
            "key_id": id("key", number), "kind": kind, "name": name, "created_at": OLD,
            "expires_at": expires, "max_devices": most, "devices": 1, "tags": [],
            "revoked": false, "created_by": id("usr", 1),
        })
    };
    vec![
        key(1, "fleet", "second floor of the laboratory", None, Some(40)),
        key(2, "registration", "spare", Some(OLD), None),
    ]
}

fn operation(number: u16, at: &str, work: &Value) -> Value {
    json!({
        "operation_id": id("op", number), "work": work, "select": "tag=lab", "state": "failed",
        "devices": 2, "created_at": at, "ended_at": at,
        "counts": {
            "pending": 0, "sent": 0, "succeeded": 1, "failed": 1, "skipped": 0, "cancelled": 0,
        },
        "requested_by": { "kind": "user", "id": id("usr", 1) },
    })
}

fn results(recent: &str) -> Vec<Value> {
    let result = |number, name: &str, state: &str, code: Option<&str>, detail: &str| {
        json!({
            "device_id": id("dev", number), "name": name, "state": state, "attempts": 1,
            "code": code, "detail": detail, "updated_at": recent,
        })
    };
    let why = "the device has been offline since the operation began";
    vec![
        result(1, "workstation", "succeeded", None, "deployed"),
        result(2, "büro-größe 🦀 with a long name", "failed", Some("device-offline"), why),
    ]
}
