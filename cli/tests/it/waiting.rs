//! Commands that wait for a device: their output, and exit codes that distinguish a refusal, a failure and a timeout.

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
    routing::{delete, get, post},
};
use link_protocol::problem::Code;
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in, refuse};

#[test]
fn a_repair_waits_for_the_result_and_says_what_was_done() {
    let answers = vec![
        command("sent", None),
        command("processed", None),
        command("processed", Some(("succeeded", "serving again on port 8080 with 2 origins"))),
    ];
    let (home, backend) = ready(repairs(answers));
    let ran = home.link(&["repair-serving", "smollm", "--device", "box", "--wait"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stderr,
        "repair the serving of `smollm`: waiting for the device\n\
         repair the serving of `smollm`: the device is working\n\
         serving again on port 8080 with 2 origins\n"
    );
    let seen = backend.seen();
    let repair = format!("POST /api/v1/models/{}/repair-serving/{}", id("mdl", 1), id("dev", 1));
    assert!(seen.contains(&repair), "{seen:?}");
}

#[test]
fn a_repair_takes_a_port_and_ids() {
    let (home, backend) = ready(repairs(vec![command("sent", None)]));
    let (model, device) = (id("mdl", 1), id("dev", 1));
    let words = ["repair-serving", &model, "--device", &device, "--port", "8081", "--json"];
    let ran = home.link(&words);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout_json()["state"], "sent");
    let path = format!("POST /api/v1/models/{model}/repair-serving/{device}?port=8081");
    assert!(backend.seen().contains(&path));
}

#[test]
fn a_superseded_repair_names_the_newer_one_and_is_not_to_be_sent_again() {
    let newer = id("cmd", 2);
    let mut told = command("sent", Some(("superseded", &format!("superseded by {newer}"))));
    told["superseded_by"] = json!(newer);
    let (home, _backend) = ready(repairs(vec![command("sent", None), told]));
    let ran = home.link(&["repair-serving", "smollm", "--device", "box", "--wait"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains(&format!("a newer command, {newer}, replaced this one")),
        "{ran:?}"
    );
    assert!(ran.stderr.contains(&format!("link commands explain {newer}")), "{ran:?}");
    assert!(!ran.stderr.contains("run the command again"), "{ran:?}");
}

#[test]
fn a_superseded_repair_that_took_effect_all_the_same_says_so() {
    let newer = id("cmd", 2);
    let mut told = command("processed", Some(("succeeded", "repaired")));
    told["superseded_by"] = json!(newer);
    let (home, _backend) = ready(repairs(vec![command("sent", None), told]));
    let ran = home.link(&["repair-serving", "smollm", "--device", "box", "--wait"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("repaired") && ran.stderr.contains(&newer), "{ran:?}");
}

#[test]
fn a_repair_of_a_device_that_is_updated_says_what_will_happen() {
    let mut sent = command("sent", None);
    sent["note"] = json!("the device is being updated: it carries this out when it is done");
    let (home, _backend) = ready(repairs(vec![sent]));
    let ran = home.link(&["repair-serving", "smollm", "--device", "box"]);
    assert!(ran.code == 0 && ran.stderr.contains("the device is being updated"), "{ran:?}");
}

#[test]
fn a_failure_on_the_device_ends_with_1() {
    for (status, code) in [("failed", "command-failed"), ("rejected", "command-rejected")] {
        let result = Some((status, "port 8081 is in use by nginx"));
        let (home, _backend) = ready(repairs(vec![command("processed", result)]));
        let ran = home.link(&["repair-serving", "smollm", "--device", "box", "--wait", "--json"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        let error = ran.stderr_json();
        assert_eq!(error["error"], code);
        let wanted = format!(
            "the device could not repair the serving of `smollm` ({status}): port 8081 is in use by nginx"
        );
        assert_eq!(error["message"], wanted);
    }
}

#[test]
fn a_refusal_ends_with_77_and_gives_the_hint() {
    let offline = || async { refuse(Code::DeviceOffline, "device `box` is offline") };
    let path = "/api/v1/models/{model}/repair-serving/{device}";
    let (home, _backend) = ready(names().route(path, post(offline)));
    let ran = home.link(&["repair-serving", "smollm", "--device", "box", "--wait"]);
    assert_eq!(ran.code, 77);
    assert_eq!(
        ran.stderr,
        "error: device `box` is offline\n hint: retry when the device is online\n"
    );
}

#[test]
fn a_model_that_a_device_still_has_is_named_in_the_hint() {
    let used = || async { refuse(Code::ModelInUse, "the model is deployed on a device") };
    let (home, _backend) = ready(names().route("/api/v1/models/{model}", delete(used)));
    let ran = home.link(&["model", "delete", "smollm", "--yes"]);
    assert_eq!(ran.code, 77);
    assert!(ran.stderr.contains("`link model remove smollm --device DEVICE`"), "{ran:?}");
    assert!(ran.stderr.contains("`link model show smollm` lists the devices"), "{ran:?}");
}

#[test]
fn giving_up_ends_with_75() {
    let (home, _backend) = ready(repairs(vec![command("sent", None)]));
    let words = ["repair-serving", "smollm", "--device", "box", "--wait", "--timeout", "1s"];
    let ran = home.link(&words);
    assert_eq!(ran.code, 75, "{ran:?}");
    assert!(ran.stderr.contains("timed out after 1 s: repair the serving of `smollm`: waiting"));
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let (home, _backend) = ready(names());
    let ran = home.link(&["repair-serving", "smol", "--device", "box"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        "error: no model is called `smol`\n hint: there is: smollm; see `link model list`\n"
    );
}

// Holds: S8-4
#[test]
fn a_deployment_without_a_terminal_shows_lines_in_steps() {
    let (home, _backend) = ready(deployments(vec![
        deployment("queued", 0, None),
        deployment("downloading", 100, None),
        deployment("downloading", 101, None),
        deployment("downloading", 512, None),
        deployment("configuring", 1024, None),
        deployment("completed", 1024, None),
    ]));
    let ran = home.link(&["model", "deploy", "smollm", "--device", "box", "--wait"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stderr,
        format!(
            "queued\ndownloading 5 % (100 B of 1.02 kB)\ndownloading 50 % (512 B of 1.02 kB)\n\
             configuring\ndeployed `smollm` to {}: alias smollm, port 8080\n",
            id("dev", 1)
        )
    );
}

#[test]
fn ctrl_c_leaves_the_deployment_running_and_says_how_to_cancel_it() {
    let (home, backend) = ready(deployments(vec![deployment("downloading", 100, None)]));
    let mut waiting = Command::new(env!("CARGO_BIN_EXE_link"))
        .args(["model", "deploy", "smollm", "--device", "box", "--wait"])
        .env_clear()
        .env("LINK_HOME", home.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command listens to Ctrl-C before it reads the deployment for the first time.
    let read = format!("GET /api/v1/deployments/{}", id("dep", 1));
    let began = Instant::now();
    while !backend.seen().contains(&read) {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not read the deployment");
        std::thread::sleep(Duration::from_millis(20));
    }
    let killed = Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(waiting.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut waiting.stderr.take().unwrap(), &mut said).unwrap();
    let told = "error: stopped waiting; the deployment continues\n \
                hint: to cancel it, run `link model cancel smollm --device box`\n";
    assert!(said.ends_with(told), "{said}");
    let seen = backend.seen();
    assert!(!seen.iter().any(|line| line.contains("cancel")), "{seen:?}");
}

#[test]
fn a_failed_deployment_gives_its_reason() {
    let failed = deployment("failed", 0, Some("the disk is full"));
    let (home, _backend) = ready(deployments(vec![failed]));
    let ran = home.link(&["model", "deploy", "smollm", "--device", "box", "--wait", "--json"]);
    assert_eq!(ran.code, 1);
    let error = ran.stderr_json();
    assert_eq!(error["error"], "deployment-failed");
    assert_eq!(error["message"], "the deployment failed: the disk is full");
    let again = "link model deploy smollm --device box --wait";
    assert_eq!(error["hint"], format!("correct the cause, then run `{again}`"));
}

#[test]
fn an_update_of_a_device_waits_until_the_version_takes_over() {
    let update = |state, result| {
        let mut command = command(state, result);
        command["type"] = json!("UPDATE_AGENT");
        command["model_id"] = Value::Null;
        command
    };
    let output = "version 1.4.0 is verified and checked, and takes over now";
    let (home, _backend) = ready(updates(vec![
        update("sent", None),
        update("processed", None),
        update("processed", Some(("succeeded", output))),
    ]));
    let ran = home.link(&["device", "update", "box", "--to", "1.4.0", "--wait"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stderr,
        format!(
            "update to 1.4.0: waiting for the device\nupdate to 1.4.0: the device is working\n\
             {output}\n"
        )
    );

    let (home, backend) = ready(updates(vec![update("sent", None)]));
    let ran = home.link(&["device", "update", &id("dev", 1), "--to", "1.4.0", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout_json()["type"], "UPDATE_AGENT");
    assert_eq!(backend.seen(), [format!("POST /api/v1/devices/{}/update", id("dev", 1))]);
    for wrong in [&["device", "update", "box"][..], &["device", "update", "box", "--to", "new"]] {
        assert_eq!(home.link(wrong).code, 2, "{wrong:?}");
    }
    assert!(backend.seen().is_empty(), "nobody was asked");
}

#[test]
fn an_update_that_the_device_declines_ends_with_1() {
    let why = "declined: there is no release 8.8.8 to install";
    let declined = command("processed", Some(("rejected", why)));
    let (home, _backend) = ready(updates(vec![declined]));
    let ran = home.link(&["device", "update", "box", "--to", "8.8.8", "--wait", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let error = ran.stderr_json();
    assert_eq!(error["error"], "command-rejected");
    assert_eq!(error["message"], format!("the device could not update to 8.8.8 (rejected): {why}"));
}

#[test]
fn the_last_update_of_a_device_is_shown() {
    let shown = |update: Value| {
        let mut device = device();
        device["last_update"] = update;
        let path = "/api/v1/devices/{device}";
        let (home, _backend) = ready(names().route(path, get(|| async { Json(device) })));
        home.link(&["device", "show", "box"]).stdout
    };
    let committed = json!({"from": "1.3.0", "to": "1.4.0", "outcome": "committed"});
    assert!(shown(committed).contains("\nLast update 1.3.0 to 1.4.0, committed\n"));
    let why = "it ended within its trial";
    let back = json!({"from": "1.3.0", "to": "1.4.0", "outcome": "rolled_back", "reason": why});
    assert!(shown(back).contains(&format!("\nLast update 1.3.0 to 1.4.0, rolled back: {why}\n")));
    assert!(!shown(Value::Null).contains("Last update"));
}

#[test]
fn what_a_model_does_on_a_device_is_shown() {
    for (state, serving, shown) in [
        ("downloading", None, "downloading"),
        ("completed", None, "deployed"),
        ("completed", Some("serving"), "serving"),
        ("completed", Some("not_serving"), "not serving"),
        ("completed", Some("removed"), "removed"),
        ("failed", None, "failed"),
        ("failed", Some("serving"), "failed, still serving"),
    ] {
        let mut deployment = deployment(state, 0, None);
        if let Some(state) = serving {
            let is_serving = state == "serving";
            deployment["serving"] =
                json!({"state": state, "is_serving": is_serving, "port": 8080, "detail": null});
        }
        let listed = json!({"items": [deployment], "next_cursor": null});
        let path = "/api/v1/deployments";
        let (home, _backend) = ready(names().route(path, get(|| async { Json(listed) })));
        let table = home.link(&["model", "show", "smollm"]).stdout;
        let row = table.lines().last().unwrap_or_default();
        let words: Vec<_> =
            row.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
        assert_eq!(words[1], shown, "{table}");
    }
}

#[test]
fn how_busy_a_device_is_is_shown() {
    let shown = |system: Value| {
        let mut device = device();
        device["system"] = system;
        let path = "/api/v1/devices/{device}";
        let (home, _backend) = ready(names().route(path, get(|| async { Json(device) })));
        home.link(&["device", "show", "box"]).stdout
    };
    let least = json!({
        "reported_at": "2026-11-21T00:00:00Z", "cpu_percent": 12.5, "cpu_count": 8,
        "memory": { "used_bytes": 3_000_000_000u64, "total_bytes": 16_000_000_000u64 },
        "agent": { "cpu_percent": 0.1, "memory_bytes": 7_000_000 },
    });
    assert_eq!(
        shown(least.clone()).lines().skip(7).collect::<Vec<_>>(),
        [
            "Sampled     2026-11-21T00:00:00Z",
            "Processor   12.5 % of 8",
            "Memory      3.00 GB of 16.00 GB",
            "Agent uses  0.1 % of a processor, 7.00 MB",
        ]
    );
    let mut most = least;
    most["load_1m"] = json!(1.25);
    most["temperature_celsius"] = json!(54.5);
    most["disk"] = json!({
        "used_bytes": 2_000_000_000u64, "free_bytes": 5_000_000_000u64, "total_bytes": 8_000_000_000u64
    });
    most["gpus"] = json!([
        {
            "name": "NVIDIA L4\u{9b}2J", "utilisation_percent": 45.0, "memory_used_bytes": 1_000_000_000u64,
            "memory_total_bytes": 24_000_000_000u64, "temperature_celsius": 61.0,
        },
        { "name": "AMD GPU 0x164e" },
    ]);
    let engine = id("mdl", 1);
    most["engines"] = json!([
        { "model_id": engine, "pid": 4711, "cpu_percent": 230.0, "memory_bytes": 4_000_000_000u64 },
    ]);
    let most = shown(most);
    for line in [
        "Processor   12.5 % of 8, load 1.25, 54.5 °C",
        "Disk        3.00 GB of 8.00 GB, 5.00 GB free",
        "GPU         NVIDIA L4\u{fffd}2J: 45 %, 1.00 GB of 24.00 GB, 61 °C",
        "GPU         AMD GPU 0x164e",
        &format!("Engine      {engine}: 230 % of a processor, 4.00 GB, process 4711"),
    ] {
        assert!(most.lines().any(|shown| shown == line), "{line}:\n{most}");
    }
    assert!(!shown(Value::Null).contains("Sampled"));
}

fn ready(app: Router) -> (Home, Backend) {
    let (home, backend) = (Home::new(), Backend::start(app));
    log_in(&home, &backend);
    (home, backend)
}

/// A backend with the model `smollm` and the device `box`.
fn names() -> Router {
    let time = "2026-11-21T00:00:00Z";
    let model = json!({
        "model_id": id("mdl", 1), "name": "smollm", "file_name": "m.gguf", "url": null,
        "sha256": null, "size_bytes": 1024, "plugin": "language_model", "shared": false,
        "ready": true, "owned": true, "created_at": time,
    });
    let (device, one) = (device(), model.clone());
    let list = |item: Value| async move { Json(json!({"items": [item], "next_cursor": null})) };
    Router::new()
        .route("/api/v1/models", get(move || list(model.clone())))
        .route("/api/v1/models/{model}", get(move || async move { Json(one) }))
        .route("/api/v1/devices", get(move || list(device.clone())))
}

fn device() -> Value {
    json!({
        "device_id": id("dev", 1), "name": "box", "online": true, "status": "online",
        "agent_version": "1.3.0", "platform": {"os": "linux", "arch": "x86_64", "hostname": "box"},
        "registered_at": "2026-11-21T00:00:00Z", "last_seen_at": null,
    })
}

/// Returns the answers in turn. The last answer repeats.
fn in_turn(answers: Vec<Value>) -> impl Fn() -> Json<Value> + Clone {
    let next = Arc::new(AtomicUsize::new(0));
    move || {
        let index = next.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
        Json(answers[index].clone())
    }
}

fn repairs(answers: Vec<Value>) -> Router {
    let first = in_turn(answers);
    let then = first.clone();
    names()
        .route(
            "/api/v1/models/{model}/repair-serving/{device}",
            post(move || async move { (axum::http::StatusCode::ACCEPTED, first()) }),
        )
        .route("/api/v1/commands/{command}", get(move || async move { then() }))
}

fn updates(answers: Vec<Value>) -> Router {
    let first = in_turn(answers);
    let then = first.clone();
    names()
        .route(
            "/api/v1/devices/{device}/update",
            post(move || async move { (axum::http::StatusCode::ACCEPTED, first()) }),
        )
        .route("/api/v1/commands/{command}", get(move || async move { then() }))
}

fn deployments(answers: Vec<Value>) -> Router {
    let first = in_turn(answers);
    let then = first.clone();
    names()
        .route("/api/v1/deployments", post(move || async move { first() }))
        .route("/api/v1/deployments/{deployment}", get(move || async move { then() }))
}

fn command(state: &str, result: Option<(&str, &str)>) -> Value {
    let mut command = json!({
        "command_id": id("cmd", 1), "type": "REPAIR_SERVING", "state": state,
        "model_id": id("mdl", 1), "device_id": id("dev", 1), "port": null,
        "created_at": "2026-11-21T00:00:00Z", "expires_at": "2026-11-22T00:00:00Z",
    });
    if let Some((status, output)) = result {
        let reported = "2026-11-21T00:00:01Z";
        command["result"] = json!({"status": status, "output": output, "reported_at": reported});
    }
    command
}

fn deployment(state: &str, done: u64, reason: Option<&str>) -> Value {
    let time = "2026-11-21T00:00:00Z";
    json!({
        "deployment_id": id("dep", 1), "model_id": id("mdl", 1), "device_id": id("dev", 1),
        "command_id": id("cmd", 1), "alias": "smollm", "port": 8080, "state": state,
        "reason": reason, "progress": {"bytes_done": done, "bytes_total": 1024},
        "allowlist_digest": "", "stale": false, "current": true, "serving": null,
        "created_at": time, "updated_at": time,
    })
}
