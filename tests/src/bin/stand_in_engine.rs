//! An engine that answers at once, where the speed of a real one would be what a test measures. The agent starts it as
//! `llama-server`, and speaks only to the process that it has started.

#![expect(clippy::disallowed_methods, reason = "IO shell: the secret stands in a file")]

use std::path::PathBuf;

use anyhow::Context as _;
use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, header},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::net::UnixListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let secret = std::fs::read_to_string(after("--api-key-file")?)?;
    let bearer = format!("Bearer {}", secret.trim());
    let proof = async move |headers: HeaderMap| {
        let known = headers.get(header::AUTHORIZATION).is_some_and(|sent| *sent == *bearer);
        if known { StatusCode::OK } else { StatusCode::UNAUTHORIZED }
    };
    let routes = Router::new()
        .route("/health", get(StatusCode::OK))
        .route("/props", get(proof))
        .route("/v1/chat/completions", post(answer));
    Ok(axum::serve(UnixListener::bind(after("--host")?)?, routes).await?)
}

/// Returns the path that follows the option `name`.
fn after(name: &str) -> anyhow::Result<PathBuf> {
    let value = std::env::args_os().skip_while(|argument| argument != name).nth(1);
    value.map(PathBuf::from).with_context(|| format!("the option {name} has no value"))
}

/// Answers a question with a word, and counts three tokens of the prompt and two of the answer.
async fn answer() -> Json<Value> {
    Json(json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }))
}
