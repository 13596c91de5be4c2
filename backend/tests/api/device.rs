//! The update of a device's agent: the necessary permission, and the outcome of the last update.

use axum::{body::Body, http::Request};
use link_protocol::{command::Command, limits};
use serde_json::{Value, json};

use crate::harness::{Answer, Device, MINUTE, World};

struct Scene {
    world: World,
    user: String,
    device: Device,
}

impl Scene {
    /// Creates an online device.
    async fn new() -> Self {
        let (world, user) = World::set_up().await;
        let device = world.online_device(&user).await;
        Self { world, user, device }
    }

    async fn update(&self, version: &str) -> Answer {
        self.update_as(&self.user, &self.device.id, json!({ "version": version })).await
    }

    async fn update_as(&self, user: &str, device: &str, body: Value) -> Answer {
        self.world.post(&format!("/api/v1/devices/{device}/update"), user, body).await
    }

    async fn read(&self) -> Answer {
        self.world.get(&format!("/api/v1/devices/{}", self.device.id), &self.user).await
    }

    async fn reports(&self, status: &str, version: &str, update: Option<&Value>) {
        let mut body = json!({ "status": status, "agent_version": version, "uptime_s": 1 });
        if let Some(update) = update {
            body["update"] = update.clone();
        }
        let answer = self.world.put(&self.device.path("/status"), &self.device.token, body).await;
        assert_eq!(answer.status, 204, "{answer:?}");
    }
}

#[tokio::test]
async fn an_update_is_accepted_and_sent_with_its_version() {
    let scene = Scene::new().await;
    let answer = scene.update("1.4.0-beta.2").await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let id = answer.text("command_id");
    assert_eq!(answer.header("location"), format!("/api/v1/commands/{id}"));
    assert_eq!(answer.text("type"), "UPDATE_AGENT");
    assert_eq!(answer.text("state"), "sent");
    assert_eq!(answer.text("device_id"), scene.device.id);
    assert!(answer.body["model_id"].is_null() && answer.body["port"].is_null());
    let time = |member: &str| answer.text(member).parse::<jiff::Timestamp>().unwrap();
    let expiry = time("expires_at").duration_since(time("created_at"));
    assert_eq!(expiry.unsigned_abs(), limits::COMMAND_EXPIRY);
    let mut read = scene.world.get(answer.header("location"), &scene.user).await.body;
    // Sending a command reads no names.
    let name = read.as_object_mut().unwrap().remove("device_name");
    assert!(name.is_some_and(|name| name.is_string()));
    assert_eq!(read, answer.body);

    let sent = scene.world.poll(&scene.device, 0).await;
    let [envelope] = &sent[..] else { panic!("{sent:?}") };
    let Ok(Command::UpdateAgent(update)) = envelope.command() else { panic!("{envelope:?}") };
    assert_eq!(update.version.to_string(), "1.4.0-beta.2");
    assert_eq!(scene.world.result(&scene.device, &id, "succeeded").await.status, 204);
    let ended = scene.world.get(answer.header("location"), &scene.user).await;
    assert_eq!(ended.body["result"]["status"], "succeeded");
}

#[tokio::test]
async fn an_update_waits_for_a_device_that_is_offline_and_the_latest_wins() {
    let scene = Scene::new().await;
    scene.world.advance(2 * MINUTE);
    let first = scene.update("1.4.0").await;
    assert_eq!(first.status, 202, "{first:?}");
    assert_eq!(scene.update("1.4.0").await.body, first.body, "the same wish");
    let second = scene.update("1.5.0").await.text("command_id");
    let state = |id: String| {
        let (world, user) = (&scene.world, &scene.user);
        async move { world.get(&format!("/api/v1/commands/{id}"), user).await.text("state") }
    };
    assert_eq!(state(first.text("command_id")).await, "sent", "until a day is over");

    let sent = scene.world.hello(&scene.device, 0, &[]).await;
    let [envelope] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(envelope.command_id.to_string(), second);
    scene.world.receipt(&scene.device, &second, "stored").await;
    let third = scene.update("1.6.0").await;
    assert_eq!(third.status, 202, "{third:?}");
    assert_eq!(state(second).await, "processed", "what the device has is not taken back");
}

#[tokio::test]
async fn an_update_needs_a_device_of_the_caller_and_a_version() {
    let scene = Scene::new().await;
    let bob = scene.world.another_account("bob@example.org").await;
    let (own, unknown) = (scene.device.id.clone(), format!("dev_{}", "0".repeat(32)));
    let wish = json!({ "version": "1.4.0" });
    for (user, device) in
        [(&bob, own.as_str()), (&scene.user, unknown.as_str()), (&scene.user, "nonsense")]
    {
        scene.update_as(user, device, wish.clone()).await.is(404, "not-found");
    }
    for body in [
        json!({ "version": "newest" }),
        json!({ "version": "v1.4.0" }),
        json!({ "version": "" }),
        json!({ "version": 1 }),
        json!({}),
        json!({ "version": "1.4.0", "again": true }),
    ] {
        let refused = scene.update_as(&scene.user, &own, body.clone()).await;
        refused.is(422, "invalid-request");
        assert!(
            refused.text("detail").contains(body["again"].as_bool().map_or("version", |_| "again"))
        );
    }
    assert!(scene.world.poll(&scene.device, 0).await.is_empty(), "nothing was sent");

    scene.reports("stopping", "1.3.0", None).await;
    assert_eq!(scene.update("1.4.0").await.status, 202, "it may come back");
    scene.reports("deregistered", "1.3.0", None).await;
    scene.update("1.5.0").await.is(404, "not-found");
    scene.world.delete(&format!("/api/v1/devices/{own}"), &scene.user).await;
    scene.update("1.5.0").await.is(404, "not-found");
}

#[tokio::test]
async fn an_idempotency_key_stands_for_one_update() {
    let scene = Scene::new().await;
    let update = |version: &str| {
        let request = Request::post(format!("/api/v1/devices/{}/update", scene.device.id))
            .header("authorization", format!("Bearer {}", scene.user))
            .header("content-type", "application/json")
            .header("idempotency-key", "update-1");
        let body = Body::from(json!({ "version": version }).to_string());
        scene.world.send(request.body(body).unwrap())
    };
    let first = update("1.4.0").await.text("command_id");
    scene.world.poll(&scene.device, 0).await;
    scene.world.result(&scene.device, &first, "rejected").await;
    assert_eq!(update("1.4.0").await.text("command_id"), first, "even after it has ended");
    update("1.5.0").await.is(409, "idempotency-conflict");
    assert_ne!(scene.update("1.4.0").await.text("command_id"), first);
}

#[tokio::test]
async fn the_outcome_of_the_last_update_is_kept_and_shown() {
    let scene = Scene::new().await;
    assert!(scene.read().await.body.get("last_update").is_none());
    let rolled_back = json!({
        "from": "1.3.0", "to": "1.4.0", "outcome": "rolled_back", "reason": "it ended in its trial"
    });
    scene.reports("updating", "1.3.0", None).await;
    assert_eq!(scene.read().await.text("status"), "updating");
    scene.reports("online", "1.3.0", Some(&rolled_back)).await;
    assert_eq!(scene.read().await.body["last_update"], rolled_back);
    scene.reports("stopping", "1.3.0", None).await;
    assert_eq!(scene.read().await.body["last_update"], rolled_back, "a farewell tells of none");

    let committed = json!({ "from": "1.3.0", "to": "1.5.0", "outcome": "committed" });
    scene.reports("online", "1.5.0", Some(&committed)).await;
    scene.world.hello(&scene.device, 0, &[]).await;
    let list = scene.world.get("/api/v1/devices", &scene.user).await;
    assert_eq!(list.items()[0]["last_update"], committed);
    assert_eq!(list.items()[0]["status"], "online");
}

#[tokio::test]
async fn a_device_that_ends_while_it_updates_counts_as_offline_like_any_other() {
    let scene = Scene::new().await;
    scene.reports("updating", "1.3.0", None).await;
    let seen = async || {
        let read = scene.read().await.body;
        let list = scene.world.get("/api/v1/devices", &scene.user).await;
        assert_eq!(list.items()[0], read);
        (read["online"].as_bool().unwrap(), read["status"].as_str().unwrap().to_owned())
    };
    assert_eq!(seen().await, (true, "updating".into()));
    scene.world.advance(2 * MINUTE);
    assert_eq!(seen().await, (false, "updating".into()), "what it was at stays known");
    scene.world.hello(&scene.device, 0, &[]).await;
    assert_eq!(seen().await, (true, "updating".into()));
    scene.reports("online", "1.4.0", None).await;
    assert_eq!(seen().await, (true, "online".into()));
}

#[tokio::test]
async fn the_reason_that_a_device_gives_is_bounded_and_steers_no_terminal() {
    let scene = Scene::new().await;
    let reason = format!("\u{1b}]0;owned\u{7}{}", "\u{9b}é\n".repeat(1000));
    let told =
        json!({ "from": "1.3.0", "to": "1.4.0", "outcome": "rolled_back", "reason": reason });
    scene.reports("online", "1.3.0", Some(&told)).await;
    let kept = scene.read().await.body["last_update"]["reason"].as_str().unwrap().to_owned();
    assert_eq!(kept.chars().count(), limits::UPDATE_REASON_LENGTH);
    assert!(!kept.chars().any(char::is_control), "{kept:?}");
    assert!(kept.starts_with("\u{fffd}]0;owned\u{fffd}\u{fffd}é \u{fffd}é"), "{kept:?}");
}
