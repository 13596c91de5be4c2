//! Two backends on one PostgreSQL database make the same decisions as one, whatever the clocks of
//! their machines show.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, http::Request};
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use link_backend::{
    Backend,
    host::clock::{Clock, SystemClock},
};
use link_protocol::limits::QUEUED_DEPLOYMENT_EXPIRY;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::harness::World;

/// A clock that is wrong by this offset.
struct WrongClock(SignedDuration);

impl Clock for WrongClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + self.0
    }
}

/// Starts another backend on the database of `world`. Returns `None` if the database cannot be
/// shared.
async fn beside(world: &World, clock: Arc<dyn Clock>) -> Option<Backend> {
    world.database.as_ref()?;
    let mut config = world.configuration();
    config.clock = clock;
    Some(link_backend::build(config).await.unwrap())
}

#[tokio::test]
async fn a_replica_whose_clock_is_wrong_fails_no_deployment_and_takes_no_requests() {
    let world = World::with(|config| config.clock = Arc::new(SystemClock)).await;
    let wrong = Arc::new(WrongClock(SignedDuration::from_mins(10)));
    let Some(replica) = beside(&world, wrong).await else { return };
    world.backend.app.compare_clocks().await.unwrap();
    replica.app.compare_clocks().await.unwrap();
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let wish = json!({ "device_id": device.id, "model_id": model });
    let deployment = world.post("/api/v1/deployments", &user, wish).await;
    assert_eq!(deployment.status, 202, "{deployment:?}");

    replica.app.sweep().await.unwrap();
    let path = format!("/api/v1/deployments/{}", deployment.text("deployment_id"));
    assert_eq!(world.get(&path, &user).await.text("state"), "queued");
    world.poll(&device, 0).await;
    let done = world.result(&device, &deployment.text("command_id"), "succeeded").await;
    assert_eq!(done.status, 204, "{done:?}");

    let through = async |method: &str, path: &str| {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("authorization", format!("Bearer {user}"));
        let answer = replica.router.clone().oneshot(request.body(Body::empty()).unwrap());
        let answer = answer.await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice::<Value>(&bytes).unwrap())
    };
    let (status, listed) = through("GET", "/api/v1/devices").await;
    assert_eq!((status, &listed["items"][0]["online"]), (200, &json!(true)), "{listed}");
    let repair = format!("/api/v1/models/{model}/repair-serving/{}", device.id);
    let (status, command) = through("POST", &repair).await;
    assert_eq!(status, 202, "{command}");
    let (status, told) = through("GET", "/readyz").await;
    assert!(status == 503 && told["detail"].as_str().unwrap().contains("clock"), "{told}");

    let reasons = replica.app.unready().await;
    assert!(reasons.iter().any(|reason| reason.contains("clock")), "{reasons:?}");
    assert!(world.backend.app.unready().await.is_empty());
}

#[tokio::test]
async fn one_backend_does_the_work_of_all_until_it_is_gone() {
    let world = World::new().await;
    let Some(replica) = beside(&world, world.clock.clone()).await else { return };
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let deployment = world.deploy(&user, &device, &model).await;
    assert_eq!(deployment.status, 202, "{deployment:?}");
    let path = format!("/api/v1/deployments/{}", deployment.text("deployment_id"));
    let state = async || world.get(&path, &user).await.text("state");
    let holder = async || world.select("SELECT holder FROM leases WHERE name = $1", "sweep").await;

    world.advance(QUEUED_DEPLOYMENT_EXPIRY.checked_sub(Duration::from_secs(2)).unwrap());
    world.sweep().await;
    let first = holder().await;
    assert_eq!((first.len(), state().await.as_str()), (1, "queued"));
    // The deployment is overdue now, and the lease runs for 8 s more.
    world.advance(Duration::from_secs(4));
    replica.app.sweep().await.unwrap();
    assert_eq!(holder().await, first, "a lease that runs was taken");
    assert_eq!(state().await, "queued", "a backend without the lease did the work");

    // The holder is gone, so its lease expires within 15 s.
    world.advance(Duration::from_secs(11));
    replica.app.sweep().await.unwrap();
    let second = holder().await;
    assert_ne!(second, first, "nobody took over");
    assert_eq!(state().await, "failed");

    // After an orderly shutdown, the other backends do not have to wait.
    replica.app.stop_leading().await.unwrap();
    world.advance(Duration::from_secs(4));
    world.sweep().await;
    assert_eq!(holder().await, first);
}
