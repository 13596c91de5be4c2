//! A database that disconnects or has no space, while commands are submitted and acknowledged. Afterwards every accepted
//! command is stored once, and no other command was accepted. A client that disconnects keeps no lock.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "kills a server and fills a disk"
)]

use std::{
    collections::HashSet,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{body::Body, http::Request};
use futures_util::future::join_all;
use link_protocol::limits::REDELIVERY_DELAY_CAP;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection};
use tokio::runtime::Builder;
use uuid::Uuid;

use crate::{
    cluster::{Cluster, Database},
    harness::{Answer, Device, World},
};

const MODELS: usize = 4;
const DEADLINE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// A device with models, each of which is repaired repeatedly.
struct Scene {
    world: World,
    user: String,
    device: Device,
    models: Vec<String>,
    /// Whether the submitters should stop.
    is_over: AtomicBool,
    /// Whether the submitters have stopped, so that all undelivered commands are stored.
    all_is_submitted: AtomicBool,
    /// The numbers of accepted and of refused repairs so far.
    accepted: AtomicUsize,
    refused: AtomicUsize,
}

impl Scene {
    async fn new(world: World) -> Arc<Self> {
        let user = world.create_first_account().await;
        let device = world.online_device(&user).await;
        let mut models = Vec::new();
        for number in 0..MODELS {
            let model = world.model(&user, false).await;
            let wish = json!({ "device_id": device.id, "model_id": model, "port": 9000 + number });
            let answer = world.post("/api/v1/deployments", &user, wish).await;
            world.poll(&device, 0).await;
            world.result(&device, &answer.text("command_id"), "succeeded").await;
            models.push(model);
        }
        let (accepted, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (is_over, all_is_submitted) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { world, user, device, models, is_over, all_is_submitted, accepted, refused })
    }

    async fn repair(&self, model: &str, number: usize) -> Answer {
        let port = 10_000 + number % 2;
        let path = format!("/api/v1/models/{model}/repair-serving/{}?port={port}", self.device.id);
        let request = Request::post(path)
            .header("authorization", format!("Bearer {}", self.user))
            .header("idempotency-key", format!("{model} {number}"));
        self.world.send(request.body(Body::empty()).unwrap()).await
    }

    /// Submits repairs of `model` until the end, and retries each until it is accepted. Returns their ids.
    async fn submit(self: Arc<Self>, model: String) -> Vec<String> {
        let mut accepted = Vec::new();
        while !self.is_over.load(Ordering::SeqCst) {
            let since = Instant::now();
            loop {
                let answer = self.repair(&model, accepted.len()).await;
                if answer.status == 202 {
                    accepted.push(answer.text("command_id"));
                    self.accepted.fetch_add(1, Ordering::SeqCst);
                    break;
                }
                answer.is(503, "overloaded");
                self.refused.fetch_add(1, Ordering::SeqCst);
                assert!(since.elapsed() < DEADLINE, "{answer:?}");
                tokio::time::sleep(PAUSE).await;
            }
        }
        accepted
    }

    /// Polls and acknowledges until no submitted command is pending or due again.
    async fn acknowledge(self: Arc<Self>) -> HashSet<String> {
        let mut done = HashSet::new();
        let mut is_due_again = false;
        loop {
            let is_last = self.all_is_submitted.load(Ordering::SeqCst);
            let path = self.device.path("/commands?after=0&wait=0");
            let answer = self.world.get(&path, &self.device.token).await;
            let envelopes = match answer.status {
                200 => self.device.open(&answer),
                _ => {
                    answer.is(503, "overloaded");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            if is_last && envelopes.is_empty() {
                if is_due_again {
                    return done;
                }
                self.world.advance(REDELIVERY_DELAY_CAP);
                is_due_again = true;
                continue;
            }
            is_due_again = false;
            for envelope in &envelopes {
                let id = envelope.command_id.to_string();
                let answer = loop {
                    let answer = self.world.result(&self.device, &id, "succeeded").await;
                    if answer.status != 503 {
                        break answer;
                    }
                    tokio::time::sleep(PAUSE).await;
                };
                // This also holds if a newer repair has replaced the command since its delivery.
                assert_eq!(answer.status, 204, "{answer:?}");
                done.insert(id);
            }
            if envelopes.is_empty() {
                // Commands whose delivery was lost with its answer are due again later.
                self.world.advance(Duration::from_secs(1));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Waits until as many more repairs were accepted as there are submitters.
    async fn more_is_accepted(&self) {
        self.grows(&self.accepted).await;
    }

    /// Waits until as many more repairs were refused as there are submitters.
    async fn more_is_refused(&self) {
        self.grows(&self.refused).await;
    }

    async fn grows(&self, count: &AtomicUsize) {
        let wanted = count.load(Ordering::SeqCst) + MODELS;
        let since = Instant::now();
        while count.load(Ordering::SeqCst) < wanted {
            assert!(since.elapsed() < DEADLINE, "the submitters go on");
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn column(&self, statement: &'static str) -> Vec<String> {
        self.world.select(statement, &self.device.id).await
    }
}

// The server ends with the thread that started it, so this test has its own.
#[test]
fn postgresql_that_is_killed_and_restarted_loses_no_command_and_doubles_none() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let scene = runtime.block_on(async {
        let database = Database::create(&cluster.url()).await;
        Scene::new(World::on(Some(database), tempfile::tempdir().unwrap(), |_| {}).await).await
    });
    let device = runtime.spawn(Arc::clone(&scene).acknowledge());
    let submitters: Vec<_> = scene
        .models
        .iter()
        .map(|model| runtime.spawn(Arc::clone(&scene).submit(model.clone())))
        .collect();

    for signal in ["KILL", "INT", "KILL"] {
        runtime.block_on(scene.more_is_accepted());
        cluster.end(signal);
        cluster.resume();
        let since = Instant::now();
        runtime.block_on(async {
            while scene.world.get("/api/v1/models", &scene.user).await.status != 200 {
                assert!(since.elapsed() < DEADLINE);
                tokio::time::sleep(PAUSE).await;
            }
        });
        println!("PostgreSQL after SIG{signal}: answered {:?} after it was back", since.elapsed());
    }
    runtime.block_on(scene.more_is_accepted());
    scene.is_over.store(true, Ordering::SeqCst);
    runtime.block_on(async {
        let accepted: Vec<String> =
            join_all(submitters).await.into_iter().flat_map(Result::unwrap).collect();
        scene.all_is_submitted.store(true, Ordering::SeqCst);
        let done = device.await.unwrap();
        println!("{} commands accepted, {} carried out", accepted.len(), done.len());
        check(&scene, &accepted, &done).await;
    });
}

/// If a client disconnects while its request waits for a lock, the transaction of the request is rolled back as soon as it
/// gets the lock, so the next request gets the lock too.
#[test]
fn a_caller_that_gives_up_while_it_waits_for_a_lock_leaves_it_to_the_next() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let database = Database::create(&cluster.url()).await;
        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        let world = World::on(Some(database), tempfile::tempdir().unwrap(), |_| {}).await;
        let user = world.create_first_account().await;
        let device = world.register(&user).await;
        let path = format!("/api/v1/devices/{}", device.id);
        let rename = |name| world.call("PATCH", &path, &user, Some(json!({ "name": name })));

        let lock = "SELECT pg_advisory_lock($1)";
        sqlx::query(lock).bind(lock_of(&device.id)).execute(&mut other).await.unwrap();
        let given_up = tokio::time::timeout(Duration::from_secs(2), rename("first")).await;
        assert!(given_up.is_err(), "{given_up:?}");
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&mut other).await.unwrap();
        assert_eq!(waiting, 1);
        let unlock = "SELECT pg_advisory_unlock_all()";
        sqlx::query(unlock).execute(&mut other).await.unwrap();

        let since = Instant::now();
        let answer = rename("second").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        // While a lock is not released, a request waits ten seconds for it and is refused.
        assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    });
    cluster.end("INT");
}

/// Returns the number that PostgreSQL knows the lock of a device by.
fn lock_of(device: &str) -> i64 {
    let id = Uuid::parse_str(device.trim_start_matches("dev_")).unwrap();
    let digest: [u8; 32] =
        Sha256::new().chain_update("device").chain_update(id.as_bytes()).finalize().into();
    i64::from_be_bytes(*digest.first_chunk().unwrap())
}

/// Checks that every accepted command is stored once and has ended, and that nothing else is stored.
async fn check(scene: &Scene, accepted: &[String], done: &HashSet<String>) {
    let distinct: HashSet<&String> = accepted.iter().collect();
    assert_eq!(distinct.len(), accepted.len(), "no two wishes became one command");
    assert!(accepted.len() > MODELS, "something was accepted");
    let numbers =
        "SELECT CAST(c.seq AS TEXT) FROM commands c WHERE c.device_id = $1 ORDER BY c.seq";
    let expected: Vec<String> =
        (1..=accepted.len() + MODELS).map(|number| number.to_string()).collect();
    assert_eq!(scene.column(numbers).await, expected, "no gap, none too many");
    let ended = "SELECT command_id FROM commands WHERE device_id = $1 \
         AND (state = 'superseded' OR result IS NOT NULL)";
    let ended: HashSet<String> = scene.column(ended).await.into_iter().collect();
    let lost: Vec<_> = accepted.iter().filter(|id| !ended.contains(*id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let foreign: Vec<_> = done.iter().filter(|id| !distinct.contains(*id)).collect();
    assert!(foreign.is_empty(), "carried out and never accepted: {foreign:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_on_a_full_disk_accepts_nothing_loses_nothing_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path()) else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    let scene = Scene::new(World::on(None, folder, |_| {}).await).await;
    let device = tokio::spawn(Arc::clone(&scene).acknowledge());
    let submitters: tokio::task::JoinSet<_> =
        scene.models.iter().map(|model| Arc::clone(&scene).submit(model.clone())).collect();

    scene.more_is_accepted().await;
    disk.fill();
    let since = Instant::now();
    let refused = loop {
        let body = json!({ "kind": "fleet", "name": "x".repeat(90) });
        let answer = scene.world.post("/api/v1/keys", &scene.user, body).await;
        if answer.status != 201 {
            break answer;
        }
        assert!(since.elapsed() < DEADLINE, "a full disk is noticed");
    };
    refused.is(503, "overloaded");
    assert!(refused.text("detail").contains("nothing was stored"), "{refused:?}");
    assert_eq!(scene.world.get("/api/v1/models", &scene.user).await.status, 200, "it is read");
    scene.more_is_refused().await;
    disk.empty();
    let since = Instant::now();
    while scene.world.key_status(&scene.user).await != 201 {
        assert!(since.elapsed() < DEADLINE, "it goes on once there is room");
        tokio::time::sleep(PAUSE).await;
    }
    println!("SQLite after a full disk: stored again {:?} after there was room", since.elapsed());
    scene.more_is_accepted().await;
    scene.is_over.store(true, Ordering::SeqCst);
    let accepted: Vec<String> = submitters.join_all().await.into_iter().flatten().collect();
    scene.all_is_submitted.store(true, Ordering::SeqCst);
    let done = device.await.unwrap();
    println!("{} commands accepted, {} carried out", accepted.len(), done.len());
    check(&scene, &accepted, &done).await;
}

#[tokio::test]
async fn an_upload_into_a_disk_that_gets_full_is_told_so_and_leaves_room_for_logins() {
    for reserve in [6, 0] {
        let folder = tempfile::tempdir().unwrap();
        let Some(disk) = SmallDisk::mount(folder.path()) else {
            eprintln!("skipped: only root can mount a small disk");
            return;
        };
        let world = World::on(None, folder, |config| config.disk_reserve = reserve << 20).await;
        let ada = world.create_first_account().await;
        let wish = json!({ "name": "Tiny", "file_name": "tiny.gguf", "plugin": "other" });
        let model = world.post("/api/v1/models", &ada, wish).await.text("model_id");
        let pieces = (0..64).map(|_| Ok::<_, std::io::Error>(vec![1; 1 << 20]));
        let request = Request::put(format!("/api/v1/models/{model}/content"))
            .header("authorization", format!("Bearer {ada}"))
            .header("content-type", "application/octet-stream")
            .body(Body::from_stream(futures_util::stream::iter(pieces)));
        world.send(request.unwrap()).await.is(507, "insufficient-storage");
        let login = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
        assert_eq!(world.post("/api/v1/auth/login", "", login).await.status, 200);
        // Nothing of the upload is kept. Its file is deleted a moment after the answer.
        world.becomes_ready().await;
        disk.fill();
        let unready = world.get("/readyz", "").await;
        unready.is(503, "not-ready");
        assert!(unready.text("detail").contains("no room left"), "{unready:?}");
        disk.empty();
        world.becomes_ready().await;
    }
}

impl World {
    async fn becomes_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.get("/readyz", "").await.status != 200 {
            assert!(Instant::now() < deadline, "not ready: {:?}", self.get("/readyz", "").await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn key_status(&self, user: &str) -> u16 {
        self.post("/api/v1/keys", user, json!({ "kind": "fleet" })).await.status
    }
}

/// A disk of 16 MB. Dropping the value unmounts it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a disk. Returns `None` without root.
    fn mount(folder: &Path) -> Option<Self> {
        let mount = ["-t", "tmpfs", "-o", "size=16m,mode=700", "link-test"];
        let status = Command::new("mount").args(mount).arg(folder).output().ok()?.status;
        status.success().then(|| Self(folder.to_owned()))
    }

    fn fill(&self) {
        let mut file = File::create(self.0.join("filler")).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
    }

    fn empty(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(&self.0).status());
    }
}
