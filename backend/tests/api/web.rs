//! Pages, the API reference, and the headers of every answer.

use axum::{body::Body, http::Request};

use link_protocol::secret::Secret;

use crate::harness::{PASSWORD, World};

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
async fn only_the_workspace_may_reach_models_on_this_machine() {
    let (world, _) = World::set_up().await;
    for path in ["/", "/workspace", "/device", "/devices", "/devices/dev_1"] {
        let page = world.get(path, "").await;
        assert_eq!(page.status, 200, "{path}: run `scripts/prepare web` and `cargo xtask web`");
        let policy = page.header("content-security-policy");
        let has = |rule: &str| policy.split("; ").any(|part| part == rule);
        assert!(has("script-src 'self'") && has("style-src 'self'"), "{policy}");
        for rule in ["default-src 'none'", "base-uri 'none'", "form-action 'self'"] {
            assert!(has(rule), "{path}: {policy}");
        }
        let wide = path == "/workspace";
        assert_eq!(has("connect-src 'self' http://127.0.0.1:* http://localhost:*"), wide, "{path}");
        assert_eq!(has("connect-src 'self'"), !wide, "{path}: {policy}");
        assert_eq!(has("img-src 'self' data: blob:"), wide, "{path}: {policy}");
        assert_eq!(has("trusted-types link-markdown dompurify"), wide, "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
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
    let document = world.get("/api/v1/openapi.json", "").await.body;
    let paths = document["paths"].as_object().unwrap().values();
    let operations: usize = paths.map(|item| item.as_object().unwrap().len()).sum();
    assert_eq!(page.matches("<section>").count(), operations, "each operation is in one group");
}

#[tokio::test]
async fn the_reference_leads_back_and_to_each_of_its_groups() {
    let (world, _) = World::set_up().await;
    let page = String::from_utf8(world.get("/docs", "").await.bytes).unwrap();
    assert!(page.contains("<a href=\"/\">Back to the pages</a>"));
    let document = world.get("/api/v1/openapi.json", "").await.body;
    for group in document["tags"].as_array().unwrap() {
        let name = group["name"].as_str().unwrap();
        assert!(page.contains(&format!("<a href=\"#group-{name}\">")), "{name}");
        assert!(page.contains(&format!("<h2 id=\"group-{name}\">")), "{name}");
    }
}

#[tokio::test]
async fn every_page_leads_to_the_setup_until_there_is_an_account() {
    let world = World::new().await;
    for path in ["/", "/login", "/devices", "/workspace"] {
        let answer = world.get(path, "").await;
        assert_eq!((answer.status, answer.header("location")), (303, "/setup"), "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    }
    assert_eq!(world.get("/setup", "").await.status, 200);
    assert_eq!(world.get("/docs", "").await.status, 200);
    // Another backend on the same database has made the account: this one still has its token.
    let app = &world.backend.app;
    app.add_account("ada@example.org", None, Secret::new(PASSWORD)).await.unwrap();
    for path in ["/", "/login", "/setup"] {
        assert_eq!(world.get(path, "").await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn the_reference_is_one_landmark_and_nothing_on_it_scrolls_by_itself() {
    let (world, _) = World::set_up().await;
    let page = String::from_utf8(world.get("/docs", "").await.bytes).unwrap();
    let (before, rest) = page.split_once("<body>\n<main>\n").unwrap();
    let (inside, after) = rest.split_once("</main>\n</body>\n").unwrap();
    assert!(!before.contains("<h1>") && inside.contains("<h1>") && inside.contains("</pre>"));
    assert_eq!(after, "</html>\n");
    // A part that scrolls has to take the focus: a line for each of 150 schemas that does nothing else.
    let style = String::from_utf8(world.get("/docs/style.css", "").await.bytes).unwrap();
    assert!(style.contains("white-space: pre-wrap") && !style.contains("overflow-x"), "{style}");
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
    assert!(!page.header("content-security-policy").contains("script-src"), "{page:?}");
    let html = String::from_utf8(page.bytes).unwrap();
    assert!(html.contains("Page not found") && html.contains("href=\"/workspace\""), "{html}");
    assert!(html.contains("href=\"/assets/page.css\""), "{html}");
    let style = ask("/assets/page.css", "text/css").await;
    assert_eq!((style.status, style.header("content-type")), (200, "text/css"), "{style:?}");
    // The pages before these are gone, with all of their files.
    for old in ["/overview", "/index.html", "/assets/dashboard/main.js", "/assets/shared/base.css"]
    {
        ask(old, "application/json").await.is(404, "not-found");
    }
    ask("/devcies", "application/json").await.is(404, "not-found");
    ask("/api/v1/devcies", browser).await.is(404, "not-found");
    assert_eq!(ask("/", browser).await.status, 200);
}

#[tokio::test]
async fn the_pages_of_devices_are_compressed_tagged_and_guarded() {
    let (world, _) = World::set_up().await;
    let ask = |path: &str, name: &str, value: &str| {
        world.send(Request::get(path).header(name, value).body(Body::empty()).unwrap())
    };
    let page = ask("/devices", "accept-encoding", "gzip;q=0.5, br").await;
    assert_eq!(page.status, 200, "run `scripts/prepare web` and `cargo xtask web` first");
    assert_eq!(page.header("content-encoding"), "br");
    assert_eq!(page.header("cache-control"), "no-cache");
    let policy = page.header("content-security-policy");
    for rule in ["default-src 'none'", "connect-src 'self';", "require-trusted-types-for 'script'"]
    {
        assert!(policy.contains(rule), "{rule}: {policy}");
    }
    assert_eq!(page.header("cross-origin-opener-policy"), "same-origin");
    let permissions = page.header("permissions-policy");
    assert!(permissions.contains("camera=()") && permissions.contains("geolocation=()"));
    let tag = page.header("etag").to_owned();
    let known = ask("/devices/dev_1?tab=logs", "if-none-match", &tag).await;
    assert_eq!((known.status, known.bytes.len()), (304, 0));
    assert_eq!(ask("/", "if-none-match", &tag).await.status, 304, "one page for every address");
    assert_eq!(ask("/devices", "if-none-match", "\"older\"").await.status, 200);

    let html = String::from_utf8(world.get("/devices", "").await.bytes).unwrap();
    let (_, rest) = html.split_once("src=\"/app/").unwrap();
    let script = format!("/app/{}", rest.split('"').next().unwrap());
    let (plain, small) =
        (world.get(&script, "").await, ask(&script, "accept-encoding", "gzip").await);
    assert_eq!(small.header("content-encoding"), "gzip");
    assert!(small.bytes.len() * 2 < plain.bytes.len());
    assert!(plain.header("cache-control").contains("immutable"));
    assert!(plain.header("vary").contains("accept-encoding"));
    let copy = format!("{script}.br");
    for path in ["/app/index.html", &copy, "/app/../.gitignore", "/app/.vite/manifest.json"] {
        world.get(path, "").await.is(404, "not-found");
    }
}
