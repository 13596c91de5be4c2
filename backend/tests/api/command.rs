//! The life of a command between backend and device: delivered, lost, redelivered, done.

use std::{sync::Arc, time::Duration};

use link_protocol::{
    counter::{Epoch, Seq},
    report::CommandResult,
};
use serde_json::json;

use crate::harness::{Device, MINUTE, SECOND, World, pair, registration};

/// A device with a model on it, and nothing in its queue. Commands start at sequence number 2.
async fn scene() -> (Arc<World>, String, Device, String) {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &device, &model).await;
    (Arc::new(world), user, device, model)
}

async fn stop(world: &World, user: &str, device: &Device, model: &str) -> String {
    let path = format!("/api/v1/models/{model}/stop/{}", device.id);
    world.act(&path, user).await.text("command_id")
}

async fn uninstall(world: &World, user: &str, device: &Device, model: &str) -> String {
    let path = format!("/api/v1/models/{model}/uninstall/{}", device.id);
    world.act(&path, user).await.text("command_id")
}

// Holds: S7-15
#[tokio::test]
async fn an_idle_poll_is_a_success_without_commands() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    assert!(world.poll(&device, 0).await.is_empty());
}

#[tokio::test]
async fn a_command_is_delivered_again_until_it_is_acknowledged() {
    let (world, user, device, model) = scene().await;
    let id = stop(&world, &user, &device, &model).await;
    let first = world.poll(&device, 1).await;
    assert_eq!((first[0].attempt, first[0].seq, first[0].epoch), (1, Seq(2), Epoch(1)));
    assert_eq!(first[0].ttl_ms, 86_400_000);
    assert!(world.poll(&device, 1).await.is_empty(), "not before 15 seconds");
    world.advance(15 * SECOND);
    let second = world.poll(&device, 1).await;
    assert_eq!((second[0].attempt, second[0].ttl_ms), (2, 86_385_000));
    world.advance(29 * SECOND);
    assert!(world.poll(&device, 1).await.is_empty());
    world.advance(SECOND);
    assert_eq!(world.poll(&device, 1).await[0].attempt, 3);

    assert_eq!(world.receipt(&device, &id, "stored").await.status, 204);
    world.advance(10 * MINUTE);
    assert!(world.poll(&device, 1).await.is_empty());
    assert_eq!(world.receipt(&device, &id, "duplicate").await.status, 204);
}

#[tokio::test]
async fn a_parked_poll_wakes_up_for_a_command() {
    let (world, user, device, model) = scene().await;
    let polling = tokio::spawn({
        let (world, device) = (Arc::clone(&world), device.clone());
        async move { world.get(&device.path("/commands?after=1&wait=30"), &device.token).await }
    });
    until_parked(&world, &user, &device).await;
    let id = stop(&world, &user, &device, &model).await;
    let answer = tokio::time::timeout(Duration::from_secs(10), polling).await.unwrap().unwrap();
    assert_eq!(device.open(&answer)[0].command_id.to_string(), id);
}

#[tokio::test]
async fn a_newer_poll_ends_the_older() {
    let (world, user, device, _) = scene().await;
    let older = tokio::spawn({
        let (world, device) = (Arc::clone(&world), device.clone());
        async move { world.get(&device.path("/commands?after=1&wait=30"), &device.token).await }
    });
    until_parked(&world, &user, &device).await;
    assert!(world.poll(&device, 1).await.is_empty());
    let older = tokio::time::timeout(Duration::from_secs(10), older).await.unwrap().unwrap();
    older.is(409, "superseded-poll");
}

#[tokio::test]
async fn a_parked_poll_ends_when_the_backend_stops_or_the_device_is_removed() {
    let (world, user, device, _) = scene().await;
    let park = || {
        let (world, device) = (Arc::clone(&world), device.clone());
        tokio::spawn(async move {
            world.get(&device.path("/commands?after=1&wait=30"), &device.token).await
        })
    };
    let draining = park();
    until_parked(&world, &user, &device).await;
    world.backend.app.drain();
    let answer = tokio::time::timeout(Duration::from_secs(10), draining).await.unwrap().unwrap();
    assert_eq!((answer.status, &answer.body["commands"]), (200, &json!([])));
}

#[tokio::test]
async fn a_parked_poll_of_a_removed_device_is_refused() {
    let (world, user, device, _) = scene().await;
    let polling = tokio::spawn({
        let (world, device) = (Arc::clone(&world), device.clone());
        async move { world.get(&device.path("/commands?after=1&wait=30"), &device.token).await }
    });
    until_parked(&world, &user, &device).await;
    let path = format!("/api/v1/devices/{}", device.id);
    assert_eq!(world.delete(&path, &user).await.status, 204);
    let answer = tokio::time::timeout(Duration::from_secs(10), polling).await.unwrap().unwrap();
    answer.is(401, "unauthorized");
}

#[tokio::test]
async fn a_lost_receipt_is_made_good_by_the_next_poll() {
    let (world, user, device, model) = scene().await;
    let id = stop(&world, &user, &device, &model).await;
    world.poll(&device, 1).await;
    assert!(world.poll(&device, 2).await.is_empty(), "its place is in the journal");
    let state = world.get(&format!("/api/v1/commands/{id}"), &user).await.text("state");
    assert_eq!(state, "processed");
}

#[tokio::test]
async fn a_hello_delivers_what_the_device_lacks() {
    let (world, user, device, model) = scene().await;
    let acknowledged = stop(&world, &user, &device, &model).await;
    world.poll(&device, 1).await;
    world.receipt(&device, &acknowledged, "stored").await;
    let waiting = uninstall(&world, &user, &device, &model).await;

    let ids = |envelopes: Vec<link_protocol::envelope::Envelope>| -> Vec<String> {
        envelopes.iter().map(|envelope| envelope.command_id.to_string()).collect()
    };
    let listed = world.hello(&device, 2, &[&acknowledged]).await;
    assert_eq!(ids(listed), std::slice::from_ref(&waiting), "the device has the other");
    let fresh = world.hello(&device, 3, &[&acknowledged, &waiting]).await;
    assert!(fresh.is_empty(), "its receipt was lost, and it has it");
    let restored = world.hello(&device, 1, &[]).await;
    assert_eq!(ids(restored), [acknowledged, waiting], "an old snapshot: both are lost");
}

#[tokio::test]
async fn a_hello_of_another_epoch_has_nothing() {
    let (world, user, mut device, model) = scene().await;
    let id = stop(&world, &user, &device, &model).await;
    world.poll(&device, 1).await;
    device.epoch = 7;
    let fresh = world.hello(&device, 9, &[&id]).await;
    assert_eq!((fresh[0].command_id.to_string(), fresh[0].epoch), (id, Epoch(1)));
}

#[tokio::test]
async fn a_registration_starts_deliveries_again_in_the_new_epoch() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "registration").await;
    let mut body = registration("registration_key", &key);
    let answer = world.post("/api/v1/devices/register-with-key", "", body.clone()).await;
    let old = Device::from_answer(&answer);
    world.hello(&old, 0, &[]).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &old, &model).await;
    let id = stop(&world, &user, &old, &model).await;
    assert_eq!(world.poll(&old, 1).await.len(), 1);

    body["device_id"] = json!(old.id);
    body["public_key"] = json!(pair(2).verifying());
    let answer = world.post("/api/v1/devices/register-with-key", "", body).await;
    let new = Device::from_answer(&answer);
    let path = format!("/api/v1/devices/{}", new.id);
    assert_eq!(world.get(&path, &user).await.body["online"], false, "it was not greeted yet");
    let again = world.poll(&new, 9).await;
    assert_eq!(
        (again[0].command_id.to_string(), again[0].epoch, again[0].seq, again[0].attempt),
        (id, Epoch(2), Seq(2), 2)
    );
}

// Holds: S6-2a
#[tokio::test]
async fn the_first_result_stays_and_a_result_is_a_receipt_too() {
    let (world, user, device, model) = scene().await;
    let id = stop(&world, &user, &device, &model).await;
    world.poll(&device, 1).await;
    assert_eq!(world.result(&device, &id, "succeeded").await.status, 204);
    assert_eq!(world.result(&device, &id, "failed").await.status, 204);
    let command = world.get(&format!("/api/v1/commands/{id}"), &user).await;
    assert_eq!(command.text("state"), "processed");
    assert_eq!(command.body["result"]["status"], json!(CommandResult::Succeeded));
    assert_eq!(command.body["result"]["output"], "as it went");
}

#[tokio::test]
async fn a_receipt_can_bring_the_result_along() {
    let (world, user, device, model) = scene().await;
    let id = stop(&world, &user, &device, &model).await;
    world.poll(&device, 1).await;
    let body = json!({
        "command_id": id, "attempt": 2, "receipt": "done",
        "result": { "command_id": id, "status": "succeeded", "output": "", "attempt": 1 },
    });
    let path = device.path(&format!("/commands/{id}/receipt"));
    assert_eq!(world.post(&path, &device.token, body.clone()).await.status, 204);
    let command = world.get(&format!("/api/v1/commands/{id}"), &user).await;
    assert_eq!(command.body["result"]["status"], "succeeded");

    let other = format!("cmd_{}", "0".repeat(32));
    let mut unknown = body.clone();
    unknown["command_id"] = json!(other);
    world.post(&path, &device.token, unknown.clone()).await.is(422, "invalid-request");
    let path = device.path(&format!("/commands/{other}/receipt"));
    unknown["receipt"] = json!("stored");
    world.post(&path, &device.token, unknown).await.is(404, "not-found");
}

#[tokio::test]
async fn waiting_for_a_result_ends_when_it_comes() {
    let (world, user, device, model) = scene().await;
    let id = stop(&world, &user, &device, &model).await;
    world.poll(&device, 1).await;
    let waiting = tokio::spawn({
        let (world, user) = (Arc::clone(&world), user.clone());
        let path = format!("/api/v1/commands/{id}?wait=30");
        async move { world.get(&path, &user).await }
    });
    world.receipt(&device, &id, "stored").await;
    world.result(&device, &id, "succeeded").await;
    let answer = tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap().unwrap();
    assert_eq!(answer.body["result"]["status"], "succeeded");
    let path = format!("/api/v1/commands/{id}?wait=31");
    world.get(&path, &user).await.is(422, "invalid-request");
}

#[tokio::test]
async fn a_queue_that_is_full_takes_no_more_but_a_cancel() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let mut deployment = String::new();
    for _ in 0..50 {
        let model = world.model(&user, false).await;
        let deployed = world.deploy(&user, &device, &model).await;
        assert_eq!(deployed.status, 202);
        deployment = deployed.text("deployment_id");
    }
    let model = world.model(&user, false).await;
    world.deploy(&user, &device, &model).await.is(429, "queue-full");
    let delivered = world.poll(&device, 0).await;
    let numbers: Vec<u64> = delivered.iter().map(|envelope| envelope.seq.0).collect();
    assert_eq!(numbers, (1..=50).collect::<Vec<_>>(), "in order, without a gap");
    let list = world.get("/api/v1/deployments?limit=200", &user).await;
    assert_eq!(list.items().len(), 50, "nothing is left of the refused one");
    let path = format!("/api/v1/deployments/{deployment}/cancel");
    assert_eq!(world.act(&path, &user).await.status, 202);
    let envelopes = world.poll(&device, 50).await;
    assert_eq!(envelopes.last().map(|envelope| envelope.seq), Some(Seq(51)));
}

/// A device reports that a command expired before it arrived.
#[tokio::test]
async fn a_device_may_find_a_command_expired() {
    let (world, user, device, model) = scene().await;
    let id = stop(&world, &user, &device, &model).await;
    world.poll(&device, 1).await;
    assert_eq!(world.receipt(&device, &id, "expired").await.status, 204);
    let state = world.get(&format!("/api/v1/commands/{id}"), &user).await.text("state");
    assert_eq!(state, "expired");
}

/// Waits until the device's poll is parked. Then the device is online, whatever the clock says.
async fn until_parked(world: &World, user: &str, device: &Device) {
    world.advance(2 * MINUTE);
    let path = format!("/api/v1/devices/{}", device.id);
    let parked = async {
        while world.get(&path, user).await.body["online"] != true {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), parked).await.unwrap();
}
