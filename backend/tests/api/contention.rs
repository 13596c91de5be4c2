//! Conflicting requests. On PostgreSQL half of the requests go through a second backend on the same database, as on two
//! machines.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Body, http::Request};
use futures_util::future::join_all;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tower::ServiceExt as _;
use tracing::{Dispatch, Event, Subscriber, dispatcher, field::Field, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt as _},
};

use crate::harness::{World, pair, registration};

/// One request.
struct Call {
    method: &'static str,
    path: String,
    token: String,
    idempotency_key: Option<String>,
    body: Value,
}

impl Call {
    fn new(path: impl Into<String>, token: &str, body: Value) -> Self {
        Self {
            method: "POST",
            path: path.into(),
            token: token.to_owned(),
            idempotency_key: None,
            body,
        }
    }

    async fn send(self, router: Router) -> (u16, Value) {
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.path)
            .header("content-type", "application/json");
        if !self.token.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        if let Some(key) = self.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Body::from(self.body.to_string())).unwrap();
        let answer = router.oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }
}

/// Sends all requests concurrently, each on its own task and alternately through each backend.
async fn together(world: &World, calls: Vec<Call>) -> Vec<(u16, Value)> {
    let routers = world.routers().await;
    let tasks = calls.into_iter().zip(routers.iter().cycle());
    let tasks: JoinSet<_> = tasks.map(|(call, router)| call.send(router.clone())).collect();
    tasks.join_all().await
}

fn count(answers: &[(u16, Value)], status: u16) -> usize {
    answers.iter().filter(|answer| answer.0 == status).count()
}

fn enrolment(key: &str, seed: u8) -> Call {
    let mut body = registration("fleet_key", key);
    body["public_key"] = serde_json::to_value(pair(seed).verifying()).unwrap();
    Call::new("/api/v1/devices/register-with-key", "", body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_of_one_device_are_numbered_without_a_gap() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let models = join_all((0..8).map(|_| world.model(&user, false))).await;
    for (number, model) in models.iter().enumerate() {
        let wish = json!({ "device_id": device.id, "model_id": model, "port": 9000 + number });
        let answer = world.post("/api/v1/deployments", &user, wish).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        world.poll(&device, 0).await;
        world.result(&device, &answer.text("command_id"), "succeeded").await;
    }
    for round in 0..5 {
        let act = if round % 2 == 0 { "stop" } else { "serve" };
        let calls = models.iter().map(|model| {
            Call::new(format!("/api/v1/models/{model}/{act}/{}", device.id), &user, Value::Null)
        });
        let answers = together(&world, calls.collect()).await;
        assert_eq!(count(&answers, 202), 8, "{answers:?}");
    }
    let numbers =
        "SELECT CAST(c.seq AS TEXT) FROM commands c WHERE c.device_id = $1 ORDER BY c.seq";
    let expected: Vec<String> = (1..=48).map(|number: u32| number.to_string()).collect();
    assert_eq!(world.select(numbers, &device.id).await, expected);
}

/// The warnings and errors of the backend and of its connections to PostgreSQL.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let target = event.metadata().target();
        if target.starts_with("link_backend") || target.starts_with("sqlx::postgres") {
            let mut text = target.to_owned();
            event.record(&mut |field: &Field, value: &dyn Debug| {
                text.push_str(&format!(" {field}={value:?}"));
            });
            self.0.lock().unwrap().push(text);
        }
    }
}

/// A transaction that meets another is retried, which is no reason for a warning.
#[test]
fn an_account_never_has_more_devices_than_its_limit() {
    let warnings = Warnings::default();
    let layer = warnings.clone().with_filter(LevelFilter::WARN);
    let listener = Dispatch::new(Registry::default().with(layer));
    let of_worker = listener.clone();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .on_thread_start(move || std::mem::forget(dispatcher::set_default(&of_worker)))
        .build()
        .unwrap();
    dispatcher::with_default(&listener, || runtime.block_on(fifty_register_and_ten_may()));
    assert_eq!(*warnings.0.lock().unwrap(), Vec::<String>::new());
}

async fn fifty_register_and_ten_may() {
    let world = World::with(|config| config.device_limit = 10).await;
    let user = world.create_first_account().await;
    let key = world.key(&user, "fleet").await;
    let calls = (0..50).map(|seed| enrolment(&key, seed)).collect();
    let answers = together(&world, calls).await;
    assert_eq!((count(&answers, 201), count(&answers, 409)), (10, 40), "{answers:?}");
    assert_eq!(world.get("/api/v1/devices", &user).await.items().len(), 10);
    assert_eq!(world.get("/api/v1/keys", &user).await.items()[0]["devices"], 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_number_of_devices_is_exact_when_they_come_and_go_at_once() {
    let world = World::with(|config| config.device_limit = 10).await;
    let user = world.create_first_account().await;
    let key = world.key(&user, "fleet").await;
    let calls = (0..10).map(|seed| enrolment(&key, seed)).collect();
    let there = together(&world, calls).await;
    assert_eq!(count(&there, 201), 10, "{there:?}");
    let go = there.iter().map(|(_, answer)| Call {
        method: "DELETE",
        ..Call::new(
            format!("/api/v1/devices/{}", answer["device_id"].as_str().unwrap()),
            &user,
            Value::Null,
        )
    });
    // Each device is removed twice, and each removal frees the place for one registration.
    let twice = go.clone().chain(go);
    let come = (10..30).map(|seed| enrolment(&key, seed));
    let calls: Vec<Call> = twice.zip(come).flat_map(|(go, come)| [go, come]).collect();
    let answers = together(&world, calls).await;
    assert_eq!(count(&answers, 204), 10, "{answers:?}");
    let left = world.get("/api/v1/devices?limit=200", &user).await.items().len();
    assert_eq!(left, count(&answers, 201), "{answers:?}");
    let account = world.get("/api/v1/me", &user).await.text("account_id");
    let counted = "SELECT CAST(devices AS TEXT) FROM accounts WHERE account_id = $1";
    assert_eq!(world.select(counted, &account).await, [left.to_string()]);
    let calls = (30..50).map(|seed| enrolment(&key, seed)).collect();
    let more = together(&world, calls).await;
    assert_eq!(left + count(&more, 201), 10, "the limit is reached and not passed: {more:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_counted_exactly_as_often_as_it_is_used() {
    let (world, user) = World::set_up().await;
    let wish = json!({ "kind": "fleet", "max_devices": 7 });
    let key = world.post("/api/v1/keys", &user, wish).await.text("key");
    let answers = together(&world, (0..20).map(|seed| enrolment(&key, seed)).collect()).await;
    assert_eq!(count(&answers, 201), 7, "{answers:?}");
    assert_eq!(world.get("/api/v1/keys", &user).await.items()[0]["devices"], 7);
    assert_eq!(world.get("/api/v1/devices", &user).await.items().len(), 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_registrations_at_once_are_as_many_devices_as_the_key_and_the_account_allow() {
    for (uses, limit) in [(12, 30), (30, 12), (12, 12)] {
        let world = World::with(|config| config.device_limit = limit).await;
        let user = world.create_first_account().await;
        let wish = json!({ "kind": "fleet", "max_devices": uses });
        let key = world.post("/api/v1/keys", &user, wish).await.text("key");
        // Two uses of the key, and two places of the account, are gone before.
        let before = together(&world, (0..2).map(|seed| enrolment(&key, seed)).collect()).await;
        assert_eq!(count(&before, 201), 2, "{before:?}");
        let answers = together(&world, (2..52).map(|seed| enrolment(&key, seed)).collect()).await;
        let left = usize::try_from(limit.min(uses) - 2).unwrap();
        assert_eq!(count(&answers, 201), left, "{uses} uses, {limit} devices: {answers:?}");
        let refused = answers.iter().filter(|(status, _)| (400..500).contains(status)).count();
        assert_eq!(refused, 50 - left, "{answers:?}");
        let devices = world.get("/api/v1/devices", &user).await.items().len();
        let used = world.get("/api/v1/keys", &user).await.items()[0]["devices"].clone();
        assert_eq!((devices, used), (left + 2, json!(left + 2)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_machine_that_registers_many_times_at_once_is_one_device() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "registration").await;
    let body = registration("registration_key", &key);
    let path = "/api/v1/devices/register-with-key";
    let calls = (0..12).map(|_| Call::new(path, "", body.clone())).collect();
    let answers = together(&world, calls).await;
    assert_eq!(count(&answers, 201), 12, "{answers:?}");
    let devices = world.get("/api/v1/devices", &user).await;
    assert_eq!(devices.items().len(), 1);
    let mut epochs: Vec<u64> =
        answers.iter().map(|(_, answer)| answer["epoch"].as_u64().unwrap()).collect();
    epochs.sort_unstable();
    assert_eq!(epochs, (1..=12).collect::<Vec<u64>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_idempotency_key_sent_many_times_at_once_is_one_deployment() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let wish = json!({ "device_id": device.id, "model_id": model });
    let calls = (0..16).map(|_| Call {
        idempotency_key: Some("once".to_owned()),
        ..Call::new("/api/v1/deployments", &user, wish.clone())
    });
    let answers = together(&world, calls.collect()).await;
    assert_eq!(count(&answers, 202), 16, "{answers:?}");
    let first = &answers[0].1["deployment_id"];
    assert!(answers.iter().all(|(_, answer)| answer["deployment_id"] == *first), "{answers:?}");
    assert_eq!(world.get("/api/v1/deployments", &user).await.items().len(), 1);
    assert_eq!(world.poll(&device, 0).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_token_that_is_used_many_times_at_once_has_one_successor() {
    let (world, _) = World::set_up().await;
    let login = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
    let token = world.post("/api/v1/auth/login", "", login).await.text("refresh_token");
    let body = json!({ "refresh_token": token });
    let calls = (0..8).map(|_| Call::new("/api/v1/auth/refresh", "", body.clone())).collect();
    let answers = together(&world, calls).await;
    assert_eq!(count(&answers, 200), 8, "{answers:?}");
    let next = &answers[0].1["refresh_token"];
    assert!(answers.iter().all(|(_, body)| &body["refresh_token"] == next), "{answers:?}");
}
