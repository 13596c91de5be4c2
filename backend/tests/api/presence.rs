//! The presence of devices: known at once, and stored a few seconds later in one batch.

use link_protocol::counter::Seq;
use std::time::Duration;

use crate::harness::{Device, World};

const STORED: &str = "SELECT CAST(last_seen_ms AS TEXT) FROM devices WHERE device_id = $1";

#[tokio::test]
async fn who_was_heard_is_told_at_once_and_stored_a_few_seconds_later() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    world.sweep().await;
    let greeted = world.select(STORED, &device.id).await;
    world.advance(Duration::from_secs(4));
    world.poll(&device, 0).await;
    let told = shown(&world, &user, &device).await;
    world.sweep().await;
    assert_eq!(world.select(STORED, &device.id).await, greeted, "not yet");
    world.advance(Duration::from_secs(1));
    world.sweep().await;
    assert_ne!(world.select(STORED, &device.id).await, greeted);

    // A backend that starts with the stored times shows the same.
    let mut world = world;
    world.backend = link_backend::build(world.configuration()).await.unwrap();
    assert_eq!(shown(&world, &user, &device).await, told);
}

#[tokio::test]
async fn a_device_that_was_heard_a_moment_ago_is_online_and_later_it_is_not() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    for (seconds, online) in [(60, true), (14, true), (1, false)] {
        world.advance(Duration::from_secs(seconds));
        let path = format!("/api/v1/devices/{}", device.id);
        assert_eq!(world.get(&path, &user).await.body["online"], online, "{seconds} s later");
    }
    world.poll(&device, 0).await;
    let path = format!("/api/v1/devices/{}", device.id);
    assert_eq!(world.get(&path, &user).await.body["online"], true, "it polls again");
}

#[tokio::test]
async fn a_hello_of_another_version_is_stored_although_nothing_else_changed() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    world.hello(&device, 0, &[]).await;
    let body = serde_json::json!({
        "epoch": device.epoch, "boot_id": "boot", "agent_version": "1.3.1", "last_seq": 0,
        "inflight": [], "serving": [],
    });
    assert_eq!(world.post(&device.path("/hello"), &device.token, body).await.status, 200);
    let path = format!("/api/v1/devices/{}", device.id);
    assert_eq!(world.get(&path, &user).await.body["agent_version"], "1.3.1");
}

async fn shown(world: &World, user: &str, device: &Device) -> String {
    world.get(&format!("/api/v1/devices/{}", device.id), user).await.text("last_seen_at")
}

/// Thousands of devices wait, each in its own poll.
#[tokio::test]
async fn a_poll_that_waits_keeps_little() {
    let (world, user) = World::set_up().await;
    let device = world.register(&user).await;
    let app = &world.backend.app;
    let record = app.device_with_token(&device.token).await.unwrap();
    let poll = app.poll(&record, Seq::default(), Duration::ZERO);
    assert!(size_of_val(&poll) <= 1024, "{} bytes", size_of_val(&poll));
}
