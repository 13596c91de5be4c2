//! `link status` with an agent whose answers the test sets, at the socket of a home.

use axum::{Json, Router, routing::get};
use serde_json::{Value, json};

use crate::support::{Agent, Backend, Home, id, register};

// Holds: S9-5
#[test]
fn a_healthy_agent_is_shown_with_its_models_and_deployments() {
    let (home, _agent) = registered("connected", "alpha");
    let ran = home.link(&["status"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let (device, deploying) = (id("dev", 1), id("mdl", 3));
    assert_eq!(
        ran.without_service(),
        format!(
            "Agent      online, version 1.3.0 · Alpha\n\
             Device     {device}\n\
             Backend    https://link.example (connected, http)\n\
             Local API  http://127.0.0.1:41234\n\
             \n\
             MODEL   STATE        ADDRESS\n\
             smollm  serving      http://127.0.0.1:8080\n\
             other   not serving  http://127.0.0.1:8081  port 8081 is in use by nginx\n\
             deploying {deploying}  downloading  50 % (512 B of 1.02 kB)\n"
        )
    );
}

#[test]
fn json_holds_what_the_agent_said() {
    let (home, _agent) = registered("connected", "stable");
    let ran = home.link(&["status", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let status = ran.stdout_json();
    let mut members: Vec<_> = status.as_object().unwrap().keys().cloned().collect();
    members.sort();
    let wanted = [
        "agent",
        "availability",
        "backend_url",
        "device_id",
        "engines",
        "local_port",
        "pipelines",
        "registered",
        "running",
    ];
    assert_eq!(members, wanted);
    assert_eq!(status["local_port"], 41234);
    assert_eq!(status["availability"]["tier"], "detached");
    assert_eq!(status["availability"]["survives_reboot"], false);
    assert_eq!(status["agent"], healthz("connected", "stable"));
    assert_eq!(status["pipelines"], pipelines());
}

#[test]
fn an_agent_without_its_backend_is_not_healthy() {
    for (state, code, words) in [
        ("connecting", 69, "keeps retrying"),
        ("refused", 77, "register it again with `link register`"),
    ] {
        let (home, _agent) = registered(state, "stable");
        let ran = home.link(&["status"]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.stdout.contains(&format!("({state}, http)")) && ran.stderr.contains(words));
    }
}

#[test]
fn an_agent_that_runs_as_another_device_is_not_taken_for_this_one() {
    let (home, _agent) = registered("connected", "stable");
    let text = std::fs::read_to_string(home.path("state/identity.json")).unwrap();
    home.file("state/identity.json", &text.replace(&id("dev", 1), &id("dev", 2)));
    let ran = home.link(&["status"]);
    assert!(ran.code == 1 && ran.stderr.contains("as the former device"), "{ran:?}");
}

#[test]
fn whoever_has_the_port_is_not_asked() {
    let stranger = Backend::start(api("connected", "stable"));
    let port = stranger.url.rsplit(':').next().unwrap();
    let home = Home::new().with("LINK_LOCAL_PORT", port);
    register(&home);
    home.file("state/run/control.token", "secret");
    for words in [&["status"][..], &["update"]] {
        let ran = home.link(words);
        assert!(ran.code != 0 && !ran.stdout.contains("online"), "{ran:?}");
    }
    assert_eq!(stranger.seen(), [""; 0]);
}

#[test]
fn a_file_of_an_earlier_schema_is_rejected() {
    let home = Home::new();
    home.file("state/identity.json", r#"{"schema_version": "2.0"}"#);
    let ran = home.link(&["status"]);
    assert_eq!(ran.code, 30);
    assert!(ran.stderr.contains("schema version is `2.0`, and only `2.1` is read"), "{ran:?}");
}

/// A home of a registered device whose agent reports these values.
fn registered(connection: &'static str, channel: &'static str) -> (Home, Agent) {
    let home = Home::new();
    register(&home);
    let agent = agent_at(&home, connection, channel);
    (home, agent)
}

/// An agent of the registered `home` that reports these values.
pub(crate) fn agent_at(home: &Home, connection: &'static str, channel: &'static str) -> Agent {
    home.file("state/run/local-api.json", r#"{"port": 41234, "pid": 1}"#);
    Agent::start(home, api(connection, channel))
}

fn api(connection: &'static str, channel: &'static str) -> Router {
    Router::new()
        .route("/healthz", get(move || async move { Json(healthz(connection, channel)) }))
        .route("/models", get(|| async { Json(pipelines()) }))
}

fn healthz(connection: &str, channel: &str) -> Value {
    let model = |number, alias: &str, state: &str, health: &str| {
        json!({
            "model_id": id("mdl", number), "pipeline_id": id("pip", number), "alias": alias,
            "state": state, "health": health,
        })
    };
    let mut other = model(2, "other", "not_serving", "unhealthy");
    other["detail"] = json!("port 8081 is in use by nginx");
    json!({
        "status": "online", "agent_version": "1.3.0", "channel": channel,
        "device_id": id("dev", 1), "transport": {"type": "http", "state": connection},
        "models": [model(1, "smollm", "serving", "healthy"), other],
        "deployments": [{
            "model_id": id("mdl", 3), "state": "downloading",
            "progress": {"bytes_done": 512, "bytes_total": 1024},
        }],
        "currently_serving": true, "model_id": id("mdl", 1),
    })
}

fn pipelines() -> Value {
    let entry = |number, alias: &str, port: u16, serving: bool| {
        json!({
            "pipeline_id": id("pip", number), "alias": alias, "port": port, "host": "127.0.0.1",
            "is_serving": serving,
        })
    };
    json!([entry(1, "smollm", 8080, true), entry(2, "other", 8081, false)])
}
