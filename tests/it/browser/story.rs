//! The whole way of somebody who has just started a backend, through its pages and one line in a terminal.

use std::process::Command;

use link_tests::{
    backend::{EMAIL, NewBackend, OLD_ORIGIN, PASSWORD},
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
    installed::{Installed, OLD},
    program,
    release::{Agent, Releases},
};

use super::chromium::Browser;

/// A model that takes more than one piece of an upload: behind its tensors, a reader of the format reads nothing.
pub(super) const FILE_BYTES: usize = 20 * 1024 * 1024;
/// Three seconds for a piece of 8 MiB.
pub(super) const UPLOAD_BYTES_PER_SECOND: u32 = 3 * 1024 * 1024;

/// From no account to an answer that a repair gave back. Nothing is done but what a person does: read the page, click,
/// type, choose a file, and run the line of the page in a terminal.
#[tokio::test]
async fn browser_leads_from_no_account_to_a_repaired_answer() {
    let new = NewBackend::start().await;
    let origin = new.url.replace("127.0.0.1", "localhost");
    let browser = Browser::start().await;
    // Nobody can log in, so the address leads to the setup.
    browser.open(&origin).await;
    for (field, words) in
        [("setup-token", new.setup_token().as_str()), ("email", EMAIL), ("password", PASSWORD)]
    {
        browser.find(&format!("[name={field}]")).await.send_keys(words).await.unwrap();
    }
    browser.picture("story-1-setup").await;
    browser.click("form.entry button[type=submit]").await;
    browser.find_with("#install-line", "LINK_REGISTRATION_KEY=… sh").await;
    browser.picture("story-2-first-steps").await;

    // A machine: the line of the page, in a terminal.
    let backend = new.log_in().await;
    let releases = Releases::new();
    releases.publish(OLD, Agent::Good);
    let mut pull = Command::new(program::path("link-backend"));
    pull.args(["releases", "pull"]).arg(releases.folder()).arg("--trust").arg(releases.key_file());
    let pulled = pull.arg("--data").arg(backend.data()).output().unwrap();
    assert!(pulled.status.success(), "{pulled:?}");
    let installed = Installed { backend, device: TestDevice::unregistered(), releases };
    browser.click("#install-make").await;
    let line = browser.find_with("#install-line", "LINK_REGISTRATION_KEY=lrk_").await;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(&line).envs(installed.environment()).env("LINK_ENGINE_CONTEXT", "4096");
    let ran = shell.output().unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
    browser.find_with(".arrival .step.done:nth-child(2)", "Online").await;

    // A model: its upload is interrupted by a reload, begun again with the wrong file, and then with the right one.
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("tiny.gguf"), folder.path().join("other.gguf"));
    let mut bytes = engines::model("tiny.gguf");
    bytes.resize(FILE_BYTES, 0);
    std::fs::write(&file, &bytes).unwrap();
    bytes[FILE_BYTES - 1] = 1;
    std::fs::write(&other, &bytes).unwrap();
    browser.sends_at_most(UPLOAD_BYTES_PER_SECOND).await;
    browser.click("#first-steps li.now a.primary[href='/models?open=add']").await;
    browser.find("dialog [name=name]").await.send_keys("tiny").await.unwrap();
    choose(&browser, &file).await;
    browser.find_with(".catalogue-row", "8.4 MB of 21.0 MB").await;
    browser.picture("story-3-upload").await;
    browser.reload().await;
    browser.click("[aria-label^='Resume upload']").await;
    choose(&browser, &other).await;
    browser.find_with("dialog [role=alert]", "its checksum is not the announced one").await;
    browser.picture("story-4-another-file").await;
    choose(&browser, &file).await;
    browser.find_with(".catalogue-row .badge", "Ready").await;

    // Its deployment, to the only device there is: the next step of the overview.
    browser.open(&origin).await;
    browser.click("#first-steps li.now a.primary[href$='?open=deploy']").await;
    let port = free_port();
    browser.find("dialog [name=port]").await.send_keys(port.to_string()).await.unwrap();
    browser.picture("story-5-deploy").await;
    browser.click("dialog [type=submit]").await;
    browser.find_with(".model-page .list-rows .badge", "Serving").await;

    // A question. The allowlist of the deployment is older than that of the account, so it is refused.
    installed.backend.allow(&[OLD_ORIGIN, &origin]).await;
    browser.open(&format!("{origin}/workspace")).await;
    browser.find("#message").await.send_keys("Say hello.").await.unwrap();
    browser.click("#send[aria-disabled=false]").await;
    browser.find("[data-cause='allowlist-stale']").await;
    browser.picture("story-6-refused").await;
    browser.click("[data-action=repair]").await;
    browser.find_with(".answered .usage", "completion tokens").await;
    let answer = "return document.querySelector('.answered .text').textContent.trim()";
    assert_eq!(browser.run(answer, vec![]).await, TINY_REPLY.trim());
    browser.gone("[data-offer]").await;
    browser.picture("story-7-answered").await;
    assert_eq!(chat::preflight(port, &origin).await.status(), 204);
}

/// Chooses a file in the dialog and sends the form.
async fn choose(browser: &Browser, file: &std::path::Path) {
    let field = browser.find("dialog [type=file]").await;
    field.send_keys(file.to_str().unwrap()).await.unwrap();
    browser.click("dialog [type=submit]").await;
}
