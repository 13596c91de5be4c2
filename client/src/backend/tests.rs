//! Tests the renewal of an expired login, lists with several pages, and uploads, against a real
//! server.

use std::{
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header},
    routing::{get, head, post, put},
};
use futures_util::StreamExt as _;
use link_protocol::{
    id::{ModelId, UserId},
    problem::{Code, Problem},
};
use serde_json::{Value, json};

use super::*;

/// A token store in memory, shared by several clients like a file.
#[derive(Clone, Default)]
struct Memory {
    kept: Arc<Mutex<Option<Tokens>>>,
    lock: Arc<Mutex<bool>>,
}

struct Held(Arc<Mutex<bool>>);

impl Drop for Held {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = false;
    }
}

impl TokenStore for Memory {
    fn load(&self) -> Result<Option<Tokens>, StoreError> {
        Ok(open(&self.kept).clone())
    }

    fn save(&self, tokens: &Tokens) -> Result<(), StoreError> {
        *open(&self.kept) = Some(tokens.clone());
        Ok(())
    }

    fn try_lock(&self) -> Result<Option<Box<dyn Send>>, StoreError> {
        let taken = std::mem::replace(&mut *open(&self.lock), true);
        Ok((!taken).then(|| Box::new(Held(Arc::clone(&self.lock))) as Box<dyn Send>))
    }
}

#[tokio::test]
async fn an_expired_token_is_renewed_once_however_many_calls_need_it() {
    let refreshes = Arc::new(AtomicU32::new(0));
    let http = server(account_app(&refreshes)).await;
    let store = Memory::default();
    store.save(&tokens("old", "r1")).unwrap();
    let client =
        || BackendClient::new(http.clone(), tokens("old", "r1"), Some(Box::new(store.clone())));
    let (one, other) = (client(), client());
    let (a, b) = tokio::join!(one.me(), other.me());
    assert_eq!((a.unwrap().email, b.unwrap().email), ("a@b.c".to_owned(), "a@b.c".to_owned()));
    assert_eq!(refreshes.load(Ordering::Relaxed), 1);
    assert_eq!(store.load().unwrap(), Some(tokens("new", "r2")));
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_refused_as_it_is() {
    let refreshes = Arc::new(AtomicU32::new(0));
    let http = server(account_app(&refreshes)).await;
    let client = BackendClient::new(http, Tokens { refresh: None, ..tokens("old", "") }, None);
    let error = client.me().await.unwrap_err();
    let CallError::Backend(failure) = error else { panic!("{error}") };
    assert_eq!(failure.code(), Some(Code::TokenExpired));
    assert_eq!(refreshes.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_list_is_read_to_its_last_page() {
    let page = |Query(query): Query<std::collections::HashMap<String, String>>| async move {
        let (items, next) = match query.get("cursor").map(String::as_str) {
            None => (json!([1, 2]), json!("a&b")),
            Some("a&b") => (json!([3]), Value::Null),
            Some(other) => panic!("cursor {other}"),
        };
        Json(json!({"items": items, "next_cursor": next}))
    };
    let http = server(Router::new().route("/list", get(page))).await;
    let client = BackendClient::new(http, tokens("new", ""), None);
    assert_eq!(client.all::<u32>("/list").await.unwrap(), [1, 2, 3]);
}

#[tokio::test]
async fn an_upload_tells_its_progress_and_arrives_whole() {
    let app = account_app(&Arc::default()).route(
        "/api/v1/models/{id}/content",
        put(|headers: HeaderMap, body: axum::body::Bytes| async move {
            assert_eq!(headers[header::CONTENT_LENGTH], body.len().to_string());
            assert!(body.iter().all(|byte| *byte == 7));
            Json(model(body.len()))
        })
        .layer(axum::extract::DefaultBodyLimit::disable()),
    );
    let client = BackendClient::new(server(app).await, tokens("new", ""), None);
    let size = 1_000_000;
    let sent = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&sent);
    let file = file_of(&vec![7; size]);
    let source = UploadSource { path: file.path().to_owned(), size_bytes: size as u64 };
    let answer = client
        .upload_model(model_id(), &source, move |bytes| heard.lock().unwrap().push(bytes))
        .await
        .unwrap();
    assert_eq!(answer.size_bytes, Some(size as u64));
    let sent = sent.lock().unwrap();
    assert!(sent.is_sorted() && sent.len() > 1 && sent.last() == Some(&(size as u64)), "{sent:?}");
}

#[tokio::test]
async fn an_upload_goes_on_behind_what_arrived_before_the_line_was_cut() {
    let bytes: Vec<u8> = (0..250_000_u32).flat_map(u32::to_le_bytes).collect();
    let size = bytes.len();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let offsets = Arc::new(Mutex::new(Vec::new()));
    let (at, arriving, seen) = (Arc::clone(&kept), Arc::clone(&kept), Arc::clone(&offsets));
    let told = move || async move { [("upload-offset", open(&at).len().to_string())] };
    let take = move |headers: HeaderMap, body: axum::body::Body| async move {
        let offset: usize = headers["upload-offset"].to_str().unwrap().parse().unwrap();
        open(&seen).push(offset);
        assert_eq!(offset, open(&arriving).len());
        assert_eq!(headers[header::CONTENT_LENGTH], (size - offset).to_string());
        let mut body = body.into_data_stream();
        while let Some(Ok(piece)) = body.next().await {
            open(&arriving).extend_from_slice(&piece);
            // The first connection breaks, and so does the second.
            if open(&seen).len() < 3 && open(&arriving).len() > offset + 200_000 {
                return Err(StatusCode::BAD_GATEWAY);
            }
        }
        Ok(Json(model(open(&arriving).len())))
    };
    let app =
        account_app(&Arc::default()).route("/api/v1/models/{id}/content", head(told).patch(take));
    let client = BackendClient::new(server(app).await, tokens("new", ""), None);
    let file = file_of(&bytes);
    let source = UploadSource { path: file.path().to_owned(), size_bytes: size as u64 };
    client.upload_model(model_id(), &source, |_| {}).await.unwrap();
    assert_eq!(open(&offsets).len(), 3);
    assert!(open(&offsets).is_sorted() && open(&offsets)[1] > 0);
    assert!(*open(&kept) == bytes);
}

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn open<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

fn account_app(refreshes: &Arc<AtomicU32>) -> Router {
    let me = |headers: HeaderMap| async move {
        if headers[header::AUTHORIZATION] == "Bearer new" {
            let id = "00000000000000000000000000000001";
            assert!(format!("usr_{id}").parse::<UserId>().is_ok());
            let me = json!({"user_id": format!("usr_{id}"), "account_id": format!("acc_{id}"), "email": "a@b.c", "role": "owner"});
            Ok(Json(me))
        } else {
            Err((StatusCode::UNAUTHORIZED, Json(Problem::new(Code::TokenExpired, "expired"))))
        }
    };
    let refresh = |State(refreshes): State<Arc<AtomicU32>>, Json(body): Json<Value>| async move {
        assert_eq!(body, json!({"refresh_token": "r1"}));
        refreshes.fetch_add(1, Ordering::Relaxed);
        Json(
            json!({"access_token": "new", "token_type": "Bearer", "expires_in": 900, "refresh_token": "r2"}),
        )
    };
    Router::new()
        .route("/api/v1/me", get(me))
        .route("/api/v1/auth/refresh", post(refresh))
        .with_state(Arc::clone(refreshes))
}

fn model_id() -> ModelId {
    "mdl_00000000000000000000000000000001".parse().unwrap()
}

fn model(size: usize) -> Value {
    json!({
        "model_id": model_id(), "name": "m", "file_name": "m.gguf", "url": null, "sha256": null,
        "size_bytes": size, "plugin": "language_model", "shared": false, "ready": true,
        "owned": true, "created_at": "2026-11-21T00:00:00Z",
    })
}

fn tokens(access: &str, refresh: &str) -> Tokens {
    Tokens { access: Secret::new(access), refresh: Some(Secret::new(refresh)) }
}

async fn server(app: Router) -> Http {
    crate::install_crypto();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    Http::new(&base).unwrap()
}
