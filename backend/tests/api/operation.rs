//! Operations on many devices: accepted once, bounded, listed, cancelled and retried.

use link_backend::app::operation_work::Worker;
use link_protocol::signing::SigningKey;
use serde_json::{Value, json};

use crate::harness::{Answer, Device, World, registration};

pub(crate) const OPERATIONS: &str = "/api/v1/operations";

#[tokio::test]
async fn an_operation_is_accepted_and_worked_off() {
    let (world, user) = World::set_up().await;
    let devices = fleet(&world, &user, 5).await;
    world.online_device(&user).await;
    let wish = json!({ "work": { "kind": "tag", "tags": ["blue"] }, "select": "tag=lab" });
    let accepted = world.post(OPERATIONS, &user, wish).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let id = accepted.text("operation_id");
    assert_eq!(accepted.header("location"), format!("{OPERATIONS}/{id}"));
    assert_eq!(
        (&accepted.body["state"], &accepted.body["devices"]),
        (&json!("running"), &json!(5))
    );
    assert_eq!(accepted.body["counts"]["pending"], 5);

    work(&world).await;
    let done = world.get(&format!("{OPERATIONS}/{id}"), &user).await;
    assert_eq!(
        (&done.body["state"], &done.body["counts"]["succeeded"]),
        (&json!("succeeded"), &json!(5))
    );
    assert!(done.body["ended_at"].is_string(), "{done:?}");
    assert_eq!(done.body["requested_by"]["kind"], "user");
    let items = items(&world, &user, &id, "").await;
    let mut expected: Vec<&str> = devices.iter().map(|device| device.id.as_str()).collect();
    expected.sort_unstable();
    let ids: Vec<&str> = items.iter().map(|item| item["device_id"].as_str().unwrap()).collect();
    assert_eq!(ids, expected);
    let blue = world.get("/api/v1/devices?select=tag%3Dblue", &user).await;
    assert_eq!(blue.items().len(), 5);
    for (action, entries) in [("operation.create", 1), ("device.tag", 5)] {
        let log = world.get(&format!("/api/v1/audit?action={action}"), &user).await;
        assert_eq!(log.items().len(), entries, "{action}");
    }
}

#[tokio::test]
async fn a_dry_run_names_the_devices_and_does_nothing() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 12).await;
    let wish = json!({
        "work": { "kind": "rename", "pattern": "lab-{n}" }, "select": "tag=lab", "dry_run": true,
    });
    let plan = world.post(OPERATIONS, &user, wish).await;
    assert_eq!((plan.status, &plan.body["devices"]), (200, &json!(12)), "{plan:?}");
    let first = &plan.body["first"][0];
    assert_eq!((&first["online"], &first["new_name"]), (&json!(false), &json!("lab-01")));
    assert!(world.get(OPERATIONS, &user).await.items().is_empty());
}

#[tokio::test]
async fn what_no_device_could_do_is_refused_at_once() {
    let (world, user) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let device = &fleet(&world, &user, 1).await[0];
    let tag = || json!({ "kind": "tag", "tags": ["x"] });
    let model = format!("mdl_{:032x}", 1);
    let post = |wish: Value| world.post(OPERATIONS, &user, wish);
    for none in [
        json!({ "work": tag(), "select": "tag=attic" }),
        json!({ "work": tag(), "devices": [] }),
        json!({ "work": tag(), "devices": [format!("dev_{:032x}", 1)] }),
    ] {
        let refused = post(none).await;
        refused.is(422, "nothing-selected");
        assert!(refused.text("hint").contains("link device list"), "{refused:?}");
    }
    let wish = json!({ "work": tag(), "devices": [device.id] });
    world.post(OPERATIONS, &bob, wish).await.is(422, "nothing-selected");
    for bad in [
        json!({ "work": tag() }),
        json!({ "work": tag(), "select": "tag=lab", "devices": [device.id] }),
        json!({ "work": tag(), "select": "size=3" }),
        json!({ "work": { "kind": "tag", "tags": [] }, "select": "tag=lab" }),
        json!({ "work": { "kind": "tag", "tags": ["a,b"] }, "select": "tag=lab" }),
        json!({ "work": { "kind": "rename", "pattern": "all-alike" }, "select": "tag=lab" }),
        json!({ "work": { "kind": "explode" }, "select": "tag=lab" }),
    ] {
        post(bad).await.is(422, "invalid-request");
    }
    let wish = json!({ "work": { "kind": "stop", "model_id": model }, "select": "tag=lab" });
    post(wish).await.is(404, "not-found");
    assert!(world.get(OPERATIONS, &user).await.items().is_empty());
}

#[tokio::test]
async fn an_operation_needs_the_permission_of_the_request_for_one_device() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 1).await;
    let model = world.model(&user, false).await;
    let viewer = world.member(&user, "eve@example.org", "viewer").await;
    for (work, scope) in [
        (json!({ "kind": "deploy", "model_id": model }), "deployments:write"),
        (json!({ "kind": "remove", "model_id": model }), "deployments:write"),
        (json!({ "kind": "repair", "model_id": model }), "serving:operate"),
        (json!({ "kind": "serve", "model_id": model }), "serving:operate"),
        (json!({ "kind": "stop", "model_id": model }), "serving:operate"),
        (json!({ "kind": "update", "version": "1.4.0" }), "devices:operate"),
        (json!({ "kind": "tag", "tags": ["x"] }), "devices:operate"),
        (json!({ "kind": "untag", "tags": ["x"] }), "devices:operate"),
        (json!({ "kind": "rename", "pattern": "{n}" }), "devices:operate"),
    ] {
        let wish = || json!({ "work": work, "select": "tag=lab", "dry_run": true });
        world.post(OPERATIONS, &viewer, wish()).await.is(403, "forbidden");
        let token = token(&world, &user, &["devices:read", "models:read"]).await;
        let refused = world.post(OPERATIONS, &token, wish()).await;
        refused.is(403, "scope-missing");
        assert!(refused.text("detail").contains(scope), "{refused:?}");
        let token = self::token(&world, &user, &["devices:read", scope]).await;
        assert_eq!(world.post(OPERATIONS, &token, wish()).await.status, 200, "{work}");
    }
    let wish = json!({ "work": { "kind": "tag", "tags": ["x"] }, "select": "tag=lab" });
    let id = world.post(OPERATIONS, &user, wish).await.text("operation_id");
    for act in ["cancel", "retry"] {
        let path = format!("{OPERATIONS}/{id}/{act}");
        world.act(&path, &viewer).await.is(403, "forbidden");
    }
    assert_eq!(world.get(&format!("{OPERATIONS}/{id}"), &viewer).await.status, 200);
}

#[tokio::test]
async fn one_idempotency_key_is_one_operation() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 2).await;
    let send = |tag: &str| {
        let wish = json!({ "work": { "kind": "tag", "tags": [tag] }, "select": "tag=lab" });
        let request = axum::http::Request::post(OPERATIONS)
            .header("authorization", format!("Bearer {user}"))
            .header("content-type", "application/json")
            .header("idempotency-key", "once");
        world.send(request.body(axum::body::Body::from(wish.to_string())).unwrap())
    };
    let (first, again) = (send("x").await, send("x").await);
    assert_eq!((first.status, again.status), (202, 202));
    assert_eq!(first.text("operation_id"), again.text("operation_id"));
    send("y").await.is(409, "idempotency-conflict");
    assert_eq!(world.get(OPERATIONS, &user).await.items().len(), 1);
}

#[tokio::test]
async fn an_account_has_a_bounded_number_of_operations() {
    let (world, user) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    fleet(&world, &user, 1).await;
    let tag = || json!({ "work": { "kind": "tag", "tags": ["x"] }, "select": "tag=lab" });
    let mut first = String::new();
    for _ in 0..10 {
        let accepted = world.post(OPERATIONS, &user, tag()).await;
        assert_eq!(accepted.status, 202, "{accepted:?}");
        first = accepted.text("operation_id");
    }
    world.post(OPERATIONS, &user, tag()).await.is(409, "quota-reached");
    let body = json!({ "kind": "fleet", "tags": ["lab"] });
    assert_eq!(world.post("/api/v1/keys", &bob, body).await.status, 201, "others go on");
    assert_eq!(world.act(&format!("{OPERATIONS}/{first}/cancel"), &user).await.status, 202);
    assert_eq!(world.post(OPERATIONS, &user, tag()).await.status, 202);
    for _ in 0..11 {
        work(&world).await;
    }
    for _ in 0..100 {
        let id = world.post(OPERATIONS, &user, tag()).await.text("operation_id");
        assert_eq!(world.act(&format!("{OPERATIONS}/{id}/cancel"), &user).await.status, 202);
    }
    let listed = world.get(&format!("{OPERATIONS}?limit=200"), &user).await;
    assert_eq!(listed.items().len(), 100, "the oldest are forgotten");
    assert_eq!(world.get(&format!("{OPERATIONS}/{first}"), &user).await.status, 404);
}

/// Offline devices keep an operation waiting for a day, and they must not keep the account from its next one.
#[tokio::test]
async fn operations_that_wait_for_offline_devices_keep_nobody_from_the_next_one() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 2).await;
    let update =
        || json!({ "work": { "kind": "update", "version": "1.4.0" }, "select": "tag=lab" });
    let mut ids = Vec::new();
    for _ in 0..100 {
        let accepted = world.post(OPERATIONS, &user, update()).await;
        assert_eq!(accepted.status, 202, "{accepted:?}");
        let id = accepted.text("operation_id");
        world.backend.app.work_off(&mut Worker::default(), 1).await.unwrap();
        let cancel = world.act(&format!("{OPERATIONS}/{id}/cancel"), &user).await;
        assert_eq!((cancel.status, &cancel.body["state"]), (202, &json!("running")), "{cancel:?}");
        ids.push(id);
    }
    // A hundred operations wait, and none has ended: one more would be kept without a bound.
    let refused = world.post(OPERATIONS, &user, update()).await;
    assert!(refused.text("detail").contains("100 operations that have not ended"), "{refused:?}");
    assert_eq!(world.get(&format!("{OPERATIONS}/{}", ids[0]), &user).await.status, 200);
}

#[tokio::test]
async fn an_operation_that_ended_long_ago_is_forgotten() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 1).await;
    let wish = json!({ "work": { "kind": "tag", "tags": ["x"] }, "select": "tag=lab" });
    world.post(OPERATIONS, &user, wish.clone()).await;
    work(&world).await;
    world.advance(std::time::Duration::from_secs(31 * 24 * 60 * 60));
    let login = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
    let user = world.post("/api/v1/auth/login", "", login).await.text("access_token");
    assert_eq!(world.post(OPERATIONS, &user, wish).await.status, 202);
    world.backend.app.purge().await.unwrap();
    assert_eq!(world.get(OPERATIONS, &user).await.items().len(), 1, "one that runs is kept");
}

#[tokio::test]
async fn results_come_in_pages_and_by_state() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 5).await;
    let wish = json!({ "work": { "kind": "tag", "tags": ["x"] }, "select": "tag=lab" });
    let id = world.post(OPERATIONS, &user, wish).await.text("operation_id");
    world.backend.app.work_off(&mut Worker::default(), 2).await.unwrap();
    let path = format!("{OPERATIONS}/{id}/devices?limit=2");
    let (mut seen, mut next) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("{path}{next}"), &user).await;
        seen.extend(page.items().iter().map(|item| item["device_id"].to_string()));
        let Some(cursor) = page.body["next_cursor"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    assert!(seen.len() == 5 && seen.is_sorted(), "{seen:?}");
    assert_eq!(items(&world, &user, &id, "&state=succeeded").await.len(), 2);
    assert_eq!(items(&world, &user, &id, "&state=pending").await.len(), 3);
    let path = format!("{OPERATIONS}/{id}/devices?state=asleep");
    world.get(&path, &user).await.is(422, "invalid-request");
}

#[tokio::test]
async fn a_cancelled_operation_tells_no_further_device() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 5).await;
    let wish = json!({ "work": { "kind": "update", "version": "1.4.0" }, "select": "tag=lab" });
    let id = world.post(OPERATIONS, &user, wish).await.text("operation_id");
    world.backend.app.work_off(&mut Worker::default(), 2).await.unwrap();
    let cancel = format!("{OPERATIONS}/{id}/cancel");
    let cancelled = world.act(&cancel, &user).await;
    assert_eq!((cancelled.status, &cancelled.body["state"]), (202, &json!("running")));
    work(&world).await;
    let counts = world.get(&format!("{OPERATIONS}/{id}"), &user).await.body["counts"].clone();
    assert_eq!((&counts["sent"], &counts["cancelled"]), (&json!(2), &json!(3)));
    assert_eq!(world.get("/api/v1/commands", &user).await.items().len(), 2);
    world.advance(std::time::Duration::from_secs(25 * 60 * 60));
    world.sweep().await;
    work(&world).await;
    let login = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
    let user = world.post("/api/v1/auth/login", "", login).await.text("access_token");
    let ended = world.get(&format!("{OPERATIONS}/{id}"), &user).await;
    assert_eq!(
        (&ended.body["state"], &ended.body["counts"]["failed"]),
        (&json!("cancelled"), &json!(2))
    );
    assert_eq!(items(&world, &user, &id, "&state=failed").await[0]["code"], "expired");
    world.act(&cancel, &user).await.is(409, "already-final");
}

#[tokio::test]
async fn a_member_who_lost_the_permission_tells_no_device_and_another_retries() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 2).await;
    let operator = world.member(&user, "bob@example.org", "operator").await;
    let wish = json!({ "work": { "kind": "tag", "tags": ["x"] }, "select": "tag=lab" });
    let id = world.post(OPERATIONS, &operator, wish).await.text("operation_id");
    let bob = world.get("/api/v1/me", &operator).await.text("user_id");
    let role = json!({ "role": "viewer" });
    let path = format!("/api/v1/members/{bob}");
    assert_eq!(world.call("PATCH", &path, &user, Some(role)).await.status, 200);
    work(&world).await;
    let failed = items(&world, &user, &id, "&state=failed").await;
    assert_eq!((failed.len(), &failed[0]["code"]), (2, &json!("forbidden")));

    let path = format!("{OPERATIONS}/{id}/retry");
    let retried = world.act(&path, &user).await;
    assert_eq!((retried.status, &retried.body["counts"]["pending"]), (202, &json!(2)));
    work(&world).await;
    assert_eq!(items(&world, &user, &id, "&state=succeeded").await[0]["attempts"], 2);
    world.act(&path, &user).await.is(409, "already-final");
}

#[tokio::test]
async fn a_revoked_token_tells_no_further_device() {
    let (world, user) = World::set_up().await;
    fleet(&world, &user, 2).await;
    let wish = json!({ "name": "ci", "scopes": ["devices:read", "devices:operate"] });
    let made = world.post("/api/v1/tokens", &user, wish).await;
    let start =
        |tag: &str| json!({ "work": { "kind": "tag", "tags": [tag] }, "select": "tag=lab" });
    let id = async |tag: &str| {
        let answer = world.post(OPERATIONS, &made.text("token"), start(tag)).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.text("operation_id")
    };
    let done = id("x").await;
    work(&world).await;
    assert_eq!(items(&world, &user, &done, "&state=succeeded").await.len(), 2);
    let stopped = id("y").await;
    let token = made.body["info"]["token_id"].as_str().unwrap();
    assert_eq!(world.delete(&format!("/api/v1/tokens/{token}"), &user).await.status, 204);
    work(&world).await;
    let failed = items(&world, &user, &stopped, "&state=failed").await;
    assert_eq!((failed.len(), &failed[0]["code"]), (2, &json!("forbidden")), "{failed:?}");
}

/// Processes all work that is due now.
pub(crate) async fn work(world: &World) {
    let mut worker = Worker::default();
    while world.backend.app.work_off(&mut worker, 50).await.unwrap().changed > 0 {}
}

pub(crate) async fn items(world: &World, user: &str, id: &str, filter: &str) -> Vec<Value> {
    let path = format!("{OPERATIONS}/{id}/devices?limit=200{filter}");
    world.get(&path, user).await.items().to_vec()
}

/// Registers devices with the tag `lab` that never say hello.
pub(crate) async fn fleet(world: &World, user: &str, count: u32) -> Vec<Device> {
    let body = json!({ "kind": "fleet", "tags": ["lab"] });
    let key = world.post("/api/v1/keys", user, body).await.text("key");
    let mut devices = Vec::new();
    for number in 0..count {
        let answer: Answer =
            world.post("/api/v1/devices/register-with-key", "", numbered(&key, number)).await;
        devices.push(Device::from_answer(&answer));
    }
    devices
}

/// Returns the registration of device `number`, which has its own key pair.
pub(crate) fn numbered(key: &str, number: u32) -> Value {
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&number.to_le_bytes());
    let mut body = registration("fleet_key", key);
    body["public_key"] = json!(SigningKey::from_seed(&seed).verifying());
    body["name"] = json!(format!("box-{number}"));
    body
}

async fn token(world: &World, user: &str, scopes: &[&str]) -> String {
    let wish = json!({ "name": "ci", "scopes": scopes });
    world.post("/api/v1/tokens", user, wish).await.text("token")
}
