//! Devices by a selection: lists, tags, and the states of commands.

use axum::{Json, Router, extract::RawQuery, routing::get};
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in};

#[test]
fn fleets_are_counted_by_state_and_version() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["fleet", "list"]);
    assert_eq!(
        ran.stdout,
        "TAG   DEVICES  ONLINE  UPDATING  OFFLINE  VERSIONS\n\
         desk  1        1       0         0        1.3.0 (1)\n\
         lab   2        1       0         1        1.2.0 (1), 1.3.0 (1)\n"
    );
    let ran = home.link(&["fleet", "show", "desk", "--json"]);
    assert_eq!(ran.stdout_json().as_array().unwrap().len(), 1);
    let ran = home.link(&["fleet", "show", "attic"]);
    assert_eq!((ran.code, ran.stderr.contains("no device has the tag `attic`")), (1, true));
}

#[test]
fn a_selection_goes_to_the_backend_and_a_faulty_one_is_named_before() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["device", "list", "--select", "tag=lab,version<1.3.0"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        backend.seen(),
        ["GET /api/v1/devices?select=tag%3Dlab%2Cversion%3C1.3.0&limit=200"]
    );
    let ran = home.link(&["device", "list", "--select", "tag=lab,state=asleep"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("term 2 of the selection, `state=asleep`"), "{ran:?}");
    let ran = home.link(&["device", "tag", "one", "lab"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "tags of one: lab, desk\n"), "{ran:?}");
}

#[test]
fn a_selection_of_no_device_is_an_empty_list_and_no_advice_to_register() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["device", "list", "--select", "tag=none"]);
    let shown = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
    assert_eq!(shown, (0, "no device matches the selection\n", ""));
    let ran = home.link(&["device", "list", "--search", "rack 7", "--select", "tag=none"]);
    assert_eq!(ran.stdout, "no device matches the selection and `rack 7`\n");
    assert!(
        backend
            .seen()
            .contains(&"GET /api/v1/devices?select=tag%3Dnone&q=rack%207&limit=200".to_owned())
    );
    let ran = home.link(&["device", "list", "--select", "tag=none", "--json"]);
    assert_eq!((ran.code, ran.stdout_json()), (0, json!([])));
}

#[test]
fn a_command_is_explained_in_words() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let command = id("cmd", 1);
    let ran = home.link(&["commands", "explain", &command]);
    assert_eq!(
        ran.stdout,
        format!(
            "repair serving to {}, delivered 2 times\n\nIt was delivered twice.\nWhy:  It is off.\n\
             Next: It expires.\n",
            id("dev", 1)
        )
    );
    let ran = home.link(&["commands", "list", "--open"]);
    assert!(ran.stdout.contains("succeeded") && ran.stdout.contains(&command), "{ran:?}");
    let ran = home.link(&["commands", "show", &command]);
    assert!(ran.stdout.contains("Output    restarted"), "{ran:?}");
}

fn device(number: u32, name: &str, online: bool, version: &str, tags: &[&str]) -> Value {
    json!({
        "device_id": id("dev", number), "name": name, "online": online, "status": "online",
        "agent_version": version, "tags": tags,
        "platform": { "os": "linux", "arch": "x86_64", "hostname": name },
        "registered_at": "2026-08-07T12:00:00Z", "last_seen_at": null,
    })
}

fn command() -> Value {
    json!({
        "command_id": id("cmd", 1), "type": "REPAIR_SERVING", "state": "processed",
        "model_id": id("mdl", 1), "device_id": id("dev", 1), "port": null,
        "created_at": "2026-08-07T12:00:00Z", "expires_at": "2026-08-08T12:00:00Z",
        "result": {
            "status": "succeeded", "output": "restarted", "reported_at": "2026-08-07T12:00:01Z",
        },
    })
}

fn app() -> Router {
    let devices = |RawQuery(query): RawQuery| async move {
        let one = device(1, "one", true, "1.3.0", &["lab", "desk"]);
        let two = device(2, "two", false, "1.2.0", &["lab"]);
        let is_none = query.is_some_and(|query| query.contains("none"));
        let items = if is_none { vec![] } else { vec![one, two] };
        Json(json!({ "items": items, "next_cursor": null }))
    };
    let change = || async { Json(device(1, "one", true, "1.3.0", &["lab", "desk"])) };
    let explanation = || async {
        Json(json!({
            "command": command(), "stage": "delivered", "deliveries": 2,
            "next_delivery_at": null, "device_online": false, "device_last_seen_at": null,
            "happened": "It was delivered twice.", "why": "It is off.", "next": "It expires.",
        }))
    };
    let commands = || async { Json(json!({ "items": [command()], "next_cursor": null })) };
    Router::new()
        .route("/api/v1/devices", get(devices))
        .route("/api/v1/devices/{id}", axum::routing::patch(change))
        .route("/api/v1/commands", get(commands))
        .route("/api/v1/commands/{id}", get(|| async { Json(command()) }))
        .route("/api/v1/commands/{id}/explanation", get(explanation))
}
