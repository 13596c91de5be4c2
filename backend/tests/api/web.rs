//! Pages, the API reference, and the headers of every answer.

use axum::{body::Body, http::Request};

use crate::harness::World;

#[tokio::test]
async fn every_answer_is_guarded() {
    let (world, _) = World::set_up().await;
    for path in ["/", "/docs", "/docs/style.css", "/healthz", "/api/v1/openapi.json", "/nothing"] {
        let answer = world.get(path, "").await;
        assert_eq!(answer.status, if path == "/nothing" { 404 } else { 200 }, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("access-control-allow-origin"), "", "same origin only");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("x-request-id").len(), 32);
    }
}

#[tokio::test]
async fn pages_run_scripts_of_our_own_only_and_may_reach_models_on_this_machine() {
    let (world, _) = World::set_up().await;
    for path in ["/", "/workspace", "/device"] {
        let page = world.get(path, "").await;
        assert_eq!(page.status, 200, "{path}");
        let policy = page.header("content-security-policy");
        assert!(policy.contains("script-src 'self';"), "{policy}");
        assert!(policy.contains("connect-src 'self' http://127.0.0.1:* http://localhost:*"));
        let html = String::from_utf8(page.bytes.clone()).unwrap();
        assert!(!html.contains(" onclick=") && !html.contains("<script>"), "{path}");
    }
}

#[tokio::test]
async fn the_reference_lists_every_operation_without_scripts() {
    let (world, _) = World::set_up().await;
    let page = String::from_utf8(world.get("/docs", "").await.bytes).unwrap();
    assert!(page.contains("POST /api/v1/models/{model_id}/repair-serving/{device_id}"));
    assert!(!page.contains("<script"));
}

#[tokio::test]
async fn a_method_that_a_path_does_not_have_is_told_so() {
    let (world, _) = World::set_up().await;
    let answer = world.delete("/api/v1/me", "").await;
    answer.is(405, "method-not-allowed");
    assert_eq!(answer.header("allow"), "GET,HEAD");
    world.get("/../Cargo.toml", "").await.is(404, "not-found");
    world.get("/..%2f..%2fCargo.toml", "").await.is(404, "not-found");
}

#[tokio::test]
async fn a_browser_at_an_unknown_address_gets_a_page_and_a_program_a_problem() {
    let (world, _) = World::set_up().await;
    let ask = |path: &str, accept: &str| {
        let request = Request::get(path).header("accept", accept).body(Body::empty()).unwrap();
        world.send(request)
    };
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    let page = ask("/devcies", browser).await;
    assert_eq!((page.status, page.header("content-type")), (404, "text/html"), "{page:?}");
    let html = String::from_utf8(page.bytes).unwrap();
    assert!(html.contains("Page not found") && html.contains("href=\"/workspace\""), "{html}");
    ask("/devcies", "application/json").await.is(404, "not-found");
    ask("/api/v1/devcies", browser).await.is(404, "not-found");
    assert_eq!(ask("/", browser).await.status, 200);
}
