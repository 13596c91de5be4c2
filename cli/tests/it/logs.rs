//! `link logs`.

use std::time::Duration;

use axum::{Json, Router, extract::RawQuery, routing::get};
use serde_json::json;

use crate::{
    completion,
    support::{Backend, Home, id, log_in},
};

#[test]
fn logs_are_printed_oldest_first_and_filtered_by_the_backend() {
    let (home, backend) = (Home::new(), Backend::start(app()));
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
fn local_logs_are_merged_by_time_and_filtered() {
    let home = Home::new();
    let ran = home.link(&["logs", "--local"]);
    assert!(ran.code == 1 && ran.stderr.contains("there is no log yet"), "{ran:?}");
    let agent = "\
        2026-10-01T12:00:00Z  INFO link_agent: starting\n\
        2026-10-01T12:00:02Z  WARN link_agent: slow request=req_7\n\
        caused by: a full queue\n\
        half a line";
    home.file("state/logs/agent.log", agent);
    let pipeline = id("pip", 2);
    home.file(&format!("state/logs/{pipeline}.log"), "2026-10-01T12:00:01Z loading\u{1b}[2J\n");
    // A full log, which the engine's supervisor has put aside.
    home.file(&format!("state/logs/{pipeline}.log.1"), "2026-10-01T11:59:59Z earlier\n");

    let ran = home.link(&["logs", "--local"]);
    let wanted = format!(
        "2026-10-01T11:59:59.000Z info     {pipeline}  earlier\n\
         2026-10-01T12:00:00.000Z info     agent  link_agent: starting\n\
         2026-10-01T12:00:01.000Z info     {pipeline}  loading\u{fffd}[2J\n\
         2026-10-01T12:00:02.000Z warning  agent  link_agent: slow request=req_7\n\
         2026-10-01T12:00:02.000Z warning  agent  caused by: a full queue\n\
         2026-10-01T12:00:02.000Z warning  agent  half a line\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, wanted.as_str()), "{ran:?}");
    let count = |words: &[&str]| {
        let ran = home.link(&[&["logs", "--local", "--json"], words].concat());
        ran.stdout_json().as_array().unwrap().len()
    };
    assert_eq!(count(&["--severity", "warning"]), 3);
    assert_eq!(count(&["--request", "req_7"]), 1);
    assert_eq!(count(&["--model", &pipeline]), 2);
    assert_eq!(count(&["--limit", "3"]), 3);
    let ran = home.link(&["logs", "--local", "--model", "nobody"]);
    assert_eq!(ran.stdout, "no matching lines\n");
    let ran = home.link(&["logs", "--request", "req_7"]);
    assert!(ran.code == 2 && ran.stderr.contains("--local"), "{ran:?}");
}

fn app() -> Router {
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
    completion::app(Duration::ZERO).route("/api/v1/devices/{id}/logs", get(records))
}
