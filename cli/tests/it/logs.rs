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
