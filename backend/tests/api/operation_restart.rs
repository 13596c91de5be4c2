//! An operation on many simulated devices, some of them offline, while the backend is killed twice: each device gets
//! one command, the counts are correct, and a cancellation and a retry work. On PostgreSQL two backends share the work,
//! and each is killed once.

#![expect(
    clippy::disallowed_methods,
    reason = "starts and kills the real program, and waits for it"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use axum::{body::Body, http::Request};
use http_body_util::BodyExt as _;
use link_backend::config::Config;
use link_protocol::secret::Secret;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::{
    cluster::Database,
    harness::{self, PASSWORD},
    operation::{OPERATIONS, numbered},
    restart::{Killed, call, program, run},
};

/// The number of devices of the test, and of the test with `LINK_TEST_FULL`.
const DEVICES: [u32; 2] = [160, 2_000];
/// The percentage of devices that are offline.
const OFFLINE: u32 = 15;
/// The deadline for each step.
const PATIENCE: Duration = Duration::from_secs(120);

/// One backend or, on PostgreSQL, two backends on one database.
struct Site {
    folders: Vec<TempDir>,
    database: Option<Database>,
    running: Vec<(Killed, String)>,
    rate: u32,
    user: String,
}

/// A simulated device, and the commands that it has received.
struct Simulated {
    id: String,
    token: String,
    epoch: Value,
    told: BTreeSet<String>,
    /// The sequence number of the newest command.
    seq: u64,
}

impl Site {
    /// Registers the devices with a backend in this process, which ends before the program starts.
    async fn new(count: u32) -> (Self, Vec<Simulated>) {
        let database = harness::database().await;
        let backends = if database.is_some() { 2 } else { 1 };
        let folders: Vec<_> = (0..backends).map(|_| tempfile::tempdir().unwrap()).collect();
        let mut config = Config::new(folders[0].path().to_owned());
        config.database_url = database.as_ref().map(|database| Secret::new(database.url()));
        config.password_memory_kib = 64;
        config.device_limit = count;
        let backend = link_backend::build(config).await.unwrap();
        let post = async |path: &str, token: &str, body: Value| {
            let mut request = Request::post(path).header("content-type", "application/json");
            if !token.is_empty() {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            let request = request.body(Body::from(body.to_string())).unwrap();
            let answer = backend.router.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status().as_u16(), 201);
            let bytes = answer.into_body().collect().await.unwrap().to_bytes();
            serde_json::from_slice::<Value>(&bytes).unwrap()
        };
        let token = backend.app.setup_token().unwrap();
        let setup = json!({
            "setup_token": token.expose(), "email": "ada@example.org", "password": PASSWORD,
        });
        let user = text(&post("/api/v1/setup", "", setup).await["access_token"]);
        let wish = json!({ "kind": "fleet", "tags": ["lab"] });
        let key = text(&post("/api/v1/keys", &user, wish).await["key"]);
        let mut devices = Vec::new();
        for number in 0..count {
            let path = "/api/v1/devices/register-with-key";
            let made = post(path, "", numbered(&key, number)).await;
            devices.push(Simulated {
                id: text(&made["device_id"]),
                token: text(&made["device_token"]),
                epoch: made["epoch"].clone(),
                told: BTreeSet::new(),
                seq: 0,
            });
        }
        backend.app.store().close().await;
        drop(backend);
        let rate = (count / 4).clamp(1, 1_000);
        let mut site = Self { folders, database, running: Vec::new(), rate, user };
        for place in 0..site.folders.len() {
            let started = site.start(place);
            site.running.push(started);
        }
        (site, devices)
    }

    fn start(&self, place: usize) -> (Killed, String) {
        let mut program = program(self.folders[place].path(), self.database.as_ref());
        let variable = "LINK_BACKEND_OPERATIONS_DEVICES_PER_SECOND";
        let (killed, address, _) = run({
            program.env(variable, self.rate.to_string());
            program
        });
        (killed, address)
    }

    /// Kills a backend and starts it again.
    fn kill(&mut self, place: usize) {
        let place = place % self.running.len();
        drop(self.running.remove(place));
        let started = self.start(place);
        self.running.insert(place, started);
    }

    fn call(&self, method: &str, path: &str, token: &str, body: &Value) -> Value {
        let (status, answer) = call(&self.running[0].1, method, path, token, body);
        assert!(status < 300, "{method} {path}: {status} {answer}");
        answer
    }

    fn operation(&self, id: &str) -> Value {
        self.call("GET", &format!("{OPERATIONS}/{id}"), &self.user, &Value::Null)
    }

    fn update(&self, version: &str) -> String {
        let wish = json!({ "work": { "kind": "update", "version": version }, "select": "tag=lab" });
        text(&self.call("POST", OPERATIONS, &self.user, &wish)["operation_id"])
    }

    /// Waits until `holds` is true for the counts of an operation.
    fn wait(&self, id: &str, what: &str, holds: impl Fn(&dyn Fn(&str) -> u64) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let operation = self.operation(id);
            let count = |state: &str| operation["counts"][state].as_u64().unwrap();
            let all = ["pending", "sent", "succeeded", "failed", "skipped", "cancelled"];
            let total: u64 = all.iter().map(|state| count(state)).sum();
            assert_eq!(Some(total), operation["devices"].as_u64(), "{operation}");
            if holds(&count) {
                return operation;
            }
            assert!(began.elapsed() < PATIENCE, "{what}: {operation}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends the hello of a device and reports `status` for each command in the answer.
    fn hello(&self, device: &mut Simulated, status: &str) {
        let path = format!("/api/v1/agent/{}/hello", device.id);
        let body = json!({
            "epoch": device.epoch, "boot_id": "boot", "agent_version": "1.3.0",
            "last_seq": device.seq, "inflight": [], "serving": [],
        });
        let answer = self.call("POST", &path, &device.token, &body);
        self.report(device, &answer, status);
    }

    /// Polls for a device and reports `status` for each new command.
    fn visit(&self, device: &mut Simulated, status: &str) {
        let path = format!("/api/v1/agent/{}/commands?after={}&wait=0", device.id, device.seq);
        let answer = self.call("GET", &path, &device.token, &Value::Null);
        self.report(device, &answer, status);
    }

    fn report(&self, device: &mut Simulated, answer: &Value, status: &str) {
        for command in device.take(answer) {
            let path = format!("/api/v1/agent/{}/commands/{command}/status", device.id);
            let body = json!({
                "command_id": command, "attempt": 1, "status": status, "output": "as it went",
            });
            self.call("POST", &path, &device.token, &body);
        }
    }
}

impl Simulated {
    /// Records the commands in an answer and returns the new ones.
    fn take(&mut self, answer: &Value) -> Vec<String> {
        let mut new = Vec::new();
        for signed in answer["commands"].as_array().into_iter().flatten() {
            let envelope: Value =
                serde_json::from_str(signed["envelope"].as_str().unwrap()).unwrap();
            let id = text(&envelope["command_id"]);
            self.seq = self.seq.max(envelope["seq"].as_u64().unwrap());
            if self.told.insert(id.clone()) {
                new.push(id);
            }
        }
        new
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_is_killed_twice_tells_each_device_once() {
    let full = std::env::var_os("LINK_TEST_FULL").is_some();
    let count = DEVICES[usize::from(full)];
    let (mut site, mut devices) = Site::new(count).await;
    let (offline, failing) = (count * OFFLINE / 100, count / 10);
    let online = count - offline;
    let (count, failing) = (u64::from(count), u64::from(failing));
    let cut = devices.len() - offline as usize;
    for device in &mut devices[..cut] {
        site.hello(device, "succeeded");
    }
    let id = site.update("1.4.0");
    for (place, left) in [(0, count * 3 / 4), (1, count / 3)] {
        site.wait(&id, "the middle", |of| of("pending") <= left && of("pending") > 0);
        site.kill(place);
    }
    site.wait(&id, "every device told", |of| of("pending") == 0);
    for (place, device) in devices[..cut].iter_mut().enumerate() {
        let status = if (place as u64) < failing { "failed" } else { "succeeded" };
        site.visit(device, status);
    }
    let done = site.wait(&id, "every result", |of| of("sent") == u64::from(offline));
    assert_eq!(done["counts"]["failed"], failing, "{done}");
    assert_eq!(done["counts"]["succeeded"], u64::from(online) - failing, "{done}");
    assert_eq!(done["state"], "running");
    for device in &mut devices[cut..] {
        site.hello(device, "succeeded");
    }
    let told: BTreeMap<usize, usize> = devices.iter().fold(BTreeMap::new(), |mut told, device| {
        *told.entry(device.told.len()).or_default() += 1;
        told
    });
    assert_eq!(told, BTreeMap::from([(1, devices.len())]), "each device is told once");
    let ended = site.wait(&id, "the end", |of| of("sent") == 0);
    assert_eq!(ended["state"], "failed", "{ended}");

    site.call("POST", &format!("{OPERATIONS}/{id}/retry"), &site.user, &Value::Null);
    site.wait(&id, "the devices told again", |of| of("pending") == 0);
    for device in &mut devices[..failing as usize] {
        site.visit(device, "succeeded");
    }
    let ended = site.wait(&id, "the end of the retry", |of| of("succeeded") == count);
    assert_eq!(ended["state"], "succeeded", "{ended}");
    assert_eq!(devices[0].told.len(), 2);

    let id = site.update("1.5.0");
    site.wait(&id, "some devices told", |of| of("sent") > 0 && of("pending") > 0);
    let cancelled =
        site.call("POST", &format!("{OPERATIONS}/{id}/cancel"), &site.user, &Value::Null);
    let (sent, rest) = (&cancelled["counts"]["sent"], &cancelled["counts"]["cancelled"]);
    assert!(sent.as_u64().unwrap() + rest.as_u64().unwrap() == count, "{cancelled}");
    site.kill(0);
    let before: usize = devices.iter().map(|device| device.told.len()).sum();
    for device in &mut devices {
        site.visit(device, "succeeded");
    }
    let after: usize = devices.iter().map(|device| device.told.len()).sum();
    assert_eq!(Some((after - before) as u64), sent.as_u64(), "the rest was told nothing");
    let ended = site.wait(&id, "the end after the cancel", |of| of("sent") == 0);
    assert_eq!(ended["state"], "cancelled", "{ended}");
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
