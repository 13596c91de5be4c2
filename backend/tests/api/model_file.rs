//! The file of a model: inspected before the model is ready, and resumed after a cut.

#![expect(clippy::disallowed_methods, reason = "reads what was kept")]

use std::time::Duration;

use axum::{body::Body, http::Request};
use futures_util::{StreamExt as _, stream};
use link_backend::domain::quota::Quota;
use link_protocol::command::Sha256Hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::{Answer, PASSWORD, World};

/// Returns a model with one tensor of this many numbers.
pub(crate) fn model(numbers: u64) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut file = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    file.extend([text("general.architecture"), vec![8, 0, 0, 0], text("llama")].concat());
    file.extend([text("weights"), vec![1, 0, 0, 0], numbers.to_le_bytes().to_vec()].concat());
    file.extend([0; 12]);
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend((0..numbers).flat_map(|number| (number as u32).to_le_bytes()));
    file
}

pub(crate) async fn announce(world: &World, user: &str, more: Value) -> String {
    let mut body = json!({ "name": "Tiny", "file_name": "tiny.gguf" });
    for (member, value) in more.as_object().unwrap() {
        body[member] = value.clone();
    }
    world.post("/api/v1/models", user, body).await.text("model_id")
}

async fn upload(world: &World, user: &str, model: &str, body: impl Into<Body>) -> Answer {
    let request = Request::put(format!("/api/v1/models/{model}/content"))
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "application/octet-stream");
    world.send(request.body(body.into()).unwrap()).await
}

#[tokio::test]
async fn a_file_that_no_engine_could_load_is_refused_at_its_end_and_says_what_would_do() {
    let (world, user) = World::set_up().await;
    let id = announce(&world, &user, json!({})).await;
    let whole = model(100);
    for (body, detail, hint) in [
        (b"abc".to_vec(), "it has 3 bytes", "download the file again"),
        (b"<!doctype html><title>Log in".to_vec(), "a web page", "the file itself"),
        (whole[..whole.len() - 1].to_vec(), "the model ends early", "download the file again"),
    ] {
        let refused = upload(&world, &user, &id, body).await;
        refused.is(422, "not-a-model");
        assert!(refused.text("detail").contains(detail), "{refused:?}");
        assert!(refused.text("hint").contains(hint), "{refused:?}");
        let kept = world.folder.path().join("models").read_dir().unwrap().count();
        let read = world.get(&format!("/api/v1/models/{id}"), &user).await;
        assert_eq!((kept, &read.body["ready"]), (0, &json!(false)));
    }
    let taken = upload(&world, &user, &id, whole).await;
    assert_eq!((taken.status, &taken.body["ready"]), (200, &json!(true)), "{taken:?}");
    assert_eq!(
        taken.body["facts"],
        json!({ "architecture": "llama", "parameters": 100, "task": "chat", "memory_bytes": 400 })
    );
    let read = world.get(&format!("/api/v1/models/{id}"), &user).await;
    assert_eq!(read.body["facts"], taken.body["facts"], "it is stored");
}

#[tokio::test]
async fn a_file_of_another_plugin_is_not_looked_at() {
    let (world, user) = World::set_up().await;
    let id = announce(&world, &user, json!({ "plugin": "image_classifier" })).await;
    let taken = upload(&world, &user, &id, "onnx").await;
    assert_eq!((taken.status, &taken.body["facts"]), (200, &Value::Null), "{taken:?}");
}

pub(crate) fn announced(file: &[u8]) -> Value {
    let sha256 = Sha256Hex::from_digest(&Sha256::digest(file));
    json!({ "sha256": sha256, "size_bytes": file.len() })
}

/// Resumes an upload at `offset`.
pub(crate) async fn go_on(
    world: &World,
    user: &str,
    model: &str,
    offset: u64,
    body: Body,
) -> Answer {
    let request = Request::patch(format!("/api/v1/models/{model}/content"))
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "application/octet-stream")
        .header("upload-offset", offset);
    world.send(request.body(body).unwrap()).await
}

/// A body whose connection is cut after `bytes`.
pub(crate) fn cut(bytes: &[u8]) -> Body {
    Body::from_stream(stream::iter([Ok(bytes.to_vec()), Err(std::io::Error::other("cut"))]))
}

pub(crate) async fn offset(world: &World, user: &str, model: &str) -> String {
    let path = format!("/api/v1/models/{model}/content");
    let answer = world.call("HEAD", &path, user, None).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.headers["upload-offset"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_upload_goes_on_where_it_was_cut_and_after_a_restart_of_the_backend() {
    let (mut world, user) = World::set_up().await;
    let file = model(100_000);
    let id = announce(&world, &user, announced(&file)).await;
    assert_eq!(offset(&world, &user, &id).await, "0");
    let first = go_on(&world, &user, &id, 0, cut(&file[..70_000])).await;
    assert_eq!((first.status, &first.body["ready"]), (200, &json!(false)), "{first:?}");
    assert_eq!(first.headers["upload-offset"], "70000");
    for wrong in [0, 69_999, 70_001, u64::MAX] {
        go_on(&world, &user, &id, wrong, cut(b"x")).await.is(409, "upload-offset");
    }

    world.backend = link_backend::build(world.configuration()).await.unwrap();
    assert_eq!(offset(&world, &user, &id).await, "70000");
    let second = go_on(&world, &user, &id, 70_000, cut(&file[70_000..70_001])).await;
    assert_eq!(second.headers["upload-offset"], "70001");
    let last = go_on(&world, &user, &id, 70_001, Body::from(file[70_001..].to_vec())).await;
    assert_eq!((last.status, &last.body["ready"]), (200, &json!(true)), "{last:?}");
    assert_eq!(last.body["facts"]["parameters"], 100_000);

    let models = world.folder.path().join("models");
    let kept: Vec<_> = models.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(std::fs::read(&kept[0]).unwrap(), file);
    // The client repeats a request whose answer was lost.
    let size = file.len() as u64;
    assert_eq!(offset(&world, &user, &id).await, size.to_string());
    let again = go_on(&world, &user, &id, size, Body::empty()).await;
    assert_eq!((again.status, &again.body["ready"]), (200, &json!(true)));
}

#[tokio::test]
async fn an_upload_in_parts_is_refused_where_none_belongs_and_when_it_is_something_else() {
    let (world, user) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let file = model(1000);
    let unannounced = announce(&world, &user, json!({})).await;
    go_on(&world, &user, &unannounced, 0, cut(b"x")).await.is(422, "invalid-request");
    let id = announce(&world, &user, announced(&file)).await;
    go_on(&world, &bob, &id, 0, cut(b"x")).await.is(404, "not-found");
    let request = Request::patch(format!("/api/v1/models/{id}/content"))
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "application/octet-stream");
    let without = world.send(request.body(Body::from("x")).unwrap()).await;
    without.is(422, "invalid-request");

    let mut other = file.clone();
    other[4000] ^= 1;
    assert_eq!(go_on(&world, &user, &id, 0, cut(&other[..100])).await.status, 200);
    let refused = go_on(&world, &user, &id, 100, Body::from(other[100..].to_vec())).await;
    refused.is(422, "checksum-mismatch");
    assert_eq!(offset(&world, &user, &id).await, "0", "nothing of it stays");
    assert_eq!(world.folder.path().join("models").read_dir().unwrap().count(), 0);
    // Bytes after the announced size are not read.
    let longer = [&file[..], b"more"].concat();
    assert_eq!(go_on(&world, &user, &id, 0, Body::from(longer)).await.body["ready"], true);
}

#[tokio::test]
async fn a_line_that_hangs_keeps_nobody_out_but_strangers_end_no_upload() {
    let (world, user) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let file = model(1000);
    let id = announce(&world, &user, announced(&file)).await;
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let hangs = stream::once(async move {
        begun.send(()).unwrap();
        std::future::pending::<Result<Vec<u8>, std::io::Error>>().await
    });
    let line = Body::from_stream(stream::iter([Ok(file[..10].to_vec())]).chain(hangs));
    let others = async {
        has_begun.await.unwrap();
        go_on(&world, &bob, &id, 0, cut(b"x")).await.is(404, "not-found");
        assert_eq!(offset(&world, &user, &id).await, "0", "it runs");
        go_on(&world, &user, &id, 0, cut(b"x")).await
    };
    let (first, second) = tokio::join!(go_on(&world, &user, &id, 0, line), others);
    assert_eq!((first.status, first.header("upload-offset")), (200, "10"), "what came is kept");
    second.is(409, "upload-offset");
    let last = go_on(&world, &user, &id, 10, Body::from(file[10..].to_vec())).await;
    assert_eq!(last.body["ready"], true, "{last:?}");
}

#[tokio::test]
async fn files_that_came_in_part_count_for_the_quota_of_their_account() {
    let world = World::with(|config| {
        config.quota = Quota { models: 5, model_bytes: 10_000, keys: 2, tokens: 2, invitations: 2 };
    })
    .await;
    let user = world.create_first_account().await;
    let file = model(1500);
    let (first, second) = (
        announce(&world, &user, announced(&file)).await,
        announce(&world, &user, announced(&file)).await,
    );
    assert_eq!(go_on(&world, &user, &first, 0, cut(&file[..10])).await.status, 200);
    go_on(&world, &user, &second, 0, cut(&file[..10])).await.is(409, "quota-reached");
    upload(&world, &user, &second, file.clone()).await.is(409, "quota-reached");
    assert_eq!(world.delete(&format!("/api/v1/models/{first}"), &user).await.status, 204);
    assert_eq!(world.folder.path().join("models").read_dir().unwrap().count(), 0);
    assert_eq!(go_on(&world, &user, &second, 0, cut(&file[..10])).await.status, 200);
}

pub(crate) async fn log_in(world: &World) -> String {
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    world.post("/api/v1/auth/login", "", login).await.text("access_token")
}

#[tokio::test]
async fn a_model_of_which_nothing_came_for_a_day_is_removed_and_a_whole_one_stays() {
    let (world, user) = World::set_up().await;
    let file = model(1000);
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(announce(&world, &user, announced(&file)).await);
    }
    let at_address = world.model(&user, false).await;
    assert_eq!(upload(&world, &user, &ids[0], file.clone()).await.status, 200);
    assert_eq!(go_on(&world, &user, &ids[1], 0, cut(&file[..10])).await.status, 200);
    world.advance(Duration::from_hours(23));
    let user = log_in(&world).await;
    assert_eq!(go_on(&world, &user, &ids[2], 0, cut(&file[..10])).await.status, 200);
    world.advance(Duration::from_hours(2));
    world.backend.app.purge().await.unwrap();
    let user = log_in(&world).await;
    for (id, status) in
        [(&ids[0], 200), (&ids[1], 404), (&ids[2], 200), (&ids[3], 404), (&at_address, 200)]
    {
        assert_eq!(world.get(&format!("/api/v1/models/{id}"), &user).await.status, status, "{id}");
    }
    let left = world.folder.path().join("models").read_dir().unwrap();
    assert_eq!(left.count(), 3, "a whole file, and what came of another with its checkpoint");
}
