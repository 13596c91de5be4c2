//! Personal access tokens.

use std::time::Duration;

use serde_json::json;

use crate::harness::{MINUTE, World};

const TOKENS: &str = "/api/v1/tokens";

#[tokio::test]
async fn a_token_is_shown_once_and_stands_for_its_scopes() {
    let (world, ada) = World::set_up().await;
    let wish = json!({ "name": "ci", "scopes": ["devices:read", "keys:read"] });
    let made = world.post(TOKENS, &ada, wish).await;
    assert_eq!(made.status, 201, "{made:?}");
    let token = made.text("token");
    assert!(token.starts_with("lpt_") && token.len() == 53);
    assert_eq!(made.body["info"]["scopes"], json!(["account:read", "keys:read", "devices:read"]));

    assert_eq!(world.get("/api/v1/me", &token).await.body["email"], "ada@example.org");
    assert_eq!(world.get("/api/v1/devices", &token).await.status, 200);
    world.get("/api/v1/models", &token).await.is(403, "scope-missing");
    world.post("/api/v1/keys", &token, json!({ "kind": "fleet" })).await.is(403, "scope-missing");
    world.get(TOKENS, &token).await.is(403, "scope-missing");
    let joins = json!({ "invitation_token": world.invitation(&ada, "viewer").await });
    world.post("/api/v1/members/accept", &token, joins).await.is(403, "scope-missing");

    let list = world.get(TOKENS, &ada).await;
    assert_eq!(list.items()[0]["last_used_at"], "2026-09-21T14:13:20Z");
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&token[4..]));
    let path = format!("{TOKENS}/{}", list.items()[0]["token_id"].as_str().unwrap());
    assert_eq!(world.delete(&path, &ada).await.status, 204);
    world.get("/api/v1/me", &token).await.is(401, "unauthorized");
    world.delete(&path, &ada).await.is(404, "not-found");
}

#[tokio::test]
async fn a_token_reaches_as_far_as_its_owners_role_and_no_longer_than_they_are_a_member() {
    let (world, ada) = World::set_up().await;
    let bob = world.member(&ada, "bob@example.org", "admin").await;
    let id = world.get("/api/v1/me", &bob).await.text("user_id");
    let wish = json!({ "name": "ci", "scopes": ["keys:write", "devices:read"] });
    let token = world.post(TOKENS, &bob, wish).await.text("token");
    let key = json!({ "kind": "fleet" });
    assert_eq!(world.post("/api/v1/keys", &token, key.clone()).await.status, 201);

    let member = format!("/api/v1/members/{id}");
    let demoted = world.call("PATCH", &member, &ada, Some(json!({ "role": "viewer" }))).await;
    assert_eq!(demoted.status, 200);
    world.post("/api/v1/keys", &token, key).await.is(403, "forbidden");
    assert_eq!(world.get("/api/v1/devices", &token).await.status, 200);

    assert_eq!(world.delete(&member, &ada).await.status, 200);
    world.get("/api/v1/devices", &token).await.is(401, "unauthorized");
}

#[tokio::test]
async fn a_token_expires_and_a_wish_that_goes_too_far_is_refused() {
    let (world, ada) = World::set_up().await;
    let wish = json!({ "name": "ci", "scopes": ["devices:read"] });
    let token = world.post(TOKENS, &ada, wish).await.text("token");
    let mut mistyped = token.clone();
    mistyped.replace_range(10..11, if &token[10..11] == "x" { "y" } else { "x" });
    world.get("/api/v1/devices", &mistyped).await.is(401, "unauthorized");
    for wish in [
        json!({ "name": "ci", "scopes": [] }),
        json!({ "name": "ci", "scopes": ["login"] }),
        json!({ "name": "ci", "scopes": ["everything"] }),
        json!({ "name": "", "scopes": ["devices:read"] }),
        json!({ "name": "ci", "scopes": ["devices:read"], "expires_at": "2020-01-01T00:00:00Z" }),
        json!({ "name": "ci", "scopes": ["devices:read"], "expires_at": "2036-01-01T00:00:00Z" }),
    ] {
        world.post(TOKENS, &ada, wish).await.is(422, "invalid-request");
    }
    world.advance(MINUTE * 90 * 24 * 60 - Duration::from_secs(1));
    assert_eq!(world.get("/api/v1/devices", &token).await.status, 200);
    world.advance(Duration::from_secs(1));
    world.get("/api/v1/devices", &token).await.is(401, "token-expired");
}

#[tokio::test]
async fn the_tokens_of_one_person_are_nobody_elses() {
    let (world, ada) = World::set_up().await;
    let bob = world.member(&ada, "bob@example.org", "owner").await;
    let wish = json!({ "name": "ci", "scopes": ["devices:read"] });
    let made = world.post(TOKENS, &ada, wish).await;
    let id = made.body["info"]["token_id"].as_str().unwrap().to_owned();
    assert!(world.get(TOKENS, &bob).await.items().is_empty());
    world.delete(&format!("{TOKENS}/{id}"), &bob).await.is(404, "not-found");
}
