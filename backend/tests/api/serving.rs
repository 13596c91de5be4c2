//! Serve, stop and uninstall.

use link_protocol::command::Command;
use serde_json::json;

use crate::harness::{Device, MINUTE, World};

async fn scene() -> (World, String, Device, String) {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &device, &model).await;
    (world, user, device, model)
}

// Holds: S3.2-1a, S3.2-2
#[tokio::test]
async fn serve_and_stop_are_sent_and_the_latest_wins() {
    let (world, user, device, model) = scene().await;
    let ask = |what: &str| {
        let path = format!("/api/v1/models/{model}/{what}");
        let (world, user) = (&world, &user);
        async move { world.act(&path, user).await }
    };
    let serve = ask(&format!("serve/{}?port=9000", device.id)).await;
    assert_eq!((serve.status, serve.text("type").as_str()), (202, "START_SERVING"));
    assert_eq!(serve.body["port"], 9000);
    let stop = ask(&format!("stop/{}", device.id)).await;
    assert_eq!(stop.text("type"), "STOP_SERVING");
    assert_eq!(ask(&format!("stop/{}", device.id)).await.body, stop.body, "the same wish");
    let again = ask(&format!("serve/{}?port=9000", device.id)).await;
    assert_ne!(again.body["command_id"], serve.body["command_id"]);
    let sent = world.poll(&device, 1).await;
    assert_eq!(sent.len(), 1);
    assert!(matches!(sent[0].command(), Ok(Command::StartServing(_))));
    world.result(&device, &again.text("command_id"), "succeeded").await;
    let list = world.get("/api/v1/deployments", &user).await;
    assert_eq!(list.items()[0]["port"], 9000);
    ask(&format!("serve/{}?port=0", device.id)).await.is(422, "invalid-request");
}

// Holds: S3.4-7, S3.2-3, S2.5-2
#[tokio::test]
async fn a_removal_waits_for_a_device_that_is_offline() {
    let (world, user, device, model) = scene().await;
    world.advance(2 * MINUTE);
    let path = |what: &str| format!("/api/v1/models/{model}/{what}/{}", device.id);
    world.act(&path("serve"), &user).await.is(409, "device-offline");
    assert_eq!(world.act(&path("stop"), &user).await.status, 202);
    let removal = world.act(&path("uninstall"), &user).await;
    assert_eq!((removal.status, removal.text("type").as_str()), (202, "UNINSTALL_MODEL"));

    let sent = world.hello(&device, 1, &[]).await;
    assert_eq!(sent.len(), 1, "the stop is part of the removal");
    assert_eq!(sent[0].r#type, "UNINSTALL_MODEL");
    world.result(&device, &removal.text("command_id"), "succeeded").await;
    world.act(&path("stop"), &user).await.is(409, "not-deployed");
    assert_eq!(world.deploy(&user, &device, &model).await.status, 202, "it can be deployed again");
}

// Holds: S6-3, S3.2-5
#[tokio::test]
async fn the_reported_state_stands_beside_the_deployment_and_never_goes_back() {
    let (world, user, device, model) = scene().await;
    let report = |state: &str, generation: u64| {
        let body = json!({
            "model_id": model, "pipeline_id": model.replace("mdl_", "pip_"), "state": state,
            "is_serving": state == "serving", "port": 8080, "allowlist_digest": "",
            "generation": generation, "detail": "as it is",
        });
        let path = device.path(&format!("/models/{model}/status"));
        let (world, device) = (&world, &device);
        async move { assert_eq!(world.post(&path, &device.token, body).await.status, 204) }
    };
    let serving =
        || async { world.get("/api/v1/deployments", &user).await.items()[0]["serving"].clone() };
    assert!(serving().await.is_null());
    report("serving", 2).await;
    assert_eq!(serving().await["is_serving"], true);
    report("starting", 1).await;
    assert_eq!(serving().await["state"], "serving", "an older report never replaces a newer one");
    report("not_serving", 3).await;
    assert_eq!(
        serving().await,
        json!({ "state": "not_serving", "is_serving": false, "port": 8080, "detail": "as it is" })
    );
    report("serving", 4).await;
    world.hello(&device, 1, &[]).await;
    // What a hello does not list is not served. It is deployed again, and of that the device has reported nothing yet.
    let list = world.get("/api/v1/deployments?current=true", &user).await;
    let again = &list.items()[0];
    assert_eq!((&again["state"], &again["serving"]), (&json!("queued"), &serde_json::Value::Null));
}
