//! The pages of devices: a list that follows the backend by itself, and a stale allowlist that is repaired on the page of
//! its device.

use link_protocol::{backend_api::device::ChangeDevice, deployment::DeploymentState};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines,
    model_server::{Fault, ModelServer},
    wait::until,
};

use super::chromium::Browser;

#[tokio::test]
async fn browser_sees_devices_come_and_change_without_a_reload() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/devices", backend.url)).await;
    browser.find_with("h2", "No device yet").await;
    browser.run("window.loadedOnce = true", vec![]).await;
    browser.pictures("devices-empty").await;

    let device = TestDevice::start(&backend).await;
    browser.find_with(".device-row .state", "Online").await;
    let name = "<b>lab</b> \u{202e}one";
    let change = ChangeDevice {
        name: Some(name.to_owned()),
        add_tags: vec!["lab".to_owned()],
        remove_tags: vec![],
    };
    backend.owner.change_device(device.id, &change).await.unwrap();
    browser.find_with(".device-row .name", "<b>lab</b>").await;
    browser.find_with(".device-row .tags", "lab").await;
    browser.pictures("devices-one").await;

    browser.click("details.menu summary").await;
    browser.find("input[name=term]").await.send_keys("state=offline").await.unwrap();
    browser.click(".term-field button").await;
    browser.find_with("h2", "No device matches").await;
    let loaded_once = browser.run("return window.loadedOnce === true", vec![]).await;
    assert_eq!(loaded_once, true, "the page was loaded again");
    let filter = "return new URLSearchParams(location.search).get('select')";
    assert_eq!(browser.run(filter, vec![]).await, "state=offline");
    browser.run("location.reload()", vec![]).await;
    browser.find_with(".chip", "state=offline").await;
    browser.find_with("h2", "No device matches").await;

    browser.click(".chip button").await;
    browser.find_with(".device-row .name", "<b>lab</b>").await;
    backend.owner.remove_device(device.id).await.unwrap();
    browser.find_with("h2", "No device yet").await;
    drop(device);
}

#[tokio::test]
async fn browser_repairs_a_stale_allowlist_on_the_page_of_its_device() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    backend.ended(deployment.deployment_id).await;
    backend.serving(deployment.deployment_id, true).await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/devices/{}", backend.url, device.id)).await;
    browser.find_with(".model", "Allowlist current").await;

    let origin = backend.url.clone();
    backend.allow(&[&origin]).await;
    browser.find_with(".model", "Stale allowlist").await;
    assert_eq!(chat::preflight(port, &origin).await.status(), 403);
    browser.pictures("device-stale").await;
    browser.click("[data-action=repair]").await;
    browser.find_with(".notice", "tiny was repaired").await;
    browser.find_with(".model", "Allowlist current").await;
    assert_eq!(chat::preflight(port, &origin).await.status(), 204);
    assert_eq!(chat::preflight(port, OLD_ORIGIN).await.status(), 204);

    browser.click(".tabs a[href$='tab=commands']").await;
    browser.find_with(".command-list", "Repair a model").await;
    browser.click(".command-list li:first-child summary").await;
    browser.find_with(".explanation", "What happened").await;
    browser.pictures("device-commands").await;
    browser.click(".tabs a[href$='tab=about']").await;
    browser.find_with(".about", &device.id.to_string()).await;
    browser.pictures("device-about").await;
    drop(device);
}

#[tokio::test]
async fn browser_shows_how_far_a_deployment_has_come_and_cancels_it() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    // Behind its tensors, nobody reads a model.
    let mut bytes = engines::model("tiny.gguf");
    bytes.resize(4 * 1024 * 1024, 0);
    let server = ModelServer::start(bytes.clone(), Fault::Slow).await;
    let model = backend.model_at("tiny", &server.url, &bytes).await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/devices/{}", backend.url, device.id)).await;
    browser.find(".tab-actions .button").await;

    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    browser.find_with(".model .progress", " of ").await;
    let shown = "return document.querySelector('.model .progress')?.textContent ?? ''";
    let first = browser.run(shown, vec![]).await;
    browser.pictures("device-downloading").await;
    until("a later state of the download", || async {
        let now = browser.run(shown, vec![]).await;
        (now != first && now.as_str()?.contains(" of ")).then_some(())
    })
    .await;
    browser.click("[data-action=cancel]").await;
    browser.find_with(".model .badge", "Cancelled").await;
    browser.gone(".model .progress").await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Cancelled, "{:?}", ended.reason);
    assert!(device.model_files().is_empty(), "{:?}", device.model_files());
}
