//! The page that adds a device: its line, run as shown, brings a device, which appears with each step.

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
async fn browser_makes_a_line_on_request_that_brings_a_device() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/devices/add", backend.url)).await;
    browser.find_with(".unpublished", "publishes no release yet").await;
    assert!(backend.owner.keys().await.unwrap().is_empty());
    browser.pictures("add-unpublished").await;

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
    browser.run("location.reload()", vec![]).await;
    browser.find("input[name=tags]").await.send_keys("lab").await.unwrap();
    browser.gone(".unpublished").await;
    browser.click("#install-make").await;
    let line = browser.find_with("#install-line", "LINK_REGISTRATION_KEY=lrk_").await;
    let begin = format!("curl -fsSL {}/install.sh | ", installed.backend.url);
    assert!(line.starts_with(&begin), "{line}");
    browser.find_with(".arrivals", "Waiting for a device").await;
    browser.pictures("add-waiting").await;

    let ran = Command::new("sh").arg("-c").arg(&line).envs(installed.environment()).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
    let device = installed.backend.owner.devices().await.unwrap().remove(0);
    assert_eq!(device.tags, ["lab"]);
    browser.find_with(".arrival", &device.name).await;
    browser.find_with(".arrival .step.done:nth-child(2)", "Online").await;
    // The key is used up, so it is not shown any more.
    browser.gone("#install-line").await;
    assert!(!browser.text().await.contains("lrk_"));
    browser.pictures("add-arrived").await;

    browser.click(".tabs a[href$='windows']").await;
    browser.find_with("h2 ~ p", "publishes no release for Windows").await;
    browser.pictures("add-windows").await;
}

/// The second form of the line: the key is in a file, and neither in the line nor in the history of the shell.
#[tokio::test]
async fn browser_makes_a_line_that_takes_the_key_from_a_file() {
    let installed = Installed::new(&[]).await;
    let Installed { backend, .. } = &installed;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/devices/add?key=file", backend.url)).await;
    browser.click("#install-make").await;
    let key = browser.find_with("#install-key", "lrk_").await;
    let line =
        browser.find_with("#install-line", "LINK_REGISTRATION_KEY_FILE=~/link-key.txt").await;
    assert!(!line.contains("lrk_"), "{line}");
    browser.pictures("add-file").await;
    let other = TestDevice::unregistered();
    let file = other.home().join("link-key.txt");
    std::fs::write(&file, key.trim()).unwrap();
    let mut link = other.link();
    link.args(["register", "--backend", &backend.url]).env("LINK_REGISTRATION_KEY_FILE", &file);
    let registered = link.output().unwrap();
    assert!(registered.status.success(), "{registered:?}");
    browser.find_with(".arrival .step.done", "Key used").await;
    browser.gone("#install-key").await;
}
