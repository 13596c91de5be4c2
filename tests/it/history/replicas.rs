//! Two backends on one PostgreSQL database, and the faults that hit them: a backend is killed, or both are, a clock is
//! wrong, the database restarts or crashes, the connections that listen for notifications end. One seed decides all
//! of it.
//!
//! Requests go to both backends all the time, as through a load balancer that ignores `/readyz`.

use std::{
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use link_client::{backend::BackendClient, http::Http};
use link_load::identities;
use link_protocol::{
    backend_api::key::CreateKey,
    id::CommandId,
    identity::Identity,
    key::{EnrolmentKey, KeyKind},
};
use link_tests::{
    backend::TestBackend,
    wait::{until, within},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;
use tokio::task::{JoinSet, block_in_place};

use crate::cluster::{Cluster, Database};
use crate::fault_proxy::FaultProxy;

/// Concurrent registrations, and the number of registrations that exceed the limit.
const AT_ONCE: usize = 50;
/// The timeout of progress after a fault, long enough for thousands of devices that reconnect to a busy machine.
const PROGRESS: Duration = Duration::from_secs(300);
/// How far a wrong clock is ahead or behind, in seconds.
const OFFSETS: [i32; 2] = [600, -600];
/// A library that shifts the clock of a program, in the seconds of `OFFSET`.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, time);
    if (!failed && clock == CLOCK_REALTIME) time->tv_sec += OFFSET;
    return failed;
}
"#;

/// The size of a run against two backends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) devices: usize,
    /// Concurrent callers, each with its share of the devices.
    pub(super) callers: usize,
    /// How long faults occur.
    pub(super) breaks_for: Duration,
    /// The longest pause between two faults.
    pub(super) pause: Duration,
    /// The number of commands that are accepted between two faults.
    pub(super) accepts: usize,
    /// The share of connections that the proxy breaks.
    pub(super) breaks: f64,
}

/// The backends and their database.
pub(super) struct Replicas<'a> {
    cluster: &'a mut Cluster,
    database: Database,
    backends: [TestBackend; 2],
    size: Size,
    /// The backend whose clock is wrong.
    wrong: Option<usize>,
    chance: StdRng,
    /// The file with the URL of the database, and the libraries that shift a clock.
    folder: TempDir,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    KillsOne,
    KillsBoth,
    /// A backend is killed, and restarted with a clock that is wrong until it is killed again.
    ShiftsClock,
    /// The database server ends its sessions and stops.
    RestartsDatabase,
    /// The database server ends without a checkpoint.
    CrashesDatabase,
    CutsListeners,
    /// The connections of all devices and callers end.
    CutsConnections,
}

impl Fault {
    const ALL: [Self; 7] = [
        Self::KillsOne,
        Self::KillsBoth,
        Self::ShiftsClock,
        Self::RestartsDatabase,
        Self::CrashesDatabase,
        Self::CutsListeners,
        Self::CutsConnections,
    ];
}

impl<'a> Replicas<'a> {
    /// Starts two backends for as many devices as `size` says, on a new database of the server.
    pub(super) async fn start(cluster: &'a mut Cluster, seed: u64, size: Size) -> Self {
        let database = Database::create(&cluster.url()).await;
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("url");
        std::fs::write(&url, database.url()).unwrap();
        std::fs::set_permissions(&url, std::fs::Permissions::from_mode(0o600)).unwrap();
        let limit = (size.devices + if limits_key(seed) { AT_ONCE } else { 0 }).to_string();
        let url = url.to_str().unwrap();
        let arguments = ["--database-url-file", url, "--device-limit", &limit];
        let first = TestBackend::start_with(&arguments).await;
        let second = first.beside(&arguments).await;
        Self {
            cluster,
            database,
            backends: [first, second],
            size,
            wrong: None,
            chance: StdRng::seed_from_u64(seed),
            folder,
        }
    }

    /// Registers more devices than are allowed, [`AT_ONCE`] at a time through both backends. The key or the account
    /// allows as many as the run needs, and exactly as many are registered.
    pub(super) async fn register(&self, seed: u64) -> Vec<Identity> {
        let key = self.key(limits_key(seed).then_some(self.size.devices)).await;
        let http = self.backends.each_ref().map(|backend| Http::new(&backend.url).unwrap());
        let mut under_way = JoinSet::new();
        let mut registered = Vec::new();
        for number in 0..self.size.devices + AT_ONCE {
            let (http, key) = (http[number % 2].clone(), key.clone());
            under_way.spawn(async move { identities::register(&http, &key, number, 1).await });
            while under_way.len() == AT_ONCE {
                registered.extend(under_way.join_next().await.unwrap().unwrap().ok());
            }
        }
        registered.extend(under_way.join_all().await.into_iter().filter_map(Result::ok));
        let identities: Vec<Identity> = registered.into_iter().flatten().collect();
        assert_eq!(identities.len(), self.size.devices, "exactly as many as may register");
        for owner in self.owners() {
            assert_eq!(owner.keys().await.unwrap()[0].devices as usize, self.size.devices);
        }
        identities
    }

    async fn key(&self, most: Option<usize>) -> EnrolmentKey {
        let request = CreateKey {
            kind: KeyKind::Fleet,
            name: String::new(),
            expires_at: None,
            max_devices: most.map(|most| u32::try_from(most).unwrap()),
            tags: vec![],
        };
        self.first().owner.create_key(&request).await.unwrap().key
    }

    pub(super) const fn first(&self) -> &TestBackend {
        &self.backends[0]
    }

    /// Returns a client of each backend.
    pub(super) fn owners(&self) -> [Arc<BackendClient>; 2] {
        self.backends.each_ref().map(|backend| Arc::clone(&backend.owner))
    }

    /// Returns the addresses of the backends.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.backends
            .iter()
            .map(|it| it.url.trim_start_matches("http://").parse().unwrap())
            .collect()
    }

    /// Breaks things until `end`, and each kind of thing at least once. Before the next fault, the callers make
    /// `progress`. Returns the number of faults.
    pub(super) async fn breaks(
        &mut self,
        end: Instant,
        ways: &FaultProxy,
        progress: &AtomicUsize,
    ) -> usize {
        let mut count = 0;
        loop {
            let mut faults = Fault::ALL;
            faults.shuffle(&mut self.chance);
            for fault in faults {
                if count >= Fault::ALL.len() && Instant::now() >= end {
                    return count;
                }
                self.happens(fault, ways).await;
                count += 1;
                let wanted = progress.load(Ordering::Relaxed) + self.size.accepts;
                within(PROGRESS, "commands to be accepted after a fault", || async {
                    (progress.load(Ordering::Relaxed) >= wanted).then_some(())
                })
                .await;
                let pause = self.size.pause.mul_f64(self.chance.random_range(0.0..1.0));
                tokio::time::sleep(pause).await;
            }
        }
    }

    async fn happens(&mut self, fault: Fault, ways: &FaultProxy) {
        match fault {
            Fault::KillsOne => {
                let one = self.chance.random_range(0..2);
                self.restart(one, None).await;
            }
            Fault::KillsBoth => {
                self.wrong = None;
                self.backends.iter_mut().for_each(TestBackend::kill);
                self.miss().await;
                let [first, second] = &mut self.backends;
                first.preload(None);
                second.preload(None);
                tokio::join!(first.restart(), second.restart());
            }
            Fault::ShiftsClock => {
                let one = self.chance.random_range(0..2);
                let offset = OFFSETS[self.chance.random_range(0..OFFSETS.len())];
                // Two wrong clocks would leave nobody who is ready.
                if let Some(other) = self.wrong.filter(|other| *other != one) {
                    self.restart(other, None).await;
                }
                self.restart(one, Some(offset)).await;
            }
            Fault::RestartsDatabase => self.restart_database("INT").await,
            Fault::CrashesDatabase => {
                let signal = if self.chance.random_bool(0.5) { "QUIT" } else { "KILL" };
                self.restart_database(signal).await;
            }
            Fault::CutsListeners => {
                let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                            WHERE query LIKE 'LISTEN %' AND datname = current_database()";
                let mut database = PgConnection::connect(&self.database.url()).await.unwrap();
                sqlx::query(kill).execute(&mut database).await.unwrap();
            }
            Fault::CutsConnections => ways.cut(),
        }
    }

    /// Kills a backend, and restarts it with a clock that is off by `offset` seconds.
    async fn restart(&mut self, one: usize, offset: Option<i32>) {
        self.backends[one].kill();
        self.miss().await;
        let library = offset.map(|offset| self.library(offset));
        self.backends[one].preload(library);
        self.backends[one].restart().await;
        if offset.is_some() {
            self.wrong = Some(one);
            self.is_ready(one, false).await;
        } else if self.wrong == Some(one) {
            self.wrong = None;
        }
    }

    async fn restart_database(&mut self, signal: &str) {
        block_in_place(|| self.cluster.end(signal));
        self.miss().await;
        block_in_place(|| self.cluster.resume());
    }

    /// Waits for a moment, in which something is not there.
    async fn miss(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.chance.random_range(0..500))).await;
    }

    /// Waits until each backend is ready, except for the one with a wrong clock.
    pub(super) async fn recovered(&self) {
        for one in 0..self.backends.len() {
            self.is_ready(one, self.wrong != Some(one)).await;
        }
    }

    /// Waits until a backend is ready or, if not `wanted`, is not because of its clock.
    async fn is_ready(&self, one: usize, wanted: bool) {
        let url = format!("{}/readyz", self.backends[one].url);
        until(if wanted { "a backend to be ready" } else { "a clock to be wrong" }, || async {
            let answer = reqwest::get(&url).await.ok()?;
            let is_ready = answer.status().is_success();
            let names_clock = answer.text().await.ok()?.contains("the clock of this machine");
            (is_ready == wanted && names_clock != wanted).then_some(())
        })
        .await;
    }

    /// Deletes a command from the database: a fault that the check must find.
    pub(super) async fn lose(&self, command: CommandId) {
        let mut database = PgConnection::connect(&self.database.url()).await.unwrap();
        let delete = sqlx::query("DELETE FROM commands WHERE command_id = $1");
        let deleted = delete.bind(command.to_string()).execute(&mut database).await.unwrap();
        assert_eq!(deleted.rows_affected(), 1);
    }

    /// Returns the library that shifts a clock by `offset` seconds.
    fn library(&self, offset: i32) -> PathBuf {
        let library = self.folder.path().join(format!("clock{offset}.so"));
        if !library.exists() {
            let source = self.folder.path().join("clock.c");
            std::fs::write(&source, CLOCK).unwrap();
            let mut compiler = Command::new("cc");
            compiler.args(["-shared", "-fPIC", "-O1", &format!("-DOFFSET=({offset})"), "-o"]);
            assert!(compiler.arg(&library).arg(&source).status().unwrap().success());
        }
        library
    }
}

/// Tells whether the key limits the number of devices in a run. Otherwise the account does.
const fn limits_key(seed: u64) -> bool {
    seed.is_multiple_of(2)
}
