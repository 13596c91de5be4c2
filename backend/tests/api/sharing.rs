//! Sharing: the accounts that may share models, the owner of a shared model, and the deployments of a model whose sharing
//! has ended.

use link_protocol::{command::Command, secret::Secret};
use serde_json::{Value, json};

use crate::harness::{Answer, World};

#[tokio::test]
async fn nobody_shares_on_a_backend_of_several_accounts_unless_it_is_configured() {
    let (world, ada) = World::set_up().await;
    let alone = world.model(&ada, true).await;
    let path = format!("/api/v1/models/{alone}");
    assert_eq!(world.get(&path, &ada).await.body["shared"], true, "the only account may");

    let bob = world.another_account("bob@example.org").await;
    let wish = json!({ "name": "llama", "file_name": "llama.gguf", "shared": true });
    world.post("/api/v1/models", &bob, wish).await.is(403, "sharing-not-allowed");
    let quiet = world.model(&bob, false).await;
    share(&world, &bob, &quiet, true).await.is(403, "sharing-not-allowed");
    let seen = world.get("/api/v1/models", &ada).await;
    assert_eq!(seen.items().len(), 1, "ada's own: {seen:?}");
    let listed = world.get("/api/v1/models", &bob).await;
    assert_eq!(
        listed.items().len(),
        1,
        "what ada shared while she was alone is hers again: {listed:?}"
    );
    assert_eq!(world.get(&path, &ada).await.body["shared"], false);
    assert_eq!(share(&world, &ada, &alone, false).await.status, 200, "to end it is always allowed");
}

// Holds: S2.1-2
#[tokio::test]
async fn a_shared_model_and_its_deployments_name_their_publisher() {
    let (world, ada) = World::set_up_sharing().await;
    let bob = world.another_account("bob@example.org").await;
    let model = world.model(&bob, true).await;
    let seen = world.get(&format!("/api/v1/models/{model}"), &ada).await;
    assert_eq!((seen.text("publisher").as_str(), &seen.body["owned"]), ("bob", &json!(false)));
    assert_eq!(world.get("/api/v1/me", &bob).await.text("account_name"), "bob");
    let device = world.online_device(&ada).await;
    let deployment = world.deploy(&ada, &device, &model).await;
    assert_eq!(deployment.text("publisher"), "bob");
    let listed = world.get("/api/v1/deployments", &ada).await;
    assert_eq!(listed.items()[0]["publisher"], "bob");
    let own = world.model(&ada, false).await;
    assert_eq!(world.deploy(&ada, &device, &own).await.text("publisher"), "ada");
}

// Holds: S4.1-8a, S5-2, S7-3
#[tokio::test]
async fn what_is_shared_no_longer_stays_usable_where_it_is_deployed() {
    let (world, ada) = World::set_up_sharing().await;
    let bob = world.another_account("bob@example.org").await;
    let model = world.model(&bob, true).await;
    let (device, other) = (world.online_device(&ada).await, world.online_device(&ada).await);
    world.deployed(&ada, &device, &model).await;
    assert_eq!(share(&world, &bob, &model, false).await.status, 200);

    let on = |what: &str, device: &str| {
        let path = format!("/api/v1/models/{model}/{what}/{device}");
        let (world, ada) = (&world, &ada);
        async move { world.act(&path, ada).await }
    };
    let seen = world.get(&format!("/api/v1/models/{model}"), &ada).await;
    assert_eq!((seen.status, &seen.body["shared"]), (200, &json!(false)), "its name still stands");
    assert_eq!(world.get("/api/v1/models", &ada).await.items().len(), 1);
    for what in ["serve", "stop"] {
        let done = on(what, &device.id).await;
        assert_eq!(done.status, 202, "{what}: {done:?}");
    }
    let refused = on("repair-serving", &device.id).await;
    refused.is(403, "not-owner");
    let said = "the model belongs to another account, which does not share it with you any more";
    assert_eq!(refused.text("detail"), said);
    on("repair-serving", &other.id).await.is(403, "not-owner");
    on("serve", &other.id).await.is(403, "not-owner");
    world.deploy(&ada, &device, &model).await.is(403, "not-owner");
    world.deploy(&ada, &other, &model).await.is(403, "not-owner");
}

#[tokio::test]
async fn a_device_gets_back_what_it_lost_although_it_is_shared_no_longer() {
    let (world, ada) = World::set_up_sharing().await;
    let bob = world.another_account("bob@example.org").await;
    let model = world.model(&bob, true).await;
    let device = world.online_device(&ada).await;
    world.deployed(&ada, &device, &model).await;
    share(&world, &bob, &model, false).await;
    let given_back = world.hello(&device, 1, &[]).await;
    let kinds: Vec<_> = given_back.iter().map(|envelope| envelope.command()).collect();
    assert!(matches!(kinds[..], [Ok(Command::DeployModel(_))]), "{kinds:?}");
}

#[tokio::test]
async fn a_model_that_was_removed_from_a_device_is_not_repaired_there() {
    let (world, ada) = World::set_up_sharing().await;
    let bob = world.another_account("bob@example.org").await;
    let model = world.model(&bob, true).await;
    let device = world.online_device(&ada).await;
    world.deployed(&ada, &device, &model).await;
    share(&world, &bob, &model, false).await;
    let removal = world.act(&format!("/api/v1/models/{model}/uninstall/{}", device.id), &ada).await;
    assert_eq!(removal.status, 202, "{removal:?}");
    world.poll(&device, 1).await;
    world.result(&device, &removal.text("command_id"), "succeeded").await;
    let path = format!("/api/v1/models/{model}/repair-serving/{}", device.id);
    world.act(&path, &ada).await.is(403, "not-owner");
    world.get(&format!("/api/v1/models/{model}"), &ada).await.is(404, "not-found");
    assert!(world.get("/api/v1/models", &ada).await.items().is_empty());
}

#[tokio::test]
async fn two_accounts_never_have_one_name() {
    let (world, ada) = World::set_up().await;
    let mut names = vec![world.get("/api/v1/me", &ada).await.text("account_name")];
    for email in ["ada@example.com", "Ada@example.net", "ADA.2@example.net", "??@example.org"] {
        let user = world.another_account(email).await;
        names.push(world.get("/api/v1/me", &user).await.text("account_name"));
    }
    assert_eq!(names, ["ada", "ada-2", "ada-3", "ada-2-2", "account"]);
    let taken = Some("ada".parse().unwrap());
    let password = Secret::new(crate::harness::PASSWORD);
    let refused = world.backend.app.add_account("bob@example.org", taken, password).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("another account is called `ada`"), "{refused}");
}

async fn share(world: &World, user: &str, model: &str, shared: bool) -> Answer {
    let path = format!("/api/v1/models/{model}");
    world.call("PATCH", &path, user, Some(Value::from_iter([("shared", shared)]))).await
}
