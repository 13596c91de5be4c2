//! Each call's method, path, token and body as a server sees them.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::{
    envelope::ReceiptKind,
    report::{CommandResult, LifecycleStatus, ModelState, ProgressEvent, Provenance, Severity},
    system::{MemoryUsage, ProcessUsage},
};
use serde_json::{Value, json};

use super::*;

type Seen = Arc<Mutex<Vec<(String, Value)>>>;

const ID: &str = "00000000000000000000000000000001";

#[tokio::test]
async fn every_report_goes_to_its_path_with_the_token_of_the_device() {
    let (client, seen) = agent().await;
    assert_eq!(client.receipt(&receipt()).await, Ok(true));
    let report = CommandReport {
        command_id: command(),
        status: CommandResult::Succeeded,
        output: "done".into(),
        attempt: 2,
    };
    assert_eq!(client.command_status(&report).await, Ok(true));
    let lifecycle = LifecycleReport {
        status: LifecycleStatus::Online,
        agent_version: semver::Version::new(1, 3, 0),
        uptime_s: 5,
        update: None,
    };
    assert_eq!(client.lifecycle(&lifecycle).await, Ok(true));
    assert_eq!(client.model_status(&model_report()).await, Ok(true));
    let progress = ProgressReport {
        deployment_id: format!("dep_{ID}").parse().unwrap(),
        event: ProgressEvent::Downloading,
        bytes_done: 5,
        bytes_total: 100,
    };
    assert_eq!(client.progress(model(), &progress).await, Ok(true));
    let telemetry = TelemetryReport {
        inference_id: format!("inf_{ID}").parse().unwrap(),
        model_id: model(),
        prompt_tokens: Some(1),
        completion_tokens: None,
        provenance: Provenance::Exact,
        duration_ms: 9,
        time_to_first_token_ms: None,
    };
    assert_eq!(client.telemetry(&telemetry).await, Ok(true));
    let system = SystemReport {
        cpu_percent: 12.5,
        cpu_count: 8,
        load_1m: None,
        memory: MemoryUsage { used_bytes: 1, total_bytes: 2 },
        disk: None,
        temperature_celsius: None,
        gpus: vec![],
        engines: vec![],
        agent: ProcessUsage { cpu_percent: 0.1, memory_bytes: 1 },
    };
    assert_eq!(client.system(&system).await, Ok(true));
    let record =
        LogRecord { message: "m".into(), severity: Severity::Info, category: "other".into() };
    assert_eq!(client.logs(&record).await, Ok(true));
    assert_eq!(client.post_json("/api/v1/stored", &json!({"a": 1})).await, Ok(true));
    assert_eq!(client.put_json("/api/v1/stored", &json!({"a": 2})).await, Ok(true));
    assert!(client.deregister().await.is_ok());

    let base = format!("/api/v1/agent/dev_{ID}");
    let lines: Vec<_> = seen.lock().unwrap().iter().map(|(line, _)| line.clone()).collect();
    let wanted = [
        format!("POST {base}/commands/cmd_{ID}/receipt"),
        format!("POST {base}/commands/cmd_{ID}/status"),
        format!("PUT {base}/status"),
        format!("POST {base}/models/mdl_{ID}/status"),
        format!("POST {base}/models/mdl_{ID}/deployment"),
        format!("POST {base}/models/mdl_{ID}/telemetry"),
        format!("POST {base}/system"),
        "POST /api/v1/logs".to_owned(),
        "POST /api/v1/stored".to_owned(),
        "PUT /api/v1/stored".to_owned(),
        format!("DELETE {base}"),
    ];
    assert_eq!(lines, wanted);
    assert_eq!(seen.lock().unwrap()[9].1, json!({"a": 2}));
}

// Holds: S7-15
#[tokio::test]
async fn a_poll_without_commands_is_a_success() {
    let (client, seen) = agent().await;
    let poll = client.poll(7, Duration::from_secs(50)).await.unwrap().unwrap();
    assert_eq!(poll.commands, []);
    let line = seen.lock().unwrap()[0].0.clone();
    assert_eq!(line, format!("GET /api/v1/agent/dev_{ID}/commands?after=7&wait=50"));
}

#[tokio::test]
async fn a_device_that_is_refused_is_told_apart_from_a_backend_that_is_away() {
    let (client, _) = agent().await;
    let gone = AgentClient { device: format!("dev_{}", "f".repeat(32)).parse().unwrap(), ..client };
    let hello = Hello {
        epoch: 1,
        boot_id: "b".into(),
        agent_version: semver::Version::new(1, 3, 0),
        last_seq: 0,
        inflight: vec![],
        serving: vec![],
    };
    assert_eq!(gone.hello(&hello).await.unwrap_err().status, 401);
    let away = AgentClient::new("http://127.0.0.1:1", gone.device, Secret::new("t")).unwrap();
    assert_eq!(away.hello(&hello).await, Ok(None));
    assert_eq!(away.receipt(&receipt()).await, Ok(false));
}

async fn agent() -> (AgentClient, Seen) {
    crate::install_crypto();
    let seen = Seen::default();
    let app = Router::new().fallback(answer).with_state(Arc::clone(&seen));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let device = format!("dev_{ID}").parse().unwrap();
    (AgentClient::new(&base, device, Secret::new("device token")).unwrap(), seen)
}

async fn answer(State(seen): State<Seen>, request: Request) -> Response {
    assert_eq!(request.headers()[header::AUTHORIZATION], "Bearer device token");
    let line = format!("{} {}", request.method(), request.uri());
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    seen.lock().unwrap().push((line.clone(), serde_json::from_slice(&body).unwrap_or_default()));
    if line.contains("dev_ffff") {
        StatusCode::UNAUTHORIZED.into_response()
    } else if line.starts_with("GET") {
        Json(json!({"server_time": "2026-11-21T00:00:00Z", "commands": [], "new": 1}))
            .into_response()
    } else {
        StatusCode::NO_CONTENT.into_response()
    }
}

fn command() -> CommandId {
    format!("cmd_{ID}").parse().unwrap()
}

fn model() -> ModelId {
    format!("mdl_{ID}").parse().unwrap()
}

fn receipt() -> Receipt {
    Receipt { command_id: command(), attempt: 1, receipt: ReceiptKind::Stored, result: None }
}

fn model_report() -> ModelReport {
    ModelReport {
        model_id: model(),
        pipeline_id: format!("pip_{ID}").parse().unwrap(),
        state: ModelState::Serving,
        is_serving: true,
        port: "8080".parse().unwrap(),
        allowlist_digest: String::new(),
        generation: 1,
        detail: None,
    }
}
