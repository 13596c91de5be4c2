//! `link doctor` on a device with a real agent, engine and backend: a healthy device, provoked faults, and what `--fix`
//! mends.

use std::{os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use link_protocol::deployment::DeploymentState;
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port},
    engines, schema,
    wait::until,
};
use serde_json::Value;

#[tokio::test]
async fn a_healthy_device_has_no_error() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    backend.serve_tiny(&device).await;
    let (code, found) = doctor(&device, &[]);
    let bad = of_level(&found, "error");
    assert_eq!((code, bad.len()), (0, 0), "{found:#}");
    for (area, part) in [
        ("agent", "it runs, version"),
        ("backend", "answers with the agent's environment"),
        ("clock", "agree on the time"),
        ("engine", "of language_model starts"),
        ("models", "1 of 1 served"),
        ("memory", "the served models need about"),
        ("files", "private and can be written"),
    ] {
        let is_it = |finding: &&Value| {
            finding["area"] == area && finding["found"].as_str().unwrap().contains(part)
        };
        let found = found["findings"].as_array().unwrap().iter().find(is_it);
        assert_eq!(found.map(|found| &found["level"]), Some(&"ok".into()), "{area}: {found:#?}");
    }
}

#[tokio::test]
async fn faults_are_found_and_mended_once() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let port = backend.serve_tiny(&device).await.port;
    device.kill();
    until("the port to be free", || async {
        chat::ask(port, None, false).await.is_err().then_some(())
    })
    .await;
    let state = device.home().join("state");
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).unwrap();
    let thief = std::net::TcpListener::bind(("127.0.0.1", device.local_port)).unwrap();

    let (code, found) = doctor(&device, &[]);
    assert_eq!(code, 11, "{found:#}");
    let errors = of_level(&found, "error");
    let texts: Vec<_> = errors.iter().map(|error| error["found"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("may enter `")), "{texts:?}");
    assert!(texts.contains(&"the agent does not run"), "{texts:?}");
    let warnings = of_level(&found, "warning");
    let own = format!("(process {})", std::process::id());
    assert!(warnings.iter().any(|one| one["found"].as_str().unwrap().contains(&own)), "{found:#}");
    drop(thief);

    let (code, found) = doctor(&device, &["--fix"]);
    let fixed = found["fixed"].as_array().unwrap();
    assert_eq!((code, fixed.len()), (0, 2), "{found:#}");
    assert_eq!(mode(&state), 0o700);
    let (code, found) = doctor(&device, &["--fix"]);
    assert_eq!((code, found["fixed"].as_array().unwrap().len()), (0, 0), "{found:#}");
    let stopped = device.link().arg("stop").output().unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
}

#[tokio::test]
async fn a_page_is_told_what_keeps_it_out_and_a_stale_allowlist_is_repaired() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    assert_eq!(backend.ended(deployment.deployment_id).await.state, DeploymentState::Completed);
    backend.serving(deployment.deployment_id, true).await;
    let asked = ["--origin", WORKSPACE];

    let (code, found) = doctor(&device, &asked);
    let error = &of_level(&found, "error")[0];
    assert_eq!(code, 1, "{found:#}");
    assert!(error["cure"].as_str().unwrap().contains("`link login`"), "{error}");

    let doctor = |words: &[&str]| logged_in(&device, &backend, words);
    let (_, found) = doctor(&asked);
    let error = &of_level(&found, "error")[0];
    assert!(error["found"].as_str().unwrap().contains("not on the account's allowlist"), "{error}");
    let allow = format!("`link allowlist add {WORKSPACE}`");
    assert!(error["cure"].as_str().unwrap().contains(&allow) && error["fix"].is_null(), "{error}");
    assert!(cells(&found).iter().all(|cell| cell["allowed"] == false), "{found:#}");

    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let (_, found) = doctor(&asked);
    let error = &of_level(&found, "error")[0];
    assert!(error["found"].as_str().unwrap().contains("older than the account's"), "{error}");
    let repair = format!("`link repair-serving {} --wait`", model.model_id);
    assert_eq!(error["cure"], repair);

    let (code, found) = doctor(&["--origin", WORKSPACE, "--fix"]);
    assert_eq!((code, found["fixed"].as_array().unwrap().len()), (0, 1), "{found:#}");
    assert_eq!(chat::preflight(deployment.port, WORKSPACE).await.status(), 204);
    let of_page = |cell: &Value| cell["origin"] == WORKSPACE;
    assert_eq!(
        cells(&found).len(),
        6,
        "three requests of the page, and of a page without an origin"
    );
    for cell in cells(&found) {
        assert_eq!(cell["allowed"], of_page(cell), "{cell}");
    }
    let (_, found) = doctor(&["--origin", WORKSPACE, "--fix"]);
    assert_eq!(found["fixed"], Value::Array(Vec::new()));
}

fn doctor(device: &TestDevice, words: &[&str]) -> (i32, Value) {
    examined(device.link().args(["doctor", "--json"]).args(words))
}

/// Runs the command as somebody who is logged in to the backend.
fn logged_in(device: &TestDevice, backend: &TestBackend, words: &[&str]) -> (i32, Value) {
    let mut link = device.link();
    link.env("LINK_BACKEND_URL", &backend.url);
    link.env("LINK_ACCESS_TOKEN", backend.owner.access_token().expose());
    examined(link.args(["doctor", "--json"]).args(words))
}

fn examined(link: &mut Command) -> (i32, Value) {
    let ran = link.output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(!printed.is_empty(), "{ran:?}");
    (ran.status.code().unwrap(), schema::printed_by("doctor", &printed))
}

fn of_level(found: &Value, level: &str) -> Vec<Value> {
    let findings = found["findings"].as_array().unwrap();
    findings.iter().filter(|finding| finding["level"] == level).cloned().collect()
}

fn cells(found: &Value) -> &Vec<Value> {
    found["matrix"].as_array().unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
