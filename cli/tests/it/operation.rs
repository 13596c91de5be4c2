//! Operations on many devices: `--select` starts one, and `link operation` follows, cancels and retries it.

use std::{
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    extract::RawQuery,
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use link_protocol::problem::Code;
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in, refuse};

#[test]
fn one_line_for_each_device_and_how_to_send_it_again() {
    let (home, backend) = (Home::new(), Backend::start(app(2)));
    log_in(&home, &backend);
    let ran = home.link(&["repair-serving", &id("mdl", 1), "--select", "tag=lab", "--wait"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let (one, two) = (id("dev", 1), id("dev", 2));
    assert_eq!(
        ran.stdout,
        format!(
            "DEVICE  RESULT                   DETAIL                 ID\n\
             one     succeeded                restarted              {one}\n\
             two     failed (device-offline)  the device is offline  {two}\n"
        )
    );
    let operation = id("op", 1);
    assert!(
        ran.stderr.starts_with(&format!("operation {operation}: repair on 2 devices\n")),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("repair: failed on 1 device of 2"), "{ran:?}");
    let hint = format!("send it again with `link operation retry {operation}`\n");
    assert!(ran.stderr.ends_with(&hint), "{ran:?}");
    let seen = backend.seen();
    assert_eq!(seen.iter().filter(|line| line.contains("repair-serving")).count(), 0, "{seen:?}");
    assert_eq!(seen.iter().filter(|line| line.starts_with("POST")).count(), 1, "{seen:?}");
}

#[test]
fn every_verb_that_names_a_device_takes_a_selection() {
    let (home, backend) = (Home::new(), Backend::start(app(2)));
    log_in(&home, &backend);
    let model = id("mdl", 1);
    let verbs: [&[&str]; 10] = [
        &["model", "deploy", &model, "--serve"],
        &["model", "serve", &model],
        &["model", "stop", &model],
        &["model", "remove", &model],
        &["repair-serving", &model],
        &["device", "update", "--to", "1.4.0"],
        &["device", "tag", "blue"],
        &["device", "tag", "blue", "green"],
        &["device", "untag", "blue"],
        &["device", "rename", "lab-{n}"],
    ];
    for verb in verbs {
        let ran = home.link(&[verb, &["--select", "tag=lab"]].concat());
        assert_eq!((ran.code, ran.stdout.trim()), (0, id("op", 1).as_str()), "{verb:?} {ran:?}");
        let how = format!("cancel it with `link operation cancel {}`\n", id("op", 1));
        assert!(ran.stderr.ends_with(&how), "{ran:?}");
        let ran = home.link(&[verb, &["--select", "tag=attic"]].concat());
        assert_eq!(ran.code, 1, "{verb:?} {ran:?}");
        assert!(ran.stderr.contains("no device matches `tag=attic`"), "{ran:?}");
        let ran = home.link(&[verb, &["--select", "tag=lab", "--dry-run"]].concat());
        assert_eq!(ran.code, 0, "{verb:?} {ran:?}");
        assert!(ran.stdout.contains("one     offline"), "{ran:?}");
    }
    let ran = home.link(&["model", "stop", &model, "--device", "one", "--select", "tag=lab"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(home.link(&["device", "tag", "one"]).code, 2);
    assert_eq!(home.link(&["device", "rename", "one"]).code, 2);
    let both = ["device", "rename", "one", "two", "--select", "tag=lab"];
    assert_eq!(home.link(&both).code, 2, "a pattern and a name");
    assert_eq!(home.link(&["device", "update", "--to", "1.4.0"]).code, 2);
}

#[test]
fn a_wait_that_times_out_says_how_many_are_done() {
    let (home, backend) = (Home::new(), Backend::start(app(usize::MAX)));
    log_in(&home, &backend);
    let stop = ["model", "stop", &id("mdl", 1), "--select", "tag=lab"];
    let ran = home.link(&[&stop[..], &["--wait", "--timeout", "1s"]].concat());
    assert_eq!(ran.code, 75, "{ran:?}");
    assert!(ran.stderr.contains("1 of 2 devices done"), "{ran:?}");
    assert!(ran.stderr.contains("link operation wait"), "{ran:?}");
}

#[test]
fn ctrl_c_leaves_the_operation_running_and_says_so() {
    let (home, backend) = (Home::new(), Backend::start(app(usize::MAX)));
    log_in(&home, &backend);
    let mut waiting = Command::new(env!("CARGO_BIN_EXE_link"))
        .args(["operation", "wait", &id("op", 1)])
        .env_clear()
        .env("LINK_HOME", home.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    // The command reads the operation once before it listens to Ctrl-C, and again while it does.
    let (read, mut reads) = (format!("GET /api/v1/operations/{}", id("op", 1)), 0);
    while reads < 2 {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "it has read the operation {reads} times"
        );
        std::thread::sleep(Duration::from_millis(20));
        reads += backend.seen().iter().filter(|line| line.starts_with(&read)).count();
    }
    let killed = Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(waiting.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut waiting.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains(&format!("operation {} continues", id("op", 1))), "{said}");
    assert!(said.contains("link operation cancel"), "{said}");
}

#[test]
fn operations_are_listed_shown_cancelled_and_retried() {
    let (home, backend) = (Home::new(), Backend::start(app(0)));
    log_in(&home, &backend);
    let operation = id("op", 1);
    let ran = home.link(&["operation", "list"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("1 succeeded, 1 failed") && ran.stdout.contains(&operation),
        "{ran:?}"
    );
    let ran = home.link(&["operation", "show", &operation]);
    assert!(ran.stdout.contains("State      failed: 1 succeeded, 1 failed"), "{ran:?}");
    assert!(ran.stdout.contains("failed (device-offline)"), "{ran:?}");
    let beginning = &operation[..operation.len() - 1];
    for verb in ["show", "cancel", "retry"] {
        assert_eq!(home.link(&["operation", verb, beginning]).code, 0, "{verb}");
    }
    let ran = home.link(&["operation", "show", "op_7"]);
    assert!(ran.stderr.contains("no operation has an id that begins with `op_7`"), "{ran:?}");
    let ran = home.link(&["operation", "show", &operation, "--state", "failed", "--json"]);
    assert_eq!(ran.stdout_json()["devices"].as_array().unwrap().len(), 1, "{ran:?}");
    let ran = home.link(&["operation", "cancel", &operation]);
    assert!(ran.stderr.contains("sends no further command"), "{ran:?}");
    let ran = home.link(&["operation", "retry", &operation]);
    assert!(ran.code == 0 && ran.stderr.contains("link operation wait"), "{ran:?}");
    let ran = home.link(&["operation", "wait", &operation, "--json"]);
    assert_eq!((ran.code, ran.stderr_json()["error"].clone()), (1, json!("some-failed")));
    assert_eq!(ran.stdout_json()["operation"]["counts"]["failed"], 1);
    assert_eq!(home.link(&["operation", "show", &operation, "--state", "asleep"]).code, 2);
}

fn operation(is_over: bool) -> Value {
    let (state, open) = if is_over { ("failed", 0) } else { ("running", 1) };
    json!({
        "operation_id": id("op", 1), "work": { "kind": "repair", "model_id": id("mdl", 1) },
        "select": "tag=lab", "state": state, "devices": 2,
        "counts": {
            "pending": 0, "sent": open, "succeeded": 1, "failed": 1 - open, "skipped": 0,
            "cancelled": 0,
        },
        "requested_by": { "kind": "user", "id": id("usr", 1) },
        "created_at": "2026-08-07T12:00:00Z", "ended_at": null,
    })
}

/// A backend whose operation has ended after `looks` reads.
fn app(looks: usize) -> Router {
    let seen = Arc::new(AtomicUsize::new(0));
    let model = || async {
        Json(json!({
            "model_id": id("mdl", 1), "name": "smollm", "file_name": "smollm.gguf", "url": null,
            "sha256": null, "size_bytes": null, "plugin": "language_model", "shared": false,
            "ready": true, "owned": true, "created_at": "2026-08-07T12:00:00Z",
        }))
    };
    let create = |Json(wish): Json<Value>| async move {
        if wish["select"] == "tag=attic" {
            return refuse(Code::NothingSelected, "no device fits");
        }
        let mut made = operation(false);
        made["work"] = wish["work"].clone();
        if wish["dry_run"] == true {
            let first = json!({ "device_id": id("dev", 1), "name": "one", "online": false });
            let plan = json!({ "work": wish["work"], "devices": 1, "first": [first] });
            return Json(plan).into_response();
        }
        let answer: Response = (StatusCode::ACCEPTED, Json(made)).into_response();
        answer
    };
    let read = move || {
        let seen = Arc::clone(&seen);
        async move { Json(operation(seen.fetch_add(1, Ordering::SeqCst) >= looks)) }
    };
    let devices = |RawQuery(query): RawQuery| async move {
        let item = |number, name: &str, state: &str, code: Option<&str>, detail: &str| {
            json!({
                "device_id": id("dev", number), "name": name, "state": state, "attempts": 1,
                "code": code, "detail": detail, "updated_at": "2026-08-07T12:00:00Z",
            })
        };
        let mut items = vec![
            item(1, "one", "succeeded", None, "restarted"),
            item(2, "two", "failed", Some("device-offline"), "the device is offline"),
        ];
        if query.unwrap_or_default().contains("state=failed") {
            items.remove(0);
        }
        Json(json!({ "items": items, "next_cursor": null }))
    };
    let list = || async { Json(json!({ "items": [operation(true)], "next_cursor": null })) };
    let act = || async { (StatusCode::ACCEPTED, Json(operation(false))) };
    Router::new()
        .route("/api/v1/models/{id}", get(model))
        .route("/api/v1/operations", post(create).get(list))
        .route("/api/v1/operations/{id}", get(read))
        .route("/api/v1/operations/{id}/devices", get(devices))
        .route("/api/v1/operations/{id}/cancel", post(act))
        .route("/api/v1/operations/{id}/retry", post(act))
}
