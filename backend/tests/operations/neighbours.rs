//! Two backends on one PostgreSQL server: a change at one backend ends a wait at the other at once.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "makes files for real programs, and says how long they took"
)]

use std::{
    os::unix::fs::PermissionsExt as _,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use link_protocol::signing::SigningKey;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};

use crate::{
    cluster::Cluster,
    program::{Place, Running, send},
};

/// Much shorter than the 15 seconds after which a wait checks by itself, but long enough for a busy
/// machine.
const AT_ONCE: Duration = Duration::from_secs(5);
/// The deadline for restoring lost connections, which usually takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// Two backends, and a device with a model.
struct Scene {
    cluster: Cluster,
    here: Running,
    there: Running,
    user: String,
    device: String,
    token: String,
    model: String,
    _places: [Place; 2],
}

/// A waiting request, and the time of its answer.
type Parked = JoinHandle<(u16, Value, Instant)>;

impl Scene {
    fn new(cluster: Cluster) -> Self {
        let places = [Place::new(), Place::new()];
        let [here, there] = places.each_ref().map(|place| {
            let file = place.file("url", &format!("{}\n", cluster.url()));
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            let file = file.to_str().unwrap();
            place.serve(&["--database-url-file", file, "--metrics-listen", "127.0.0.1:0"])
        });
        let user = here.set_up();
        let ask = |path: &str, body: &Value| here.call("POST", path, &user, body).1;
        let key = ask("/api/v1/keys", &json!({ "kind": "registration" }));
        let registration = json!({
            "registration_key": key["key"], "name": "box", "agent_version": "1.3.0",
            "public_key": SigningKey::from_seed(&[1; 32]).verifying(),
            "platform": { "os": "linux", "arch": "x86_64", "hostname": "box" },
        });
        let device = ask("/api/v1/devices/register-with-key", &registration);
        let model = ask(
            "/api/v1/models",
            &json!({
                "name": "Tiny", "file_name": "tiny.gguf", "sha256": "0".repeat(64),
                "url": "https://models.example/tiny.gguf", "size_bytes": 100,
            }),
        );
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (model, token) = (text(&model["model_id"]), text(&device["device_token"]));
        let device = text(&device["device_id"]);
        let scene = Self { cluster, here, there, user, device, token, model, _places: places };
        let hello = json!({
            "epoch": 1, "boot_id": "boot", "agent_version": "1.3.0",
            "last_seq": 0, "inflight": [], "serving": [],
        });
        let path = format!("/api/v1/agent/{}/hello", scene.device);
        assert_eq!(scene.there.call("POST", &path, &scene.token, &hello).0, 200);
        scene
    }

    /// Starts a poll of the device at the other backend, for commands after `after`.
    fn poll(&self, after: u64) -> Parked {
        let path = format!("/api/v1/agent/{}/commands?after={after}&wait=50", self.device);
        let (address, token) = (self.there.address.clone(), self.token.clone());
        let parked = std::thread::spawn(move || {
            let (status, _, body) = send(&address, "GET", &path, &token, ("text/plain", b""));
            (status, serde_json::from_str(&body).unwrap_or(Value::Null), Instant::now())
        });
        until("the device to wait", || self.measures("link_parked_polls 1\n").then_some(()));
        // A poll counts as parked before it acknowledges. An equal repair that is not acknowledged yet is the same wish.
        until("the poll to acknowledge", || (self.unacknowledged(after) == 0).then_some(()));
        parked
    }

    /// Returns the number of commands up to `after` that the device has not acknowledged.
    fn unacknowledged(&self, after: u64) -> i64 {
        const COUNT: &str = "SELECT COUNT(*) FROM commands \
                             WHERE seq <= $1 AND state IN ('queued', 'delivered')";
        let after = i64::try_from(after).unwrap();
        self.database(async |db| sqlx::query_scalar(COUNT).bind(after).fetch_one(db).await.unwrap())
    }

    fn measures(&self, line: &str) -> bool {
        let metrics = self.there.metrics.as_ref().unwrap();
        send(metrics, "GET", "/metrics", "", ("text/plain", b"")).2.contains(line)
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.here.call("POST", path, &self.user, body);
        assert_eq!(status, 202, "{answer}");
        answer
    }

    fn repair(&self) -> Value {
        let path = format!("/api/v1/models/{}/repair-serving/{}", self.model, self.device);
        self.ask(&path, &Value::Null)
    }

    fn database<T>(&self, run: impl AsyncFnOnce(&mut PgConnection) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let mut connection = PgConnection::connect(&self.cluster.url()).await.unwrap();
            run(&mut connection).await
        })
    }

    fn listeners(&self) -> i64 {
        const COUNT: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'";
        self.database(async |db| sqlx::query_scalar(COUNT).fetch_one(db).await.unwrap())
    }
}

#[test]
fn what_one_backend_stores_ends_a_wait_at_the_other_at_once() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let scene = Scene::new(cluster);
    until("both to listen", || (scene.listeners() == 2).then_some(()));

    let parked = scene.poll(0);
    let wish = json!({ "device_id": scene.device, "model_id": scene.model });
    let since = Instant::now();
    let deployment = scene.ask("/api/v1/deployments", &wish);
    took("a deployment", since, &ended(parked, 1));

    // A wait for the result at this backend ends when the device reports to the other one.
    let id = deployment["command_id"].as_str().unwrap().to_owned();
    let (address, user) = (scene.here.address.clone(), scene.user.clone());
    let path = format!("/api/v1/commands/{id}?wait=30");
    let waiting = std::thread::spawn(move || {
        let (status, _, body) = send(&address, "GET", &path, &user, ("text/plain", b""));
        (status, serde_json::from_str::<Value>(&body).unwrap(), Instant::now())
    });
    let path = format!("/api/v1/agent/{}/commands/{id}/status", scene.device);
    let report = json!({ "command_id": id, "attempt": 1, "status": "succeeded", "output": "" });
    let since = Instant::now();
    assert_eq!(scene.there.call("POST", &path, &scene.token, &report).0, 204);
    let (status, command, at) = waiting.join().unwrap();
    assert_eq!((status, &command["result"]["status"]), (200, &json!("succeeded")), "{command}");
    took("a result", since, &(command, at));

    let parked = scene.poll(1);
    let since = Instant::now();
    scene.repair();
    took("a repair", since, &ended(parked, 2));

    // The server closes the listening connections while a poll waits and before a repair.
    let parked = scene.poll(2);
    let killed: Vec<bool> = scene.database(async |db| {
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                    WHERE query LIKE 'LISTEN %'";
        sqlx::query_scalar(kill).fetch_all(db).await.unwrap()
    });
    assert_eq!(killed, [true, true]);
    let since = Instant::now();
    scene.repair();
    let (_, at) = ended(parked, 3);
    eprintln!("a repair arrived {:?} after the listening connections were killed", at - since);
    assert!(at - since < PATIENCE);
    until("both to listen again", || (scene.listeners() == 2).then_some(()));
    eprintln!("both listened again {:?} after they were killed", since.elapsed());
    let parked = scene.poll(3);
    let since = Instant::now();
    scene.repair();
    took("a repair after that", since, &ended(parked, 4));

    // The poll of a device ends at the other backend when the device is removed at this one.
    let parked = scene.poll(4);
    let since = Instant::now();
    let path = format!("/api/v1/devices/{}", scene.device);
    assert_eq!(scene.here.call("DELETE", &path, &scene.user, &Value::Null).0, 204);
    let (status, answer, at) = parked.join().unwrap();
    assert_eq!(status, 401, "{answer}");
    took("a removal", since, &(answer, at));
}

/// Waits for the answer of a poll, which contains one command.
fn ended(parked: Parked, seq: u64) -> (Value, Instant) {
    let (status, answer, at) = parked.join().unwrap();
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["commands"].as_array().map(Vec::len), Some(1), "command {seq}: {answer}");
    (answer, at)
}

fn took(what: &str, since: Instant, (_, at): &(Value, Instant)) {
    let time = at.saturating_duration_since(since);
    eprintln!("{what} was known at the other backend after {time:?}");
    assert!(time < AT_ONCE, "{what}: {time:?}");
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
