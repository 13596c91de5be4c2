//! Tests which listeners are called, and which receive the token.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::json;
use tokio::net::TcpListener;

use super::*;

/// Each request with its token.
type Seen = Arc<Mutex<Vec<String>>>;

/// The token in a listener's proof, and the offset of the port in the proof.
type Proves = Option<(&'static str, u16)>;

#[tokio::test]
async fn who_does_not_prove_itself_is_never_sent_the_token() {
    let (_dir, roots) = installation();
    // The listener proves nothing, has another token, or forwards the challenge to an agent on
    // another port.
    for proves in [None, Some(("wrong", 0)), Some(("control token", 1))] {
        let seen = serve(&roots, proves).await;
        let failure = LocalClient::of(&roots).models().await.unwrap_err();
        assert!(matches!(failure, Failure::Unavailable { .. }), "{failure}");
        let seen = seen.lock().unwrap();
        assert!(!seen.is_empty() && seen.iter().all(|line| line.ends_with('-')), "{seen:?}");
    }
}

#[tokio::test]
async fn who_proves_itself_is_sent_the_token_with_the_request() {
    let (_dir, roots) = installation();
    let seen = serve(&roots, Some(("control token", 0))).await;
    assert_eq!(LocalClient::of(&roots).models().await.unwrap(), []);
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, ["/proof -", "/models Bearer control token"]);
}

#[tokio::test]
async fn without_an_agent_of_ours_nobody_is_asked() {
    let (_dir, roots) = installation();
    let failure = LocalClient::of(&roots).healthz().await.unwrap_err();
    assert!(matches!(failure, Failure::Unavailable { cause: Cause::Connect(_), .. }), "{failure}");
}

/// An installation whose agent has written an address file and a token, without a socket.
fn installation() -> (tempfile::TempDir, Roots) {
    let dir = tempfile::tempdir().unwrap();
    let roots = Roots::below(dir.path());
    fs::create_private_dir(&roots.run()).unwrap();
    fs::write_private(&roots.control_token(), b"control token").unwrap();
    (dir, roots)
}

/// Listens on the port in the agent's address file. The listener's proof uses the token and the
/// port offset of `proves`.
async fn serve(roots: &Roots, proves: Proves) -> Seen {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let listening = serde_json::to_vec(&Listening { port, pid: 1 }).unwrap();
    fs::write_private(&roots.local_api(), &listening).unwrap();
    let seen = Seen::default();
    let proves = proves.map(|(token, aside)| (token, port ^ aside));
    let app = Router::new().fallback(answer).with_state((proves, Arc::clone(&seen)));
    drop(tokio::spawn(async move { axum::serve(listener, app).await }));
    seen
}

async fn answer(State((proves, seen)): State<(Proves, Seen)>, request: Request) -> Response {
    let token =
        request.headers().get(header::AUTHORIZATION).map_or("-", |one| one.to_str().unwrap());
    let line = format!("{} {token}", request.uri().path());
    seen.lock().unwrap().push(line);
    if request.uri().path() != PROOF_PATH {
        return Json(json!([])).into_response();
    }
    let Some((token, port)) = proves else { return StatusCode::NOT_FOUND.into_response() };
    let nonce = request.uri().query().unwrap().strip_prefix("nonce=").unwrap();
    Json(Proof { proof: proof::of(&Secret::new(token), port, nonce) }).into_response()
}
