//! The load of a device over time: what samples become, and what an answer shows of them.

use std::{cell::Cell, time::Duration};

use link_backend::{
    domain::load::{Level, Step},
    host::clock::Clock as _,
};
use link_protocol::id::DeviceId;
use serde_json::{Value, json};

use crate::harness::{Answer, Device, MINUTE, PASSWORD, World};

async fn report(world: &World, device: &Device, cpu_percent: f64) {
    let sample = json!({
        "cpu_percent": cpu_percent, "cpu_count": 8,
        "memory": { "used_bytes": 3 << 20, "total_bytes": 16 << 20 },
        "disk": { "used_bytes": 5 << 20, "free_bytes": 2 << 20, "total_bytes": 8 << 20 },
        "temperature_celsius": 41.5,
        "gpus": [
            { "name": "a", "utilisation_percent": 10.0, "memory_used_bytes": 1 << 20,
              "memory_total_bytes": 4 << 20 },
            { "name": "b", "utilisation_percent": 30.0, "memory_used_bytes": 2 << 20,
              "memory_total_bytes": 4 << 20, "temperature_celsius": 70.0 },
        ],
        "agent": { "cpu_percent": 0.1, "memory_bytes": 7 },
    });
    let answer = world.post(&device.path("/system"), &device.token, sample).await;
    assert_eq!(answer.status, 204, "{answer:?}");
}

/// Returns the metrics that the owner sees after a new login.
async fn metrics(world: &World, device: &Device, query: &str) -> Answer {
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let user = world.post("/api/v1/auth/login", "", login).await.text("access_token");
    world.get(&format!("/api/v1/devices/{}/metrics{query}", device.id), &user).await
}

fn points(answer: &Answer) -> &Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["points"].as_array().unwrap()
}

/// Returns the sum of samples, and the average of the processor load that all samples have.
fn totals(answer: &Answer) -> (u64, f64) {
    let samples = |point: &Value| point["samples"].as_u64().unwrap();
    let all: u64 = points(answer).iter().map(samples).sum();
    let sum: f64 = points(answer)
        .iter()
        .map(|point| point["cpu_percent"]["avg"].as_f64().unwrap() * samples(point) as f64)
        .sum();
    (all, sum / all as f64)
}

#[tokio::test]
async fn samples_become_points_with_minimum_average_and_maximum() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    assert!(points(&metrics(&world, &device, "").await).is_empty());
    for cpu in [10.0, 20.0, 60.0] {
        report(&world, &device, cpu).await;
        world.advance(Duration::from_secs(10));
    }
    let hour = metrics(&world, &device, "?period=1h").await;
    assert_eq!((points(&hour).len(), &hour.body["step_seconds"]), (3, &json!(10)));
    let first = &points(&hour)[0];
    assert_eq!(first["cpu_percent"], json!({ "min": 10.0, "avg": 10.0, "max": 10.0 }));
    assert_eq!(first["memory_used_bytes"]["max"], f64::from(3 << 20));
    assert_eq!((&first["gpu_percent"]["max"], &first["samples"]), (&json!(30.0), &json!(1)));
    assert_eq!(first["gpu_memory_used_bytes"]["avg"], f64::from(3 << 20));
    assert_eq!(first["gpu_temperature_celsius"]["min"], 70.0);
    assert_eq!(first["temperature_celsius"]["avg"], 41.5);
    assert_eq!(first["disk_used_bytes"]["max"], f64::from(6 << 20), "what is not free");
    assert_eq!(hour.body["gpu_memory_total_bytes"], 8 << 20);
    assert_eq!(hour.body["memory_total_bytes"], 16 << 20);

    let week = metrics(&world, &device, "?period=7d").await;
    assert_eq!((totals(&week), &week.body["step_seconds"]), ((3, 30.0), &json!(1_800)));
    let most = points(&week).iter().map(|point| point["cpu_percent"]["max"].as_f64().unwrap());
    assert_eq!(most.fold(0.0, f64::max), 60.0);
    for bad in ["?period=2h", "?period=", "?perod=1h"] {
        metrics(&world, &device, bad).await.is(422, "invalid-request");
    }
    let stranger = world.another_account("bob@example.org").await;
    let path = format!("/api/v1/devices/{}/metrics", device.id);
    world.get(&path, &stranger).await.is(404, "not-found");
}

#[tokio::test]
async fn a_device_that_sends_all_the_time_adds_one_sample_in_ten_seconds() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    for _ in 0..50 {
        report(&world, &device, 1.0).await;
        world.advance(Duration::from_secs(1));
    }
    let (samples, _) = totals(&metrics(&world, &device, "?period=1h").await);
    assert!((5..=6).contains(&samples), "{samples}");
}

#[tokio::test]
async fn old_steps_become_longer_without_losing_a_sample_and_go_after_thirty_days() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let id: DeviceId = device.id.parse().unwrap();
    for number in 0..120 {
        report(&world, &device, f64::from(number % 10)).await;
        world.advance(MINUTE);
    }
    // An average is shown with two decimals.
    let is_whole = |(samples, average): (u64, f64)| samples == 120 && (average - 4.5).abs() < 0.01;
    assert!(is_whole(totals(&metrics(&world, &device, "?period=24h").await)));
    let stored = world.backend.app.store().loads(id, 0).await.unwrap().len();
    assert_eq!(stored, 120);

    for (later, at_most) in [(2 * 60, 120), (24 * 60, 9)] {
        world.advance(later * MINUTE);
        world.backend.app.purge().await.unwrap();
        let week = metrics(&world, &device, "?period=7d").await;
        assert!(is_whole(totals(&week)), "{week:?}");
        let stored = world.backend.app.store().loads(id, 0).await.unwrap().len();
        assert!((1..=at_most).contains(&stored), "{stored} steps are stored");
    }
    world.advance(32 * 24 * 60 * MINUTE);
    world.backend.app.purge().await.unwrap();
    assert!(world.backend.app.store().loads(id, 0).await.unwrap().is_empty());
    assert!(points(&metrics(&world, &device, "?period=30d").await).is_empty());
}

#[tokio::test]
async fn samples_that_are_being_merged_are_neither_missing_nor_counted_twice() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let id: DeviceId = device.id.parse().unwrap();
    let store = world.backend.app.store();
    for round in 1..=30 {
        report(&world, &device, 1.0).await;
        world.advance(25 * 60 * MINUTE);
        let now = world.clock.now();
        let is_folded = Cell::new(false);
        let fold = async {
            for level in [Level::TenSeconds, Level::Minute] {
                store.fold_loads(level, now).await.unwrap();
            }
            is_folded.set(true);
        };
        let read = async {
            while !is_folded.get() {
                let steps = store.loads(id, 0).await.unwrap();
                let samples: Vec<_> = steps.iter().map(Step::begin).collect();
                assert_eq!(samples.len(), round, "round {round}: {samples:?}");
            }
        };
        tokio::join!(fold, read);
    }
}
