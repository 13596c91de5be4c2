//! Tests that every storage for model files must pass, on a folder and on a bucket of a real S3 server, followed by the
//! faults of a bucket.

#![expect(clippy::disallowed_methods, reason = "looks at what is on disk")]

use std::{collections::BTreeSet, io, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use link_backend::content::{
    Addressing, Announced, BucketConfig, BucketFault, ContentError, Contents, Home, ReceiveError,
    Upload,
};
use link_protocol::{command::Sha256Hex, id::ModelId, secret::Secret};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    time::timeout,
};
use uuid::Uuid;

use crate::{
    object_store::{ACCESS_KEY, BUCKET, ObjectStore, SECRET_KEY},
    unreliable::{self, Fault},
};

const MIB: usize = 1024 * 1024;
const PREFIX: &str = "link/models/";
const DEADLINE: Duration = Duration::from_secs(30);

/// A storage for model files, with its folder and its server.
struct Place {
    data: TempDir,
    store: Option<ObjectStore>,
    contents: Contents,
}

impl Place {
    fn folder() -> Self {
        let data = tempfile::tempdir().unwrap();
        let contents = Contents::open(data.path(), &Home::Folder).unwrap();
        Self { data, store: None, contents }
    }

    fn bucket() -> Option<Self> {
        let store = ObjectStore::start()?;
        let data = tempfile::tempdir().unwrap();
        let contents = open(&data, &config(&store.endpoint()));
        Some(Self { data, store: Some(store), contents })
    }

    /// Returns all stored names, also of files that are not models, and the number of unfinished uploads.
    fn everything(&self) -> (BTreeSet<String>, usize) {
        let Some(store) = &self.store else {
            let entries = std::fs::read_dir(self.data.path().join("models")).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            return (names.collect(), 0);
        };
        let objects = store.objects().into_iter();
        let names = objects.map(|key| key.strip_prefix(PREFIX).unwrap_or(&key).to_owned());
        (names.collect(), store.unfinished())
    }

    fn notes(&self) -> usize {
        std::fs::read_dir(self.data.path().join(".uploads")).map_or(0, Iterator::count)
    }

    #[track_caller]
    fn holds(&self, names: &[&str]) {
        let names: BTreeSet<_> = names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!((self.everything(), self.notes()), ((names, 0), 0));
    }

    async fn receive(&self, model: ModelId, bytes: &[u8]) -> Result<Upload, ReceiveError> {
        self.contents.receive(&unannounced(model), pieces(bytes)).await
    }

    async fn keep(&self, announced: &Announced, bytes: &[u8]) {
        let upload = self.contents.receive(announced, pieces(bytes)).await.unwrap();
        assert_eq!(
            (&upload.received.sha256, upload.received.size_bytes),
            (&sha256(bytes), bytes.len() as u64)
        );
        self.contents.keep(announced.model, upload).await.unwrap();
    }

    async fn read(
        &self,
        model: ModelId,
        sha256: &Sha256Hex,
        range: std::ops::Range<usize>,
    ) -> Vec<u8> {
        let range = range.start as u64..range.end as u64;
        let reading = self.contents.read(model, sha256, range).await.unwrap();
        reading
            .try_fold(Vec::new(), |mut all, piece| async move {
                all.extend_from_slice(&piece);
                Ok(all)
            })
            .await
            .unwrap()
    }
}

/// Returns a folder and, if a server is installed, a bucket.
fn places() -> Vec<Place> {
    [Some(Place::folder()), Place::bucket()].into_iter().flatten().collect()
}

fn config(endpoint: &str) -> BucketConfig {
    BucketConfig {
        endpoint: endpoint.to_owned(),
        region: "eu-central-1".to_owned(),
        bucket: BUCKET.to_owned(),
        prefix: PREFIX.to_owned(),
        addressing: Addressing::Path,
        access_key: ACCESS_KEY.to_owned(),
        secret_key: Secret::new(SECRET_KEY),
    }
}

fn open(data: &TempDir, config: &BucketConfig) -> Contents {
    Contents::open(data.path(), &Home::Bucket(Box::new(config.clone()))).unwrap()
}

fn content(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

fn pieces(bytes: &[u8]) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
    let pieces: Vec<_> =
        bytes.chunks(99_991).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    stream::iter(pieces)
}

fn sha256(bytes: &[u8]) -> Sha256Hex {
    Sha256Hex::from_digest(&Sha256::digest(bytes))
}

fn model() -> ModelId {
    ModelId::from_uuid(Uuid::now_v7())
}

fn unannounced(model: ModelId) -> Announced {
    Announced { model, sha256: None, size_bytes: None }
}

fn announced(model: ModelId, bytes: &[u8]) -> Announced {
    Announced { model, sha256: Some(sha256(bytes)), size_bytes: Some(bytes.len() as u64) }
}

fn name(model: ModelId, bytes: &[u8]) -> String {
    format!("{model}.{}", sha256(bytes))
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waited = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(DEADLINE, waited).await.unwrap_or_else(|_| panic!("waited for {what}"));
}

#[tokio::test]
async fn a_file_of_any_size_is_kept_and_read_whole_and_in_parts_announced_or_not() {
    for place in places() {
        for size in [0, 1, 100_000, 16 * MIB, 16 * MIB + 1, 40 * MIB] {
            let bytes = content(size);
            for is_announced in [true, false] {
                let model = model();
                let wish = if is_announced { announced(model, &bytes) } else { unannounced(model) };
                place.keep(&wish, &bytes).await;
                place.holds(&[&name(model, &bytes)]);
                let names = place.contents.names().await.unwrap();
                assert_eq!(names, BTreeSet::from([name(model, &bytes)]));

                let hash = sha256(&bytes);
                assert!(place.read(model, &hash, 0..size).await == bytes, "{size}");
                let middle = size / 3..size / 3 * 2;
                for range in [0..size.min(10), middle, size.saturating_sub(10)..size] {
                    let read = place.read(model, &hash, range.clone()).await;
                    assert!(read == bytes[range.clone()], "{size} {range:?}");
                }
                place.contents.remove(model, &hash).await.unwrap();
                place.holds(&[]);
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_is_not_the_right_one_leaves_nothing() {
    for place in places() {
        for size in [1000, 20 * MIB] {
            let right = content(size);
            let mut wrong = right.clone();
            wrong[size / 2] ^= 1;
            for wish in [announced(model(), &right), unannounced(model())] {
                let upload = place.contents.receive(&wish, pieces(&wrong)).await.unwrap();
                assert_eq!(upload.received.sha256, sha256(&wrong));
                assert!(place.contents.names().await.unwrap().is_empty(), "it has no name yet");
                place.contents.discard(upload).await;
                place.holds(&[]);
            }
        }
    }
}

#[tokio::test]
async fn a_sender_that_breaks_off_leaves_nothing() {
    for place in places() {
        for size in [1000, 20 * MIB] {
            let cut = stream::iter([Err(io::Error::other("cut"))]);
            let content = pieces(&content(size)).chain(cut);
            let error = place.contents.receive(&unannounced(model()), content).await.unwrap_err();
            assert!(matches!(error, ReceiveError::Cut), "{error:?}");
            place.holds(&[]);
        }
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_nothing() {
    for place in places() {
        let upload = place.receive(model(), &content(20 * MIB)).await.unwrap();
        drop(upload);
        until("the upload to end", || place.everything() == (BTreeSet::new(), 0)).await;
        // The receiver is dropped in the middle of an upload.
        let endless = pieces(&content(20 * MIB)).chain(stream::pending());
        let wish = unannounced(model());
        let receiving = place.contents.receive(&wish, endless);
        let _elapsed = tokio::time::timeout(Duration::from_secs(1), receiving).await.unwrap_err();
        until("the upload to end", || place.everything() == (BTreeSet::new(), 0)).await;
        place.contents.tidy().await;
        place.holds(&[]);
    }
}

#[tokio::test]
async fn the_same_file_sent_twice_at_once_is_one_file() {
    for place in places() {
        for size in [1000, 20 * MIB] {
            let (model, bytes) = (model(), content(size));
            let wish = announced(model, &bytes);
            tokio::join!(place.keep(&wish, &bytes), place.keep(&wish, &bytes));
            place.holds(&[&name(model, &bytes)]);
            assert!(place.read(model, &sha256(&bytes), 0..size).await == bytes);
            place.contents.remove(model, &sha256(&bytes)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_as_that_and_deleting_it_is_no_fault() {
    for place in places() {
        let hash = sha256(b"never");
        let missing = place.contents.read(model(), &hash, 0..5).await;
        assert!(matches!(missing.err(), Some(ContentError::Missing)));
        place.contents.remove(model(), &hash).await.unwrap();
        place.contents.probe().await.unwrap();
        place.holds(&[]);
    }
}

#[test]
fn no_name_can_lead_elsewhere() {
    for text in ["../../other", "..", "a/b", "", "%2e%2e"] {
        assert!(text.parse::<ModelId>().is_err() && text.parse::<Sha256Hex>().is_err(), "{text}");
    }
}

#[tokio::test]
async fn what_stands_beside_the_prefix_is_not_touched_and_not_seen() {
    let Some(place) = Place::bucket() else { return };
    let bucket = place.store.as_ref().unwrap().bucket();
    std::fs::create_dir_all(bucket.join("link/models-of-others")).unwrap();
    let others = ["mine.txt", "link/mine.txt", "link/models-of-others/mine.txt"];
    for name in others {
        std::fs::write(bucket.join(name), "mine").unwrap();
    }
    let (model, bytes) = (model(), content(20 * MIB));
    place.keep(&unannounced(model), &bytes).await;
    assert_eq!(place.contents.names().await.unwrap(), BTreeSet::from([name(model, &bytes)]));
    place.contents.remove(model, &sha256(&bytes)).await.unwrap();
    assert_eq!(place.everything().0, others.map(str::to_owned).into());
}

#[tokio::test]
async fn a_store_that_dies_during_an_upload_leaves_no_file_and_the_next_upload_works() {
    let Some(mut place) = Place::bucket() else { return };
    let bytes = content(40 * MIB);
    let model = model();
    let mut store = place.store.take();
    let (head, rest) = (pieces(&bytes[..35 * MIB]), pieces(&bytes[35 * MIB..]));
    let killed = stream::once(async {
        // At this point two parts have been sent or are being sent.
        store.as_mut().unwrap().kill();
        Ok(Bytes::new())
    });
    let content = head.chain(killed).chain(rest);
    let received = place.contents.receive(&announced(model, &bytes), content).await;
    let Err(ReceiveError::Home(ContentError::Bucket(fault))) = received else { panic!() };
    assert!(fault.is_silence(), "{fault:?}");
    let said = fault.said();
    assert!(said.starts_with("the store does not answer") && !said.contains("X-Amz"), "{said}");

    store.as_mut().unwrap().resume();
    place.store = store;
    let left = place.everything();
    assert!(left.0.is_empty() && left.1 > 0, "parts that no list shows: {left:?}");
    assert_eq!(place.notes(), 1);
    place.keep(&announced(model, &bytes), &bytes).await;
    assert!(place.read(model, &sha256(&bytes), 0..bytes.len()).await == bytes);
    place.contents.tidy().await;
    place.holds(&[&name(model, &bytes)]);
}

#[tokio::test]
async fn what_a_killed_backend_had_begun_is_deleted_at_the_next_start() {
    let Some(mut place) = Place::bucket() else { return };
    let bytes = content(20 * MIB);
    for wish in [announced(model(), &bytes), unannounced(model())] {
        let upload = place.contents.receive(&wish, pieces(&bytes)).await.unwrap();
        // The upload is not dropped, as when the process is killed.
        std::mem::forget(upload);
    }
    assert!(place.everything().1 > 0 && place.notes() == 3);
    place.contents.tidy().await;
    assert_eq!(place.notes(), 3, "a tidying beside them leaves uploads alone that run");
    place.contents = open(&place.data, &config(&place.store.as_ref().unwrap().endpoint()));
    place.contents.tidy().await;
    place.holds(&[]);
}

#[tokio::test]
async fn a_store_that_is_away_when_the_backend_starts_is_asked_again_later() {
    let Some(mut place) = Place::bucket() else { return };
    let upload = place.receive(model(), &content(20 * MIB)).await.unwrap();
    place.store.as_mut().unwrap().kill();
    place.contents.discard(upload).await;
    place.contents.tidy().await;
    assert_eq!(place.notes(), 1);
    place.store.as_mut().unwrap().resume();
    place.contents.tidy().await;
    place.holds(&[]);
}

#[tokio::test]
async fn a_store_that_refuses_is_told_in_its_words_and_no_secret_with_them() {
    let Some(place) = Place::bucket() else { return };
    let right = config(&place.store.as_ref().unwrap().endpoint());
    let other = |change: fn(&mut BucketConfig)| {
        let mut config = right.clone();
        change(&mut config);
        open(&place.data, &config)
    };
    let big = content(20 * MIB);
    for (contents, expected) in [
        (other(|config| config.secret_key = Secret::new("wrong-horse")), "SignatureDoesNotMatch"),
        (other(|config| config.access_key = "nobody".to_owned()), "403"),
        (other(|config| config.bucket = "nowhere".to_owned()), "NoSuchBucket"),
    ] {
        let Err(ContentError::Bucket(fault)) = contents.names().await else { panic!() };
        assert!(!fault.is_silence(), "{fault:?}");
        let said = format!("{} {fault:?} {contents:?}", fault.said());
        assert!(said.contains(expected), "{said}");
        for secret in ["horse", "X-Amz", "Signature="] {
            assert!(!said.contains(secret), "{said}");
        }
        // The test server accepts parts for a bucket that does not exist.
        if expected != "NoSuchBucket" {
            contents.receive(&unannounced(model()), pieces(&big)).await.unwrap_err();
        }
    }
    assert!(place.contents.names().await.unwrap().is_empty());
    let nobody = open(&place.data, &config("http://127.0.0.1:1"));
    let Err(ContentError::Bucket(fault)) = nobody.probe().await else { panic!() };
    assert!(matches!(fault, BucketFault::Unreachable(Some(_))), "{fault:?}");
    assert!(!format!("{} {fault:?}", fault.said()).contains("X-Amz"), "{fault:?}");
}

#[tokio::test]
async fn a_store_that_sends_elsewhere_is_not_followed_and_hears_no_secret() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let store = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (there, here) = (elsewhere.local_addr().unwrap(), store.local_addr().unwrap());
    let heard = tokio::spawn(async move {
        let (mut stream, _) = store.accept().await.unwrap();
        let mut heard = Vec::new();
        while !heard.windows(4).any(|end| end == b"\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut heard).await.unwrap(), 0);
        }
        let answer = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{there}/\r\ncontent-length: 0\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&heard).into_owned()
    });
    let data = TempDir::new().unwrap();
    let contents = open(&data, &config(&format!("http://{here}")));
    let Err(ContentError::Bucket(fault)) = contents.names().await else { panic!() };
    assert!(matches!(fault, BucketFault::Refused { status: 307, .. }), "{fault:?}");
    let heard = heard.await.unwrap();
    assert!(heard.contains("X-Amz-Signature=") && heard.contains(ACCESS_KEY), "{heard}");
    assert!(!heard.contains(SECRET_KEY), "a signature is made with it, and it stays here");
    assert!(timeout(Duration::from_millis(200), elsewhere.accept()).await.is_err());
}

#[tokio::test]
async fn a_network_that_fails_twice_is_not_noticed() {
    let Some(place) = Place::bucket() else { return };
    let bytes = content(20 * MIB);
    for fault in [Fault::Status(503), Fault::Status(429), Fault::Closed] {
        let endpoint = place.store.as_ref().unwrap().endpoint();
        let between = unreliable::between(&endpoint, fault, 2).await;
        let contents = open(&place.data, &config(&between));
        let model = model();
        let wish = announced(model, &bytes);
        let upload = contents.receive(&wish, pieces(&bytes)).await.unwrap();
        contents.keep(model, upload).await.unwrap();
        place.holds(&[&name(model, &bytes)]);
        place.contents.remove(model, &sha256(&bytes)).await.unwrap();
    }
}

#[tokio::test]
async fn a_file_whose_keeping_was_done_and_not_answered_is_kept() {
    let Some(place) = Place::bucket() else { return };
    let bytes = content(20 * MIB);
    let endpoint = place.store.as_ref().unwrap().endpoint();
    for times in [1, 3] {
        let between = unreliable::between(&endpoint, Fault::AnswerLost, times).await;
        let contents = open(&place.data, &config(&between));
        let model = model();
        let upload = contents.receive(&announced(model, &bytes), pieces(&bytes)).await.unwrap();
        contents.keep(model, upload).await.unwrap();
        let (names, unfinished) = place.everything();
        assert_eq!((names, unfinished), (BTreeSet::from([name(model, &bytes)]), 0));
        assert!(place.read(model, &sha256(&bytes), 0..bytes.len()).await == bytes);
        place.contents.remove(model, &sha256(&bytes)).await.unwrap();
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_deleted_now_is_deleted_later() {
    let Some(mut place) = Place::bucket() else { return };
    let (model, bytes) = (model(), content(1000));
    place.keep(&announced(model, &bytes), &bytes).await;
    place.store.as_mut().unwrap().kill();
    place.contents.remove(model, &sha256(&bytes)).await.unwrap();
    place.store.as_mut().unwrap().resume();
    assert_eq!((place.everything().0.len(), place.notes()), (1, 1));
    place.contents.tidy().await;
    place.holds(&[]);
}

#[tokio::test]
async fn more_files_than_one_answer_lists_are_all_listed() {
    let Some(place) = Place::bucket() else { return };
    let folder = place.store.as_ref().unwrap().bucket().join(PREFIX);
    std::fs::create_dir_all(&folder).unwrap();
    let names: BTreeSet<_> = (0..2_100).map(|number| format!("mdl_{number}.0")).collect();
    for name in &names {
        std::fs::write(folder.join(name), "").unwrap();
    }
    assert_eq!(place.contents.names().await.unwrap(), names);
}
