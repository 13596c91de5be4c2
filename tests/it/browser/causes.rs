//! The diagnosis of the workspace: every state has its own cause, and none is a guess.

use link_tests::backend::TestBackend;
use serde_json::{Value, json};

use super::chromium::Browser;

const ORIGIN: &str = "https://workspace.example";

#[tokio::test]
async fn browser_tells_every_cause_apart() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open(&format!("{}/workspace", backend.url)).await;
    let (worlds, expected): (Vec<_>, Vec<_>) = table().into_iter().unzip();
    let script = "return import('/assets/workspace/causes.js')
        .then(({ classify }) => arguments[0].map(classify));";
    let causes = browser.run(script, vec![worlds.clone().into()]).await;
    for ((cause, expected), world) in causes.as_array().unwrap().iter().zip(expected).zip(worlds) {
        let (code, actions) = expected;
        assert_eq!(cause["code"], code, "{world:#}");
        assert_eq!(cause["actions"], json!(actions), "{world:#}");
        let text = cause.to_string();
        assert!(!text.to_lowercase().contains("document too large"), "{text}");
        assert!(!text.contains("undefined") && !text.contains("null"), "{text}");
        for part in ["title", "detail", "remedy"] {
            assert!(cause[part].as_str().is_some_and(|part| part.len() > 10), "{text}");
        }
    }
    let stale = &causes[0]["detail"];
    assert_eq!(
        stale,
        "This model was deployed with an allowlist that lacks this workspace's origin \
         (https://workspace.example). The browser's cross-origin preflight was refused."
    );
}

type Expected = (&'static str, &'static [&'static str]);

/// States, each a change of the state in which a served model on this machine refuses the page.
fn table() -> Vec<(Value, Expected)> {
    vec![
        // The port answers, but refuses this page.
        (world(&[]), ("allowlist-stale", &["repair", "redeploy"])),
        (
            world(&[
                ("backend", json!(false)),
                ("deployment", Value::Null),
                ("device", Value::Null),
                ("allowlist", Value::Null),
            ]),
            ("allowlist-stale", &["repair", "redeploy"]),
        ),
        (world(&[("device", json!({"online": false}))]), ("allowlist-stale", &["retry"])),
        (
            world(&[("allowlist", json!(["https://old.example"]))]),
            ("origin-not-listed", &["allow"]),
        ),
        (world(&[fresh()]), ("preflight-refused", &["repair", "redeploy", "retry"])),
        (world(&[("deployment", deployment(false, "serving", 8081))]), ("port-moved", &["retry"])),
        (
            world(&[("deployment", deployment(false, "not_serving", 8080))]),
            ("not-serving", &["serve"]),
        ),
        (
            world(&[(
                "seen",
                json!({"kind": "network", "message": "Failed to fetch", "size": 40_000_000}),
            )]),
            ("request-too-large", &[]),
        ),
        // Nothing is reachable.
        (silent(&[("permission", json!("denied"))]), ("local-network-denied", &["retry"])),
        (silent(&[("device", json!({"online": false}))]), ("device-offline", &["retry"])),
        (
            silent(&[("device", json!({"online": false, "updating": true}))]),
            ("device-offline", &["retry"]),
        ),
        (
            silent(&[("deployment", deployment(true, "not_serving", 8080))]),
            ("not-serving", &["serve"]),
        ),
        (
            silent(&[("deployment", deployment(false, "starting", 8080))]),
            ("engine-loading", &["retry"]),
        ),
        (
            silent(&[
                ("page", page("http://workspace.example", false, false)),
                ("permission", json!("denied")),
            ]),
            ("insecure-context", &["retry"]),
        ),
        (
            silent(&[
                fresh(),
                ("page", page("http://workspace.example", false, false)),
                ("permission", Value::Null),
            ]),
            ("nothing-answers", &["retry"]),
        ),
        (
            silent(&[fresh(), ("page", page(ORIGIN, true, true)), ("permission", Value::Null)]),
            ("mixed-content", &["retry"]),
        ),
        (
            silent(&[fresh(), ("permission", json!("prompt"))]),
            ("local-network-undecided", &["retry"]),
        ),
        (silent(&[fresh()]), ("nothing-answers", &["retry"])),
        (
            silent(&[
                ("backend", json!(false)),
                ("deployment", Value::Null),
                ("device", Value::Null),
            ]),
            ("backend-unreachable", &["retry"]),
        ),
        // The device or its engine reports the reason.
        (
            refused(403, json!({"code": "origin-not-allowed"})),
            ("allowlist-stale", &["repair", "redeploy"]),
        ),
        (
            refused(503, json!({"code": "engine-loading", "retryAfter": 2})),
            ("engine-loading", &["retry"]),
        ),
        (
            refused(502, json!({"code": "engine-unavailable"})),
            ("engine-unavailable", &["retry", "redeploy"]),
        ),
        (refused(404, json!({"code": "model-not-served"})), ("not-serving", &["serve"])),
        (
            refused(413, json!({"code": "payload-too-large", "size": 40_000_000})),
            ("request-too-large", &[]),
        ),
        (
            refused(
                400,
                json!({"engine": true, "code": "exceed_context_size_error", "tokens": 5000, "context": 4096}),
            ),
            ("context-exceeded", &[]),
        ),
        (
            refused(500, json!({"engine": true, "detail": "out of memory"})),
            ("engine-error", &["retry"]),
        ),
        (
            refused(
                400,
                json!({"code": "host-not-allowed", "detail": "not a name of this device", "hint": "use localhost"}),
            ),
            ("engine-error", &["retry"]),
        ),
        (
            world(&[(
                "seen",
                json!({"kind": "engine", "engine": true, "detail": "decoding failed"}),
            )]),
            ("engine-error", &["retry"]),
        ),
        // The answer began but did not end.
        (
            world(&[("seen", json!({"kind": "broken", "message": "network error"})), fresh()]),
            ("broken-off", &["retry"]),
        ),
        (
            world(&[
                ("seen", json!({"kind": "broken", "message": "network error"})),
                ("device", json!({"online": false})),
            ]),
            ("device-offline", &["retry"]),
        ),
    ]
}

fn world(changes: &[(&str, Value)]) -> Value {
    let mut world = json!({
        "seen": {"kind": "network", "message": "Failed to fetch", "size": 100},
        "reachable": true,
        "permission": "granted",
        "page": page(ORIGIN, true, false),
        "target": {"model": "tiny", "device": "laptop", "port": 8080},
        "backend": true,
        "allowlist": ["https://old.example", ORIGIN, "http://workspace.example"],
        "device": {"online": true, "updating": false},
        "deployment": deployment(true, "serving", 8080),
    });
    for (name, value) in changes {
        world[name] = value.clone();
    }
    world
}

fn silent(changes: &[(&str, Value)]) -> Value {
    let mut world = world(changes);
    world["reachable"] = json!(false);
    world
}

fn refused(status: u16, mut said: Value) -> Value {
    said["kind"] = json!("refused");
    said["status"] = json!(status);
    world(&[("seen", said)])
}

fn fresh() -> (&'static str, Value) {
    ("deployment", deployment(false, "serving", 8080))
}

fn deployment(stale: bool, state: &str, port: u16) -> Value {
    json!({"stale": stale, "state": state, "serving": state == "serving", "detail": null, "port": port})
}

fn page(origin: &str, secure: bool, webkit: bool) -> Value {
    let https = origin.starts_with("https:");
    json!({"origin": origin, "secure": secure, "loopback": false, "https": https, "webkit": webkit})
}
