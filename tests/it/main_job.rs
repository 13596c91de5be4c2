//! The main scenario: a model is deployed with an outdated allowlist, a preflight is refused, a repair in place
//! follows, and the model answers.

use std::time::Duration;

use futures_util::StreamExt as _;
use link_protocol::{
    deployment::DeploymentState,
    report::{CommandResult, ModelState, Provenance, TelemetryReport},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY, TINY_TOKENS},
    wait::until,
};

// Holds: S1-1b, S1-2a, S1-6b, S1-2b, S1-3a, S1-4b, S1-5, S3.2-1a, S3.2-4, S3.3-1, S4.1-1, S4.1-6, S7-1
#[tokio::test]
async fn an_old_deployment_is_refused_then_repaired_then_answers() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    assert_eq!(backend.ended(deployment.deployment_id).await.state, DeploymentState::Completed);
    backend.serving(deployment.deployment_id, true).await;

    let refused = chat::preflight(port, WORKSPACE).await;
    assert_eq!(refused.status(), 403);
    assert_eq!(refused.headers()["content-type"], "application/problem+json");
    assert!(!refused.headers().contains_key("access-control-allow-origin"));
    let problem: serde_json::Value = refused.json().await.unwrap();
    assert_eq!(problem["code"], "origin-not-allowed");
    assert!(problem["hint"].as_str().unwrap().contains("repair"), "{problem}");
    let refused = chat::ask(port, Some(WORKSPACE), false).await.unwrap();
    assert_eq!(refused.status(), 403);

    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let stale = backend.owner.deployment(deployment.deployment_id).await.unwrap();
    assert!(stale.stale);
    let before = device.model().await;
    let repaired = backend.repair(model.model_id, device.id, None).await;
    let result = repaired.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);

    let allowed = chat::preflight(port, WORKSPACE).await;
    assert_eq!(allowed.status(), 204);
    assert_eq!(allowed.headers()["access-control-allow-origin"], WORKSPACE);
    assert_eq!(allowed.headers()["access-control-max-age"], "600");
    let (text, usage) = chat::whole(chat::ask(port, Some(WORKSPACE), false).await.unwrap()).await;
    assert_eq!(
        (text.as_str(), usage["completion_tokens"].as_u64()),
        (TINY_REPLY, Some(TINY_TOKENS))
    );
    let streamed = chat::streamed(chat::ask(port, Some(WORKSPACE), true).await.unwrap()).await;
    assert_eq!(streamed, TINY_REPLY);

    let after = device.model().await;
    assert_eq!((after.state, after.engine_pid), (ModelState::Serving, before.engine_pid));
    let fresh = until("the repair to be known", || async {
        let found = backend.owner.deployment(deployment.deployment_id).await.ok()?;
        (!found.stale).then_some(found)
    })
    .await;
    assert_eq!(fresh.port, port);
}

// Holds: S1-3b, S1-4a, S9-11
#[tokio::test]
async fn redeploying_is_the_other_remedy() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let first = backend.deploy(model.model_id, device.id, port, true).await;
    backend.serving(first.deployment_id, true).await;
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 403);
    let before = device.model().await;

    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let second = backend.deploy(model.model_id, device.id, port, true).await;
    assert_eq!(backend.ended(second.deployment_id).await.state, DeploymentState::Completed);
    until("the new allowlist", || async {
        (chat::preflight(port, WORKSPACE).await.status() == 204).then_some(())
    })
    .await;
    // The file is the same, so even a redeployment keeps the running engine.
    assert_eq!(device.model().await.engine_pid, before.engine_pid);
}

// Holds: S1-5, S3.2-4
#[tokio::test]
async fn a_stream_that_is_open_during_a_repair_is_not_cut() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("loop", engines::model("tiny-loop.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    backend.serving(deployment.deployment_id, true).await;

    let response = chat::ask(port, Some(OLD_ORIGIN), true).await.unwrap();
    assert!(response.status().is_success());
    let mut stream = response.bytes_stream();
    let first = stream.next().await.unwrap().unwrap();
    assert!(first.starts_with(b"data: "));

    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let result = backend.repair(model.model_id, device.id, None).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded);
    let mut after = 0;
    while after < 50 {
        let chunk = tokio::time::timeout(Duration::from_secs(20), stream.next()).await;
        let chunk = chunk.expect("the stream goes on").expect("the stream is open");
        after += chunk.expect("the stream is whole").len();
    }
}

// Holds: S3.2-4
#[tokio::test]
async fn two_hundred_requests_a_second_see_no_error_during_a_repair() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;

    let load = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        let mut requests = tokio::task::JoinSet::new();
        // One client reuses its connections, the other opens one for each request, so that a refused connection would
        // be noticed. Both exist from the beginning: a client takes long to make, and a connection whose request is
        // late is closed.
        let reusing = reqwest::Client::new();
        let opening = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
        for number in 0..600 {
            ticks.tick().await;
            let client = if number % 2 == 0 { &reusing } else { &opening }.clone();
            requests.spawn(async move {
                let url = format!("http://127.0.0.1:{port}/v1/models");
                let response = client.get(url).header("origin", OLD_ORIGIN).send().await;
                response.map(|response| response.status().as_u16())
            });
        }
        requests.join_all().await
    });
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    for _ in 0..3 {
        let result = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded);
    }
    let answers = load.await.unwrap();
    assert_eq!(answers.len(), 600);
    let failed: Vec<_> = answers.iter().filter(|answer| !matches!(answer, Ok(200))).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

// Holds: S4.1-3, S7-11
#[tokio::test]
async fn a_repair_with_a_port_moves_the_proxy_and_keeps_the_engine() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let (old, new) = (free_port(), free_port());
    let deployment = backend.deploy(model.model_id, device.id, old, true).await;
    backend.serving(deployment.deployment_id, true).await;
    let before = device.model().await;

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = taken.local_addr().unwrap().port().try_into().unwrap();
    let result = backend.repair(model.model_id, device.id, Some(busy)).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Failed);
    assert!(result.output.contains(&format!("port {busy} is in use")), "{}", result.output);
    let (text, _) = chat::whole(chat::ask(old, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);

    let result = backend.repair(model.model_id, device.id, Some(new)).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    let (text, _) = chat::whole(chat::ask(new, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
    assert!(chat::ask(old, None, false).await.is_err());
    assert_eq!(device.model().await.engine_pid, before.engine_pid);
}

// Holds: S1-7c, S6-5
#[tokio::test]
async fn usage_of_every_inference_reaches_the_backend() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    chat::streamed(chat::ask(port, None, true).await.unwrap()).await;

    let database = backend.data().join("link.db");
    let reports = until("two usage records", || async {
        let database = link_sqlite::open_to_read(&database).ok()?;
        let mut rows = database.prepare("SELECT report FROM telemetry").ok()?;
        let rows = rows.query_map([], |row| row.get(0)).ok()?;
        let rows: Vec<String> = rows.collect::<Result<_, _>>().ok()?;
        let reports = rows.iter().map(|row| serde_json::from_str(row));
        let mut reports: Vec<TelemetryReport> = reports.collect::<Result<_, _>>().ok()?;
        reports.sort_by_key(|report| report.provenance != Provenance::Exact);
        (reports.len() == 2).then_some(reports)
    })
    .await;
    let shown: Vec<_> =
        reports.iter().map(|report| (report.completion_tokens, report.provenance)).collect();
    let tokens = Some(TINY_TOKENS);
    assert_eq!(shown, [(tokens, Provenance::Exact), (tokens, Provenance::Timings)]);
    assert!(reports.iter().all(|report| report.model_id == deployment.model_id));
}
