//! The allowlist: the backend's defaults and a list for each account.

use axum::{body::Body, http::Request};
use link_protocol::command::Command;
use serde_json::json;

use crate::harness::{Answer, ORIGIN, World};

const PATH: &str = "/api/v1/settings/allowlist";
const OTHER: &str = "https://other.example";

#[tokio::test]
async fn an_account_changes_its_own_list_and_no_other_and_not_the_defaults() {
    let (world, ada) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let empty = json!({ "origins": [], "defaults": [ORIGIN] });
    assert_eq!(world.get(PATH, &ada).await.body, empty);
    let body =
        json!({ "origins": ["https://b.example", "https://a.example", "https://b.example"] });
    let sorted =
        json!({ "origins": ["https://a.example", "https://b.example"], "defaults": [ORIGIN] });
    assert_eq!(world.put(PATH, &ada, body).await.body, sorted);
    let bad = world.put(PATH, &ada, json!({ "origins": ["https://*.example"] })).await;
    bad.is(422, "invalid-request");
    // A JSON list of the members in their order is not an object.
    let list = world.put(PATH, &ada, json!([["https://c.example"]])).await;
    list.is(422, "invalid-request");
    let defaults = world.put(PATH, &ada, json!({ "origins": [], "defaults": [] })).await;
    defaults.is(422, "invalid-request");
    assert_eq!(world.get(PATH, &ada).await.body, sorted);
    assert_eq!(world.get(PATH, &bob).await.body, empty, "bob's list is bob's");
}

/// Replaces the list by one origin, if it still has the tag.
async fn replace(world: &World, user: &str, tag: &str, origin: &str) -> Answer {
    let request = Request::put(PATH)
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "application/json")
        .header("if-match", tag)
        .body(Body::from(json!({ "origins": [origin] }).to_string()))
        .unwrap();
    world.send(request).await
}

#[tokio::test]
async fn of_two_people_who_have_read_the_same_list_only_one_changes_it() {
    let (world, ada) = World::set_up().await;
    let tag = world.get(PATH, &ada).await.header("etag").to_owned();
    let origins = ["https://a.example", "https://b.example", "https://c.example"];
    let [a, b, c] = origins.map(|origin| replace(&world, &ada, &tag, origin));
    let (a, b, c) = tokio::join!(a, b, c);
    let answers = [a, b, c];
    let done: Vec<_> = (0..3).filter(|at| answers[*at].status == 200).collect();
    assert_eq!(done.len(), 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.is(412, "precondition-failed");
    }
    let now = world.get(PATH, &ada).await;
    assert_eq!(now.body["origins"], json!([origins[done[0]]]));

    let fits = now.header("etag").to_owned();
    let several = format!("\"other\", {fits}");
    assert_eq!(replace(&world, &ada, &several, origins[0]).await.status, 200);
    replace(&world, &ada, &format!("W/{fits}"), origins[1]).await.is(412, "precondition-failed");
    assert_eq!(replace(&world, &ada, "*", origins[1]).await.status, 200);
    // Nobody who asks for nothing is refused.
    world.set_allowlist(&ada, &[origins[2]]).await;
}

// Holds: S1-2b
#[tokio::test]
async fn a_deployment_carries_the_list_of_its_account_and_goes_stale_with_no_other() {
    let (world, ada) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let (device, model) = (world.online_device(&ada).await, world.model(&ada, false).await);
    world.set_allowlist(&ada, &["https://ada.example"]).await;
    world.set_allowlist(&bob, &["https://evil.example"]).await;
    world.deploy(&ada, &device, &model).await;
    let sent = world.poll(&device, 0).await;
    let Ok(Command::DeployModel(deploy)) = sent[0].command() else { panic!("{sent:?}") };
    let origins: Vec<_> = deploy.config.allowlist.origins().iter().map(|o| o.as_str()).collect();
    assert_eq!(origins, ["https://ada.example", ORIGIN]);
    world.result(&device, &sent[0].command_id.to_string(), "succeeded").await;

    let stale = || async { world.get("/api/v1/deployments?stale=true", &ada).await.items().len() };
    world.set_allowlist(&bob, &[OTHER]).await;
    assert_eq!(stale().await, 0, "another account's list is nothing to it");
    world.set_allowlist(&ada, &["https://ada.example", OTHER]).await;
    assert_eq!(stale().await, 1);
}

#[tokio::test]
async fn a_default_that_comes_later_makes_a_deployment_stale() {
    let (mut world, ada) = World::set_up().await;
    let (device, model) = (world.online_device(&ada).await, world.model(&ada, false).await);
    world.deployed(&ada, &device, &model).await;
    let mut config = world.configuration();
    config.allowed_origins = vec![ORIGIN.parse().unwrap(), OTHER.parse().unwrap()];
    world.backend = link_backend::build(config).await.unwrap();
    let stale = world.get("/api/v1/deployments?stale=true", &ada).await;
    assert_eq!(stale.items().len(), 1);
    assert_eq!(world.get(PATH, &ada).await.body["defaults"], json!([OTHER, ORIGIN]));
}
