//! A backend at which every request succeeds, and whose answers have all their members.

use std::future::{Ready, ready};

use axum::{
    Json, Router,
    http::StatusCode,
    routing::{MethodRouter, any, get, patch, post},
};
use link_protocol::{
    catalogue::{CATALOGUE_FILE, Catalogue},
    key::{EnrolmentKey, KeyKind},
    personal_token::PersonalToken,
    registration::REGISTER_PATH,
    retire::RETIRE_PATH,
    signed_document::Issue,
    signing::SigningKey,
};
use serde_json::{Value, json};

use crate::support::id;

const TIME: &str = "2026-11-21T00:00:00Z";

/// The key that signs the catalogue.
pub(super) fn release_key() -> SigningKey {
    SigningKey::from_seed(&[1; 32])
}

pub(super) fn app() -> Router {
    accounts().merge(devices()).merge(models()).merge(operations())
}

/// Returns the answer of a model to a question, as a stream of events.
pub(super) fn answer() -> Router {
    let events = "data: {\"choices\": [{\"delta\": {\"content\": \"Blue\"}}]}\n\n\
                  data: {\"usage\": {\"prompt_tokens\": 4, \"completion_tokens\": 1}}\n\n\
                  data: [DONE]\n\n";
    Router::new().route("/v1/chat/completions", post(async move || events))
}

/// Returns an agent that serves `smollm` on this port.
pub(super) fn agent(port: &str) -> Router {
    let port: u16 = port.parse().unwrap();
    let entry = json!({
        "pipeline_id": id("pip", 1), "alias": "smollm", "port": port, "host": "127.0.0.1",
        "is_serving": true,
    });
    let model = json!({
        "model_id": id("mdl", 1), "pipeline_id": id("pip", 1), "alias": "smollm",
        "state": "serving", "health": "healthy", "detail": "slow", "engine_pid": 4711,
    });
    let healthz = json!({
        "status": "online", "agent_version": "1.3.0", "channel": "stable",
        "device_id": id("dev", 1), "transport": {"type": "http", "state": "connected"},
        "models": [model], "currently_serving": true, "model_id": id("mdl", 1),
        "deployments": [{
            "model_id": id("mdl", 3), "state": "downloading",
            "progress": {"bytes_done": 512, "bytes_total": 1024},
        }],
        "update": {
            "phase": "downloading", "to": "1.4.0", "bytes_done": 1, "bytes_total": 2,
            "reason": "slow", "stale": true, "exit_code": 1,
        },
        "last_update": update(),
    });
    Router::new().route("/healthz", get(say(healthz))).route("/models", get(say(json!([entry]))))
}

fn accounts() -> Router {
    let me = json!({
        "user_id": id("usr", 1), "account_id": id("acc", 1), "account_name": "ann",
        "email": "a@b.c", "role": "owner",
    });
    let membership = json!({
        "account_id": id("acc", 1), "account_name": "ann", "role": "owner", "joined_at": TIME,
        "current": true,
    });
    let member =
        json!({"user_id": id("usr", 2), "email": "b@b.c", "role": "viewer", "joined_at": TIME});
    let invitation = json!({
        "invitation_id": id("inv", 2), "role": "viewer", "email": "c@b.c", "created_at": TIME,
        "expires_at": TIME,
    });
    let token = json!({
        "token_id": id("tok", 1), "name": "ci", "scopes": ["devices:read"], "created_at": TIME,
        "expires_at": TIME, "last_used_at": TIME,
    });
    let key = json!({
        "key_id": id("key", 1), "kind": "fleet", "name": "lab", "created_at": TIME,
        "expires_at": TIME, "max_devices": 20, "devices": 1, "tags": ["lab"], "revoked": false,
        "created_by": id("usr", 1),
    });
    let entry = json!({
        "entry_id": id("aud", 1), "at": TIME, "actor": {"kind": "user", "id": id("usr", 1)},
        "action": "device.removed", "subject": id("dev", 1), "address": "192.0.2.1",
        "outcome": "done", "detail": "box",
    });
    let figures = json!({
        "inferences": 3, "counted": 2, "uncounted": 1, "prompt_tokens": 1200, "completion_tokens": 800,
        "audio_ms": 0, "images": 0, "duration_ms": 5000,
        "first_token_ms": {"counts": [2], "p50": 41.5, "p95": 60.0},
        "token_rate": {"counts": [2], "p50": 30.5, "p95": 28.0},
    });
    let usage = json!({
        "group_by": "model", "bucket": "day", "from": TIME, "to": TIME, "first_token_bounds_ms": [50],
        "token_rate_bounds": [10], "others": {"key": null, "total": figures, "buckets": []},
        "groups": [{"key": id("mdl", 1), "name": "smollm", "total": figures, "buckets": []}],
    });
    let secret = EnrolmentKey::from_secret(KeyKind::Fleet, [7; 32]);
    let personal = PersonalToken::from_secret([7; 32]);
    let invited = json!({"invitation_token": "lit_token", "info": invitation});
    let removed = json!({"user_id": id("usr", 2), "revoked": [key], "taken_over": [key]});
    let origins = json!({"origins": ["https://a.example"], "defaults": ["https://b.example"]});
    Router::new()
        .route("/api/v1/setup", post(tokens()))
        .route("/api/v1/auth/login", post(tokens()))
        .route("/api/v1/auth/account", post(tokens()))
        .route("/api/v1/auth/local/login", post(tokens()))
        .route("/api/v1/auth/local/code", post(say(json!({"code": "loc_x", "expires_in": 30}))))
        .route("/api/v1/auth/local/password", nothing())
        .route("/api/v1/auth/logout", nothing())
        .route("/api/v1/me", get(say(me)))
        .route("/api/v1/accounts", get(say(json!([membership]))))
        .route("/api/v1/members", get(page(member.clone())))
        .route("/api/v1/members/accept", post(tokens()))
        .route("/api/v1/members/invitations", get(page(invitation)).post(say(invited)))
        .route("/api/v1/members/invitations/{id}", nothing())
        .route("/api/v1/members/{id}", patch(say(member)).delete(say(removed)))
        .route(
            "/api/v1/tokens",
            get(page(token.clone())).post(say(json!({"token": personal.expose(), "info": token}))),
        )
        .route("/api/v1/tokens/{id}", nothing())
        .route(
            "/api/v1/keys",
            get(page(key.clone())).post(say(json!({"key": secret.expose(), "info": key}))),
        )
        .route("/api/v1/keys/{id}", nothing())
        .route("/api/v1/audit", get(page(entry)))
        .route("/api/v1/usage", get(say(usage)))
        .route("/api/v1/settings/allowlist", any(say(origins)))
}

fn devices() -> Router {
    let log = json!({
        "number": 8, "received_at": TIME, "severity": "error", "category": "other",
        "message": "full",
    });
    let explanation = json!({
        "command": command(), "stage": "delivered", "deliveries": 2, "next_delivery_at": TIME,
        "device_online": false, "device_last_seen_at": TIME, "happened": "It was delivered twice.",
        "why": "It is off.", "next": "It expires.",
    });
    let registered = json!({
        "device_id": id("dev", 1), "device_token": "token", "epoch": 1,
        "transport": {"type": "http"}, "backend_keys": [],
    });
    Router::new()
        .route(REGISTER_PATH, post(say(registered)))
        .route(RETIRE_PATH, nothing())
        .route("/api/v1/devices", get(page(device())))
        .route(
            "/api/v1/devices/{id}",
            get(say(device())).patch(say(device())).delete(async || StatusCode::NO_CONTENT),
        )
        .route("/api/v1/devices/{id}/logs", get(page(log)))
        .route("/api/v1/devices/{id}/update", post(say(command())))
        .route("/api/v1/devices/{id}/transfer", nothing())
        .route("/api/v1/commands", get(page(command())))
        .route("/api/v1/commands/{id}", get(say(command())))
        .route("/api/v1/commands/{id}/explanation", get(say(explanation)))
}

fn models() -> Router {
    let model = json!({
        "model_id": id("mdl", 1), "name": "smollm", "file_name": "m.gguf",
        "url": "https://models.example/m.gguf", "sha256": "0".repeat(64), "size_bytes": 1024,
        "plugin": "language_model", "shared": false, "ready": true, "owned": true,
        "publisher": "ann", "created_at": TIME, "facts": facts(),
    });
    let deployment = json!({
        "deployment_id": id("dep", 1), "model_id": id("mdl", 1), "publisher": "ann",
        "device_id": id("dev", 1), "command_id": id("cmd", 1), "alias": "smollm", "port": 8080,
        "state": "completed", "reason": "late", "progress": {"bytes_done": 1, "bytes_total": 1},
        "allowlist_digest": "", "stale": false, "current": true, "created_at": TIME,
        "updated_at": TIME,
        "serving": {"state": "serving", "is_serving": true, "port": 8080, "detail": "slow"},
    });
    let named = json!({
        "name": "smollm2-135m", "summary": "Small", "licence": "Apache-2.0",
        "file_name": "m.gguf", "url": "https://models.example/m.gguf", "sha256": "0".repeat(64),
        "size_bytes": 1024, "facts": facts(),
    });
    let catalogue: Catalogue = serde_json::from_value(json!({"models": [named]})).unwrap();
    let issue = Issue::new(1, TIME.parse().unwrap(), catalogue);
    let signed = serde_json::to_value(issue.seal(&release_key()).unwrap()).unwrap();
    Router::new()
        .route(&format!("/releases/{CATALOGUE_FILE}"), get(say(signed)))
        .route("/api/v1/models", get(page(model.clone())).post(say(model.clone())))
        .route("/api/v1/models/{id}", get(say(model)).delete(async || StatusCode::NO_CONTENT))
        .route("/api/v1/models/{id}/{verb}/{device}", post(say(command())))
        .route("/api/v1/deployments", get(page(deployment.clone())).post(say(deployment.clone())))
        .route("/api/v1/deployments/{id}", get(say(deployment.clone())))
        .route("/api/v1/deployments/{id}/cancel", post(say(deployment)))
}

fn operations() -> Router {
    let create = |Json(wish): Json<Value>| async move {
        if wish["dry_run"] != true {
            return Json(operation(wish["work"].clone()));
        }
        let first =
            json!({"device_id": id("dev", 1), "name": "box", "online": false, "new_name": "lab-1"});
        Json(json!({"work": wish["work"], "devices": 1, "first": [first]}))
    };
    let stop = || operation(json!({"kind": "stop", "model_id": id("mdl", 1)}));
    let item = json!({
        "device_id": id("dev", 1), "name": "box", "state": "succeeded", "attempts": 1,
        "code": "none", "detail": "restarted", "updated_at": TIME, "command_id": id("cmd", 1),
        "deployment_id": id("dep", 1),
    });
    Router::new()
        .route("/api/v1/operations", get(page(stop())).post(create))
        .route("/api/v1/operations/{id}", get(say(stop())))
        .route("/api/v1/operations/{id}/devices", get(page(item)))
        .route("/api/v1/operations/{id}/cancel", post(say(stop())))
        .route("/api/v1/operations/{id}/retry", post(say(stop())))
}

fn operation(work: Value) -> Value {
    json!({
        "operation_id": id("op", 1), "work": work, "select": "tag=lab", "state": "succeeded",
        "devices": 1, "requested_by": {"kind": "user", "id": id("usr", 1)}, "created_at": TIME,
        "ended_at": TIME,
        "counts": {
            "pending": 0, "sent": 0, "succeeded": 1, "failed": 0, "skipped": 0, "cancelled": 0,
        },
    })
}

fn device() -> Value {
    json!({
        "device_id": id("dev", 1), "name": "box", "online": true, "status": "online",
        "agent_version": "1.3.0", "tags": ["lab"], "registered_at": TIME, "last_seen_at": TIME,
        "platform": {"os": "linux", "arch": "x86_64", "hostname": "box"}, "last_update": update(),
        "system": {
            "reported_at": TIME, "cpu_percent": 12.5, "cpu_count": 8, "load_1m": 1.25,
            "temperature_celsius": 54.5, "memory": {"used_bytes": 3, "total_bytes": 16},
            "agent": {"cpu_percent": 0.1, "memory_bytes": 7},
            "disk": {"used_bytes": 2, "free_bytes": 5, "total_bytes": 8},
            "gpus": [{
                "name": "L4", "utilisation_percent": 45.0, "memory_used_bytes": 1,
                "memory_total_bytes": 24, "temperature_celsius": 61.0,
            }],
            "engines": [
                {"model_id": id("mdl", 1), "pid": 4711, "cpu_percent": 2.0, "memory_bytes": 4},
            ],
        },
    })
}

fn command() -> Value {
    json!({
        "command_id": id("cmd", 1), "type": "REPAIR_SERVING", "state": "processed",
        "model_id": id("mdl", 1), "device_id": id("dev", 1), "port": 8080, "created_at": TIME,
        "expires_at": TIME, "superseded_by": id("cmd", 2), "note": "the device is being updated",
        "result": {"status": "succeeded", "output": "restarted", "reported_at": TIME},
    })
}

fn update() -> Value {
    json!({"from": "1.3.0", "to": "1.4.0", "outcome": "rolled_back", "reason": "it ended"})
}

fn facts() -> Value {
    json!({
        "architecture": "llama", "quantization": "Q4_K_M", "parameters": 135, "context_length": 2048,
        "memory_bytes": 1024,
    })
}

fn tokens() -> impl Answer {
    say(json!({
        "access_token": "access", "token_type": "Bearer", "expires_in": 900,
        "refresh_token": "refresh",
    }))
}

fn page(item: Value) -> impl Answer {
    say(json!({"items": [item], "next_cursor": null}))
}

fn nothing() -> MethodRouter {
    any(async || StatusCode::NO_CONTENT)
}

/// Answers every request with the same document.
fn say(document: Value) -> impl Answer {
    move || ready(Json(document.clone()))
}

trait Answer: Fn() -> Ready<Json<Value>> + Clone + Send + Sync + 'static {}

impl<T: Fn() -> Ready<Json<Value>> + Clone + Send + Sync + 'static> Answer for T {}
