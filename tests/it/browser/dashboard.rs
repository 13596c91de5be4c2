//! The manual work of an owner in the browser, from creating a key to repairing all stale deployments. Each test walks
//! through the pages as a person does, by their links.

use link_client::agent::AgentClient;
use link_protocol::{backend_api::key::CreateKey, key::KeyKind, system::SystemReport};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines,
    installed::{Installed, OLD},
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
    browser.find_with(".tile", "1 of 1").await;
    go(&browser, "/devices").await;
    browser.find_with(".device-row .state", "Online").await;
    browser.click(".device-row .name a").await;

    browser.click(".tab-actions .button").await;
    let port = free_port();
    let field = browser.find("dialog input[name=port]").await;
    field.send_keys(port.to_string()).await.unwrap();
    browser.click("dialog button[type=submit]").await;
    browser.find_with(".model .badge", "Serving").await;
    browser.click("[data-action=stop]").await;
    browser.find_with(".model .badge", "Not serving").await;
    browser.click("[data-action=serve]").await;
    browser.click("[data-action=stop]").await;
    browser.find_with(".model .badge", "Not serving").await;
    browser.click("[data-action=serve]").await;
    // The notice may still be that of the first time, so check the model: it was `Not serving` before.
    browser.find_with(".model .badge", "Serving").await;
    browser.find_with(".notice", "is served").await;

    let origin = &backend.url;
    assert_eq!(chat::preflight(port, origin).await.status(), 403);
    go(&browser, "/settings").await;
    browser.find("#new-origin").await.send_keys(origin).await.unwrap();
    browser.click("#allowlist button[type=submit]").await;
    browser.find_with("#own-origins", origin).await;
    go(&browser, "/deployments").await;
    browser.find_with(".deployment-row", "Stale allowlist").await;
    go(&browser, "/").await;
    browser.find_with("[data-point=stale]", "refuses pages of an allowed origin").await;
    browser.pictures("overview-stale").await;
    browser.click("[data-point=stale] .button.primary").await;
    browser.find_with("dialog", "This touches 1 device").await;
    browser.picture("overview-repair").await;
    browser.click("dialog .dialog-foot .primary").await;
    browser.gone("[data-point=stale]").await;
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
    browser.open_logged_in(&format!("{}/deployments", backend.url)).await;
    browser.find(".deployment-row [data-action=serve]").await;

    let by_keyboard = async |version: &str| {
        go(&browser, "/devices").await;
        browser.find_with(".device-row .state", "Online").await;
        browser.click(".device-row .name a").await;
        browser.find(".model [data-action=serve]").await;
        let control = browser.find(".device-head [data-action=update]").await;
        control.send_keys(Key::Enter + "").await.unwrap();
        let field = browser.find("#update-version").await;
        field.send_keys(version).await.unwrap();
        browser.picture("device-update").await;
        field.send_keys(Key::Enter + "").await.unwrap();
    };
    by_keyboard("9.9.1").await;
    browser.find_with(".device-head .badge", "Updating…").await;
    until("the check of the new version", || async { begun.exists().then_some(()) }).await;
    browser.gone(".model [data-action]").await;
    browser.gone(".tab-actions button").await;
    browser.gone("[data-action=update]").await;
    browser.picture("device-updating").await;
    go(&browser, "/deployments").await;
    browser.find_with(".deployment-row", "Updating…").await;
    browser.gone(".deployment-row [data-action]").await;
    go(&browser, "/devices").await;
    browser.find_with(".device-row .state", "Updating…").await;
    std::fs::write(end, "").unwrap();
    // The page of the device was left: the end is said wherever the person is.
    browser.find_with(".notice", "no such library").await;
    browser.click(".notice.bad button").await;
    browser.find_with(".device-row .state", "Online").await;
    go(&browser, "/deployments").await;
    browser.find(".deployment-row [data-action=serve]").await;

    releases.publish("9.9.2", Agent::Good);
    by_keyboard("9.9.2").await;
    browser.find_with(".notice", "takes over now").await;
    go(&browser, "/devices").await;
    browser.find_with(".device-row .version", &format!("from {OLD}")).await;
    browser.find_with(".device-row .state", "Online").await;
    browser.picture("devices-updated").await;
    go(&browser, "/deployments").await;
    browser.find(".deployment-row [data-action=serve]").await;
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
    browser.open_logged_in(&format!("{}/devices/{}?tab=about", backend.url, device.id)).await;
    let quiet = browser.find_with(".about", &device.id.to_string()).await;
    assert!(!quiet.contains("CPU"), "{quiet}");
    browser.find_with(".about", "has not reported a sample yet").await;

    let report = json!({
        "cpu_percent": 12.4, "cpu_count": 8, "temperature_celsius": 54.4,
        "memory": { "used_bytes": 3_200_000_000_u64, "total_bytes": 16_000_000_000_u64 },
        "disk": {
            "used_bytes": 230_000_000_000_u64, "free_bytes": 280_000_000_000_u64,
            "total_bytes": 512_000_000_000_u64,
        },
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
    let busy = browser.find_with(".about", "12 %").await;
    for line in [
        "CPU",
        "8 cores",
        "54 °C",
        "3.2 GB of 16.0 GB",
        "232 GB of 512 GB",
        "NVIDIA <b>L4</b>",
        "45 %",
        "10.0 GB of 24.0 GB",
        "AMD GPU 0x164e",
        "Engine of tiny",
        "230 % CPU, 1.4 MB of memory",
        "Sampled just now",
    ] {
        assert!(busy.contains(line), "{line}:\n{busy}");
    }
    browser.picture("device-busy").await;
    let idle = SystemReport { cpu_percent: 1.0, engines: vec![], ..report };
    assert_eq!(agent.http().post(&path, &idle).await, Ok(true));
    let idle = browser.find_with(".about", "1 %").await;
    assert!(!idle.contains("tiny"), "{idle}");
    go(&browser, "/devices").await;
    browser.find_with(".device-row .cpu", "1 %").await;
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
    browser.picture("login-refused").await;

    browser.open_logged_in(&backend.url).await;
    go(&browser, "/keys").await;
    browser.click(".page-head .button.primary").await;
    browser.find("#key-name").await.send_keys("laptop").await.unwrap();
    // The words of the choice without an end.
    browser.find("dialog select[name=days]").await.send_keys("never").await.unwrap();
    browser.click("dialog button[type=submit]").await;
    browser.find_with("#new-key", "lrk_").await;
    browser.find_with("tbody", "laptop").await;
    browser.picture("keys-new").await;
    browser.open(&format!("{}/keys", backend.url)).await;
    let keys = browser.find_with("tbody", "laptop").await;
    assert!(keys.contains("Valid") && !keys.contains("Used"), "{keys}");
    assert!(!browser.text().await.contains("lrk_"));

    go(&browser, "/settings").await;
    let origin = browser.find("#new-origin").await;
    origin.send_keys("https://*.example").await.unwrap();
    browser.click("#allowlist button[type=submit]").await;
    browser.find_with("#allowlist [role=alert]", "origin").await;
    let setting = backend.owner.allowlist().await.unwrap();
    assert_eq!((setting.origins.len(), setting.defaults.len()), (0, 1));
    assert!(browser.find("#default-origins").await.text().await.unwrap().contains(OLD_ORIGIN));
}

/// The page of keys and `link key list` have one word for each state.
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
    browser.open_logged_in(&format!("{}/keys", backend.url)).await;
    for (name, state) in [("for 1", "Used"), ("for 2", "Valid")] {
        let key = browser.find_with("tbody tr", name).await;
        assert!(key.contains(state), "each word is in the row of its key: {key}");
    }
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
    go(&browser, "/devices").await;
    browser.find(&format!(".device-row a[href='/devices/{}']", device.id)).await;

    let begin = async || {
        let control = browser.find("[data-action=retire]").await;
        control.send_keys(Key::Enter + "").await.unwrap();
        browser.find("#retire-code").await
    };
    let field = begin().await;
    field.send_keys(&code[..100] + Key::Enter).await.unwrap();
    browser.find_with("dialog [role=alert]", "incomplete").await;
    browser.picture("devices-retire").await;
    field.send_keys(&code[100..] + Key::Enter).await.unwrap();
    browser.find_with(".notice", "its slot is free").await;
    browser.find_with("h2", "No device yet").await;
    assert!(backend.owner.devices().await.unwrap().is_empty());

    begin().await.send_keys(code + Key::Enter).await.unwrap();
    browser.find_with("dialog [role=alert]", "may have been removed").await;
}

/// Follows a link of the side bar.
async fn go(browser: &Browser, page: &str) {
    browser.click(&format!(".sidebar nav a[href='{page}']")).await;
}
