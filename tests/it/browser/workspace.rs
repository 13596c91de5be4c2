//! The workspace: it names a refused preflight, repairs it by a click, and gets an answer.

use link_protocol::{deployment::DeploymentState, id::ModelId, port::Port};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY, TINY_TOKENS},
    internet::Internet,
};
use serde_json::Value;

use super::chromium::Browser;

/// Presses Stop as soon as the first word of an answer is visible, however short the answer is.
const STOP_AT_THE_FIRST_WORD: &str = "
    const look = () => {
        const words = document.querySelector('.answered[aria-busy] .text')?.textContent;
        if (words) document.querySelector('#stop')?.click();
    };
    new MutationObserver(look)
        .observe(document.body, { subtree: true, childList: true, characterData: true });";

/// A model that was deployed while the allowlist lacked the page's origin, and is served.
struct Stage {
    backend: TestBackend,
    device: TestDevice,
    model: ModelId,
    port: Port,
    /// The origin of the backend's own pages.
    origin: String,
}

impl Stage {
    async fn set(model: &str) -> Self {
        Self::set_on(TestBackend::start().await, model).await
    }

    async fn set_on(backend: TestBackend, model: &str) -> Self {
        let mut device = TestDevice::register(&backend).await;
        // A context that is large enough for an answer that takes long enough to be stopped.
        device.run(&[("LINK_ENGINE_CONTEXT", "4096")]);
        backend.online(device.id, true).await;
        let bytes = engines::model(&format!("{model}.gguf"));
        let model = backend.upload(model, bytes).await.model_id;
        let port = free_port();
        let deployment = backend.deploy(model, device.id, port, true).await;
        let ended = backend.ended(deployment.deployment_id).await;
        assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
        backend.serving(deployment.deployment_id, true).await;
        let origin = backend.url.replace("127.0.0.1", "localhost");
        Self { backend, device, model, port, origin }
    }

    async fn browser(&self) -> Browser {
        let browser = Browser::start().await;
        browser.open_logged_in(&format!("{}/workspace", self.origin)).await;
        browser
    }
}

// Holds: S1-2a, S1-3a, S1-4b, S7-1
#[tokio::test]
async fn browser_names_the_refused_preflight_and_repairs_it() {
    let stage = Stage::set("tiny").await;
    stage.backend.allow(&[OLD_ORIGIN, &stage.origin]).await;
    let browser = stage.browser().await;
    ask(&browser, "Say hello.").await;

    let said = browser.find("[data-cause='allowlist-stale']").await.text().await.unwrap();
    for part in ["allowlist", stage.origin.as_str(), "preflight was refused"] {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
    assert!(!browser.text().await.to_lowercase().contains("document too large"));
    let refused = chat::preflight(stage.port, &stage.origin).await;
    assert_eq!(refused.status(), 403);
    assert_eq!(refused.json::<Value>().await.unwrap()["code"], "origin-not-allowed");
    browser.picture("workspace-refused").await;
    let engine = stage.device.model().await.engine_pid;

    browser.click("[data-action=repair]").await;
    let usage = browser.find_with(".answered .usage", "completion tokens").await;
    assert!(usage.contains(&format!("{TINY_TOKENS} completion tokens")), "{usage}");
    assert!(usage.contains("prompt tokens"), "{usage}");
    let script = "return document.querySelector('.answered .text').textContent.trim()";
    assert_eq!(browser.run(script, vec![]).await, TINY_REPLY.trim());
    browser.gone("[data-cause]").await;
    browser.picture("workspace-repaired").await;
    assert_eq!(chat::preflight(stage.port, &stage.origin).await.status(), 204);
    assert_eq!(stage.device.model().await.engine_pid, engine, "the engine was kept");
    // The page learns which device is behind the port.
    let script = "return fetch(arguments[0]).then((answer) => answer.headers.get('link-device'))";
    let models = format!("http://127.0.0.1:{}/v1/models", stage.port);
    let device = browser.run(script, vec![models.into()]).await;
    assert_eq!(device, stage.device.id.to_string());
}

// Holds: S1-4a, S7-1
#[tokio::test]
async fn browser_redeploys_as_the_other_remedy() {
    let stage = Stage::set("tiny").await;
    stage.backend.allow(&[OLD_ORIGIN, &stage.origin]).await;
    let browser = stage.browser().await;
    ask(&browser, "Say hello.").await;
    browser.find("[data-cause='allowlist-stale']").await;
    browser.click("[data-action=redeploy]").await;
    browser.find_with(".answered .usage", &format!("{TINY_TOKENS} completion tokens")).await;
    assert_eq!(chat::preflight(stage.port, &stage.origin).await.status(), 204);
}

/// The browser asks for the port, which two models share, and gets through with the other model. Then the proxy refuses the request.
// Holds: S1-3a, S1-4b
#[tokio::test]
async fn browser_repairs_a_stale_model_beside_one_that_admits_the_page() {
    let stage = Stage::set("tiny").await;
    stage.backend.allow(&[OLD_ORIGIN, &stage.origin]).await;
    let other = stage.backend.upload("tiny-loop", engines::model("tiny-loop.gguf")).await.model_id;
    let deployment = stage.backend.deploy(other, stage.device.id, stage.port, true).await;
    stage.backend.serving(deployment.deployment_id, true).await;
    assert_eq!(chat::preflight(stage.port, &stage.origin).await.status(), 204);
    let browser = stage.browser().await;
    let choose = "const list = document.querySelector('select#model');
        list.value = [...list.options].find(({ value }) => value.startsWith(arguments[0])).value;
        list.dispatchEvent(new Event('change'));";
    browser.find("select#model").await;
    browser.run(choose, vec![stage.model.to_string().into()]).await;
    ask(&browser, "Say hello.").await;

    let said = browser.find("[data-cause='allowlist-stale']").await.text().await.unwrap();
    assert!(!said.contains("engine"), "{said}");
    browser.click("[data-action=repair]").await;
    browser.find_with(".answered .usage", &format!("{TINY_TOKENS} completion tokens")).await;
    browser.gone("[data-cause]").await;
}

#[tokio::test]
async fn browser_keeps_the_login_out_of_every_store() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/workspace", backend.url)).await;
    browser.find_with(".account .email", "@").await;
    let script = "return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])";
    let stores = browser.run(script, vec![]).await;
    let stores: Value = serde_json::from_str(stores.as_str().unwrap()).unwrap();
    assert_eq!((&stores[1], &stores[2]), (&serde_json::json!({}), &Value::from("")));
    let local = stores[0].as_object().unwrap();
    assert_eq!(local.keys().collect::<Vec<_>>(), ["link.csrf"]);
    assert!(
        local["link.csrf"].as_str().unwrap().starts_with("lps_"),
        "no login without the cookie"
    );

    // The next page has the login.
    browser.open(&format!("{}/", backend.url)).await;
    browser.find_with(".account .email", "@").await;
}

#[tokio::test]
async fn browser_adds_its_origin_stops_an_answer_and_serves_a_stopped_model() {
    let stage = Stage::set("tiny-loop").await;
    let browser = stage.browser().await;
    browser.run(STOP_AT_THE_FIRST_WORD, vec![]).await;
    ask(&browser, "Never end.").await;
    // The setting itself lacks the origin, so a repair alone would change nothing.
    browser.find("[data-cause='origin-not-listed']").await;
    browser.picture("workspace-not-listed").await;
    browser.click("[data-action=allow]").await;
    browser.find_with(".answered .usage", "Stopped").await;
    browser.picture("workspace-stopped").await;
    let allowed = stage.backend.owner.allowlist().await.unwrap().origins;
    assert!(allowed.iter().any(|origin| origin.as_str() == stage.origin), "{allowed:?}");

    // The first word was visible before the answer ended, so the answer was streamed.
    let stopped = stage.backend.owner.stop(stage.model, stage.device.id).await.unwrap();
    stage.backend.result(stopped.command_id).await;
    // The page learns of it by itself, and lets nobody ask in vain.
    browser.find_with("#model", "not served").await;
    browser.picture("workspace-not-served").await;
    browser.click("[data-offer=serve]").await;
    browser.gone("[data-offer=serve]").await;
    // In a conversation of its own: the stopped answer may have filled the context of the model.
    browser.click("#fresh").await;
    browser.gone(".answered").await;
    ask(&browser, "And now?").await;
    browser.find_with(".answered .usage", "Stopped").await;
}

/// A page that was loaded with the policy of the workspace is never another one, and the other way round.
#[tokio::test]
async fn browser_leaves_the_policy_of_the_workspace_with_the_page() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/workspace", backend.url)).await;
    let reaches = "return fetch('http://127.0.0.1:9/', { mode: 'no-cors' }).then(() => 'reached', () => 'not')
        .then(() => new Promise((told) => {
            document.addEventListener('securitypolicyviolation', () => told('forbidden'));
            fetch('http://127.0.0.1:9/', { mode: 'no-cors' }).catch(() => setTimeout(() => told('tried'), 300));
        }))";
    browser.find_with(".empty", "No model is deployed").await;
    assert_eq!(browser.run(reaches, vec![]).await, "tried");
    browser.run("window.loaded = 'workspace'", vec![]).await;
    browser.click(".sidebar a[href='/devices']").await;
    browser.find_with("h1", "Devices").await;
    assert_eq!(browser.run("return window.loaded ?? null", vec![]).await, Value::Null);
    assert_eq!(browser.run(reaches, vec![]).await, "forbidden");
    browser.run("window.loaded = 'devices'", vec![]).await;
    browser.click(".sidebar a[href='/workspace']").await;
    browser.find_with("h1", "Workspace").await;
    assert_eq!(browser.run("return window.loaded ?? null", vec![]).await, Value::Null);
    browser.run("history.back()", vec![]).await;
    browser.find_with("h1", "Devices").await;
    assert_eq!(browser.run(reaches, vec![]).await, "forbidden");
}

/// Chromium lets a page of a public address reach this machine only over https and with a
/// permission, which a browser without a window cannot get. No header of the device changes that.
#[tokio::test]
async fn browser_tells_an_insecure_page_from_a_denied_permission() {
    let (name, origin) = ("link.example", "https://link.example");
    let backend = TestBackend::start_with(&["--public-url", origin]).await;
    let folder = tempfile::tempdir().unwrap();
    let internet = Internet::start(&[name], &folder.path().join("authority.pem")).await;
    internet.lead(name, &backend.url);
    let stage = Stage::set_on(backend, "tiny").await;

    // A page over plain http on the network may ask no device, so it lets nobody in and says what to do.
    let (_, port) = stage.backend.url.rsplit_once(':').unwrap();
    let resolve = format!("--host-resolver-rules=MAP {name} 127.0.0.1");
    let insecure = Browser::start_with(&[&resolve]).await;
    insecure.open(&format!("http://{name}:{port}/workspace")).await;
    insecure.find_with("main", "not safe for a login").await;
    insecure.picture("workspace-insecure").await;

    stage.backend.allow(&[OLD_ORIGIN, origin]).await;
    stage.backend.repair(stage.model, stage.device.id, None).await;
    assert_eq!(chat::preflight(stage.port, origin).await.status(), 204);
    let proxy = format!("--proxy-server={}", internet.proxy);
    // The page comes from the internet, as far as the browser can tell.
    let server = internet.proxy.trim_start_matches("http://");
    let public = format!("--ip-address-space-overrides={server}=public");
    let browser = Browser::start_with(&[&proxy, &public, "--ignore-certificate-errors"]).await;
    browser.open_logged_in(&format!("{origin}/workspace")).await;
    ask(&browser, "Say hello.").await;
    browser.find("[data-cause=local-network-denied]").await;
    browser.picture("workspace-local-network-denied").await;
}

async fn ask(browser: &Browser, text: &str) {
    browser.find("#message").await.send_keys(text).await.unwrap();
    // While the model is being loaded, the button takes no question.
    browser.click("#send[aria-disabled=false]").await;
}
