//! The slots of a backend divided among several routers: devices of each are served, and an identifier of a session leads
//! to a router but grants nothing.

use std::time::{Duration, Instant};

use link_client::zenoh::DeviceSession;
use link_protocol::{
    backend_api::command::CommandState,
    report::CommandResult,
    zenoh::{SessionId, Slot, Verb, ZenohAccess},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::{TestDevice, free_port},
    wait::until,
};
use serde_json::json;

use super::{OVER_ZENOH, configure, device_on, gate::is_heard, hostile::Hostile};

const PATIENCE: Duration = Duration::from_secs(5);

/// Starts a backend whose routers have two slots each.
async fn backend_with_small_routers(folder: &tempfile::TempDir, reserve: u32) -> TestBackend {
    let file = folder.path().join("backend.toml");
    let text = format!(
        "[zenoh]\nlisten = [\"tls/127.0.0.1:{}\"]\nreserve = {reserve}\nslots_per_router = 2\n",
        free_port()
    );
    std::fs::write(&file, text).unwrap();
    TestBackend::start_with(&["--config", file.to_str().unwrap()]).await
}

#[tokio::test]
async fn devices_of_several_routers_get_commands_and_come_back_after_a_cut() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend = backend_with_small_routers(&folder, 6).await;
    let mut devices = Vec::new();
    for _ in 0..3 {
        devices.push(device_on(&backend, &json!({"type": "zenoh"})).await);
    }
    let mut deployments = Vec::new();
    for device in [&devices[0], &devices[2]] {
        deployments.push((backend.serve_tiny(device).await, device.id));
    }
    for allowed in [&[OLD_ORIGIN, WORKSPACE][..], &[WORKSPACE]] {
        backend.allow(allowed).await;
        for (deployment, device) in &deployments {
            let repaired = backend.repair(deployment.model_id, *device, None).await;
            assert_eq!(repaired.state, CommandState::Processed);
            let result = repaired.result.unwrap();
            assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
        }
        backend.kill();
        backend.restart().await;
        for device in &devices {
            backend.online(device.id, true).await;
        }
    }
}

#[tokio::test]
async fn a_device_that_finds_no_slot_gets_a_further_router_and_no_session_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let backend = backend_with_small_routers(&folder, 1).await;
    let first = device_on(&backend, &json!({"type": "zenoh"})).await;
    let mut second = TestDevice::register(&backend).await;
    configure(&second, &json!({"type": "zenoh"}));
    second.run(&[]);
    backend.online(second.id, true).await;
    backend.online(first.id, true).await;
    assert!(backend.output().contains("routers=2"), "{}", backend.output());
    assert_eq!(first.output().matches(OVER_ZENOH).count(), 1, "{}", first.output());
    assert!(!first.output().contains("stopped answering"), "{}", first.output());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identifier_with_the_slot_of_another_gets_a_device_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let backend = backend_with_small_routers(&folder, 6).await;
    let mut registered = Vec::new();
    for seed in 1..4 {
        registered.push(Hostile::register(&backend, seed).await);
    }
    let [victim, _, hostile] = registered.as_slice() else { unreachable!() };
    let slots = [slot(victim), slot(hostile)];
    assert_eq!(slots, [0, 2], "they are at different routers");
    let session = DeviceSession::join(&victim.access, victim.key.clone()).await.unwrap();
    session.ask(Verb::Post, "hello", victim.hello(), PATIENCE).await.unwrap();

    // Its own user is unknown at the other router, and its password is not that of the other user.
    let id = SessionId::of_slot(slots[0], 1);
    let refused = hostile.try_session_with(Some(id)).await;
    assert!(refused.is_err());
    let mut thief = hostile.clone();
    thief.access =
        ZenohAccess { username: victim.access.username.clone(), ..hostile.access.clone() };
    assert!(thief.try_session_with(Some(id)).await.is_err());
    session.ask(Verb::Post, "hello", victim.hello(), PATIENCE).await.unwrap();

    let own = hostile.try_session_with(Some(SessionId::of_slot(slots[1], 1))).await.unwrap();
    assert!(is_heard(&own, hostile).await);
    assert!(!is_heard(&own, victim).await, "an identifier changes no rule");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_with_a_random_identifier_is_let_in_at_its_second_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let backend = backend_with_small_routers(&folder, 6).await;
    let mut registered = Vec::new();
    for seed in 1..4 {
        registered.push(Hostile::register(&backend, seed).await);
    }
    for (place, device) in registered.iter().enumerate() {
        let began = Instant::now();
        let session = device.try_session_with(None).await.unwrap();
        eprintln!("device {place} was let in after {:?}", began.elapsed());
        until("the backend to answer", || async { is_heard(&session, device).await.then_some(()) })
            .await;
    }
}

fn slot(device: &Hostile) -> u32 {
    Slot::named(&device.access.username).unwrap().number().unwrap()
}
