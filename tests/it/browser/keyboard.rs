//! The whole way of a new owner by keyboard alone, and two browsers that see what the other one changes.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use link_tests::{
    backend::{EMAIL, NewBackend, OLD_ORIGIN, PASSWORD, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
};
use thirtyfour::Key;

use super::{
    chromium::Browser,
    story::{FILE_BYTES, UPLOAD_BYTES_PER_SECOND},
};

/// How often Tab is pressed before an element counts as out of reach.
const MOST_TABS: usize = 90;

/// No element is clicked and none is looked up to be used: what has the focus gets the keys, and has to show it.
#[tokio::test]
async fn browser_is_used_from_no_account_to_a_repaired_answer_by_keyboard_alone() {
    let new = NewBackend::start().await;
    let origin = new.url.replace("127.0.0.1", "localhost");
    let browser = Browser::start().await;
    browser.open(&origin).await;
    browser.find("[name=setup-token]").await;
    reach(&browser, "[name=setup-token]").await;
    browser.keys(new.setup_token()).await;
    reach(&browser, "[name=email]").await;
    browser.keys(EMAIL).await;
    reach(&browser, "[name=password]").await;
    browser.keys(PASSWORD.to_owned() + Key::Enter).await;
    browser.find_with(".account .email", "@").await;
    let backend = new.log_in().await;

    // A device: its key from the page, used by a real agent, which then appears by itself.
    palette(&browser, "Add a device").await;
    browser.find("#install-make").await;
    reach(&browser, "#install-make").await;
    browser.keys(Key::Enter).await;
    let line = browser.find_with("#install-line", "LINK_REGISTRATION_KEY=lrk_").await;
    let key = line.split("LINK_REGISTRATION_KEY=").nth(1).unwrap().split(' ').next().unwrap();
    let mut device = TestDevice::unregistered();
    let mut link = device.link();
    link.args(["register", "--backend", &backend.url]).env("LINK_REGISTRATION_KEY", key);
    let registered = link.output().unwrap();
    assert!(registered.status.success(), "{registered:?}");
    device.run(&[("LINK_ENGINE_CONTEXT", "4096")]);
    browser.find_with(".arrival .step.done:nth-child(2)", "Online").await;

    add_model(&browser).await;

    // A deployment, from the page of the device.
    palette(&browser, "Devices").await;
    browser.find_with(".device-row .state", "Online").await;
    reach(&browser, ".device-row .name a").await;
    browser.keys(Key::Enter).await;
    browser.find(".tab-actions .button").await;
    reach(&browser, ".tab-actions .button").await;
    browser.keys(Key::Enter).await;
    browser.find("dialog input[name=port]").await;
    reach(&browser, "dialog input[name=port]").await;
    let port = free_port();
    browser.keys(port.to_string() + Key::Enter).await;
    browser.find_with(".model .badge", "Serving").await;

    // A question that the stale allowlist refuses, the repair, and the answer without another key.
    backend.allow(&[OLD_ORIGIN, &origin]).await;
    palette(&browser, "Workspace").await;
    browser.find("#message").await;
    reach(&browser, "#message").await;
    browser.keys("Say hello.".to_owned() + Key::Enter).await;
    browser.find("[data-cause='allowlist-stale']").await;
    reach(&browser, "[data-action=repair]").await;
    browser.keys(Key::Enter).await;
    browser.find_with(".answered .usage", "completion tokens").await;
    let answer = "return document.querySelector('.answered .text').textContent.trim()";
    assert_eq!(browser.run(answer, vec![]).await, TINY_REPLY.trim());
    assert_eq!(chat::preflight(port, &origin).await.status(), 204);
}

#[tokio::test]
async fn browser_shows_what_another_browser_changes() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let (ann, bob) = (Browser::start().await, Browser::start().await);
    ann.open_logged_in(&format!("{}/devices", backend.url)).await;
    ann.find_with(".device-row .state", "Online").await;
    bob.open_logged_in(&format!("{}/devices/{}?tab=about", backend.url, device.id)).await;
    for browser in [&ann, &bob] {
        browser.run("window.loadedOnce = true", vec![]).await;
    }

    // A busy machine is slow now and then, and not each time: the median counts.
    let mut took = Vec::new();
    for new in ["desk-1", "desk-2", "desk-3", "desk-4", "front-desk"] {
        let name = bob.find("input[name=name]").await;
        name.clear().await.unwrap();
        name.send_keys(new.to_owned() + Key::Enter).await.unwrap();
        let renamed = Instant::now();
        ann.find_with(".device-row .name", new).await;
        took.push(renamed.elapsed());
    }
    println!("the other browser shows a new name after {took:?}");
    took.sort_unstable();
    assert!(took[took.len() / 2] < Duration::from_secs(1), "{took:?}");

    // The other direction: Ann adds a tag, and Bob's page of the device shows the tag.
    ann.click(".device-row .name a").await;
    ann.click(".tabs a[href$='tab=about']").await;
    let tag = ann.find("input[name=tag]").await;
    tag.send_keys("lobby".to_owned() + Key::Enter).await.unwrap();
    bob.find_with(".tag-editor .chip", "lobby").await;
    ann.click(".device-head .back").await;

    bob.click(".tabs a").await;
    bob.find_with(".model", "Allowlist current").await;
    backend.allow(&[OLD_ORIGIN, "https://workspace.example"]).await;
    bob.find_with(".model", "Stale allowlist").await;
    ann.find_with(".device-row .models", "1 stale").await;
    bob.click("[data-action=repair]").await;
    bob.find_with(".model", "Allowlist current").await;
    ann.gone(".device-row .models .badge").await;
    assert_eq!(chat::preflight(deployment.port, "https://workspace.example").await.status(), 204);

    // A device that goes away is gone for both, also for who looks at it.
    backend.owner.remove_device(device.id).await.unwrap();
    ann.find_with("h2", "No device yet").await;
    bob.find_with("h1", "device").await;
    for browser in [&ann, &bob] {
        let loaded_once = browser.run("return window.loadedOnce === true", vec![]).await;
        assert_eq!(loaded_once, true, "the page was loaded again");
    }
}

/// Adds a model. A reload cuts its upload, which is resumed with the same file.
async fn add_model(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tiny.gguf");
    let mut bytes = engines::model("tiny.gguf");
    bytes.resize(FILE_BYTES, 0);
    std::fs::write(&file, &bytes).unwrap();
    palette(browser, "Models").await;
    browser.find_with("h2", "No model yet").await;
    browser.sends_at_most(UPLOAD_BYTES_PER_SECOND).await;
    palette(browser, "Add a model").await;
    choose(browser, &file).await;
    browser.find_with(".catalogue-row", "8.4 MB of 21.0 MB").await;
    browser.reload().await;
    browser.find("[aria-label^='Resume upload']").await;
    reach(browser, "[aria-label^='Resume upload']").await;
    browser.keys(Key::Enter).await;
    choose(browser, &file).await;
    browser.find_with(".catalogue-row .badge", "Ready").await;
}

/// Chooses a file in the dialog and sends the form. Whoever uses no pointer types the path into the window that the field
/// opens.
async fn choose(browser: &Browser, file: &Path) {
    browser.find("dialog [type=file]").await;
    reach(browser, "dialog [type=file]").await;
    browser.keys(file.to_str().unwrap()).await;
    browser.leave_file_field().await;
    reach(browser, "dialog [type=submit]").await;
    browser.keys(Key::Enter).await;
}

/// Opens the palette and goes to what it finds for the words.
async fn palette(browser: &Browser, words: &str) {
    browser.keys(Key::Control + "k").await;
    browser.find(".palette input").await;
    browser.keys(words).await;
    browser.find_with(".palette li[aria-selected=true]", words).await;
    browser.keys(Key::Enter).await;
    browser.gone(".palette").await;
}

/// Presses Tab until the element has the focus, which must be visible: the element or one of the three around it has an
/// outline that can be seen, and had none before.
async fn reach(browser: &Browser, css: &str) {
    let focused = format!("return document.activeElement?.matches({css:?}) === true");
    let outlined = "let found = []; \
        for (let at = ELEMENT, steps = 0; at && steps < 4; at = at.parentElement, steps += 1) { \
            const style = getComputedStyle(at); \
            found.push(style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 && \
                !/, 0\\)$|^transparent$/.test(style.outlineColor)); \
        } \
        return found.includes(true)";
    let before = outlined.replace("ELEMENT", &format!("document.querySelector({css:?})"));
    let after = outlined.replace("ELEMENT", "document.activeElement");
    // What has the focus from the start, such as the first field of a dialog, shows it too.
    let mut unfocused = browser.run(&focused, vec![]).await == true;
    for _ in 0..MOST_TABS {
        if browser.run(&focused, vec![]).await == true {
            assert!(unfocused, "`{css}` has an outline without the focus too");
            assert_eq!(browser.run(&after, vec![]).await, true, "`{css}` shows no focus");
            return;
        }
        unfocused = unfocused || browser.run(&before, vec![]).await == false;
        browser.keys(Key::Tab).await;
    }
    panic!("`{css}` cannot be reached by Tab on this page:\n{}", browser.text().await);
}
