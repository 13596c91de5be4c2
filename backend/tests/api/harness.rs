//! A backend in a temporary folder, with people who use it and devices that poll it. The database is a SQLite file, or a new
//! database on the PostgreSQL server that the environment names.

#![expect(clippy::disallowed_methods, reason = "reads which database the tests run on")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, header},
};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use link_backend::{Backend, config::Config, domain::sharing::Sharing, host::clock::Clock};
use link_protocol::{
    envelope::Envelope,
    secret::Secret,
    signing::{Signed, SigningKey, VerifyingKey},
};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::{cluster::Database, documented};

pub(crate) const ORIGIN: &str = "https://work.example";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A clock that stands still until a test moves it.
pub(crate) struct StandingClock(AtomicI64);

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// The variable with the URL of a PostgreSQL server. Without it the tests run on SQLite.
pub(crate) const SERVER: &str = "LINK_TEST_DATABASE_SERVER";

/// A backend, its folder and its database.
pub(crate) struct World {
    pub(crate) backend: Backend,
    pub(crate) database: Option<Database>,
    pub(crate) clock: Arc<StandingClock>,
    pub(crate) folder: TempDir,
    device_limit: u32,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
    pub(crate) body: Value,
}

/// A registered device.
#[derive(Clone)]
pub(crate) struct Device {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) epoch: u64,
    pub(crate) backend_keys: Vec<VerifyingKey>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::on(database().await, tempfile::tempdir().unwrap(), change).await
    }

    pub(crate) async fn on(
        database: Option<Database>,
        folder: TempDir,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let clock = Arc::new(StandingClock(AtomicI64::new(1_790_000_000_000)));
        let mut config = configuration(&folder, &clock, database.as_ref());
        change(&mut config);
        let device_limit = config.device_limit;
        let backend = link_backend::build(config).await.unwrap();
        Self { backend, database, clock, folder, device_limit }
    }

    /// Returns the configuration of another backend on the same folder and database.
    pub(crate) fn configuration(&self) -> Config {
        configuration(&self.folder, &self.clock, self.database.as_ref())
    }

    /// Returns the service, and on PostgreSQL that of a second backend on the same database.
    pub(crate) async fn routers(&self) -> Vec<Router> {
        let mut routers = vec![self.backend.router.clone()];
        if self.database.is_some() {
            let mut config = self.configuration();
            config.device_limit = self.device_limit;
            routers.push(link_backend::build(config).await.unwrap().router);
        }
        routers
    }

    /// Returns the text column of each row of `statement`, in which `$1` is `parameter`.
    pub(crate) async fn select(&self, statement: &'static str, parameter: &str) -> Vec<String> {
        if let Some(database) = &self.database {
            let mut connection = PgConnection::connect(&database.url()).await.unwrap();
            let query = sqlx::query_scalar(statement).bind(parameter);
            query.fetch_all(&mut connection).await.unwrap()
        } else {
            let connection = link_sqlite::open(&self.folder.path().join("link.db")).unwrap();
            let mut statement = connection.prepare(statement).unwrap();
            let rows = statement.query_map([parameter], |row| row.get(0)).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        }
    }

    /// Returns a world with the first account, and the account's access token.
    pub(crate) async fn set_up() -> (Self, String) {
        let world = Self::new().await;
        let token = world.create_first_account().await;
        (world, token)
    }

    /// Returns a world with the first account. Its accounts `ada` and `bob` may share models.
    pub(crate) async fn set_up_sharing() -> (Self, String) {
        let may_share = ["ada", "bob"].map(|name| name.parse().unwrap());
        let world = Self::with(|config| config.sharing = Sharing::Named(may_share.to_vec())).await;
        let token = world.create_first_account().await;
        (world, token)
    }

    pub(crate) async fn create_first_account(&self) -> String {
        let token = self.backend.app.setup_token().unwrap();
        let body = json!({
            "setup_token": token.expose(), "email": "ada@example.org", "password": PASSWORD
        });
        let answer = self.post("/api/v1/setup", "", body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.text("access_token")
    }

    /// Creates another account and returns its access token.
    pub(crate) async fn another_account(&self, email: &str) -> String {
        self.backend.app.add_account(email, None, Secret::new(PASSWORD)).await.unwrap();
        let body = json!({ "email": email, "password": PASSWORD });
        self.post("/api/v1/auth/login", "", body).await.text("access_token")
    }

    /// Adds a member to the account of `inviter` and returns the member's access token.
    pub(crate) async fn member(&self, inviter: &str, email: &str, role: &str) -> String {
        let token = self.invitation(inviter, role).await;
        let body = json!({ "invitation_token": token, "email": email, "password": PASSWORD });
        let answer = self.post("/api/v1/members/accept", "", body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.text("access_token")
    }

    pub(crate) async fn invitation(&self, inviter: &str, role: &str) -> String {
        let body = json!({ "role": role });
        self.post("/api/v1/members/invitations", inviter, body).await.text("invitation_token")
    }

    pub(crate) fn advance(&self, by: Duration) {
        let ms = i64::try_from(by.as_millis()).unwrap();
        self.clock.0.fetch_add(ms, Ordering::SeqCst);
    }

    pub(crate) async fn sweep(&self) {
        self.backend.app.sweep().await.unwrap();
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = self.backend.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        // An event stream has no end.
        let is_stream =
            parts.headers.get("content-type").is_some_and(|it| it == "text/event-stream");
        let body = if is_stream { Body::empty() } else { body };
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let status = parts.status.as_u16();
        documented::check(method.as_str(), &path, status);
        let answer = Answer { status, headers: parts.headers, bytes, body };
        // An answer to HEAD has no body, and a browser at an unknown address gets a page.
        let is_page = answer.header("content-type") == "text/html";
        if status >= 400 && status != 416 && method != "HEAD" && !is_page {
            answer.check_problem();
        }
        answer
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<Value>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = match body {
            Some(json) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(json.to_string())
            }
            None => Body::empty(),
        };
        self.send(request.body(body).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> Answer {
        self.call("GET", path, token, None).await
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: Value) -> Answer {
        self.call("POST", path, token, Some(body)).await
    }

    /// Sends a `POST` without a body.
    pub(crate) async fn act(&self, path: &str, token: &str) -> Answer {
        self.call("POST", path, token, None).await
    }

    pub(crate) async fn put(&self, path: &str, token: &str, body: Value) -> Answer {
        self.call("PUT", path, token, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str, token: &str) -> Answer {
        self.call("DELETE", path, token, None).await
    }

    /// Creates a key of `kind` and returns it.
    pub(crate) async fn key(&self, user: &str, kind: &str) -> String {
        self.post("/api/v1/keys", user, json!({ "kind": kind })).await.text("key")
    }

    /// Registers a device that has not sent anything yet.
    pub(crate) async fn register(&self, user: &str) -> Device {
        let key = self.key(user, "registration").await;
        let answer = self
            .post("/api/v1/devices/register-with-key", "", registration("registration_key", &key))
            .await;
        Device::from_answer(&answer)
    }

    /// Registers a device and sends its hello, which brings it online.
    pub(crate) async fn online_device(&self, user: &str) -> Device {
        let device = self.register(user).await;
        self.hello(&device, 0, &[]).await;
        device
    }

    pub(crate) async fn hello(
        &self,
        device: &Device,
        last_seq: u64,
        inflight: &[&str],
    ) -> Vec<Envelope> {
        let inflight: Vec<Value> = inflight
            .iter()
            .map(|id| json!({ "command_id": id, "attempt": 1, "running": true }))
            .collect();
        let body = json!({
            "epoch": device.epoch, "boot_id": "boot", "agent_version": "1.3.0",
            "last_seq": last_seq, "inflight": inflight, "serving": [],
        });
        let answer = self.post(&device.path("/hello"), &device.token, body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        device.open(&answer)
    }

    /// Polls without waiting and returns the commands.
    pub(crate) async fn poll(&self, device: &Device, after: u64) -> Vec<Envelope> {
        let path = device.path(&format!("/commands?after={after}&wait=0"));
        let answer = self.get(&path, &device.token).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        device.open(&answer)
    }

    pub(crate) async fn receipt(&self, device: &Device, command: &str, kind: &str) -> Answer {
        let path = device.path(&format!("/commands/{command}/receipt"));
        let body = json!({ "command_id": command, "attempt": 1, "receipt": kind });
        self.post(&path, &device.token, body).await
    }

    pub(crate) async fn result(&self, device: &Device, command: &str, status: &str) -> Answer {
        let path = device.path(&format!("/commands/{command}/status"));
        let body = json!({
            "command_id": command, "attempt": 1, "status": status, "output": "as it went"
        });
        self.post(&path, &device.token, body).await
    }

    /// Adds a model with an address, ready to be deployed, and returns its id.
    pub(crate) async fn model(&self, user: &str, shared: bool) -> String {
        let body = json!({
            "name": "Tiny Model", "file_name": "tiny.gguf", "shared": shared,
            "url": "https://models.example/tiny.gguf", "sha256": "0".repeat(64), "size_bytes": 100,
        });
        let answer = self.post("/api/v1/models", user, body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.text("model_id")
    }

    pub(crate) async fn deploy(&self, user: &str, device: &Device, model: &str) -> Answer {
        let body = json!({ "device_id": device.id, "model_id": model });
        self.post("/api/v1/deployments", user, body).await
    }

    /// Deploys a model and reports success for the device.
    pub(crate) async fn deployed(&self, user: &str, device: &Device, model: &str) -> String {
        let answer = self.deploy(user, device, model).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        self.poll(device, 0).await;
        let done = self.result(device, &answer.text("command_id"), "succeeded").await;
        assert_eq!(done.status, 204, "{done:?}");
        answer.text("deployment_id")
    }

    pub(crate) async fn set_allowlist(&self, user: &str, origins: &[&str]) {
        let body = json!({ "origins": origins });
        assert_eq!(self.put("/api/v1/settings/allowlist", user, body).await.status, 200);
    }
}

impl Device {
    pub(crate) fn from_answer(answer: &Answer) -> Self {
        assert_eq!(answer.status, 201, "{answer:?}");
        Self {
            id: answer.text("device_id"),
            token: answer.text("device_token"),
            epoch: answer.body["epoch"].as_u64().unwrap(),
            backend_keys: serde_json::from_value(answer.body["backend_keys"].clone()).unwrap(),
        }
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/api/v1/agent/{}{rest}", self.id)
    }

    /// Returns the envelopes of an answer, each verified with the pinned keys.
    pub(crate) fn open(&self, answer: &Answer) -> Vec<Envelope> {
        let signed: Vec<Signed> = serde_json::from_value(answer.body["commands"].clone()).unwrap();
        signed.iter().map(|signed| signed.open(&self.backend_keys).unwrap()).collect()
    }
}

impl Answer {
    pub(crate) fn text(&self, member: &str) -> String {
        self.body[member].as_str().unwrap_or_else(|| panic!("no `{member}` in {self:?}")).to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn is(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{self:?}");
    }

    pub(crate) fn items(&self) -> &[Value] {
        assert_eq!(self.status, 200, "{self:?}");
        self.body["items"].as_array().unwrap()
    }

    /// Checks that an error is a problem document with the request's id.
    fn check_problem(&self) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        let code = self.text("code");
        assert_eq!(self.body["type"], format!("urn:link:problem:{code}"));
        assert_eq!(self.body["request_id"], self.header("x-request-id"));
        assert!(!self.text("detail").is_empty() && !self.text("title").is_empty());
        if self.status == 401 {
            assert_eq!(self.header("www-authenticate"), "Bearer");
        }
        if self.status == 429 || self.status == 503 {
            assert!(self.header("retry-after").parse::<u64>().unwrap() >= 1);
        }
    }
}

/// Creates a database, if the tests run on PostgreSQL.
pub(crate) async fn database() -> Option<Database> {
    let server = std::env::var(SERVER).ok()?;
    Some(Database::create(&server).await)
}

fn configuration(
    folder: &TempDir,
    clock: &Arc<StandingClock>,
    database: Option<&Database>,
) -> Config {
    let mut config = Config::new(folder.path().to_owned());
    config.database_url = database.map(|database| Secret::new(database.url()));
    config.clock = Arc::<StandingClock>::clone(clock);
    config.password_memory_kib = 64;
    config.allowed_origins = vec![ORIGIN.parse().unwrap()];
    config
}

/// Returns the body of a registration with the key pair of seed 1.
pub(crate) fn registration(kind: &str, key: &str) -> Value {
    let public_key = pair(1).verifying().clone();
    json!({
        kind: key, "name": "box", "agent_version": "1.3.0", "public_key": public_key,
        "platform": { "os": "linux", "arch": "x86_64", "hostname": "box" },
    })
}

pub(crate) fn pair(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const SECOND: Duration = Duration::from_secs(1);
