//! The login of a browser: what another page of the same host gets, and what the tabs of a browser share.

use std::sync::{Arc, Mutex};

use axum::{Router, http::HeaderMap, response::Html, routing::get};
use link_tests::{
    backend::{PASSWORD, TestBackend},
    wait::until,
};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::chromium::Browser;

/// What a page of another origin can send with the cookie of its visitor. Returns what it has learned.
const ATTACK: &str = r"
    const [backend] = arguments;
    const told = async (path, options) => {
        try {
            const url = `${backend}/api/v1${path}`;
            const answer = await fetch(url, { credentials: 'include', ...options });
            return `${answer.type} ${await answer.text()}`;
        } catch (error) {
            return error.name;
        }
    };
    const blind = { method: 'POST', mode: 'no-cors', body: '{}' };
    return Promise.all([
        told('/me'), told('/sessions'), told('/events'),
        told('/me', { headers: { 'x-link-csrf': '1' } }),
        told('/session', { method: 'DELETE', headers: { 'x-link-csrf': '1' } }),
        told('/me', { mode: 'no-cors' }), told('/keys', blind),
    ]).then((all) => JSON.stringify([all, { ...localStorage }, document.cookie]));
";

#[tokio::test]
async fn browser_sends_the_cookie_to_another_port_and_its_page_gets_nothing() {
    let backend = TestBackend::start().await;
    let heard = Arc::new(Mutex::new(String::new()));
    let other = serve(Arc::clone(&heard)).await;
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    browser.find_with(".account .email", "@").await;

    browser.open(&other).await;
    let cookie = until("the cookie at the other port", || async {
        let cookie = heard.lock().unwrap().clone();
        (!cookie.is_empty()).then_some(cookie)
    })
    .await;
    let port = backend.url.rsplit(':').next().unwrap();
    assert!(cookie.starts_with(&format!("link-{port}=lcs_")), "{cookie}");
    let learned = browser.run(ATTACK, vec![json!(backend.url)]).await;
    let learned: Value = serde_json::from_str(learned.as_str().unwrap()).unwrap();
    let refused = json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError"]);
    assert_eq!(json!(learned[0].as_array().unwrap()[..5]), refused, "{learned}");
    for blind in &learned[0].as_array().unwrap()[5..] {
        let said = blind.as_str().unwrap();
        assert!(["opaque ", "TypeError"].contains(&said), "{learned}");
    }
    assert_eq!((&learned[1], &learned[2]), (&json!({}), &json!("")));

    // The program behind that port has the cookie itself, and gets no further without the secret of the page.
    let client = reqwest::Client::new();
    for (csrf, status) in [(None, StatusCode::FORBIDDEN), (Some("1"), StatusCode::UNAUTHORIZED)] {
        for path in ["me", "devices", "events"] {
            let mut request = client.get(format!("{}/api/v1/{path}", backend.url));
            request = request.header("cookie", &cookie);
            if let Some(csrf) = csrf {
                request = request.header("x-link-csrf", csrf);
            }
            assert_eq!(request.send().await.unwrap().status(), status, "{path} {csrf:?}");
        }
    }
    let secret = cookie.split_once('=').unwrap().1;
    let refresh = client.post(format!("{}/api/v1/auth/refresh", backend.url));
    let refresh = refresh.json(&json!({ "refresh_token": secret })).send().await.unwrap();
    assert_eq!(refresh.status(), StatusCode::UNAUTHORIZED);

    // The person has noticed nothing.
    browser.open(&backend.url).await;
    browser.find_with(".account .email", "@").await;
}

#[tokio::test]
async fn browser_logs_out_in_all_tabs_at_once() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&backend.url).await;
    browser.find_with(".account .email", "@").await;
    let first = browser.tab().await;
    browser.new_tab().await;
    // One login serves all pages of all tabs.
    browser.open(&format!("{}/devices", backend.url)).await;
    browser.find_with(".account .email", "@").await;
    let second = browser.tab().await;
    browser.switch_to(&first).await;
    browser.click(".account button").await;
    browser.find("#email").await;
    browser.switch_to(&second).await;
    browser.find("#email").await;
    let stores = "return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])";
    assert_eq!(browser.run(stores, vec![]).await, json!("[{},{},\"\"]"));
}

#[tokio::test]
async fn browser_changes_the_password_and_only_it_stays_logged_in() {
    let backend = TestBackend::start().await;
    let (browser, other) = (Browser::start().await, Browser::start().await);
    other.open_logged_in(&format!("{}/devices", backend.url)).await;
    other.find_with(".account .email", "@").await;
    browser.open_logged_in(&format!("{}/settings", backend.url)).await;
    let new = "another long password";
    for (field, text) in
        [("#current-password", PASSWORD), ("#new-password", new), ("#new-password-again", new)]
    {
        browser.find(field).await.send_keys(text).await.unwrap();
    }
    browser.click("#password button[type=submit]").await;
    browser.find_with(".notices", "all other sessions have ended").await;
    browser.picture("settings-password").await;
    // The answer has replaced the cookie.
    browser.run("location.reload()", vec![]).await;
    browser.find_with(".account .email", "@").await;
    other.find("#email").await;
}

/// Serves a page on another port, and keeps the cookies that come with its request.
async fn serve(heard: Arc<Mutex<String>>) -> String {
    let page = move |headers: HeaderMap| async move {
        let cookie = headers.get("cookie").map_or("", |cookie| cookie.to_str().unwrap());
        if !cookie.is_empty() {
            heard.lock().unwrap().clone_from(&cookie.to_owned());
        }
        Html("<!doctype html><title>x</title><p>x</p>")
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        axum::serve(listener, Router::new().fallback(get(page))).await.unwrap();
    });
    format!("http://{address}/")
}
