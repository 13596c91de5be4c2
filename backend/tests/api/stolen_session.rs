//! What a thief of a cookie can do with it: nothing at another address, nothing after a new password, and nothing that
//! lasts longer than the session.

use link_backend::{
    app::Visitor,
    domain::{attempts::Peer, session::Program, site::Cookie},
};
use serde_json::{Value, json};

use crate::{
    device_flow,
    harness::{Answer, PASSWORD, SECOND, World},
    session::{Browser, CHANGE, HOUR, ME, OTHER_PASSWORD, SESSION, public},
};

const ACCOUNT: &str = "/api/v1/auth/account";

#[tokio::test]
async fn the_cookie_of_one_address_is_worth_nothing_at_another() {
    let world = public().await;
    let local = Browser::local().logged_in(&world).await;
    let secret = local.cookie.clone().unwrap().split_off("link-8000=".len());
    // Over https, reading needs no secret of the page.
    let cookie = Some(format!("__Host-link={secret}"));
    for csrf in [None, local.csrf.clone()] {
        let thief = Browser { cookie: cookie.clone(), csrf, ..Browser::public() };
        thief.get(&world, ME).await.is(401, "unauthorized");
    }
    let renamed = Browser {
        cookie: Some(format!("link-8001={secret}")),
        host: "127.0.0.1:8001".to_owned(),
        origin: Some("http://127.0.0.1:8001".to_owned()),
        ..local.clone()
    };
    renamed.get(&world, ME).await.is(401, "unauthorized");
    assert_eq!(local.get(&world, ME).await.status, 200);
}

#[tokio::test]
async fn a_copy_of_the_cookie_is_worth_nothing_after_a_new_password() {
    let world = public().await;
    let first = Browser::public().logged_in(&world).await;
    world.advance(HOUR);
    // The newest secret and the one before it count until here.
    let second = first.keeping(&first.get(&world, ME).await);
    let body = json!({ "current_password": PASSWORD, "new_password": OTHER_PASSWORD });
    let changed = second.send(&world, "POST", CHANGE, Some(body)).await;
    assert_eq!(changed.status, 204, "{changed:?}");
    let kept = second.keeping(&changed);
    for copy in [&first, &second] {
        let copy = Browser { csrf: None, ..copy.clone() };
        copy.get(&world, ME).await.is(401, "unauthorized");
        assert_eq!(kept.get(&world, ME).await.status, 200, "the copy ends nothing");
    }
}

#[tokio::test]
async fn a_session_that_is_entered_again_lasts_no_longer() {
    let (world, _) = World::set_up().await;
    let mut browser = Browser::local().logged_in(&world).await;
    for _ in 0..5 {
        world.advance(5 * 24 * HOUR);
        browser = browser.keeping(&browser.get(&world, ME).await);
        browser = enter(&world, &browser).await;
    }
    world.advance(5 * 24 * HOUR - SECOND);
    assert_eq!(browser.get(&world, ME).await.status, 200);
    world.advance(SECOND);
    browser.get(&world, ME).await.is(401, "unauthorized");
}

#[tokio::test]
async fn a_session_that_has_ended_begins_no_other() {
    let (world, _) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let account = browser.get(&world, ME).await.text("account_id");
    let (name, secret) = browser.cookie.as_ref().unwrap().split_once('=').unwrap();
    // The request is identified, and only then the person ends the session.
    let app = &world.backend.app;
    let peer = Peer::default();
    let cookie = Cookie { name, secret };
    let (caller, _) = app.identify_session(cookie, browser.csrf.as_deref(), peer).await.unwrap();
    assert_eq!(browser.send(&world, "DELETE", SESSION, None).await.status, 204);
    let (cookie, program) = (name.to_owned(), Program::default());
    let visitor = Visitor { peer, program, cookie, caller: Some(caller) };
    let wish = serde_json::from_value(json!({ "with": "account", "account_id": account })).unwrap();
    let refused = app.open_session(visitor, wish).await.unwrap_err();
    assert!(refused.to_string().contains("no valid token"), "{refused}");
    assert_eq!(sessions(&world).await, 1, "that of the program alone");
}

#[tokio::test]
async fn a_machine_that_was_let_in_by_a_thief_is_forgotten_with_the_password() {
    for by_person in [true, false] {
        let (world, _) = World::set_up().await;
        let browser = Browser::local().logged_in(&world).await;
        let codes = device_flow::begin(&world).await;
        let allow = json!({ "user_code": codes.text("user_code"), "allow": true });
        let decide = "/api/v1/auth/device/decide";
        assert_eq!(browser.send(&world, "POST", decide, Some(allow)).await.status, 204);
        if by_person {
            let body = json!({ "current_password": PASSWORD, "new_password": OTHER_PASSWORD });
            assert_eq!(browser.send(&world, "POST", CHANGE, Some(body)).await.status, 204);
        } else {
            let others = "/api/v1/sessions";
            assert_eq!(browser.send(&world, "DELETE", others, None).await.status, 204);
        }
        let poll = json!({ "device_code": codes.text("device_code") });
        let polled = world.post("/api/v1/auth/device/token", "", poll).await;
        polled.is(400, "expired-token");
    }
}

#[tokio::test]
async fn a_browser_gets_no_tokens_of_a_program() {
    let (world, owner) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let account = browser.get(&world, ME).await.text("account_id");
    let enter = json!({ "account_id": account });
    browser.send(&world, "POST", ACCOUNT, Some(enter)).await.is(403, "forbidden");
    let accept = json!({ "invitation_token": world.invitation(&owner, "viewer").await });
    let accepted = browser.send(&world, "POST", "/api/v1/members/accept", Some(accept)).await;
    accepted.is(403, "forbidden");
}

#[tokio::test]
async fn a_person_has_a_bounded_number_of_programs() {
    let (world, first) = World::set_up().await;
    let account = world.get(ME, &first).await.text("account_id");
    let mut token = first.clone();
    for _ in 0..200 {
        world.advance(SECOND);
        let entered = world.post(ACCOUNT, &token, json!({ "account_id": account })).await;
        token = entered.text("access_token");
    }
    world.get(ME, &first).await.is(401, "unauthorized");
    assert_eq!(world.get(ME, &token).await.status, 200);
    assert_eq!(sessions(&world).await, 200);
    let tokens = "SELECT family FROM refresh_tokens WHERE family <> $1";
    assert_eq!(world.select(tokens, "").await.len(), 200);
}

/// Enters the account of a browser once more, as a person does who changes between accounts.
async fn enter(world: &World, browser: &Browser) -> Browser {
    let account = browser.get(world, ME).await.text("account_id");
    let wish: Value = json!({ "with": "account", "account_id": account });
    let answer: Answer = browser.send(world, "POST", SESSION, Some(wish)).await;
    browser.taking(&answer)
}

async fn sessions(world: &World) -> usize {
    world.select("SELECT session_id FROM sessions WHERE session_id <> $1", "").await.len()
}
