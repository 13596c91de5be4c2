//! The pages of administrators: keys that are shown once, members and invitations, tokens, the allowlist, the audit trail.

use link_protocol::{
    backend_api::{
        key::CreateKey,
        member::{InviteMember, Role},
    },
    key::KeyKind,
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines,
    wait::until,
};
use serde_json::json;

use super::chromium::Browser;

/// Fills in the field with the id, as a person does.
async fn fill(browser: &Browser, id: &str, words: &str) {
    browser.find(&format!("#{id}")).await.send_keys(words).await.unwrap();
}

#[tokio::test]
async fn browser_shows_a_new_key_once_and_revokes_it_after_a_question() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/keys", backend.url)).await;
    browser.find_with("h2", "No key yet").await;
    browser.pictures("keys-empty").await;

    browser.click(".page-head .button.primary").await;
    fill(&browser, "key-name", "laptop").await;
    browser.pictures("keys-create").await;
    browser.click("dialog button[type=submit]").await;
    browser.find_with("#new-key", "lrk_").await;
    browser.find_with("#new-key", "/install.sh | ").await;
    browser.pictures("keys-created").await;
    browser.click(".dialog-foot .button").await;
    browser.gone("dialog").await;
    let rest = "return document.documentElement.innerHTML + location.href + \
                JSON.stringify({...sessionStorage, ...localStorage})";
    let rest = browser.run(rest, vec![]).await;
    assert!(!rest.as_str().unwrap().contains("lrk_"), "the key is still there");

    let wish = CreateKey {
        kind: KeyKind::Fleet,
        name: "<b>lab</b>".to_owned(),
        expires_at: Some(jiff::Timestamp::now() + jiff::SignedDuration::from_hours(5)),
        max_devices: Some(2),
        tags: vec!["lab".to_owned()],
    };
    let key = backend.owner.create_key(&wish).await.unwrap().key;
    // Without a reload, and above the key that ends later.
    browser.find_with("tbody tr:first-child", "<b>lab</b>").await;
    let device = TestDevice::unregistered();
    let mut link = device.link();
    link.args(["register", "--backend", &backend.url]).env("LINK_FLEET_KEY", key.expose());
    assert!(link.output().unwrap().status.success());
    browser.find_with("tbody tr:first-child", "1 of 2").await;
    browser.pictures("keys-many").await;

    browser.click("tbody tr:first-child .danger").await;
    browser.find_with("dialog", "1 device registered with it stays registered").await;
    browser.pictures("keys-revoke").await;
    browser.click("dialog .danger").await;
    browser.find_with("tbody", "Revoked").await;
    let keys = backend.owner.keys().await.unwrap();
    assert_eq!(keys.iter().filter(|key| key.revoked).count(), 1);
    assert_eq!(backend.owner.devices().await.unwrap().len(), 1);
}

#[tokio::test]
async fn browser_adds_an_origin_and_says_what_is_stale() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    backend.serving(deployment.deployment_id, true).await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/settings", backend.url)).await;
    browser.find_with("#default-origins", OLD_ORIGIN).await;
    browser.find_with("#allowlist", "Every deployment has all of these origins.").await;

    fill(&browser, "new-origin", "https://*.example").await;
    browser.click("#allowlist button[type=submit]").await;
    browser.find_with("#allowlist [role=alert]", "origin").await;
    browser.pictures("settings-refused").await;
    let setting = backend.owner.allowlist().await.unwrap();
    assert_eq!((setting.origins.len(), setting.defaults.len()), (0, 1));

    browser.find("#new-origin").await.clear().await.unwrap();
    browser.click("#allowlist .form-foot .button:not(.primary)").await;
    browser.find_with("#own-origins", &backend.url).await;
    browser.find_with("#allowlist", "1 deployment refuses pages of an allowed origin").await;
    assert_eq!(chat::preflight(port, &backend.url).await.status(), 403);
    browser.pictures("settings-stale").await;

    browser.click("#own-origins button").await;
    browser.click("dialog .danger").await;
    browser.find_with("#allowlist", "no origin of its own").await;
    assert!(backend.owner.allowlist().await.unwrap().origins.is_empty());
    drop(device);
}

#[tokio::test]
async fn browser_invites_changes_a_role_and_removes_a_member() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/members", backend.url)).await;
    browser.find_with("tbody", "owner@example.com").await;
    browser.click(".page-head .button.primary").await;
    fill(&browser, "invite-email", "bob@example.com").await;
    browser.pictures("members-invite").await;
    browser.click("dialog button[type=submit]").await;
    let shown = browser.find_with("#new-invitation", "/invite#").await;
    let token = shown.split("/invite#").nth(1).unwrap().split_whitespace().next().unwrap();
    browser.pictures("members-invited").await;
    browser.click(".dialog-foot .button").await;
    browser.find_with("tbody", "bob@example.com").await;

    let accept = json!({
        "invitation_token": token, "email": "bob@example.com", "password": "a long pass word",
    });
    let joined = reqwest::Client::new()
        .post(format!("{}/api/v1/members/accept", backend.url))
        .json(&accept)
        .send();
    assert_eq!(joined.await.unwrap().status(), 201);
    let member = || async {
        let members = backend.owner.members().await.unwrap();
        members.into_iter().find(|member| member.email == "bob@example.com")
    };
    // Without a reload.
    browser.click("[aria-label='Change role of bob@example.com']").await;
    browser.click("dialog input[value=viewer]").await;
    browser.pictures("members-role").await;
    browser.click("dialog button[type=submit]").await;
    until("the new role", || async {
        member().await.filter(|bob| bob.role == Role::Viewer).map(|_| ())
    })
    .await;
    browser.find_with(".notice", "has the role Viewer").await;
    browser.click("[aria-label='Remove bob@example.com']").await;
    browser.find_with("dialog", "No key of this member").await;
    browser.pictures("members-remove").await;
    browser.click("dialog .danger").await;
    browser.find_with(".notice", "bob@example.com was removed").await;
    assert!(member().await.is_none());

    // Invitations have no events: the list is loaded anew with the page.
    let wish = InviteMember { role: Role::Viewer, email: None, expires_at: None };
    backend.owner.invite(&wish).await.unwrap();
    browser.run("location.reload()", vec![]).await;
    browser.find_with("section tbody", "Anybody with the link").await;
    browser.click("section tbody button").await;
    browser.find_with("section", "No invitation is open.").await;
}

#[tokio::test]
async fn browser_creates_a_token_and_finds_that_in_the_audit_trail() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/tokens", backend.url)).await;
    browser.find_with("h2", "No token yet").await;
    browser.click(".page-head .button.primary").await;
    fill(&browser, "token-name", "ci").await;
    browser.click("dialog .choices .button").await;
    browser.pictures("tokens-create").await;
    browser.click("dialog button[type=submit]").await;
    let shown = browser.find_with("#new-token pre", "_").await;
    browser.click(".dialog-foot .button").await;
    let asked = reqwest::Client::new()
        .get(format!("{}/api/v1/devices", backend.url))
        .bearer_auth(shown.trim())
        .send();
    assert_eq!(asked.await.unwrap().status(), 200);
    browser.find_with("tbody", "devices:read").await;
    browser.pictures("tokens").await;

    browser.click(".sidebar a[href='/audit']").await;
    browser.find_with("tbody", "token.create").await;
    browser.find_with("tbody", "login.password").await;
    browser.run("history.replaceState(null, '', '/audit?action=token')", vec![]).await;
    browser.run("location.reload()", vec![]).await;
    browser.find_with("tbody", "token.create").await;
    let others = "return document.querySelector('tbody').textContent.includes('login')";
    assert_eq!(browser.run(others, vec![]).await, false);
    browser.pictures("audit").await;
}

#[tokio::test]
async fn browser_draws_usage_under_the_policy_of_the_page() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    backend.serving(deployment.deployment_id, true).await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/usage?period=day", backend.url)).await;
    browser.find_with("h2", "No usage in this period").await;
    browser.pictures("usage-empty").await;

    let asked = json!({ "model": "tiny", "messages": [{ "role": "user", "content": "hello" }] });
    let url = format!("http://127.0.0.1:{port}/v1/chat/completions");
    let answer = reqwest::Client::new().post(url).json(&asked).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    let violations = "window.violations = []; \
                      addEventListener('securitypolicyviolation', (one) => \
                      violations.push(one.violatedDirective))";
    browser.run(violations, vec![]).await;
    until("the usage", || async {
        browser.click(".page-head .button").await;
        let found = "return document.querySelector('.chart-canvas canvas') !== null";
        (browser.run(found, vec![]).await == true).then_some(())
    })
    .await;
    browser.find_with(".charted", "Tokens: ").await;
    browser.find_with("tbody", "tiny").await;
    let drawn = "const canvas = document.querySelector('.chart-canvas canvas'); \
                 const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height); \
                 return data.some((value) => value !== 0)";
    until("the bars", || async { (browser.run(drawn, vec![]).await == true).then_some(()) }).await;
    assert_eq!(browser.run("return window.violations", vec![]).await, json!([]));
    browser.pictures("usage").await;
    drop(device);
}
