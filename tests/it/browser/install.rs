//! The first steps of an account: their line, run as shown, adds a device to the overview.

use std::process::Command;

use link_tests::{
    backend::TestBackend,
    device::TestDevice,
    installed::{Installed, OLD},
    program,
    release::{Agent, Releases},
};

use super::chromium::Browser;

#[tokio::test]
async fn browser_shows_a_line_that_brings_a_device_and_the_device_that_came() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    let line = browser.find_with("#install-line", "LINK_REGISTRATION_KEY=… sh").await;
    assert!(line.starts_with(&format!("curl -fsSL {}/install.sh | ", backend.url)), "{line}");
    browser.find_with("#first-steps", "publishes no release yet").await;
    assert!(backend.owner.keys().await.unwrap().is_empty());
    browser.pictures("overview-install").await;

    let releases = Releases::new();
    releases.publish(OLD, Agent::Good);
    let pulled = Command::new(program::path("link-backend"))
        .args(["releases", "pull"])
        .arg(releases.folder())
        .arg("--trust")
        .arg(releases.key_file())
        .arg("--data")
        .arg(backend.data())
        .output();
    let pulled = pulled.unwrap();
    assert!(pulled.status.success(), "{pulled:?}");
    let installed = Installed { backend, device: TestDevice::unregistered(), releases };
    browser.click("#install-make").await;
    browser.find_with(".arrivals", "Waiting for a device").await;
    let line = browser.find_with("#install-line", "LINK_REGISTRATION_KEY=lrk_").await;
    assert!(!browser.text().await.contains("publishes no release"));
    browser.pictures("overview-install-waiting").await;

    let ran = Command::new("sh").arg("-c").arg(&line).envs(installed.environment()).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
    let name = installed.backend.owner.devices().await.unwrap().remove(0).name;
    browser.find_with(".arrival", &name).await;
    browser.find_with(".arrival .step.done", "Key used").await;
    browser.find_with(".arrival .step.done", "Online").await;
    browser.find_with(".tile", "1 of 1").await;
    browser.find_with("#install-line", "LINK_REGISTRATION_KEY=… sh").await;
    browser.run("scrollTo(0, 0)", vec![]).await;
    browser.pictures("overview-install-arrived").await;
}
