//! The load of a device: its reports, and the owner's view of them.

use link_protocol::limits;
use serde_json::{Value, json};

use crate::harness::{Answer, Device, MINUTE, World};

fn sample(cpu_percent: f64) -> Value {
    json!({
        "cpu_percent": cpu_percent, "cpu_count": 8,
        "memory": { "used_bytes": 3, "total_bytes": 16 },
        "agent": { "cpu_percent": 0.1, "memory_bytes": 7 },
        "fans": "of a later version",
    })
}

async fn report(world: &World, device: &Device, body: Value) -> Answer {
    world.post(&device.path("/system"), &device.token, body).await
}

async fn shown(world: &World, user: &str, device: &Device) -> Value {
    let mut read = world.get(&format!("/api/v1/devices/{}", device.id), user).await;
    assert_eq!(read.status, 200, "{read:?}");
    read.body["system"].take()
}

#[tokio::test]
async fn the_latest_sample_of_a_device_is_shown_with_its_time() {
    let (world, user) = World::set_up().await;
    let (device, other) = (world.online_device(&user).await, world.online_device(&user).await);
    assert!(shown(&world, &user, &device).await.is_null());

    assert_eq!(report(&world, &device, sample(12.5)).await.status, 204);
    let first = shown(&world, &user, &device).await;
    assert_eq!((&first["cpu_percent"], &first["gpus"]), (&json!(12.5), &json!([])));
    assert_eq!(first["memory"], json!({ "used_bytes": 3, "total_bytes": 16 }));
    assert!(first.get("disk").is_none() && first.get("fans").is_none(), "{first}");

    world.advance(MINUTE);
    assert_eq!(report(&world, &device, sample(99.0)).await.status, 204);
    let latest = shown(&world, &user, &device).await;
    assert_eq!(latest["cpu_percent"], 99.0);
    let time = |sample: &Value| sample["reported_at"].as_str().unwrap().parse().unwrap();
    let between = jiff::Timestamp::duration_since(time(&latest), time(&first));
    assert_eq!(between.unsigned_abs(), MINUTE);

    assert!(shown(&world, &user, &other).await.is_null(), "another device told of nothing");
    for (path, listed) in [("?limit=1", vec![None]), ("", vec![None, Some(&latest)])] {
        let list = world.get(&format!("/api/v1/devices{path}"), &user).await;
        let systems: Vec<_> = list.items().iter().map(|device| device.get("system")).collect();
        assert_eq!(systems, listed);
    }
    world.delete(&format!("/api/v1/devices/{}", device.id), &user).await;
    assert_eq!(report(&world, &device, sample(1.0)).await.status, 401);
}

#[tokio::test]
async fn a_sample_that_is_too_long_is_cut_and_one_that_is_none_is_refused() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = format!("mdl_{:032x}", 1);
    let mut long = sample(1e300);
    long["temperature_celsius"] = json!(-1e300);
    long["gpus"] = vec![json!({ "name": "\u{1b}[2J".repeat(1000), "vendor": 1 }); 99].into();
    let engine = json!({
        "model_id": model, "pid": 1, "cpu_percent": 1e9, "memory_bytes": u64::MAX
    });
    long["engines"] = vec![engine; 99].into();
    assert_eq!(report(&world, &device, long).await.status, 204);
    let kept = shown(&world, &user, &device).await;
    let count = |member: &str| kept[member].as_array().unwrap().len();
    assert_eq!(count("gpus"), limits::GPUS_REPORTED);
    assert_eq!(count("engines"), limits::ENGINES_REPORTED);
    let name = kept["gpus"][0]["name"].as_str().unwrap();
    assert_eq!(name.chars().count(), limits::GPU_NAME_LENGTH);
    assert!(!name.contains('\u{1b}'));
    assert_eq!(
        (&kept["cpu_percent"], &kept["temperature_celsius"]),
        (&json!(100.0), &json!(-273.0))
    );
    assert_eq!(kept["engines"][63]["cpu_percent"], 800.0);
    assert_eq!(kept["engines"][63]["memory_bytes"], u64::MAX);

    for (member, value) in [
        ("cpu_percent", Value::Null),
        ("cpu_count", json!(-1)),
        ("memory", json!({ "used_bytes": 3 })),
        ("gpus", json!({})),
        ("engines", json!([{ "model_id": "nonsense" }])),
    ] {
        let mut wrong = sample(1.0);
        wrong[member] = value;
        report(&world, &device, wrong).await.is(422, "invalid-request");
    }
    assert_eq!(shown(&world, &user, &device).await, kept, "what is refused replaces nothing");
}
