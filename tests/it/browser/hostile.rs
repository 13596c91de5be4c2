//! A malicious web page in a real browser: the requests that it may send to its visitor's device,
//! and what it gains from a host name of its own that resolves to 127.0.0.1.

use axum::{Router, response::Html};
use link_protocol::{id::PipelineId, report::ModelState};
use link_tests::{backend::TestBackend, chat, device::TestDevice, wait::until};
use serde_json::{Value, json};

use super::chromium::Browser;

/// The host name of the page. The browser resolves it to this machine.
const NAME: &str = "evil.example";

/// All requests that a page can send without a preflight, and some that need one. Each attempt
/// returns what the page has learned.
const ATTACK: &str = r"
    const [port, local, pipeline] = arguments;
    const model = `http://127.0.0.1:${port}`, agent = `http://127.0.0.1:${local}`;
    const chat = `${model}/v1/chat/completions`;
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] });
    const plain = { method: 'POST', body, headers: { 'content-type': 'text/plain' } };
    const asked = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    const blind = { method: 'POST', body, mode: 'no-cors' };
    const told = async (url, options) => {
        try {
            const answer = await fetch(url, options);
            return `${answer.type} ${answer.status} ${await answer.text()}`;
        } catch (error) {
            return error.name;
        }
    };
    const events = new Promise((done) => {
        const source = new EventSource(`${agent}/events`);
        source.onopen = source.onmessage = () => done('open');
        source.onerror = () => { source.close(); done('refused'); };
    });
    const socket = new Promise((done) => {
        const socket = new WebSocket(`ws://127.0.0.1:${local}/events`);
        socket.onopen = () => done('open');
        socket.onerror = () => done('refused');
    });
    const form = document.createElement('form');
    const frame = document.createElement('iframe');
    frame.name = 'into';
    Object.assign(form, { method: 'POST', action: chat, target: 'into', enctype: 'text/plain' });
    const words = document.createElement('input');
    Object.assign(words, { name: body.slice(0, -1) + ', \'x\': \'', value: '\'}' });
    form.append(words);
    document.body.append(frame, form);
    const posted = new Promise((done) => { frame.onload = () => done('sent'); });
    form.submit();
    navigator.sendBeacon(chat, body);
    const tries = {
        list: told(`${model}/v1/models`), simple: told(chat, plain), preflight: told(chat, asked),
        healthz: told(`${agent}/healthz`), models: told(`${agent}/models`),
        metrics: told(`${agent}/metrics`),
        stop: told(`${agent}/models/${pipeline}/stop`, { method: 'POST' }),
        remove: told(`${agent}/models/${pipeline}`, { method: 'DELETE' }),
        blindChat: told(chat, blind), blindStop: told(`${agent}/models/${pipeline}/stop`, blind),
        events, socket, posted,
    };
    return Promise.all(Object.entries(tries).map(async ([name, end]) => [name, await end]))
        .then(Object.fromEntries);
";

/// What a page with that host name gets from its own origin.
const FROM_ITS_OWN_ORIGIN: &str = r"
    return Promise.all(arguments[0].map(async ([method, path]) => {
        const answer = await fetch(path, { method, body: method === 'POST' ? '{}' : undefined });
        return [answer.status, (await answer.json()).code];
    }));
";

#[tokio::test]
async fn browser_gets_nothing_out_of_a_device_for_a_hostile_page() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let pipeline = PipelineId::of(deployment.model_id);
    let browser = rebinding_browser().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{NAME}:{}/", listener.local_addr().unwrap().port());
    let page = Router::new().fallback(|| async { Html("<!doctype html><title>x</title>") });
    let server = tokio::spawn(async move { axum::serve(listener, page).await });
    browser.open(&address).await;
    assert_eq!(browser.run("return location.origin + '/'", vec![]).await, address);

    let (port, local) = (deployment.port.get(), device.local_port);
    let arguments = vec![json!(port), json!(local), json!(pipeline)];
    let learned = browser.run(ATTACK, arguments).await;
    let learned = learned.as_object().unwrap();
    for (name, learned) in learned {
        let allowed: &[&str] = match name.as_str() {
            // An opaque response shows neither a status nor a body.
            "blindChat" | "blindStop" => &["opaque 0 ", "TypeError"],
            "events" | "socket" => &["refused"],
            "posted" => &["sent"],
            _ => &["TypeError"],
        };
        assert!(allowed.contains(&learned.as_str().unwrap()), "{name}: {learned}");
    }
    assert_eq!(learned.len(), 13);

    // No request had an effect: the model serves, and the only inference is the following one.
    assert_eq!(device.model().await.state, ModelState::Serving);
    assert_eq!(device.pipelines().await.len(), 1);
    chat::whole(chat::ask(deployment.port, None, false).await.unwrap()).await;
    let database = backend.data().join("link.db");
    let inferences = until("the usage of the one inference", || async {
        let database = link_sqlite::open_to_read(&database).ok()?;
        let count = "SELECT COUNT(*) FROM telemetry";
        let count: i64 = database.query_one(count, [], |row| row.get(0)).ok()?;
        (count > 0).then_some(count)
    })
    .await;
    assert_eq!(inferences, 1);

    // The allowlist was the reason: a page that the owner allows sends the same requests and gets
    // answers.
    backend.allow(&[address.trim_end_matches('/')]).await;
    backend.repair(deployment.model_id, device.id, None).await;
    let asks =
        format!("return fetch('http://127.0.0.1:{port}/v1/models').then((one) => one.status)");
    assert_eq!(browser.run(&asks, vec![]).await, 200);
    server.abort();
}

#[tokio::test]
async fn browser_gets_nothing_under_a_name_that_was_rebound_to_this_machine() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let pipeline = PipelineId::of(deployment.model_id);
    let browser = rebinding_browser().await;
    let of_the_agent = [
        ("GET", "/healthz".to_owned()),
        ("GET", "/models".to_owned()),
        ("GET", "/events".to_owned()),
        ("GET", "/metrics".to_owned()),
        ("POST", format!("/models/{pipeline}/stop")),
        ("POST", "/update".to_owned()),
    ];
    let of_the_model = [
        ("GET", "/v1/models".to_owned()),
        ("POST", "/v1/chat/completions".to_owned()),
        ("GET", "/health".to_owned()),
    ];
    for (port, paths) in
        [(device.local_port, &of_the_agent[..]), (deployment.port.get(), &of_the_model[..])]
    {
        // The rebound name leads to the device itself, which answers with an error page.
        let (_, first) = &paths[0];
        browser.open(&format!("http://{NAME}:{port}{first}")).await;
        let shown = browser.text().await;
        assert!(shown.contains("host-not-allowed"), "{shown}");
        let model = deployment.model_id.to_string();
        assert!(!shown.contains(&model) && !shown.contains("tiny"), "{shown}");
        let answers = browser.run(FROM_ITS_OWN_ORIGIN, vec![json!(paths)]).await;
        let refused: Value = json!([403, "host-not-allowed"]);
        for (answer, path) in answers.as_array().unwrap().iter().zip(paths) {
            assert_eq!(answer, &refused, "{path:?}");
        }
    }
    assert_eq!(device.model().await.state, ModelState::Serving);
}

/// Starts a browser that resolves the page's host name to this machine.
async fn rebinding_browser() -> Browser {
    Browser::start_with(&[&format!("--host-resolver-rules=MAP {NAME} 127.0.0.1")]).await
}
