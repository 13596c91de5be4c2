//! Deployments from the request to the end.

use axum::{body::Body, http::Request};
use link_protocol::command::Command;
use serde_json::{Value, json};

use crate::harness::{Answer, Device, MINUTE, ORIGIN, SECOND, World};

async fn scene() -> (World, String, Device, String) {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    (world, user, device, model)
}

async fn read(world: &World, user: &str, deployment: &Answer) -> Value {
    let path = format!("/api/v1/deployments/{}", deployment.text("deployment_id"));
    world.get(&path, user).await.body
}

async fn progress(
    world: &World,
    device: &Device,
    deployment: &Answer,
    event: &str,
    done: u64,
) -> u16 {
    let path = device.path(&format!("/models/{}/deployment", deployment.text("model_id")));
    let body = json!({
        "deployment_id": deployment.text("deployment_id"), "event": event,
        "bytes_done": done, "bytes_total": 100,
    });
    world.post(&path, &device.token, body).await.status
}

// Holds: S1-1a, S1-2b, S1-3b, S9-11
#[tokio::test]
async fn a_deployment_carries_the_current_allowlist_to_the_device() {
    let (world, user, device, model) = scene().await;
    let body = json!({ "device_id": device.id, "model_id": model, "serve": true });
    let answer = world.post("/api/v1/deployments", &user, body).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let location = format!("/api/v1/deployments/{}", answer.text("deployment_id"));
    assert_eq!(answer.header("location"), location);
    assert_eq!(world.get(&location, &user).await.body, answer.body);
    assert_eq!(
        (answer.text("state").as_str(), answer.text("alias").as_str(), &answer.body["port"]),
        ("queued", "tiny-model", &json!(8080))
    );
    let sent = world.poll(&device, 0).await;
    let Ok(Command::DeployModel(deploy)) = sent[0].command() else { panic!("{sent:?}") };
    assert_eq!(deploy.model.url.as_deref(), Some("https://models.example/tiny.gguf"));
    assert_eq!(deploy.config.allowlist.origins()[0].as_str(), ORIGIN);
    assert!(deploy.serve);
    assert_eq!(sent[0].ttl_ms, 300_000);
}

// Holds: S1-7b
#[tokio::test]
async fn a_redeployment_keeps_the_features_of_the_proxy_unless_it_names_others() {
    let (world, user, device, model) = scene().await;
    for (wish, cors, telemetry) in [
        (json!(null), true, true),
        (json!({ "telemetry": false }), true, false),
        (json!(null), true, false),
        (json!({ "cors": false }), false, false),
        (json!({ "telemetry": true }), false, true),
        (json!({}), false, true),
        (json!({ "cors": true }), true, true),
    ] {
        let mut body = json!({ "device_id": device.id, "model_id": model });
        if !wish.is_null() {
            body["proxy"] = wish.clone();
        }
        let answer = world.post("/api/v1/deployments", &user, body).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        let sent = world.poll(&device, 0).await;
        let Ok(Command::DeployModel(deploy)) = sent[0].command() else { panic!("{sent:?}") };
        let proxy = deploy.config.proxy;
        assert_eq!((proxy.cors, proxy.telemetry), (cors, telemetry), "{wish}");
        assert_eq!(answer.body["proxy"], json!({ "cors": cors, "telemetry": telemetry }));
        world.result(&device, &answer.text("command_id"), "succeeded").await;
    }
    let body = json!({ "device_id": device.id, "model_id": model, "proxy": { "telemtry": false } });
    world.post("/api/v1/deployments", &user, body).await.is(422, "invalid-request");
}

// Holds: S3.1-5, S6-4, S4.3-3
#[tokio::test]
async fn progress_moves_the_deployment_and_what_comes_late_is_ignored() {
    let (world, user, device, model) = scene().await;
    let deployment = world.deploy(&user, &device, &model).await;
    for (event, done, state) in [
        ("downloading", 5, "downloading"),
        ("downloading", 50, "downloading"),
        ("configuring", 100, "configuring"),
        ("downloading", 60, "configuring"),
        ("completed", 100, "completed"),
        ("configuring", 100, "completed"),
    ] {
        assert_eq!(progress(&world, &device, &deployment, event, done).await, 204);
        assert_eq!(read(&world, &user, &deployment).await["state"], state, "after {event} {done}");
    }
    assert_eq!(read(&world, &user, &deployment).await["progress"]["bytes_done"], 100);
}

#[tokio::test]
async fn a_report_without_an_id_is_about_the_unfinished_deployment_of_the_model() {
    let (world, user, device, model) = scene().await;
    let path = device.path(&format!("/models/{model}/deployment"));
    let report = |event: &str, done: u64| {
        let body = json!({ "event": event, "bytes_done": done, "bytes_total": 100 });
        let (world, device, path) = (&world, &device, &path);
        async move { world.post(path, &device.token, body).await.status }
    };
    assert_eq!(report("downloading", 5).await, 404, "it was never deployed");
    let first = world.deploy(&user, &device, &model).await;
    world.poll(&device, 0).await;
    assert_eq!(report("downloading", 50).await, 204);
    assert_eq!(read(&world, &user, &first).await["progress"]["bytes_done"], 50);
    assert_eq!(report("completed", 100).await, 204);
    assert_eq!(report("downloading", 60).await, 204, "a late report is ignored");
    assert_eq!(read(&world, &user, &first).await["state"], "completed");
    let second = world.deploy(&user, &device, &model).await;
    world.poll(&device, 1).await;
    assert_eq!(report("configuring", 100).await, 204);
    assert_eq!(read(&world, &user, &second).await["state"], "configuring");
}

// Holds: S3.1-4
#[tokio::test]
async fn the_result_ends_the_deployment_with_its_reason() {
    for (status, state) in [
        ("succeeded", "completed"),
        ("failed", "failed"),
        ("rejected", "failed"),
        ("cancelled", "cancelled"),
    ] {
        let (world, user, device, model) = scene().await;
        let deployment = world.deploy(&user, &device, &model).await;
        world.poll(&device, 0).await;
        progress(&world, &device, &deployment, "downloading", 5).await;
        world.result(&device, &deployment.text("command_id"), status).await;
        let ended = read(&world, &user, &deployment).await;
        let reason = if state == "completed" { Value::Null } else { json!("as it went") };
        assert_eq!((&ended["state"], &ended["reason"]), (&json!(state), &reason));
    }
}

// Holds: S3.1-1, S8-3
#[tokio::test]
async fn a_deployment_that_nobody_received_fails_after_five_minutes() {
    let (world, user) = World::set_up().await;
    let device = world.register(&user).await;
    let model = world.model(&user, false).await;
    let deployment = world.deploy(&user, &device, &model).await;
    assert_eq!(deployment.status, 202, "the device may be offline");
    world.advance(5 * MINUTE);
    world.sweep().await;
    assert_eq!(read(&world, &user, &deployment).await["state"], "queued");
    world.advance(SECOND);
    world.sweep().await;
    let failed = read(&world, &user, &deployment).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(failed["reason"], "the device did not receive it within 5 minutes");
    assert!(world.hello(&device, 0, &[]).await.is_empty(), "its command is over, too");

    let path = format!("/api/v1/deployments/{}/cancel", deployment.text("deployment_id"));
    let seen = world.act(&path, &user).await;
    assert_eq!((seen.status, seen.text("state").as_str()), (202, "failed"));
    let again = world.deploy(&user, &device, &model).await;
    assert_eq!(again.status, 202);
    assert_eq!(world.poll(&device, 0).await[0].command_id.to_string(), again.text("command_id"));
}

#[tokio::test]
async fn a_deployment_that_was_received_and_not_begun_fails_and_is_ended_on_the_device() {
    let (world, user, device, model) = scene().await;
    let deployment = world.deploy(&user, &device, &model).await;
    world.poll(&device, 0).await;
    world.receipt(&device, &deployment.text("command_id"), "stored").await;
    world.advance(5 * MINUTE + SECOND);
    world.sweep().await;
    let failed = read(&world, &user, &deployment).await;
    assert_eq!(failed["reason"], "the device did not begin it within 5 minutes");
    let sent = world.poll(&device, 1).await;
    assert!(matches!(sent[0].command(), Ok(Command::CancelDeploy(_))), "{sent:?}");
    assert_eq!(progress(&world, &device, &deployment, "completed", 100).await, 204);
    assert_eq!(read(&world, &user, &deployment).await["state"], "failed");
}

// Holds: S3.1-2
#[tokio::test]
async fn a_cancel_ends_what_never_arrived_at_once_and_asks_the_device_otherwise() {
    let (world, user, device, model) = scene().await;
    let cancel = |deployment: &Answer| {
        let path = format!("/api/v1/deployments/{}/cancel", deployment.text("deployment_id"));
        let (world, user) = (&world, &user);
        async move { world.act(&path, user).await }
    };
    let untouched = world.deploy(&user, &device, &model).await;
    assert_eq!(cancel(&untouched).await.text("state"), "cancelled");
    assert!(world.poll(&device, 0).await.is_empty());

    let delivered = world.deploy(&user, &device, &model).await;
    world.poll(&device, 0).await;
    progress(&world, &device, &delivered, "downloading", 5).await;
    assert_eq!(cancel(&delivered).await.text("state"), "downloading");
    assert_eq!(cancel(&delivered).await.status, 202, "twice is once");
    let sent = world.poll(&device, 2).await;
    assert_eq!(sent.len(), 1);
    let Ok(Command::CancelDeploy(wish)) = sent[0].command() else { panic!("{sent:?}") };
    assert_eq!(wish.deployment_id.to_string(), delivered.text("deployment_id"));
    world.result(&device, &delivered.text("command_id"), "cancelled").await;
    assert_eq!(read(&world, &user, &delivered).await["state"], "cancelled");

    let completed = world.deployed(&user, &device, &model).await;
    let path = format!("/api/v1/deployments/{completed}/cancel");
    world.act(&path, &user).await.is(409, "already-final");
}

#[tokio::test]
async fn a_newer_deployment_takes_the_place_of_an_unfinished_one() {
    let (world, user, device, model) = scene().await;
    let first = world.deploy(&user, &device, &model).await;
    let second = world.deploy(&user, &device, &model).await;
    let replaced = read(&world, &user, &first).await;
    assert_eq!(replaced["state"], "cancelled");
    assert_eq!(replaced["reason"], "a newer deployment of the model took its place");
    assert_eq!((&replaced["current"], &second.body["current"]), (&json!(false), &json!(true)));
    world.poll(&device, 0).await;
    world.receipt(&device, &second.text("command_id"), "stored").await;

    let third = world.deploy(&user, &device, &model).await;
    let sent = world.poll(&device, 2).await;
    assert!(matches!(sent[0].command(), Ok(Command::CancelDeploy(_))), "{sent:?}");
    assert_eq!(sent[1].command_id.to_string(), third.text("command_id"));
}

// Holds: S1-4a
#[tokio::test]
async fn a_redeployment_carries_the_current_allowlist() {
    let (world, user, device, model) = scene().await;
    world.deployed(&user, &device, &model).await;
    world.set_allowlist(&user, &[ORIGIN, "https://new.example"]).await;
    let stale = "/api/v1/deployments?stale=true&current=true";
    assert_eq!(world.get(stale, &user).await.items().len(), 1);
    world.deployed(&user, &device, &model).await;
    assert!(world.get(stale, &user).await.items().is_empty());
}

#[tokio::test]
async fn port_and_alias_are_kept_and_an_alias_is_unique_on_its_device() {
    let (world, user, device, model) = scene().await;
    let deploy = |body: Value| world.post("/api/v1/deployments", &user, body);
    let wish = |model: &str| json!({ "device_id": device.id, "model_id": model });
    let mut first = wish(&model);
    first["port"] = json!(9000);
    first["alias"] = json!("chat");
    assert_eq!(deploy(first).await.status, 202);
    let again = deploy(wish(&model)).await;
    assert_eq!((&again.body["port"], &again.body["alias"]), (&json!(9000), &json!("chat")));

    let other = world.model(&user, false).await;
    let mut taken = wish(&other);
    taken["alias"] = json!("chat");
    deploy(taken).await.is(409, "alias-taken");
    let default = deploy(wish(&other)).await;
    assert_eq!(
        (&default.body["port"], &default.body["alias"]),
        (&json!(8080), &json!("tiny-model"))
    );
    let third = world.model(&user, false).await;
    assert_eq!(deploy(wish(&third)).await.text("alias"), "tiny-model-2");

    for (member, value) in [("port", json!(0)), ("port", json!(65536)), ("alias", json!("A B"))] {
        let mut bad = wish(&model);
        bad[member] = value;
        deploy(bad).await.is(422, "invalid-request");
    }
}

#[tokio::test]
async fn only_what_is_the_callers_and_ready_is_deployed() {
    let (world, user) = World::set_up_sharing().await;
    let device = world.online_device(&user).await;
    let bob = world.another_account("bob@example.org").await;
    let foreign = world.model(&bob, false).await;
    world.deploy(&user, &device, &foreign).await.is(404, "not-found");
    let shared = world.model(&bob, true).await;
    assert_eq!(world.deploy(&user, &device, &shared).await.status, 202);
    world.deploy(&bob, &device, &shared).await.is(404, "not-found");

    let body = json!({ "name": "Empty", "file_name": "empty.gguf" });
    let empty = world.post("/api/v1/models", &user, body).await.text("model_id");
    world.deploy(&user, &device, &empty).await.is(409, "model-not-ready");
}

#[tokio::test]
async fn an_idempotency_key_stands_for_one_deployment() {
    let (world, user, device, model) = scene().await;
    let deploy = |port: u16, key: &str| {
        let body = json!({ "device_id": device.id, "model_id": model, "port": port });
        let request = Request::post("/api/v1/deployments")
            .header("authorization", format!("Bearer {user}"))
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(Body::from(body.to_string()))
            .unwrap();
        world.send(request)
    };
    let first = deploy(9000, "one").await;
    assert_eq!(deploy(9000, "one").await.text("deployment_id"), first.text("deployment_id"));
    let entries = world.get("/api/v1/audit?action=deployment.create", &user).await;
    assert_eq!(entries.items().len(), 1, "what was asked twice was done once: {entries:?}");
    deploy(9001, "one").await.is(409, "idempotency-conflict");
    assert_ne!(deploy(9000, "two").await.text("deployment_id"), first.text("deployment_id"));
    deploy(9000, "").await.is(422, "invalid-request");
    deploy(9000, &"x".repeat(201)).await.is(422, "invalid-request");
}

#[tokio::test]
async fn the_list_is_filtered_and_paged() {
    let (world, user, device, model) = scene().await;
    let other_device = world.online_device(&user).await;
    let other_model = world.model(&user, false).await;
    world.deployed(&user, &device, &model).await;
    world.deployed(&user, &device, &model).await;
    world.deployed(&user, &other_device, &model).await;
    world.deployed(&user, &device, &other_model).await;
    for (query, count) in [
        (String::new(), 4),
        (format!("?device_id={}", device.id), 3),
        (format!("?model_id={model}"), 3),
        (format!("?device_id={}&model_id={model}&current=true", device.id), 1),
        ("?current=false".to_owned(), 1),
        ("?stale=true".to_owned(), 0),
        ("?stale=false&current=true".to_owned(), 3),
    ] {
        let list = world.get(&format!("/api/v1/deployments{query}"), &user).await;
        assert_eq!(list.items().len(), count, "{query}");
    }
    let first = world.get("/api/v1/deployments?current=true&limit=2", &user).await;
    assert_eq!(first.items().len(), 2);
    let cursor = first.text("next_cursor");
    let path = format!("/api/v1/deployments?current=true&limit=2&cursor={cursor}");
    let second = world.get(&path, &user).await;
    assert_eq!((second.items().len(), &second.body["next_cursor"]), (1, &Value::Null));
    for bad in ["device_id=x", "model_id=x", "stale=maybe"] {
        let answer = world.get(&format!("/api/v1/deployments?{bad}"), &user).await;
        answer.is(422, "invalid-request");
    }
    let bob = world.another_account("bob@example.org").await;
    assert!(world.get("/api/v1/deployments", &bob).await.items().is_empty());
}
