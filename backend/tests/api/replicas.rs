//! Two backends on one PostgreSQL decide as one does, whatever the clocks of their machines say.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use link_backend::{
    Backend,
    host::clock::{Clock, SystemClock},
};
use serde_json::json;

use crate::harness::World;

/// The clock of a machine that was never set.
struct WrongClock(SignedDuration);

impl Clock for WrongClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + self.0
    }
}

/// Another backend on the database of `world`; `None` where the database cannot be shared.
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
    let reasons = replica.app.unready().await;
    assert!(reasons.iter().any(|reason| reason.contains("clock")), "{reasons:?}");
    assert!(world.backend.app.unready().await.is_empty());
}

#[tokio::test]
async fn one_backend_does_the_work_of_all_until_it_is_gone() {
    let world = World::new().await;
    let Some(replica) = beside(&world, world.clock.clone()).await else { return };
    let holder = async || world.select("SELECT holder FROM leases WHERE name = $1", "sweep").await;
    world.sweep().await;
    let first = holder().await;
    assert_eq!(first.len(), 1);
    world.advance(Duration::from_secs(4));
    replica.app.sweep().await.unwrap();
    assert_eq!(holder().await, first, "a lease that runs was taken");

    // The holder is gone: its lease ends within 15 s.
    world.advance(Duration::from_secs(11));
    replica.app.sweep().await.unwrap();
    let second = holder().await;
    assert_ne!(second, first, "nobody took over");

    // A backend that stops in an orderly way does not let the others wait.
    replica.app.stop_leading().await.unwrap();
    world.advance(Duration::from_secs(4));
    world.sweep().await;
    assert_eq!(holder().await, first);
}
