//! `link doctor --origin` says of every request of a page what a real Chromium does with it.

use axum::{Router, response::Html, routing::get};
use link_protocol::port::Port;
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    device::{TestDevice, free_port},
    engines,
    internet::Internet,
};
use serde_json::{Value, json};

use super::chromium::Browser;

/// A page that makes the three requests, also from a frame in a sandbox, whose origin is `null`.
const PAGE: &str = r#"<!doctype html><title>page</title><script>
const requests = `async (base, alias) => {
    const names = ['arch', 'lang', 'os', 'package-version', 'retry-count', 'runtime', 'runtime-version', 'timeout'];
    const client = Object.fromEntries(names.map((name) => ['x-stainless-' + name, '1']));
    const token = { authorization: 'Bearer token' };
    const question = { model: alias, max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] };
    const chat = {
        method: 'POST', headers: { ...token, ...client, 'content-type': 'application/json' }, body: JSON.stringify(question),
    };
    const passes = (path, options) => fetch(base + path, options).then(() => true, () => false);
    return {
        chat: await passes('/' + alias + '/v1/chat/completions', chat),
        model: await passes('/v1/models/' + alias),
        model_with_token: await passes('/v1/models/' + alias, { headers: token }),
    };
}`;
const run = (base, alias) => eval(requests)(base, alias);
const runInSandbox = (base, alias) => new Promise((resolve) => {
    addEventListener('message', (event) => resolve(event.data), { once: true });
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.srcdoc = '<script>(' + requests + ')(' + JSON.stringify(base) + ',' + JSON.stringify(alias)
        + ').then((seen) => parent.postMessage(seen, "*"))</' + 'script>';
    document.body.append(frame);
});
</script><body>"#;

#[tokio::test]
async fn browser_and_doctor_agree_in_every_cell() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    backend.serving(deployment.deployment_id, true).await;
    let origin = serve_page().await;
    let browser = Browser::start().await;
    browser.open(&origin).await;

    let refused = compare(&browser, &device, &origin, port).await;
    assert!(refused.iter().all(|cell| cell["allowed"] == false), "{refused:?}");
    backend.allow(&[OLD_ORIGIN, &origin]).await;
    backend.repair(model.model_id, device.id, None).await;
    let allowed = compare(&browser, &device, &origin, port).await;
    assert!(allowed.iter().any(|cell| cell["allowed"] == true), "{allowed:?}");
}

/// A page of the local network, and one of the internet: over plain http, and over https once the user has allowed it.
#[tokio::test]
async fn browser_and_doctor_agree_about_pages_of_the_network_and_of_the_internet() {
    const IN_THE_NETWORK: &str = "10.1.2.3";
    const IN_THE_INTERNET: &str = "203.0.113.7";
    let name = "pages.example";
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.serve_tiny(&device).await;
    let page = serve_page().await;
    let (_, number) = page.rsplit_once(':').unwrap();
    let plain = |host: &str| format!("http://{host}:{number}");
    let safe = format!("https://{name}");
    backend.allow(&[OLD_ORIGIN, &plain(IN_THE_NETWORK), &plain(IN_THE_INTERNET), &safe]).await;
    backend.repair(model.model_id, device.id, None).await;

    for (host, space, allowed) in
        [(IN_THE_NETWORK, "local", true), (IN_THE_INTERNET, "public", false)]
    {
        let resolve = format!("--host-resolver-rules=MAP {host} 127.0.0.1");
        let space = format!("--ip-address-space-overrides=127.0.0.1:{number}={space}");
        let browser = Browser::start_with(&[&resolve, &space]).await;
        browser.open(&plain(host)).await;
        let cells = compare(&browser, &device, &plain(host), model.port).await;
        assert!(of(&cells, &plain(host)).all(|cell| cell["allowed"] == allowed), "{cells:?}");
    }

    let folder = tempfile::tempdir().unwrap();
    let internet = Internet::start(&[name], &folder.path().join("authority.pem")).await;
    internet.lead(name, &format!("http://127.0.0.1:{number}"));
    let proxy = format!("--proxy-server={}", internet.proxy);
    let server = internet.proxy.trim_start_matches("http://");
    let public = format!("--ip-address-space-overrides={server}=public");
    let browser = Browser::start_with(&[&proxy, &public, "--ignore-certificate-errors"]).await;
    browser.grant("loopback-network", &safe).await;
    browser.open(&safe).await;
    let cells = compare(&browser, &device, &safe, model.port).await;
    assert!(of(&cells, &safe).all(|cell| cell["allowed"] == true), "{cells:?}");
}

/// Returns the cells of an origin.
fn of<'a>(cells: &'a [Value], origin: &str) -> impl Iterator<Item = &'a Value> {
    let cells: Vec<_> = cells.iter().filter(|cell| cell["origin"] == origin).collect();
    assert_eq!(cells.len(), 3, "{cells:?}");
    cells.into_iter()
}

/// Compares what the browser does with what doctor says. Returns the cells.
async fn compare(browser: &Browser, device: &TestDevice, origin: &str, port: Port) -> Vec<Value> {
    let ran = device.link().args(["doctor", "--json", "--origin", origin]).output().unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let cells = document["matrix"].as_array().unwrap().clone();
    assert_eq!(cells.len(), 6, "{document:#}");
    let base = format!("http://127.0.0.1:{port}");
    for (function, of) in [("run", origin), ("runInSandbox", "null")] {
        let script = format!("return {function}(arguments[0], arguments[1])");
        let seen = browser.run(&script, vec![json!(base), json!("tiny")]).await;
        for cell in cells.iter().filter(|cell| cell["origin"] == of) {
            let request = cell["request"].as_str().unwrap();
            assert_eq!(seen[request], cell["allowed"], "{request} of {of}: {cell}, browser {seen}");
        }
    }
    cells
}

/// Serves the page on a port of this machine, and returns its origin.
async fn serve_page() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = Router::new().route("/", get(|| async { Html(PAGE) }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://localhost:{port}")
}
