//! The bounded rate of operations: the real program sends no more requests to devices than its configuration allows.

#![expect(clippy::disallowed_methods, reason = "measures the time of the real program")]

use std::time::{Duration, Instant};

use link_protocol::signing::SigningKey;
use serde_json::{Value, json};

use crate::program::{Place, Running};

const DEVICES: u32 = 40;
const EACH_SECOND: u32 = 10;
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn an_operation_goes_to_no_more_devices_each_second_than_configured() {
    let place = Place::new();
    let text = format!("[operations]\ndevices_per_second = {EACH_SECOND}\n");
    let file = place.file("backend.toml", &text);
    let running = place.serve(&["--config", file.to_str().unwrap()]);
    let user = running.set_up();
    register_fleet(&running, &user);

    let wish = json!({ "work": { "kind": "tag", "tags": ["blue"] }, "select": "tag=lab" });
    let began = Instant::now();
    let (status, operation) = running.call("POST", "/api/v1/operations", &user, &wish);
    assert_eq!(status, 202, "{operation}");
    let path = format!("/api/v1/operations/{}", operation["operation_id"].as_str().unwrap());
    loop {
        let seen = running.call("GET", &path, &user, &Value::Null).1;
        // The time is read after the answer, so the backend had at most this long.
        let passed = began.elapsed();
        let pending = seen["counts"]["pending"].as_u64().expect("a number of devices");
        let sent = f64::from(DEVICES) - f64::from(u32::try_from(pending).unwrap());
        // The burst is what one of ten turns in a second may send.
        let most = f64::from(EACH_SECOND) * passed.as_secs_f64() + f64::from(EACH_SECOND / 10);
        assert!(sent <= most, "{sent} devices after {passed:?}");
        if seen["state"] == "succeeded" {
            break;
        }
        assert!(passed < DEADLINE, "it is not worked off: {seen}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let least = (DEVICES - EACH_SECOND / 10) / EACH_SECOND;
    assert!(began.elapsed() >= Duration::from_secs(least.into()), "{:?}", began.elapsed());
}

/// Registers the devices with the tag `lab`.
fn register_fleet(running: &Running, user: &str) {
    let wish = json!({ "kind": "fleet", "tags": ["lab"] });
    let key = running.call("POST", "/api/v1/keys", user, &wish).1;
    for number in 0..DEVICES {
        let mut seed = [7; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let body = json!({
            "fleet_key": key["key"], "name": format!("box-{number}"), "agent_version": "1.3.0",
            "platform": { "os": "linux", "arch": "x86_64", "hostname": "box" },
            "public_key": SigningKey::from_seed(&seed).verifying(),
        });
        let path = "/api/v1/devices/register-with-key";
        let (status, device) = running.call("POST", path, "", &body);
        assert_eq!(status, 201, "{device}");
    }
}
