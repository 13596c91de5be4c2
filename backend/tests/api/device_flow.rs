//! The device flow: a machine waits until its person approves the login.

use serde_json::json;

use crate::harness::{Answer, MINUTE, SECOND, World};

const CODE: &str = "/api/v1/auth/device/code";
const TOKEN: &str = "/api/v1/auth/device/token";
const INQUIRE: &str = "/api/v1/auth/device/inquire";
const DECIDE: &str = "/api/v1/auth/device/decide";

#[tokio::test]
async fn a_person_lets_a_machine_in_once() {
    let (world, ada) = World::set_up().await;
    let codes = begin(&world).await;
    let user_code = codes.text("user_code");
    assert_eq!(codes.text("verification_uri"), "http://127.0.0.1:8080/device");
    let complete = format!("http://127.0.0.1:8080/device#{user_code}");
    assert_eq!(codes.text("verification_uri_complete"), complete);
    assert_eq!((&codes.body["expires_in"], &codes.body["interval"]), (&json!(600), &json!(5)));
    poll(&world, &codes).await.is(400, "authorization-pending");

    let typed = user_code.to_lowercase().replace('-', " ");
    let shown = world.post(INQUIRE, &ada, json!({ "user_code": typed })).await;
    assert_eq!((shown.text("client_name"), shown.text("user_code")), ("laptop".into(), user_code));
    let body = json!({ "user_code": typed, "allow": true });
    assert_eq!(world.post(DECIDE, &ada, body.clone()).await.status, 204);
    world.post(DECIDE, &ada, body).await.is(404, "user-code-unknown");
    world.advance(5 * SECOND);
    let tokens = poll(&world, &codes).await;
    let me = world.get("/api/v1/me", &tokens.text("access_token")).await;
    assert_eq!(me.body["email"], "ada@example.org");
    poll(&world, &codes).await.is(400, "expired-token");
}

#[tokio::test]
async fn a_client_of_the_rfc_sends_its_parameters() {
    let (world, _ada) = World::set_up().await;
    let codes = begin_with(&world, json!({ "client_name": "laptop", "client_id": "link" })).await;
    assert_eq!(codes.status, 200, "{codes:?}");
    let poll = |grant: &str| {
        json!({
            "device_code": codes.text("device_code"), "client_id": "link", "grant_type": grant,
        })
    };
    let device = poll("urn:ietf:params:oauth:grant-type:device_code");
    world.post(TOKEN, "", device).await.is(400, "authorization-pending");
    world.post(TOKEN, "", poll("password")).await.is(422, "invalid-request");
}

#[tokio::test]
async fn a_machine_that_asks_too_fast_is_slowed_down_and_codes_expire() {
    let (world, ada) = World::set_up().await;
    let codes = begin(&world).await;
    poll(&world, &codes).await.is(400, "authorization-pending");
    world.advance(SECOND);
    poll(&world, &codes).await.is(400, "slow-down");
    world.advance(5 * SECOND);
    poll(&world, &codes).await.is(400, "slow-down");
    world.advance(15 * SECOND);
    poll(&world, &codes).await.is(400, "authorization-pending");
    world.advance(10 * MINUTE);
    let code = json!({ "user_code": codes.text("user_code"), "allow": true });
    world.post(DECIDE, &ada, code).await.is(404, "user-code-unknown");
    poll(&world, &codes).await.is(400, "expired-token");
}

#[tokio::test]
async fn a_person_may_refuse_and_one_who_left_lets_nobody_in() {
    let (world, ada) = World::set_up().await;
    let codes = begin(&world).await;
    let refuse = json!({ "user_code": codes.text("user_code"), "allow": false });
    assert_eq!(world.post(DECIDE, &ada, refuse).await.status, 204);
    poll(&world, &codes).await.is(400, "access-denied");

    let bob = world.member(&ada, "bob@example.org", "viewer").await;
    let codes = begin(&world).await;
    let allow = json!({ "user_code": codes.text("user_code"), "allow": true });
    assert_eq!(world.post(DECIDE, &bob, allow).await.status, 204);
    assert_eq!(world.act("/api/v1/members/leave", &bob).await.status, 200);
    poll(&world, &codes).await.is(400, "expired-token");
}

#[tokio::test]
async fn user_codes_are_not_guessed_and_waiting_logins_are_bounded() {
    let (world, ada) = World::set_up().await;
    for _ in 0..10 {
        let guess = json!({ "user_code": "BCDF-GHJK" });
        world.post(INQUIRE, &ada, guess).await.is(404, "user-code-unknown");
    }
    let guess = json!({ "user_code": "BCDF-GHJK", "allow": true });
    world.post(DECIDE, &ada, guess).await.is(429, "too-many-attempts");
    for _ in 0..30 {
        assert_eq!(begin(&world).await.status, 200);
    }
    begin(&world).await.is(429, "too-many-attempts");
    world.advance(MINUTE);
    assert_eq!(begin(&world).await.status, 200);
    let nameless = json!({ "client_name": "" });
    world.post(CODE, "", nameless).await.is(422, "invalid-request");
}

pub(crate) async fn begin(world: &World) -> Answer {
    begin_with(world, json!({ "client_name": "laptop" })).await
}

async fn begin_with(world: &World, asked: serde_json::Value) -> Answer {
    let request = axum::http::Request::post(CODE)
        .header("content-type", "application/json")
        .header("host", "127.0.0.1:8080")
        .body(axum::body::Body::from(asked.to_string()));
    world.send(request.unwrap()).await
}

async fn poll(world: &World, codes: &Answer) -> Answer {
    world.post(TOKEN, "", json!({ "device_code": codes.text("device_code") })).await
}
