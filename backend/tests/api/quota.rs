//! The quotas of an account, and the effect of a full disk on uploads and readiness.

use axum::{body::Body, http::Request};
use futures_util::stream;
use link_backend::{config::Config, domain::quota::Quota};
use serde_json::json;

use crate::harness::{Answer, World};

fn small(config: &mut Config) {
    config.quota = Quota { models: 3, model_bytes: 1000, keys: 2, tokens: 2, invitations: 2 };
}

async fn announce(world: &World, user: &str) -> Answer {
    let wish = json!({ "name": "Tiny", "file_name": "tiny.gguf", "plugin": "other" });
    world.post("/api/v1/models", user, wish).await
}

async fn upload(world: &World, user: &str, model: &str, body: Body) -> Answer {
    let request = Request::put(format!("/api/v1/models/{model}/content"))
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "application/octet-stream");
    world.send(request.body(body).unwrap()).await
}

#[tokio::test]
async fn an_account_has_a_bounded_number_of_everything_and_others_are_not_touched() {
    let world = World::with(small).await;
    let ada = world.create_first_account().await;
    let bob = world.another_account("bob@example.org").await;
    for (path, wish, most) in [
        ("/api/v1/models", json!({ "name": "Tiny", "file_name": "tiny.gguf" }), 3),
        ("/api/v1/keys", json!({ "kind": "fleet" }), 2),
        ("/api/v1/tokens", json!({ "name": "ci", "scopes": ["devices:read"] }), 2),
        ("/api/v1/members/invitations", json!({ "role": "viewer" }), 2),
    ] {
        for _ in 0..most {
            assert_eq!(world.post(path, &ada, wish.clone()).await.status, 201, "{path}");
        }
        let refused = world.post(path, &ada, wish.clone()).await;
        refused.is(409, "quota-reached");
        assert!(refused.text("hint").contains("remove"), "{refused:?}");
        assert_eq!(world.post(path, &bob, wish).await.status, 201, "{path}");
    }
}

#[tokio::test]
async fn a_key_that_is_used_up_or_revoked_makes_room_for_another() {
    let world = World::with(small).await;
    let ada = world.create_first_account().await;
    for _ in 0..3 {
        world.register(&ada).await;
    }
    let wish = json!({ "kind": "fleet" });
    let made = world.post("/api/v1/keys", &ada, wish.clone()).await;
    assert_eq!(world.post("/api/v1/keys", &ada, wish.clone()).await.status, 201);
    world.post("/api/v1/keys", &ada, wish.clone()).await.is(409, "quota-reached");
    let path = format!("/api/v1/keys/{}", made.body["info"]["key_id"].as_str().unwrap());
    assert_eq!(world.delete(&path, &ada).await.status, 204);
    assert_eq!(world.post("/api/v1/keys", &ada, wish).await.status, 201);
}

#[tokio::test]
async fn an_account_keeps_no_more_bytes_than_its_quota() {
    let world = World::with(small).await;
    let ada = world.create_first_account().await;
    let (first, second) = (announce(&world, &ada).await, announce(&world, &ada).await);
    let (first, second) = (first.text("model_id"), second.text("model_id"));
    assert_eq!(upload(&world, &ada, &first, Body::from(vec![1; 600])).await.status, 200);
    // The total length is unknown, so the upload is aborted where the quota is reached.
    let pieces = (0..1_000).map(|_| Ok::<_, std::io::Error>(vec![2; 100]));
    let endless = Body::from_stream(stream::iter(pieces));
    upload(&world, &ada, &second, endless).await.is(409, "quota-reached");
    let kept = world.folder.path().join("models").read_dir().unwrap().count();
    assert_eq!(kept, 1, "nothing of it is kept");
    assert_eq!(upload(&world, &ada, &second, Body::from(vec![2; 400])).await.status, 200);
    let third = announce(&world, &ada).await.text("model_id");
    upload(&world, &ada, &third, Body::from("x")).await.is(409, "quota-reached");
    assert_eq!(world.delete(&format!("/api/v1/models/{first}"), &ada).await.status, 204);
    assert_eq!(upload(&world, &ada, &third, Body::from("x")).await.status, 200);
}

#[tokio::test]
async fn an_upload_that_would_leave_too_little_room_is_refused_before_it_begins() {
    let world = World::with(|config| config.disk_reserve = u64::MAX).await;
    let ada = world.create_first_account().await;
    let model = announce(&world, &ada).await.text("model_id");
    let refused = upload(&world, &ada, &model, Body::from("x")).await;
    refused.is(507, "insufficient-storage");
    assert!(refused.text("hint").contains("larger disk"), "{refused:?}");
    assert_eq!(world.get("/readyz", "").await.status, 200, "the database has room");
}
