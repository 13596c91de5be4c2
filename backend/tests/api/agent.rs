//! Reports of agents, and how their owners read them.

use serde_json::json;

use crate::harness::World;

// Holds: S4.3-2, S6-1, S2.1-6, S9-4
#[tokio::test]
async fn the_lifecycle_is_put_with_the_agents_version() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let path = device.path("/status");
    let body = json!({ "status": "updating", "agent_version": "1.3.1-alpha.1", "uptime_s": 5 });
    assert_eq!(world.put(&path, &device.token, body.clone()).await.status, 204);
    let seen = world.get(&format!("/api/v1/devices/{}", device.id), &user).await;
    assert_eq!(
        (seen.text("status"), seen.text("agent_version")),
        ("updating".to_owned(), "1.3.1-alpha.1".to_owned())
    );
    world.post(&path, &device.token, body).await.is(405, "method-not-allowed");
    let bad = json!({ "status": "updating", "agent_version": "new", "uptime_s": 5 });
    world.put(&path, &device.token, bad).await.is(422, "invalid-request");
}

// Holds: S4.3-3, S4.3-4, S2.4-1, S2.4-3, S6-5, S6-6
#[tokio::test]
async fn reports_of_every_kind_are_taken_and_unknown_members_tolerated() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let usage = json!({
        "inference_id": format!("inf_{}", "1".repeat(32)), "model_id": model, "prompt_tokens": 3,
        "completion_tokens": null, "provenance": "exact", "duration_ms": 5,
        "time_to_first_token_ms": 1, "later": true,
    });
    let path = device.path(&format!("/models/{model}/telemetry"));
    assert_eq!(world.post(&path, &device.token, usage.clone()).await.status, 204);
    assert_eq!(world.post(&path, &device.token, usage).await.status, 204, "twice is once");

    let log = |body| world.post("/api/v1/logs", &device.token, body);
    assert_eq!(log(json!({ "message": "hello", "severity": "info" })).await.status, 204);
    let with_category =
        json!({ "message": "hello", "severity": "warning", "category": "security" });
    assert_eq!(log(with_category).await.status, 204);
    log(json!({ "severity": "info" })).await.is(422, "invalid-request");
    log(json!({ "message": "hello", "severity": "DEBUG" })).await.is(422, "invalid-request");

    let hello = json!({
        "epoch": 1, "boot_id": "b", "agent_version": "9.0.0", "last_seq": 0, "inflight": [],
        "serving": [], "capabilities": ["of a later version"],
    });
    assert_eq!(world.post(&device.path("/hello"), &device.token, hello).await.status, 200);
}

/// The backend locks what a hello lists, and a database has room for some thousand locks of all its clients.
#[tokio::test]
async fn a_hello_that_lists_more_than_a_device_can_have_is_refused() {
    let world = World::new().await;
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    let hello = |models: u64, commands: u64| {
        let models = (0..models).map(|number| {
            json!({
                "model_id": format!("mdl_{number:032x}"), "pipeline_id": format!("pip_{number:032x}"),
                "state": "not_serving", "is_serving": false, "port": 8080, "allowlist_digest": "d",
                "generation": 1, "detail": null,
            })
        });
        let inflight = (0..commands).map(|number| {
            json!({ "command_id": format!("cmd_{number:032x}"), "attempt": 1, "running": false })
        });
        let body = json!({
            "epoch": 1, "boot_id": "b", "agent_version": "1.3.0", "last_seq": 0,
            "inflight": inflight.collect::<Vec<_>>(), "serving": models.collect::<Vec<_>>(),
        });
        let (path, world, token) = (device.path("/hello"), &world, &device.token);
        async move { world.post(&path, token, body).await }
    };
    assert_eq!(hello(512, 512).await.status, 200);
    for (models, commands) in [(513, 0), (0, 513)] {
        hello(models, commands).await.is(422, "invalid-request");
    }
}

// Holds: S6-6
#[tokio::test]
async fn logs_and_usage_are_bounded_for_each_device() {
    let world = World::with(|config| {
        config.logs_kept = 3;
        config.telemetry_kept = 2;
    })
    .await;
    let user = world.create_first_account().await;
    let (device, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let model = world.model(&user, false).await;
    for number in 0..5 {
        let record = json!({ "message": number.to_string(), "severity": "info" });
        assert_eq!(world.post("/api/v1/logs", &device.token, record).await.status, 204);
        let usage = json!({
            "inference_id": format!("inf_{number:032x}"), "model_id": model,
            "prompt_tokens": 3, "completion_tokens": 4, "provenance": "exact", "duration_ms": 5,
            "time_to_first_token_ms": 1,
        });
        let path = device.path(&format!("/models/{model}/telemetry"));
        assert_eq!(world.post(&path, &device.token, usage).await.status, 204);
    }
    let long = json!({ "message": "x".repeat(100_000), "severity": "info" });
    assert_eq!(world.post("/api/v1/logs", &other.token, long).await.status, 204);

    let messages = "SELECT message FROM logs WHERE device_id = $1 ORDER BY number";
    assert_eq!(world.select(messages, &device.id).await, ["2", "3", "4"]);
    assert_eq!(world.select(messages, &other.id).await[0].len(), 8192);
    let usage = "SELECT inference_id FROM telemetry WHERE device_id = $1";
    assert_eq!(world.select(usage, &device.id).await.len(), 2);
}

#[tokio::test]
async fn log_records_are_read_newest_first_with_filters_and_pages() {
    let (world, user) = World::set_up().await;
    let (device, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let model = format!("mdl_{}", "a".repeat(32));
    for (message, severity) in [
        ("started".to_owned(), "info"),
        (format!("the engine ended model={model}"), "warning"),
        ("the disk is full".to_owned(), "error"),
        ("the identity was copied".to_owned(), "critical"),
    ] {
        let record = json!({ "message": message, "severity": severity });
        assert_eq!(world.post("/api/v1/logs", &device.token, record).await.status, 204);
    }
    let path = format!("/api/v1/devices/{}/logs", device.id);
    let read = async |query: &str| {
        let answer = world.get(&format!("{path}?{query}"), &user).await;
        let severity = |item: &serde_json::Value| item["severity"].as_str().unwrap().to_owned();
        answer.items().iter().map(severity).collect::<Vec<_>>()
    };
    assert_eq!(read("").await, ["critical", "error", "warning", "info"]);
    assert_eq!(read("severity=error").await, ["critical", "error"]);
    assert_eq!(read(&format!("model={model}")).await, ["warning"]);
    let first = world.get(&format!("{path}?limit=3"), &user).await;
    assert_eq!(first.items()[0]["message"], "the identity was copied");
    assert_eq!(read(&format!("cursor={}", first.text("next_cursor"))).await, ["info"]);
    for wrong in ["cursor=x", "cursor=YWJj", "severity=loud", "model=chat"] {
        let answer = world.get(&format!("{path}?{wrong}"), &user).await;
        answer.is(422, "invalid-request");
    }
    let theirs = format!("/api/v1/devices/{}/logs", other.id);
    assert!(world.get(&theirs, &user).await.items().is_empty());
    let bob = world.another_account("bob@example.org").await;
    world.get(&path, &bob).await.is(404, "not-found");
}

#[tokio::test]
async fn a_report_about_another_model_or_deployment_is_refused() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let (one, other) = (world.model(&user, false).await, world.model(&user, false).await);
    let report = json!({
        "model_id": one, "pipeline_id": one.replace("mdl_", "pip_"), "state": "serving",
        "is_serving": true, "port": 8080, "allowlist_digest": "", "generation": 1,
    });
    let path = device.path(&format!("/models/{other}/status"));
    world.post(&path, &device.token, report).await.is(422, "invalid-request");

    let stranger = world.online_device(&user).await;
    let theirs = world.deploy(&user, &stranger, &one).await;
    let progress = json!({
        "deployment_id": theirs.text("deployment_id"), "event": "completed", "bytes_done": 1,
        "bytes_total": 1,
    });
    let path = device.path(&format!("/models/{one}/deployment"));
    world.post(&path, &device.token, progress).await.is(404, "not-found");
    let result = world.result(&device, &theirs.text("command_id"), "succeeded").await;
    result.is(404, "not-found");
}

#[tokio::test]
async fn a_backend_without_a_router_says_so_to_a_device_that_asks_for_it() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let refused = world.act(&device.path("/zenoh"), &device.token).await;
    refused.is(409, "zenoh-not-offered");
    assert!(refused.body["hint"].as_str().unwrap().contains("http"));
}
