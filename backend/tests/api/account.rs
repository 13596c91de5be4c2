//! The first account, logins and tokens.

use serde_json::json;

use crate::harness::{Answer, MINUTE, PASSWORD, SECOND, World};

const LOGIN: &str = "/api/v1/auth/login";
const REFRESH: &str = "/api/v1/auth/refresh";

#[tokio::test]
async fn the_setup_token_creates_the_first_account_once() {
    let world = World::new().await;
    let file = world.folder.path().join("setup-token");
    let token = world.backend.app.setup_token().unwrap();
    let body = |token: &str, password: &str| json!({ "setup_token": token, "email": "ada@example.org", "password": password });
    let wrong = world.post("/api/v1/setup", "", body("lst_wrong", PASSWORD)).await;
    wrong.is(401, "setup-token-invalid");
    let short = world.post("/api/v1/setup", "", body(token.expose(), "too short")).await;
    short.is(422, "invalid-request");
    assert!(file.exists(), "a failed attempt uses nothing up");

    let made = world.post("/api/v1/setup", "", body(token.expose(), PASSWORD)).await;
    assert_eq!((made.status, made.body["token_type"].as_str()), (201, Some("Bearer")));
    assert_eq!(made.body["expires_in"], 900);
    assert!(!file.exists());
    let again = world.post("/api/v1/setup", "", body(token.expose(), PASSWORD)).await;
    again.is(409, "already-set-up");
}

#[tokio::test]
async fn a_login_gives_tokens_and_a_wrong_one_says_nothing_more() {
    let (world, _) = World::set_up().await;
    let login = |email: &str, password: &str| json!({ "email": email, "password": password });
    let good = world.post(LOGIN, "", login("Ada@Example.org", PASSWORD)).await;
    assert_eq!(good.status, 200);
    let me = world.get("/api/v1/me", &good.text("access_token")).await;
    assert_eq!(me.body["email"], "ada@example.org");

    let wrong = world.post(LOGIN, "", login("ada@example.org", "wrong password")).await;
    wrong.is(401, "invalid-credentials");
    let unknown = world.post(LOGIN, "", login("eve@example.org", PASSWORD)).await;
    unknown.is(401, "invalid-credentials");
    let no_address = world.post(LOGIN, "", login("nobody", PASSWORD)).await;
    no_address.is(401, "invalid-credentials");
    assert_eq!(wrong.body["detail"], unknown.body["detail"]);
    assert!(wrong.body["hint"].is_string());
}

#[tokio::test]
async fn the_eleventh_login_in_a_minute_has_to_wait() {
    let (world, _) = World::set_up().await;
    let wrong = json!({ "email": "ada@example.org", "password": "wrong password" });
    for _ in 0..10 {
        world.post(LOGIN, "", wrong.clone()).await.is(401, "invalid-credentials");
    }
    let refused = world.post(LOGIN, "", wrong).await;
    refused.is(429, "too-many-attempts");
    assert_eq!(refused.header("retry-after"), "60");
    world.advance(MINUTE);
    let right = json!({ "email": "ada@example.org", "password": PASSWORD });
    assert_eq!(world.post(LOGIN, "", right).await.status, 200);
}

#[tokio::test]
async fn a_token_whose_successor_was_used_ends_the_login_at_once() {
    let (world, _) = World::set_up().await;
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let first = world.post(LOGIN, "", login).await.text("refresh_token");
    let refresh = |token: &str| json!({ "refresh_token": token });
    let second = world.post(REFRESH, "", refresh(&first)).await.text("refresh_token");
    let third = world.post(REFRESH, "", refresh(&second)).await.text("refresh_token");
    world.post(REFRESH, "", refresh(&first)).await.is(401, "unauthorized");
    world.post(REFRESH, "", refresh(&third)).await.is(401, "unauthorized");
}

#[tokio::test]
async fn the_thirty_first_login_from_one_address_has_to_wait_and_others_need_not() {
    let world = World::with(|config| config.behind_proxy = true).await;
    world.create_first_account().await;
    let login = |address: &'static str, number: usize| {
        let body = json!({ "email": format!("nobody{number}@example.org"), "password": PASSWORD });
        let request = axum::http::Request::post(LOGIN)
            .header("content-type", "application/json")
            .header("x-forwarded-for", format!("203.0.113.9, {address}"))
            .body(axum::body::Body::from(body.to_string()))
            .unwrap();
        world.send(request)
    };
    for number in 0..30 {
        login("192.0.2.1", number).await.is(401, "invalid-credentials");
    }
    let refused = login("192.0.2.1", 30).await;
    refused.is(429, "too-many-attempts");
    assert_eq!(refused.header("retry-after"), "60");
    login("192.0.2.2", 31).await.is(401, "invalid-credentials");
    world.advance(MINUTE);
    login("192.0.2.1", 32).await.is(401, "invalid-credentials");
}

/// Logs in from `address`, behind a proxy.
async fn log_in_from(world: &World, address: &str, email: &str, password: &str) -> Answer {
    from(world, LOGIN, address, &json!({ "email": email, "password": password })).await
}

/// Sends a request from `address`, behind a proxy.
async fn from(world: &World, path: &str, address: &str, body: &serde_json::Value) -> Answer {
    let request = axum::http::Request::post(path)
        .header("content-type", "application/json")
        .header("x-forwarded-for", address)
        .body(axum::body::Body::from(body.to_string()))
        .unwrap();
    world.send(request).await
}

#[tokio::test]
async fn who_guesses_at_a_person_does_not_lock_them_out_where_they_logged_in_before() {
    let world = World::with(|config| config.behind_proxy = true).await;
    world.create_first_account().await;
    let ada = "ada@example.org";
    let good = log_in_from(&world, "192.0.2.1", ada, PASSWORD).await;
    assert_eq!(good.status, 200);
    for number in 0..10 {
        let guess = log_in_from(&world, &format!("198.51.100.{number}"), ada, "a guess").await;
        assert!([401, 429].contains(&guess.status), "{guess:?}");
    }
    let elsewhere = log_in_from(&world, "198.51.100.99", ada, PASSWORD).await;
    elsewhere.is(429, "too-many-attempts");
    assert_eq!(log_in_from(&world, "192.0.2.1", ada, PASSWORD).await.status, 200);
    let refresh = json!({ "refresh_token": good.text("refresh_token") });
    assert_eq!(world.post(REFRESH, "", refresh).await.status, 200);
    // Other users in the same network who exhaust its attempts do not block ada.
    for number in 0..29 {
        let body = format!("nobody{number}@example.org");
        log_in_from(&world, "192.0.2.1", &body, "a guess").await.is(401, "invalid-credentials");
    }
    log_in_from(&world, "192.0.2.1", "bob@example.org", "x").await.is(429, "too-many-attempts");
    assert_eq!(log_in_from(&world, "192.0.2.1", ada, PASSWORD).await.status, 200);
    // A valid refresh token needs no login, from any address.
    let again = json!({ "refresh_token": good.text("refresh_token") });
    let refreshed = from(&world, REFRESH, "192.0.2.1", &again).await;
    assert_eq!(refreshed.status, 200, "{refreshed:?}");
    // Guesses from this address are limited to ten per minute, too.
    while log_in_from(&world, "192.0.2.1", ada, "a guess").await.status == 401 {}
    log_in_from(&world, "192.0.2.1", ada, PASSWORD).await.is(429, "too-many-attempts");
}

#[tokio::test]
async fn the_hosts_that_a_person_logged_in_from_are_remembered_up_to_a_number() {
    let world = World::with(|config| config.behind_proxy = true).await;
    world.create_first_account().await;
    for number in 0..20 {
        let address = format!("192.0.2.{number}");
        let answer = log_in_from(&world, &address, "ada@example.org", PASSWORD).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        world.advance(7 * SECOND);
    }
    let hosts =
        world.select("SELECT host FROM login_hosts WHERE $1 = '' ORDER BY last_ms", "").await;
    assert_eq!((hosts.len(), hosts[0].as_str()), (16, "192.0.2.4/32"));
}

#[tokio::test]
async fn machines_that_ask_for_codes_do_not_use_up_logins() {
    let world = World::with(|config| config.public_url = Some("http://here".to_owned())).await;
    world.create_first_account().await;
    let ask = json!({ "client_name": "bot" });
    let code = || world.post("/api/v1/auth/device/code", "", ask.clone());
    for _ in 0..30 {
        assert_eq!(code().await.status, 200);
    }
    code().await.is(429, "too-many-attempts");
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    assert_eq!(world.post(LOGIN, "", login).await.status, 200);
}

#[tokio::test]
async fn an_access_token_expires_after_fifteen_minutes() {
    let (world, token) = World::set_up().await;
    world.advance(15 * MINUTE - SECOND);
    assert_eq!(world.get("/api/v1/me", &token).await.status, 200);
    world.advance(SECOND);
    world.get("/api/v1/me", &token).await.is(401, "token-expired");
}

#[tokio::test]
async fn a_refresh_token_rotates_and_one_that_comes_twice_ends_the_login() {
    let (world, _) = World::set_up().await;
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let first = world.post(LOGIN, "", login.clone()).await.text("refresh_token");
    let refresh = |token: &str| json!({ "refresh_token": token });
    let second = world.post(REFRESH, "", refresh(&first)).await;
    assert_eq!(second.status, 200);
    assert_eq!(world.get("/api/v1/me", &second.text("access_token")).await.status, 200);

    let again = world.post(REFRESH, "", refresh(&first)).await;
    assert_eq!(again.text("refresh_token"), second.text("refresh_token"), "the answer was lost");
    world.advance(10 * SECOND);
    world.post(REFRESH, "", refresh(&first)).await.is(401, "unauthorized");
    let access = second.text("access_token");
    world.get("/api/v1/me", &access).await.is(401, "unauthorized");
    let second = second.text("refresh_token");
    world.post(REFRESH, "", refresh(&second)).await.is(401, "unauthorized");

    let other = world.post(LOGIN, "", login).await.text("refresh_token");
    world.advance(30 * 24 * 60 * MINUTE);
    world.post(REFRESH, "", refresh(&other)).await.is(401, "unauthorized");
}

#[tokio::test]
async fn a_logout_ends_the_login() {
    let (world, _) = World::set_up().await;
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let login = world.post(LOGIN, "", login).await;
    let body = json!({ "refresh_token": login.text("refresh_token") });
    assert_eq!(world.post("/api/v1/auth/logout", "", body.clone()).await.status, 204);
    world.get("/api/v1/me", &login.text("access_token")).await.is(401, "unauthorized");
    assert_eq!(world.post("/api/v1/auth/logout", "", body.clone()).await.status, 204);
    world.post(REFRESH, "", body).await.is(401, "unauthorized");
}

#[tokio::test]
async fn a_request_that_is_not_what_it_should_be_is_told_why() {
    let (world, token) = World::set_up().await;
    let send = |content_type: &'static str, body: String| {
        let request = axum::http::Request::post("/api/v1/keys")
            .header("authorization", format!("bearer {token}"))
            .header("content-type", content_type)
            .body(axum::body::Body::from(body))
            .unwrap();
        world.send(request)
    };
    let json = "application/json";
    send(json, "{".to_owned()).await.is(400, "malformed-request");
    send(json, "{\"kind\":\"fleet\"} x".to_owned()).await.is(400, "malformed-request");
    send(json, "{\"kind\":\"fleet\",\"colour\":1}".to_owned()).await.is(422, "invalid-request");
    send("text/plain", "{}".to_owned()).await.is(415, "unsupported-media-type");
    let large = format!("{{\"kind\":\"fleet\",\"name\":\"{}\"}}", "x".repeat(1024 * 1024));
    send(json, large).await.is(413, "payload-too-large");
    let wrong = send(json, "{\"kind\":\"fleet\",\"tags\":[\"a\",7]}".to_owned()).await;
    wrong.is(422, "invalid-request");
    assert!(wrong.text("detail").starts_with("tags[1]: "), "{wrong:?}");
    let good = send("application/json; charset=utf-8", "{\"kind\":\"fleet\"}".to_owned()).await;
    assert_eq!(good.status, 201);
}
