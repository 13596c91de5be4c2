//! Records that are deleted by age, and records that are kept whatever their age.

use link_protocol::limits::QUEUED_DEPLOYMENT_EXPIRY;
use serde_json::json;

use crate::harness::{Device, MINUTE, PASSWORD, SECOND, World};

const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

async fn log_in(world: &World) -> String {
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    world.post("/api/v1/auth/login", "", login).await.text("access_token")
}

/// Deploys a model to a device, which reports `result`. Returns the deployment's id.
async fn deploy(world: &World, user: &str, device: &Device, model: &str, result: &str) -> String {
    let made = world.deploy(user, device, model).await;
    assert_eq!(made.status, 202, "{made:?}");
    world.poll(device, 0).await;
    world.result(device, &made.text("command_id"), result).await;
    made.text("deployment_id")
}

async fn listed(world: &World, user: &str) -> Vec<String> {
    let list = world.get("/api/v1/deployments", user).await;
    list.items().iter().map(|item| item["deployment_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn finished_deployments_are_deleted_after_their_retention_but_never_what_is_in_force() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let first = deploy(&world, &user, &device, &model, "succeeded").await;
    let second = deploy(&world, &user, &device, &model, "failed").await;
    world.advance(DAY * 91);
    world.backend.app.purge().await.unwrap();
    let user = log_in(&world).await;
    // The first deployment is on the device, and the second one is the newest.
    assert_eq!(listed(&world, &user).await, [second.clone(), first.clone()]);

    let third = deploy(&world, &user, &device, &model, "succeeded").await;
    world.advance(DAY * 89);
    world.backend.app.purge().await.unwrap();
    let user = log_in(&world).await;
    assert_eq!(
        listed(&world, &user).await,
        std::slice::from_ref(&third),
        "{first} and {second} are history"
    );
    let entries = world.get("/api/v1/audit?action=deployment.purge", &user).await;
    let [entry] = entries.items() else { panic!("{entries:?}") };
    assert_eq!(entry["actor"], json!({ "kind": "system", "id": null }));
    assert!(entry["detail"].as_str().unwrap().starts_with("2, ended before 2026-"), "{entry}");

    world.advance(DAY * 1000);
    world.backend.app.purge().await.unwrap();
    let user = log_in(&world).await;
    assert_eq!(listed(&world, &user).await, [third], "the current deployment is never deleted");
}

#[tokio::test]
async fn one_sweep_fails_every_deployment_that_is_overdue() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    for _ in 0..7 {
        let model = world.model(&user, false).await;
        let wish = json!({ "device_id": device.id, "model_id": model, "alias": model[4..] });
        let answer = world.post("/api/v1/deployments", &user, wish).await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    world.advance(QUEUED_DEPLOYMENT_EXPIRY + SECOND);
    world.sweep().await;
    let list = world.get("/api/v1/deployments", &user).await;
    assert_eq!(list.items().len(), 7);
    assert!(list.items().iter().all(|item| item["state"] == "failed"), "{list:?}");
    world.advance(MINUTE);
    world.sweep().await;
}
