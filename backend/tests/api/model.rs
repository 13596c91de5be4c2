//! Models: announced, listed, changed, removed.

use serde_json::{Value, json};

use crate::harness::World;

fn wish() -> Value {
    json!({ "name": "Tiny", "file_name": "tiny.gguf" })
}

// Holds: S7-9
#[tokio::test]
async fn an_announcement_that_is_unsafe_or_incomplete_is_refused() {
    let (world, user) = World::set_up().await;
    for (member, value) in [
        ("file_name", json!("../tiny.gguf")),
        ("file_name", json!("/etc/passwd")),
        ("file_name", json!("a\u{0}b.gguf")),
        ("file_name", json!("NUL.gguf")),
        ("name", json!("")),
        ("plugin", json!("../x")),
        ("url", json!("file:///etc/passwd")),
        ("url", json!("https://user:secret@models.example/x")),
        ("url", json!("https://models.example/x")),
        ("sha256", json!("ABC")),
        ("size_bytes", json!(0)),
        ("size_bytes", json!(-1)),
        ("colour", json!("blue")),
    ] {
        let mut body = wish();
        body[member] = value.clone();
        let refused = world.post("/api/v1/models", &user, body).await;
        refused.is(422, "invalid-request");
        assert!(refused.text("detail").contains(member), "{refused:?}");
    }
    assert!(world.get("/api/v1/models", &user).await.items().is_empty());
}

#[tokio::test]
async fn a_model_at_an_address_is_ready_and_an_announced_one_is_not() {
    let (world, user) = World::set_up().await;
    let made = world.post("/api/v1/models", &user, wish()).await;
    assert_eq!((made.status, &made.body["ready"]), (201, &json!(false)));
    assert_eq!(made.body["plugin"], "language_model");
    let at_address = world.model(&user, false).await;
    let read = world.get(&format!("/api/v1/models/{at_address}"), &user).await;
    assert_eq!((&read.body["ready"], &read.body["owned"]), (&json!(true), &json!(true)));
}

// Holds: S2.1-2
#[tokio::test]
async fn a_shared_model_is_seen_by_all_and_changed_by_its_owner() {
    let (world, user) = World::set_up_sharing().await;
    let bob = world.another_account("bob@example.org").await;
    let model = world.model(&user, false).await;
    let path = format!("/api/v1/models/{model}");
    world.get(&path, &bob).await.is(404, "not-found");
    let patch = |user: &str, body: Value| {
        let (world, path, user) = (&world, path.clone(), user.to_owned());
        async move { world.call("PATCH", &path, &user, Some(body)).await }
    };
    patch(&bob, json!({ "shared": true })).await.is(404, "not-found");
    let changed = patch(&user, json!({ "shared": true, "name": "Everyone's" })).await;
    assert_eq!(
        (&changed.body["shared"], &changed.body["name"]),
        (&json!(true), &json!("Everyone's"))
    );
    assert_eq!(world.get(&path, &bob).await.body["owned"], false);
    assert_eq!(world.get("/api/v1/models", &bob).await.items().len(), 1);
    let refused = patch(&bob, json!({ "shared": false })).await;
    refused.is(403, "not-owner");
    let said =
        "the model belongs to another account, and only that account may change or remove it";
    assert_eq!(refused.text("detail"), said);
    world.delete(&path, &bob).await.is(403, "not-owner");
    patch(&user, json!({ "name": "" })).await.is(422, "invalid-request");
}

#[tokio::test]
async fn who_deletes_a_shared_model_hears_that_others_have_it() {
    let (world, ada) = World::set_up_sharing().await;
    let bob = world.another_account("bob@example.org").await;
    let model = world.model(&bob, true).await;
    let device = world.online_device(&ada).await;
    world.deployed(&ada, &device, &model).await;
    let path = format!("/api/v1/models/{model}");
    let refused = world.delete(&path, &bob).await;
    assert_eq!(refused.text("detail"), "the model is deployed on devices of other accounts");
    let own = world.online_device(&bob).await;
    world.deployed(&bob, &own, &model).await;
    let refused = world.delete(&path, &bob).await;
    let said =
        "the model is deployed on 1 device of this account, and on devices of other accounts";
    assert_eq!(refused.text("detail"), said);
}

#[tokio::test]
async fn a_model_that_is_on_a_device_stays() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let path = format!("/api/v1/models/{model}");
    world.deployed(&user, &device, &model).await;
    let refused = world.delete(&path, &user).await;
    assert_eq!(refused.text("detail"), "the model is deployed on 1 device");
    refused.is(409, "model-in-use");
    let removal = format!("/api/v1/models/{model}/uninstall/{}", device.id);
    let command = world.act(&removal, &user).await.text("command_id");
    world.poll(&device, 1).await;
    world.result(&device, &command, "succeeded").await;
    assert_eq!(world.delete(&path, &user).await.status, 204);
    world.get(&path, &user).await.is(404, "not-found");
}
