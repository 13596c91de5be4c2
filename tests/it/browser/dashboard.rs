//! The dashboard: the manual work of an owner, from creating a key to repairing all stale
//! deployments.

use link_client::agent::AgentClient;
use link_protocol::{backend_api::key::CreateKey, key::KeyKind, system::SystemReport};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines,
    installed::Installed,
    release::Agent,
    wait::until,
};
use serde_json::json;
use thirtyfour::Key;

use super::chromium::Browser;

#[tokio::test]
async fn browser_deploys_stops_serves_and_repairs_from_the_dashboard() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    backend.upload("tiny", engines::model("tiny.gguf")).await;
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    browser.find_with("#devices tbody", "Online").await;

    browser.click("#deployments summary").await;
    let port = free_port();
    browser.find("#deploy-port").await.send_keys(port.to_string()).await.unwrap();
    browser.click("#deployments form button[type=submit]").await;
    browser.find_with("#deployments tbody", "Serving").await;
    browser.click("[data-action=stop]").await;
    browser.find_with("#deployments tbody", "Not serving").await;
    browser.click("[data-action=serve]").await;
    browser.click("[data-action=stop]:not([disabled])").await;
    browser.find_with("#deployments tbody", "Not serving").await;
    browser.click("[data-action=serve]").await;
    // The notice may still be that of the first repair, so check the row: it was `Not serving`
    // before.
    browser.find_with("#deployments tbody", "Serving").await;
    browser.find_with(".notice", "is served").await;

    let origin = &backend.url;
    assert_eq!(chat::preflight(port, origin).await.status(), 403);
    browser.find("#origins").await.send_keys(format!("\n{origin}")).await.unwrap();
    browser.click("#allowlist form button[type=submit]").await;
    browser.find_with("#deployments tbody", "Stale allowlist").await;
    browser.run("scrollTo(0, 0)", vec![]).await;
    browser.picture("dashboard-stale").await;
    browser.click("#repair-all").await;
    browser.gone("#repair-all").await;
    assert_eq!(chat::preflight(port, origin).await.status(), 204);
    assert_eq!(chat::preflight(port, OLD_ORIGIN).await.status(), 204);
    drop(device);
}

// Holds: S3.4-2, S3.4-3
#[tokio::test]
async fn browser_updates_a_device_by_keyboard_and_its_controls_are_away_meanwhile() {
    let installed = Installed::new(&[]).await;
    let Installed { backend, device, releases } = &installed;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    backend.ended(deployment.deployment_id).await;
    let (begun, end) = (device.home().join("check-begun"), device.home().join("check-may-end"));
    let script = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.1; done; echo 'no such library' >&2; exit 1",
        begun.display(),
        end.display()
    );
    releases.publish("9.9.1", Agent::Script(script.leak()));
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    browser.find_with("#devices tbody", "Online").await;
    browser.find("#deployments [data-action=repair]").await;

    let by_keyboard = async |version: &str| {
        browser
            .find("#devices [data-action=update]")
            .await
            .send_keys(Key::Enter + "")
            .await
            .unwrap();
        let field = browser.find("#devices .update input").await;
        field.send_keys(version).await.unwrap();
        browser.picture("dashboard-update").await;
        field.send_keys(Key::Enter + "").await.unwrap();
    };
    by_keyboard("9.9.1").await;
    browser.find_with("#devices tbody", "Updating…").await;
    browser.find_with("#deployments tbody", "Updating…").await;
    until("the check of the new version", || async { begun.exists().then_some(()) }).await;
    browser.gone("#deployments tbody button").await;
    browser.gone("#devices tbody button").await;
    browser.picture("dashboard-updating").await;
    std::fs::write(end, "").unwrap();
    browser.find_with(".notice", "no such library").await;
    browser.find_with("#devices tbody", "Online").await;
    browser.find("#deployments [data-action=repair]").await;

    releases.publish("9.9.2", Agent::Good);
    by_keyboard("9.9.2").await;
    browser.find_with(".notice", "takes over now").await;
    browser.find_with("#devices tbody", "updated from").await;
    browser.find_with("#devices tbody", "Online").await;
    browser.find("#deployments [data-action=repair]").await;
    browser.picture("dashboard-updated").await;
    let seen = backend.owner.device(device.id).await.unwrap();
    assert_eq!(seen.agent_version.to_string(), "9.9.2");
}

#[tokio::test]
async fn browser_shows_how_busy_a_device_is() {
    let backend = TestBackend::start().await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let device = TestDevice::register(&backend).await;
    let token = device.identity().device_token;
    let agent = AgentClient::new(&backend.url, device.id, token).unwrap();
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    let quiet = browser.find_with("#devices tbody", &device.id.to_string()).await;
    assert!(!quiet.contains("CPU"), "{quiet}");

    let report = json!({
        "cpu_percent": 12.4, "cpu_count": 8, "temperature_celsius": 54.4,
        "memory": { "used_bytes": 3_200_000_000_u64, "total_bytes": 16_000_000_000_u64 },
        "disk": { "used_bytes": 1, "free_bytes": 280_000_000_000_u64, "total_bytes": 3 },
        "gpus": [
            {
                "name": "NVIDIA <b>L4</b>", "utilisation_percent": 45.0,
                "memory_used_bytes": 10_000_000_000_u64, "memory_total_bytes": 24_000_000_000_u64,
            },
            { "name": "AMD GPU 0x164e" },
        ],
        "engines": [{
            "model_id": model.model_id, "pid": 1, "cpu_percent": 230.0, "memory_bytes": 1_400_000,
        }],
        "agent": { "cpu_percent": 0.1, "memory_bytes": 7 },
    });
    let report: SystemReport = serde_json::from_value(report).unwrap();
    let path = format!("/api/v1/agent/{}/system", device.id);
    assert_eq!(agent.http().post(&path, &report).await, Ok(true));
    let busy = browser.find_with("#devices tbody", "CPU 12 %").await;
    for line in [
        "CPU 12 %, 54 °C",
        "Memory 3.2 GB of 16.0 GB",
        "Disk 280 GB free",
        "NVIDIA <b>L4</b>: 45 %, 10.0 GB of 24.0 GB",
        "AMD GPU 0x164e",
        "tiny: 1.4 MB, CPU 230 %",
        "sampled just now",
    ] {
        assert!(busy.contains(line), "{line}:\n{busy}");
    }
    browser.picture("dashboard-usage").await;
    let idle = SystemReport { cpu_percent: 1.0, engines: vec![], ..report };
    assert_eq!(agent.http().post(&path, &idle).await, Ok(true));
    let idle = browser.find_with("#devices tbody", "CPU 1 %").await;
    assert!(!idle.contains("tiny"), "{idle}");
}

#[tokio::test]
async fn browser_shows_a_new_key_once_and_what_was_typed_wrong() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open(&backend.url).await;
    browser.find("#email").await.send_keys("owner@example.com").await.unwrap();
    browser.find("#password").await.send_keys("not the password").await.unwrap();
    browser.click("form.entry button[type=submit]").await;
    browser.find_with("[role=alert]", "password is wrong").await;
    browser.picture("dashboard-login").await;

    browser.open_logged_in(&backend.url).await;
    browser.click("#keys summary").await;
    browser.find("#key-name").await.send_keys("laptop").await.unwrap();
    browser.click("#keys form button[type=submit]").await;
    browser.find_with("#new-key", "lrk_").await;
    browser.find_with("#keys tbody", "laptop").await;
    browser.picture("dashboard-key").await;
    browser.open(&backend.url).await;
    let keys = browser.find_with("#keys tbody", "laptop").await;
    assert!(keys.contains("Valid") && !keys.contains("Used"), "{keys}");
    assert!(!browser.text().await.contains("lrk_"));

    let origins = browser.find("#origins").await;
    origins.send_keys("\nhttps://*.example").await.unwrap();
    browser.click("#allowlist form button[type=submit]").await;
    browser.find_with("#allowlist [role=alert]", "origin").await;
    let setting = backend.owner.allowlist().await.unwrap();
    assert_eq!((setting.origins.len(), setting.defaults.len()), (0, 1));
    assert!(browser.find("#default-origins").await.text().await.unwrap().contains(OLD_ORIGIN));
}

/// The dashboard and `link key list` have one word for each state.
#[tokio::test]
async fn browser_says_that_a_fleet_key_is_used_when_all_its_devices_are_registered() {
    let backend = TestBackend::start().await;
    let wish = |max_devices| CreateKey {
        kind: KeyKind::Fleet,
        name: format!("for {max_devices}"),
        expires_at: None,
        max_devices: Some(max_devices),
        tags: Vec::new(),
    };
    for most in [1, 2] {
        let key = backend.owner.create_key(&wish(most)).await.unwrap().key;
        let device = TestDevice::unregistered();
        let mut link = device.link();
        link.args(["register", "--backend", &backend.url]).env("LINK_FLEET_KEY", key.expose());
        assert!(link.output().unwrap().status.success());
    }
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    let keys = browser.find_with("#keys tbody", "for 1").await;
    let (used, valid) = (keys.find("Used"), keys.find("Valid"));
    let (of_one, of_two) = (keys.find("for 1"), keys.find("for 2"));
    assert!(used.is_some() && valid.is_some(), "{keys}");
    assert_eq!(of_one < of_two, used < valid, "each word is in the row of its key: {keys}");
}

#[tokio::test]
async fn browser_retires_a_device_with_its_code_by_keyboard() {
    let mut backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    backend.kill();
    let forced = device.link().args(["uninstall", "--yes", "--force"]).output().unwrap();
    let code = String::from_utf8(forced.stdout).unwrap();
    let code = code.trim();
    backend.restart().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    browser.find_with("#devices tbody", &device.id.to_string()).await;

    browser.find("#devices summary").await.send_keys(Key::Enter + "").await.unwrap();
    let field = browser.find("#retire-code").await;
    field.send_keys(&code[..100] + Key::Enter).await.unwrap();
    browser.find_with("#devices [role=alert]", "incomplete").await;
    browser.picture("dashboard-retire").await;
    field.send_keys(&code[100..] + Key::Enter).await.unwrap();
    browser.find_with(".notice", "its slot is free").await;
    browser.find_with("#devices .empty", "No device is registered").await;
    assert!(backend.owner.devices().await.unwrap().is_empty());

    field.send_keys(code + Key::Enter).await.unwrap();
    browser.find_with("#devices [role=alert]", "may have been removed").await;
}
