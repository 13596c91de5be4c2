//! An upload into a bucket of a real store that speaks S3: cut, resumed, also by another backend, and abandoned.

#![expect(clippy::disallowed_methods, reason = "deletes uploads behind the store's back")]

use std::time::Duration;

use axum::body::Body;
use link_backend::{
    config::Config,
    content::{Addressing, BucketConfig, Home},
};
use link_protocol::secret::Secret;
use serde_json::{Value, json};

use crate::{
    harness::World,
    model_file::{announce, announced, cut, go_on, log_in, model, offset},
    object_store::{ACCESS_KEY, BUCKET, ObjectStore, SECRET_KEY},
};

const MIB: usize = 1024 * 1024;
/// The size of a part.
const PART: u64 = 16 * MIB as u64;

#[tokio::test]
async fn a_cut_upload_resumes_behind_the_parts_that_the_store_has_also_after_a_restart() {
    let Some(store) = ObjectStore::start() else { return };
    let (mut world, user) = set_up(&store).await;
    let file = model(10 * MIB as u64);
    let with_checksum = announced(&file);
    let without = json!({ "size_bytes": file.len() });
    for wish in [with_checksum, without] {
        let id = announce(&world, &user, wish).await;
        let first = go_on(&world, &user, &id, 0, cut(&file[..20 * MIB])).await;
        assert_eq!((first.status, first.header("upload-offset")), (200, "16777216"), "{first:?}");
        assert_eq!(offset(&world, &user, &id).await, PART.to_string());
        assert_eq!(store.unfinished(), 2, "an upload and its part");
        assert_eq!(
            world.select("SELECT tag FROM bucket_parts WHERE model_id = $1", &id).await.len(),
            1
        );

        // A second process must not delete a resumable upload when it cleans up at its start.
        world.backend =
            link_backend::build(with_bucket(world.configuration(), &store)).await.unwrap();
        world.backend.app.purge().await.unwrap();
        assert_eq!(offset(&world, &user, &id).await, PART.to_string());
        go_on(&world, &user, &id, 0, cut(b"x")).await.is(409, "upload-offset");
        let at = PART as usize;
        let second = go_on(&world, &user, &id, PART, cut(&file[at..at + 17 * MIB])).await;
        assert_eq!(second.header("upload-offset"), (2 * PART).to_string());
        let rest = Body::from(file[2 * at..].to_vec());
        let last = go_on(&world, &user, &id, 2 * PART, rest).await;
        assert_eq!((last.status, &last.body["ready"]), (200, &json!(true)), "{last:?}");
        assert_eq!(last.body["sha256"], announced(&file)["sha256"]);
        assert_eq!(last.body["facts"]["parameters"], 10 * MIB);
        assert_eq!((store.objects().len(), store.unfinished()), (1, 0));
        assert!(
            world
                .select("SELECT model_id FROM bucket_uploads WHERE model_id = $1", &id)
                .await
                .is_empty()
        );
        assert_eq!(offset(&world, &user, &id).await, file.len().to_string());
        assert_eq!(world.delete(&format!("/api/v1/models/{id}"), &user).await.status, 204);
        assert!(store.objects().is_empty());
    }
}

#[tokio::test]
async fn an_upload_that_is_wrong_abandoned_or_deleted_leaves_nothing_in_the_store() {
    let Some(store) = ObjectStore::start() else { return };
    let (world, user) = set_up(&store).await;
    let file = model(6 * MIB as u64);
    let mut wrong = file.clone();
    wrong[20 * MIB] ^= 1;
    let id = announce(&world, &user, announced(&file)).await;
    assert_eq!(go_on(&world, &user, &id, 0, cut(&file[..17 * MIB])).await.status, 200);
    let rest = Body::from(wrong[PART as usize..].to_vec());
    go_on(&world, &user, &id, PART, rest).await.is(422, "checksum-mismatch");
    assert_eq!(offset(&world, &user, &id).await, "0");
    assert_eq!((store.objects().len(), store.unfinished()), (0, 0));

    assert_eq!(go_on(&world, &user, &id, 0, cut(&file[..17 * MIB])).await.status, 200);
    assert_eq!(store.unfinished(), 2);
    assert_eq!(world.delete(&format!("/api/v1/models/{id}"), &user).await.status, 204);
    assert_eq!(store.unfinished(), 0, "with its model");

    let id = announce(&world, &user, announced(&file)).await;
    assert_eq!(go_on(&world, &user, &id, 0, cut(&file[..17 * MIB])).await.status, 200);
    world.advance(Duration::from_hours(23));
    world.backend.app.purge().await.unwrap();
    assert_eq!(store.unfinished(), 2, "for a day somebody may come back");
    world.advance(Duration::from_hours(2));
    world.backend.app.purge().await.unwrap();
    assert_eq!(store.unfinished(), 0);
    let user = log_in(&world).await;
    let read = world.get(&format!("/api/v1/models/{id}"), &user).await;
    assert_eq!(read.status, 404, "{read:?}");
}

// Lifecycle rules and administrators of a bucket abort uploads too.
#[tokio::test]
async fn an_upload_that_the_store_has_ended_begins_anew() {
    let Some(store) = ObjectStore::start() else { return };
    let (world, user) = set_up(&store).await;
    let file = model(6 * MIB as u64);
    let id = announce(&world, &user, announced(&file)).await;
    assert_eq!(go_on(&world, &user, &id, 0, cut(&file[..17 * MIB])).await.status, 200);
    let folder = store.bucket().parent().unwrap().to_owned();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with(".upload") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let refused = go_on(&world, &user, &id, PART, Body::from(file[PART as usize..].to_vec())).await;
    refused.is(409, "upload-offset");
    assert_eq!(offset(&world, &user, &id).await, "0");
    let again = go_on(&world, &user, &id, 0, Body::from(file)).await;
    assert_eq!((again.status, &again.body["ready"]), (200, &Value::Bool(true)), "{again:?}");
    assert_eq!(store.unfinished(), 0);
}

async fn set_up(store: &ObjectStore) -> (World, String) {
    let world = World::with(|config| *config = with_bucket(config.clone(), store)).await;
    let user = world.create_first_account().await;
    (world, user)
}

fn with_bucket(config: Config, store: &ObjectStore) -> Config {
    let content = Home::Bucket(Box::new(BucketConfig {
        endpoint: store.endpoint(),
        region: "us-east-1".to_owned(),
        bucket: BUCKET.to_owned(),
        prefix: String::new(),
        addressing: Addressing::Path,
        access_key: ACCESS_KEY.to_owned(),
        secret_key: Secret::new(SECRET_KEY),
    }));
    Config { content, ..config }
}
