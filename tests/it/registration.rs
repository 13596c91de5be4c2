//! Registration as users see it: invalid keys, and devices that register again. No device is ever
//! half registered.

use std::process::Output;

use link_protocol::{
    backend_api::key::CreateKey,
    key::{EnrolmentKey, KeyKind},
};
use link_tests::{backend::TestBackend, device::TestDevice};

// Holds: S4.4-2, S4.4-3, S5-3a
#[tokio::test]
async fn a_key_alone_registers_one_device_and_a_fleet_key_many() {
    let backend = TestBackend::start().await;
    let one = TestDevice::register(&backend).await;
    let key = backend.key(KeyKind::Fleet).await;
    for _ in 0..2 {
        let device = TestDevice::unregistered();
        let mut link = device.link();
        link.args(["register", "--fleet-key", key.expose(), "--backend", &backend.url]);
        let output = link.output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        assert_ne!(device.identity().device_id, one.id);
    }
    assert_eq!(backend.owner.devices().await.unwrap().len(), 3);
}

// Holds: S8-12
#[tokio::test]
async fn a_key_that_does_not_work_says_why_and_registers_nothing() {
    let backend = TestBackend::start_with(&["--device-limit", "1"]).await;
    let device = TestDevice::unregistered();
    let good = backend.key(KeyKind::Registration).await;

    let mut mistyped = good.expose().to_owned();
    let last = if mistyped.pop() == Some('A') { 'B' } else { 'A' };
    mistyped.push(last);
    let output = register(&device, &backend.url, &mistyped);
    refused(&device, &output, 31, "key-mistyped");

    let unknown = EnrolmentKey::from_secret(KeyKind::Registration, [7; 32]);
    let output = register(&device, &backend.url, unknown.expose());
    refused(&device, &output, 31, "key-unknown");

    let expired = create(&backend, Some("2020-01-01T00:00:00Z")).await;
    if let Some(expired) = expired {
        let output = register(&device, &backend.url, expired.expose());
        refused(&device, &output, 31, "key-expired");
    }

    let revoked = backend.key(KeyKind::Registration).await;
    let keys = backend.owner.keys().await.unwrap();
    let newest = keys.iter().max_by_key(|key| (key.created_at, key.key_id)).unwrap();
    backend.owner.revoke_key(newest.key_id).await.unwrap();
    let output = register(&device, &backend.url, revoked.expose());
    refused(&device, &output, 31, "key-revoked");

    let output = register(&device, "http://127.0.0.1:9", good.expose());
    refused(&device, &output, 69, "127.0.0.1:9");

    assert!(register(&device, &backend.url, good.expose()).status.success());
    let second = TestDevice::unregistered();
    let output = register(&second, &backend.url, good.expose());
    refused(&second, &output, 31, "key-used-up");
    let other = backend.key(KeyKind::Registration).await;
    let output = register(&second, &backend.url, other.expose());
    refused(&second, &output, 77, "device-limit-reached");
    assert_eq!(backend.owner.devices().await.unwrap().len(), 1);
}

// Holds: S4.4-15
#[tokio::test]
async fn the_key_that_registered_a_device_activates_it_again_as_the_same_one() {
    let backend = TestBackend::start().await;
    let device = TestDevice::unregistered();
    let key = backend.key(KeyKind::Registration).await;
    assert!(register(&device, &backend.url, key.expose()).status.success());
    let before = device.identity();
    assert!(register(&device, &backend.url, key.expose()).status.success());
    let after = device.identity();
    assert_eq!(after.device_id, before.device_id);
    assert_eq!(after.epoch, before.epoch.next());
    assert_ne!(after.device_token, before.device_token);
    assert_eq!(backend.owner.devices().await.unwrap().len(), 1);
}

async fn create(backend: &TestBackend, expires_at: Option<&str>) -> Option<EnrolmentKey> {
    let request = CreateKey {
        kind: KeyKind::Registration,
        name: String::new(),
        expires_at: expires_at.map(|time| time.parse().unwrap()),
        max_devices: None,
        tags: vec![],
    };
    backend.owner.create_key(&request).await.ok().map(|created| created.key)
}

fn register(device: &TestDevice, backend: &str, key: &str) -> Output {
    device
        .link()
        .args(["register", "--json", "--backend", backend])
        .env("LINK_REGISTRATION_KEY", key)
        .output()
        .unwrap()
}

fn refused(device: &TestDevice, output: &Output, code: i32, says: &str) {
    let errors = errors(output);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    assert!(errors.contains(says), "{errors}");
    assert!(!device.home().join("state/identity.json").exists());
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
