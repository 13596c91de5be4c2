//! Model files: uploads, downloads, and downloads in ranges.

use axum::{body::Body, http::Request};
use futures_util::stream;
use link_backend::content::{Addressing, BucketConfig, Home};
use link_protocol::{command::Sha256Hex, secret::Secret};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    harness::{Answer, World},
    object_store::{ACCESS_KEY, BUCKET, ObjectStore, SECRET_KEY},
};

fn file() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256Hex::from_digest(&Sha256::digest(bytes)).to_string()
}

async fn announce(world: &World, user: &str, more: Value) -> String {
    // The files of this plugin are not inspected, so any bytes will do.
    let mut body = json!({ "name": "Tiny", "file_name": "tiny.gguf", "plugin": "other" });
    for (member, value) in more.as_object().unwrap() {
        body[member] = value.clone();
    }
    world.post("/api/v1/models", user, body).await.text("model_id")
}

async fn upload(world: &World, user: &str, model: &str, body: Body) -> Answer {
    let request = Request::put(format!("/api/v1/models/{model}/content"))
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "application/octet-stream");
    world.send(request.body(body).unwrap()).await
}

fn kept(world: &World) -> Vec<String> {
    let names = world.folder.path().join("models").read_dir().unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn an_upload_is_kept_when_it_is_what_was_announced() {
    let (world, user) = World::set_up().await;
    let file = file();
    let announced = json!({ "sha256": sha256(&file), "size_bytes": file.len() });
    let model = announce(&world, &user, announced).await;
    let chunks: Vec<_> =
        file.chunks(7777).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect();
    let answer = upload(&world, &user, &model, Body::from_stream(stream::iter(chunks))).await;
    assert_eq!((answer.status, &answer.body["ready"]), (200, &json!(true)));
    assert_eq!(kept(&world).len(), 1);

    let path = format!("/api/v1/models/{model}");
    assert_eq!(world.delete(&path, &user).await.status, 204);
    assert!(kept(&world).is_empty(), "the file goes with the model");
}

#[tokio::test]
async fn an_upload_without_an_announcement_says_what_it_is() {
    let (world, user) = World::set_up().await;
    let model = announce(&world, &user, json!({})).await;
    let answer = upload(&world, &user, &model, Body::from(file())).await;
    assert_eq!(answer.body["sha256"], sha256(&file()));
    assert_eq!(answer.body["size_bytes"], file().len());
    let other = upload(&world, &user, &model, Body::from("another file")).await;
    other.is(422, "checksum-mismatch");
    assert_eq!(upload(&world, &user, &model, Body::from(file())).await.status, 200);
    assert_eq!(kept(&world).len(), 1);
}

#[tokio::test]
async fn an_upload_that_is_something_else_leaves_nothing() {
    let (world, user) = World::set_up().await;
    let file = file();
    let announced = json!({ "sha256": sha256(&file), "size_bytes": file.len() });
    let model = announce(&world, &user, announced).await;
    let mut wrong = file.clone();
    wrong[1000] ^= 1;
    for body in [wrong, file[1..].to_vec(), vec![]] {
        upload(&world, &user, &model, Body::from(body)).await.is(422, "checksum-mismatch");
    }
    let cut = stream::iter([Ok(file[..5000].to_vec()), Err(std::io::Error::other("cut"))]);
    let answer = upload(&world, &user, &model, Body::from_stream(cut)).await;
    answer.is(422, "checksum-mismatch");
    assert!(kept(&world).is_empty());
    let read = world.get(&format!("/api/v1/models/{model}"), &user).await;
    assert_eq!(read.body["ready"], false);
    assert_eq!(upload(&world, &user, &model, Body::from(file)).await.status, 200);
}

#[tokio::test]
async fn an_upload_is_refused_where_none_belongs() {
    let (world, user) = World::set_up_sharing().await;
    let at_address = world.model(&user, true).await;
    upload(&world, &user, &at_address, Body::from("x")).await.is(422, "invalid-request");
    let bob = world.another_account("bob@example.org").await;
    upload(&world, &bob, &at_address, Body::from("x")).await.is(403, "not-owner");
    let model = announce(&world, &user, json!({})).await;
    upload(&world, &bob, &model, Body::from("x")).await.is(404, "not-found");
    let request = Request::put(format!("/api/v1/models/{model}/content"))
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "text/plain");
    let answer = world.send(request.body(Body::from("x")).unwrap()).await;
    answer.is(415, "unsupported-media-type");
}

#[tokio::test]
async fn a_device_fetches_the_file_whole_or_in_parts() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let file = file();
    let model = announce(&world, &user, json!({})).await;
    upload(&world, &user, &model, Body::from(file.clone())).await;
    let path = device.path(&format!("/models/{model}/content"));
    let fetch = |range: Option<&str>, condition: Option<&str>| {
        let mut request =
            Request::get(&path).header("authorization", format!("Bearer {}", device.token));
        if let Some(range) = range {
            request = request.header("range", range);
        }
        if let Some(condition) = condition {
            request = request.header("if-range", condition);
        }
        world.send(request.body(Body::empty()).unwrap())
    };
    fetch(None, None).await.is(404, "not-found");
    assert_eq!(world.deploy(&user, &device, &model).await.status, 202);

    let whole = fetch(None, None).await;
    assert_eq!((whole.status, whole.bytes == file), (200, true));
    let tag = format!("\"{}\"", sha256(&file));
    assert_eq!(whole.header("etag"), tag);
    assert_eq!(whole.header("accept-ranges"), "bytes");
    assert_eq!(whole.header("content-length"), file.len().to_string());

    let rest = fetch(Some("bytes=1000000-"), Some(&tag)).await;
    assert_eq!((rest.status, rest.bytes == file[1_000_000..]), (206, true));
    assert_eq!(rest.header("content-range"), "bytes 1000000-1199999/1200000");
    let middle = fetch(Some("bytes=10-19"), None).await;
    assert_eq!((middle.status, middle.bytes == file[10..20]), (206, true));
    let changed = fetch(Some("bytes=10-19"), Some("\"another\"")).await;
    assert_eq!((changed.status, changed.bytes.len()), (200, file.len()));
    let beyond = fetch(Some("bytes=1200000-"), None).await;
    assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */1200000"));
}

#[tokio::test]
async fn a_bucket_in_the_place_of_the_folder_is_not_noticed_until_it_is_away() {
    let Some(mut store) = ObjectStore::start() else { return };
    let world = World::with(|config| {
        config.content = Home::Bucket(Box::new(BucketConfig {
            endpoint: store.endpoint(),
            region: "us-east-1".to_owned(),
            bucket: BUCKET.to_owned(),
            prefix: String::new(),
            addressing: Addressing::Path,
            access_key: ACCESS_KEY.to_owned(),
            secret_key: Secret::new(SECRET_KEY),
        }));
    })
    .await;
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    // Large enough for more than one part.
    let file = file().repeat(15);
    let announced = json!({ "sha256": sha256(&file), "size_bytes": file.len() });
    let model = announce(&world, &user, announced).await;
    let mut wrong = file.clone();
    wrong[17_000_000] ^= 1;
    let answer = upload(&world, &user, &model, Body::from(wrong)).await;
    answer.is(422, "checksum-mismatch");
    assert_eq!((store.objects().len(), store.unfinished()), (0, 0));
    let answer = upload(&world, &user, &model, Body::from(file.clone())).await;
    assert_eq!((answer.status, &answer.body["ready"]), (200, &json!(true)));

    assert_eq!(world.deploy(&user, &device, &model).await.status, 202);
    let path = device.path(&format!("/models/{model}/content"));
    let fetch = |range: &'static str| {
        let request = Request::get(&path)
            .header("authorization", format!("Bearer {}", device.token))
            .header("range", range);
        world.send(request.body(Body::empty()).unwrap())
    };
    let rest = fetch("bytes=17000000-").await;
    assert_eq!((rest.status, rest.bytes == file[17_000_000..]), (206, true));
    assert_eq!(rest.header("content-range"), "bytes 17000000-17999999/18000000");

    store.kill();
    let away = fetch("bytes=10-19").await;
    away.is(503, "content-unavailable");
    assert!(away.text("hint").contains("link-backend doctor"), "{away:?}");
    let other = announce(&world, &user, json!({})).await;
    let refused = upload(&world, &user, &other, Body::from("a small one")).await;
    refused.is(503, "content-unavailable");
    assert_eq!(world.get("/readyz", "").await.status, 200, "commands go on");
    store.resume();
    assert_eq!(fetch("bytes=10-19").await.bytes, file[10..20]);
    assert_eq!(upload(&world, &user, &other, Body::from("a small one")).await.status, 200);
}
