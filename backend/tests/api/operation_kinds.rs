//! The effect of each kind of operation on a device, and on a device that is offline, removed or without the model.

use futures_util::future::join_all;
use link_backend::app::operation_work::Worker;
use serde_json::{Value, json};

use crate::{
    harness::{Device, MINUTE, World},
    operation::{OPERATIONS, fleet, items, work},
};

struct Lab {
    world: World,
    user: String,
    devices: Vec<Device>,
    model: String,
}

impl Lab {
    /// Creates three devices. The first two have the model, and only the first is online.
    async fn new() -> Self {
        let (world, user) = World::set_up().await;
        let model = world.model(&user, false).await;
        let devices = fleet(&world, &user, 3).await;
        for device in &devices[..2] {
            world.hello(device, 0, &[]).await;
            world.deployed(&user, device, &model).await;
        }
        world.advance(2 * MINUTE);
        world.poll(&devices[0], 1).await;
        Self { world, user, devices, model }
    }

    async fn start(&self, work: Value) -> String {
        let wish = json!({ "work": work, "select": "tag=lab" });
        let accepted = self.world.post(OPERATIONS, &self.user, wish).await;
        assert_eq!(accepted.status, 202, "{accepted:?}");
        accepted.text("operation_id")
    }

    async fn on_model(&self, kind: &str) -> String {
        let id = self.start(json!({ "kind": kind, "model_id": self.model })).await;
        work(&self.world).await;
        id
    }

    /// Returns the state and the code of each device, in the order of registration.
    async fn states(&self, id: &str) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let items = items(&self.world, &self.user, id, "").await;
        items.iter().map(|item| (text(&item["state"]), text(&item["code"]))).collect()
    }

    /// Reports a result of the newest command for a device.
    async fn answer(&self, device: &Device, status: &str) {
        let commands = self.world.poll(device, 1).await;
        let command = commands.last().unwrap().command_id.to_string();
        assert_eq!(self.world.result(device, &command, status).await.status, 204);
        work(&self.world).await;
    }

    async fn is(&self, id: &str, expected: [(&str, &str); 3]) {
        let expected = expected.map(|(state, code)| (state.to_owned(), code.to_owned()));
        assert_eq!(self.states(id).await, expected);
    }
}

#[tokio::test]
async fn a_repair_fails_on_an_offline_device_and_skips_one_without_the_model() {
    let lab = Lab::new().await;
    let id = lab.on_model("repair").await;
    let rest = [("failed", "device-offline"), ("skipped", "not-deployed")];
    lab.is(&id, [("sent", ""), rest[0], rest[1]]).await;
    lab.answer(&lab.devices[0], "succeeded").await;
    lab.is(&id, [("succeeded", ""), rest[0], rest[1]]).await;
    let first = &items(&lab.world, &lab.user, &id, "").await[0];
    assert_eq!(first["detail"], "as it went");

    lab.world.poll(&lab.devices[1], 1).await;
    assert_eq!(lab.world.act(&format!("{OPERATIONS}/{id}/retry"), &lab.user).await.status, 202);
    work(&lab.world).await;
    lab.is(&id, [("succeeded", ""), ("sent", ""), rest[1]]).await;
    lab.answer(&lab.devices[1], "failed").await;
    lab.is(&id, [("succeeded", ""), ("failed", "command-failed"), rest[1]]).await;
}

#[tokio::test]
async fn serving_fails_where_the_model_is_not_and_stopping_skips_the_device() {
    let lab = Lab::new().await;
    let id = lab.on_model("serve").await;
    lab.is(&id, [("sent", ""), ("failed", "device-offline"), ("failed", "not-deployed")]).await;
    let id = lab.on_model("stop").await;
    lab.is(&id, [("sent", ""), ("sent", ""), ("skipped", "not-deployed")]).await;
    let id = lab.on_model("remove").await;
    lab.is(&id, [("sent", ""), ("sent", ""), ("skipped", "not-deployed")]).await;
    lab.answer(&lab.devices[0], "succeeded").await;
    lab.is(&id, [("succeeded", ""), ("sent", ""), ("skipped", "not-deployed")]).await;
}

#[tokio::test]
async fn a_newer_command_ends_what_waits_for_an_older_one() {
    let lab = Lab::new().await;
    let older = lab.start(json!({ "kind": "update", "version": "1.4.0" })).await;
    work(&lab.world).await;
    lab.is(&older, [("sent", ""); 3]).await;
    let newer = lab.start(json!({ "kind": "update", "version": "1.5.0" })).await;
    work(&lab.world).await;
    lab.is(&older, [("failed", "superseded"); 3]).await;
    lab.is(&newer, [("sent", ""); 3]).await;
}

#[tokio::test]
async fn a_deployment_that_no_device_receives_has_failed_after_five_minutes() {
    let lab = Lab::new().await;
    let model = lab.world.model(&lab.user, false).await;
    let id = lab.start(json!({ "kind": "deploy", "model_id": model, "port": 8090 })).await;
    work(&lab.world).await;
    lab.is(&id, [("sent", ""); 3]).await;
    let first = &items(&lab.world, &lab.user, &id, "").await[0];
    assert!(first["deployment_id"].is_string() && first["command_id"].is_string(), "{first}");
    lab.answer(&lab.devices[0], "succeeded").await;
    lab.world.advance(6 * MINUTE);
    lab.world.sweep().await;
    work(&lab.world).await;
    let failed = ("failed", "deployment-failed");
    lab.is(&id, [("succeeded", ""), failed, failed]).await;
}

#[tokio::test]
async fn a_deployment_that_is_to_serve_has_succeeded_once_it_serves() {
    let lab = Lab::new().await;
    let model = lab.world.model(&lab.user, false).await;
    let work_of = json!({ "kind": "deploy", "model_id": model, "port": 8090, "serve": true });
    let id = lab.start(work_of).await;
    work(&lab.world).await;
    lab.answer(&lab.devices[0], "succeeded").await;
    assert_eq!(lab.states(&id).await[0].0, "sent");
    let path = lab.devices[0].path(&format!("/models/{model}/status"));
    let report = json!({
        "model_id": model, "pipeline_id": model.replace("mdl_", "pip_"), "state": "serving",
        "is_serving": true, "port": 8090, "allowlist_digest": "", "generation": 1,
    });
    let reported = lab.world.post(&path, &lab.devices[0].token, report).await;
    assert_eq!(reported.status, 204, "{reported:?}");
    work(&lab.world).await;
    assert_eq!(lab.states(&id).await[0].0, "succeeded");
}

#[tokio::test]
async fn names_and_tags_are_changed_on_devices_that_are_offline_too() {
    let lab = Lab::new().await;
    for done in [
        json!({ "kind": "rename", "pattern": "desk-{n}-{name}" }),
        json!({ "kind": "tag", "tags": ["attic"] }),
        json!({ "kind": "untag", "tags": ["lab"] }),
    ] {
        let id = lab.start(done).await;
        work(&lab.world).await;
        lab.is(&id, [("succeeded", ""); 3]).await;
    }
    let listed = lab.world.get("/api/v1/devices?select=tag%3Dattic,tag!%3Dlab", &lab.user).await;
    let names: Vec<_> = listed.items().iter().map(|device| device["name"].clone()).collect();
    assert_eq!(names, ["desk-3-box-2", "desk-2-box-1", "desk-1-box-0"]);
    let log = lab.world.get("/api/v1/audit?action=device.rename", &lab.user).await;
    assert_eq!(log.items().len(), 3);
}

#[tokio::test]
async fn a_device_that_left_is_skipped_or_has_failed() {
    let lab = Lab::new().await;
    let id = lab.start(json!({ "kind": "update", "version": "1.4.0" })).await;
    let remove = |device: &Device| {
        let path = format!("/api/v1/devices/{}", device.id);
        let (world, user) = (&lab.world, &lab.user);
        async move { assert_eq!(world.delete(&path, user).await.status, 204) }
    };
    remove(&lab.devices[2]).await;
    work(&lab.world).await;
    lab.is(&id, [("sent", ""), ("sent", ""), ("skipped", "gone")]).await;
    remove(&lab.devices[1]).await;
    work(&lab.world).await;
    lab.is(&id, [("sent", ""), ("failed", "gone"), ("skipped", "gone")]).await;
}

#[tokio::test]
async fn each_operation_has_its_turn() {
    let lab = Lab::new().await;
    let wishes = [json!({ "kind": "tag", "tags": ["x"] }), json!({ "kind": "tag", "tags": ["y"] })];
    let ids = [lab.start(wishes[0].clone()).await, lab.start(wishes[1].clone()).await];
    let mut worker = Worker::default();
    for _ in 0..2 {
        lab.world.backend.app.work_off(&mut worker, 1).await.unwrap();
    }
    for id in &ids {
        assert_eq!(items(&lab.world, &lab.user, id, "&state=succeeded").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_that_meet_tell_each_device_once() {
    let (world, user) = World::set_up().await;
    let devices = fleet(&world, &user, 40).await;
    let wish = json!({ "work": { "kind": "update", "version": "1.4.0" }, "select": "tag=lab" });
    let id = world.post(OPERATIONS, &user, wish).await.text("operation_id");
    let mut apps = vec![std::sync::Arc::clone(&world.backend.app); 3];
    if world.database.is_some() {
        apps.push(link_backend::build(world.configuration()).await.unwrap().app);
    }
    let workers = apps.into_iter().map(|app| {
        tokio::spawn(async move {
            let mut worker = Worker::default();
            while app.work_off(&mut worker, 5).await.unwrap().tried > 0 {}
        })
    });
    for ended in join_all(workers).await {
        ended.unwrap();
    }
    assert_eq!(items(&world, &user, &id, "&state=sent").await.len(), devices.len());
    let commands = world.get("/api/v1/commands?limit=200", &user).await;
    let mut told: Vec<_> =
        commands.items().iter().map(|command| command["device_id"].to_string()).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!((told.len(), commands.items().len()), (devices.len(), devices.len()));
}
