//! Tests the method, path, token and body of each call, as received by a server.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::{
    counter::{Epoch, Seq},
    envelope::ReceiptKind,
    id::CommandId,
};
use serde_json::{Value, json};

use super::*;
use crate::http::HttpError;

type Seen = Arc<Mutex<Vec<(String, Value)>>>;

const ID: &str = "00000000000000000000000000000001";

#[tokio::test]
async fn calls_go_to_their_paths_with_the_token_of_the_device() {
    let (client, seen) = agent().await;
    assert!(client.receipt(&receipt()).await.is_ok());
    assert!(client.deregister().await.is_ok());

    let base = format!("/api/v1/agent/dev_{ID}");
    let lines: Vec<_> = seen.lock().unwrap().iter().map(|(line, _)| line.clone()).collect();
    let wanted = [format!("POST {base}/commands/cmd_{ID}/receipt"), format!("DELETE {base}")];
    assert_eq!(lines, wanted);
}

// Holds: S7-15
#[tokio::test]
async fn a_poll_without_commands_is_a_success() {
    let (client, seen) = agent().await;
    let poll = client.poll(Seq(7), Duration::from_secs(50)).await.unwrap();
    assert_eq!(poll.commands, []);
    let line = seen.lock().unwrap()[0].0.clone();
    assert_eq!(line, format!("GET /api/v1/agent/dev_{ID}/commands?after=7&wait=50"));
}

#[tokio::test]
async fn a_device_that_is_refused_is_told_apart_from_a_backend_that_is_away() {
    let (client, _) = agent().await;
    let gone = AgentClient { device: format!("dev_{}", "f".repeat(32)).parse().unwrap(), ..client };
    let hello = Hello {
        epoch: Epoch(1),
        boot_id: "b".into(),
        agent_version: semver::Version::new(1, 3, 0),
        last_seq: Seq(0),
        inflight: vec![],
        serving: vec![],
    };
    let refused = gone.hello(&hello).await.unwrap_err();
    assert!(matches!(refused, Failure::Refused(HttpError { status: 401, .. })), "{refused:?}");
    let away = AgentClient::new("http://127.0.0.1:1", gone.device, Secret::new("t")).unwrap();
    let unavailable = away.hello(&hello).await.unwrap_err();
    assert!(matches!(unavailable, Failure::Unavailable { .. }), "{unavailable:?}");
    let unavailable = away.receipt(&receipt()).await.unwrap_err();
    assert!(matches!(unavailable, Failure::Unavailable { .. }), "{unavailable:?}");
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

fn receipt() -> Receipt {
    Receipt { command_id: command(), attempt: 1, receipt: ReceiptKind::Stored, result: None }
}
