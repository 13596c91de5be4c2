//! Texts that are as long as a body may be: what devices report is cut, and what people ask for is refused, so that one account
//! fills neither the memory nor the disk of all.

use link_protocol::limits;
use serde_json::json;

use crate::{harness::World, scene::Scene};

#[tokio::test]
async fn what_a_device_reports_is_cut_before_a_list_or_an_event_holds_it() {
    let scene = Scene::deployed(World::set_up().await).await;
    let (world, device, user) = (&scene.world, &scene.device, &scene.user);
    let long = "ü".repeat(200_000);
    let body = json!({
        "model_id": scene.model, "pipeline_id": scene.model.replace("mdl_", "pip_"),
        "state": "not_serving", "is_serving": false, "port": 8080, "allowlist_digest": long,
        "generation": 1, "detail": long,
    });
    let path = device.path(&format!("/models/{}/status", scene.model));
    assert_eq!(world.post(&path, &device.token, body).await.status, 204);
    let deployments = world.get("/api/v1/deployments", user).await;
    let detail = deployments.items()[0]["serving"]["detail"].as_str().unwrap();
    assert_eq!(detail.chars().count(), limits::REPORT_TEXT_LENGTH);

    let sent = world.deploy(user, device, &scene.model).await.text("command_id");
    world.poll(device, 0).await;
    let body = json!({ "command_id": sent, "status": "failed", "output": long });
    let path = device.path(&format!("/commands/{sent}/status"));
    assert_eq!(world.post(&path, &device.token, body).await.status, 204);
    for list in ["commands", "deployments", "devices"] {
        let answer = world.get(&format!("/api/v1/{list}"), user).await;
        let bytes = answer.body.to_string().len();
        assert!((200..20_000).contains(&bytes), "{list}: {bytes} bytes");
    }
}

#[tokio::test]
async fn what_a_person_asks_for_is_refused_before_it_is_stored() {
    let scene = Scene::empty(World::set_up().await).await;
    let (world, user) = (&scene.world, &scene.user);
    let version = format!("1.4.0-{}", "a".repeat(limits::VERSION_LENGTH));
    let update = format!("/api/v1/devices/{}/update", scene.device.id);
    let devices = [&scene.device.id];
    for (path, body, said) in [
        (update.as_str(), json!({ "version": version }), "version: has at most 100 characters"),
        (
            "/api/v1/operations",
            json!({ "devices": devices, "work": { "kind": "update", "version": version } }),
            "version: has at most 100 characters",
        ),
        (
            "/api/v1/operations",
            json!({ "select": "tag=a,".repeat(1_000), "work": { "kind": "stop", "model_id": scene.model } }),
            "select: has at most 4000 characters",
        ),
    ] {
        let answer = world.post(path, user, body).await;
        assert_eq!(answer.status, 422, "{path}: {:?}", answer.body);
        assert!(answer.text("detail").contains(said), "{:?}", answer.body);
    }
    let origin = format!("https://{}.example", ["a"; 200].join("."));
    let list = json!({ "origins": [origin] });
    let answer = world.put("/api/v1/settings/allowlist", user, list).await;
    assert_eq!(answer.status, 422, "{:?}", answer.body);
}
