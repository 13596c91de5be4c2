//! Registration of devices: every kind of refused key, and every way to register again.

use link_protocol::registration::proof_statement;
use serde_json::{Value, json};

use crate::harness::{Answer, Device, MINUTE, World, pair, registration};

const REGISTER: &str = "/api/v1/devices/register-with-key";

async fn register(world: &World, body: Value) -> Answer {
    world.post(REGISTER, "", body).await
}

async fn devices(world: &World, user: &str) -> usize {
    world.get("/api/v1/devices", user).await.items().len()
}

// Holds: S4.3-1, S5-3a, S4.4-2, S2.1-3, S2.1-6
#[tokio::test]
async fn a_registration_key_alone_registers_one_device() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "registration").await;
    let device =
        Device::from_answer(&register(&world, registration("registration_key", &key)).await);
    assert_eq!(device.epoch, 1);
    let seen = world.get(&format!("/api/v1/devices/{}", device.id), &user).await;
    assert_eq!(seen.body["agent_version"], "1.3.0");
    assert_eq!(seen.body["online"], false);

    let mut other = registration("registration_key", &key);
    other["public_key"] = json!(pair(2).verifying());
    let refused = register(&world, other).await;
    refused.is(409, "key-used-up");
    assert!(refused.body["hint"].is_string());
    assert_eq!(devices(&world, &user).await, 1);
}

// Holds: S4.4-3
#[tokio::test]
async fn a_fleet_key_registers_as_many_devices_as_it_may() {
    let (world, user) = World::set_up().await;
    let body = json!({ "kind": "fleet", "max_devices": 2 });
    let key = world.post("/api/v1/keys", &user, body).await.text("key");
    for seed in 1..=2 {
        let mut body = registration("fleet_key", &key);
        body["public_key"] = json!(pair(seed).verifying());
        assert_eq!(register(&world, body).await.status, 201);
    }
    let mut body = registration("fleet_key", &key);
    body["public_key"] = json!(pair(3).verifying());
    register(&world, body).await.is(409, "key-used-up");
    assert_eq!(devices(&world, &user).await, 2);
    assert_eq!(world.get("/api/v1/keys", &user).await.items()[0]["devices"], 2);
}

#[tokio::test]
async fn a_key_that_is_not_good_registers_nothing_and_says_why() {
    let (world, user) = World::set_up().await;
    let good = world.key(&user, "registration").await;

    let mut mistyped = good.clone().into_bytes();
    mistyped[10] = if mistyped[10] == b'x' { b'y' } else { b'x' };
    let mistyped = String::from_utf8(mistyped).unwrap();
    for bad in [mistyped.as_str(), &good[..40], "hunter2"] {
        let refused = register(&world, registration("registration_key", bad)).await;
        refused.is(422, "key-mistyped");
        assert!(refused.body["hint"].is_string());
        assert!(!String::from_utf8_lossy(&refused.bytes).contains(bad), "{refused:?}");
    }

    let foreign = link_protocol::key::EnrolmentKey::from_secret(
        link_protocol::key::KeyKind::Registration,
        [9; 32],
    );
    let unknown = register(&world, registration("registration_key", foreign.expose())).await;
    unknown.is(401, "key-unknown");

    let expires_at = "2026-09-21T15:06:40Z";
    let body = json!({ "kind": "registration", "expires_at": expires_at });
    let expiring = world.post("/api/v1/keys", &user, body).await.text("key");
    world.advance(60 * 24 * 60 * MINUTE);
    register(&world, registration("registration_key", &expiring)).await.is(403, "key-expired");

    let login = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
    let user = world.post("/api/v1/auth/login", "", login).await.text("access_token");
    let made = world.post("/api/v1/keys", &user, json!({ "kind": "registration" })).await;
    let path = format!("/api/v1/keys/{}", made.body["info"]["key_id"].as_str().unwrap());
    assert_eq!(world.delete(&path, &user).await.status, 204);
    let revoked = register(&world, registration("registration_key", &made.text("key"))).await;
    revoked.is(403, "key-revoked");

    assert_eq!(devices(&world, &user).await, 0, "nothing is half registered");
}

#[tokio::test]
async fn a_registration_is_checked_before_its_key_is_used() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "registration").await;
    let fleet = world.key(&user, "fleet").await;
    let good = registration("registration_key", &key);
    for (member, value) in [
        ("name", json!("")),
        ("name", json!("x".repeat(101))),
        ("agent_version", json!("one")),
        ("public_key", json!({ "kid": "0000000000000000", "public_key": "AAAA" })),
        ("fleet_key", json!(fleet)),
        ("registration_key", json!(fleet)),
        ("device_id", json!("box")),
    ] {
        let mut body = good.clone();
        body[member] = value;
        register(&world, body).await.is(422, "invalid-request");
    }
    let mut tolerated = good;
    tolerated["colour"] = json!("unknown members of an agent are no error");
    assert_eq!(register(&world, tolerated).await.status, 201);
}

// Holds: S8-12
#[tokio::test]
async fn an_account_has_a_limit_of_devices_and_a_removed_one_frees_its_slot() {
    let world = World::with(|config| config.device_limit = 1).await;
    let user = world.create_first_account().await;
    let device = world.register(&user).await;
    let key = world.key(&user, "registration").await;
    let mut body = registration("registration_key", &key);
    body["public_key"] = json!(pair(2).verifying());
    let refused = register(&world, body.clone()).await;
    refused.is(409, "device-limit-reached");
    assert!(refused.body["hint"].is_string());

    let path = format!("/api/v1/devices/{}", device.id);
    assert_eq!(world.delete(&path, &user).await.status, 204);
    let polled = world.get(&device.path("/commands?wait=0"), &device.token).await;
    polled.is(401, "unauthorized");
    assert_eq!(register(&world, body).await.status, 201, "the refused attempt used nothing up");
}

// Holds: S3.4-5
#[tokio::test]
async fn a_device_that_deregisters_leaves_the_list_and_frees_its_slot() {
    let world = World::with(|config| config.device_limit = 1).await;
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    assert_eq!(world.delete(&device.path(""), &device.token).await.status, 204);
    assert_eq!(devices(&world, &user).await, 0);
    world.delete(&device.path(""), &device.token).await.is(401, "unauthorized");
    world.register(&user).await;
}

// Holds: S4.4-15
#[tokio::test]
async fn the_same_registration_key_wakes_the_same_device_up() {
    let world = World::with(|config| config.device_limit = 1).await;
    let user = world.create_first_account().await;
    let key = world.key(&user, "registration").await;
    let body = registration("registration_key", &key);
    let first = Device::from_answer(&register(&world, body.clone()).await);
    let mut again = body;
    again["device_id"] = json!(first.id);
    again["public_key"] = json!(pair(2).verifying());
    let second = Device::from_answer(&register(&world, again).await);
    assert_eq!((&second.id, second.epoch), (&first.id, 2));
    assert_ne!(second.token, first.token);
    world.get(&first.path("/commands?wait=0"), &first.token).await.is(401, "unauthorized");
    assert_eq!(world.get(&second.path("/commands?wait=0"), &second.token).await.status, 200);
    assert_eq!(devices(&world, &user).await, 1);
}

#[tokio::test]
async fn a_lost_answer_can_be_asked_for_again() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "registration").await;
    let body = registration("registration_key", &key);
    let first = Device::from_answer(&register(&world, body.clone()).await);
    let second = Device::from_answer(&register(&world, body).await);
    assert_eq!(first.id, second.id);
    assert_eq!(devices(&world, &user).await, 1);
}

#[tokio::test]
async fn a_fleet_key_takes_a_device_over_only_with_its_old_key_pair() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "fleet").await;
    let first = Device::from_answer(&register(&world, registration("fleet_key", &key)).await);
    world.hello(&first, 0, &[]).await;

    let mut body = registration("fleet_key", &key);
    body["device_id"] = json!(first.id);
    body["public_key"] = json!(pair(2).verifying());
    register(&world, body.clone()).await.is(403, "proof-required");
    let now = link_backend::host::clock::Clock::now(&*world.clock);
    let statement = proof_statement(first.id.parse().unwrap(), pair(2).verifying(), now);
    body["proof"] = json!({ "issued_at": now, "signature": pair(2).sign(&statement) });
    register(&world, body.clone()).await.is(403, "proof-required");
    assert_eq!(world.get(&first.path("/commands?wait=0"), &first.token).await.status, 200);

    body["proof"]["signature"] = json!(pair(1).sign(&statement));
    let second = Device::from_answer(&register(&world, body).await);
    assert_eq!((&second.id, second.epoch), (&first.id, 2));
    assert_eq!(devices(&world, &user).await, 1);
}

// Holds: S5-3b, S4.3-1
#[tokio::test]
async fn a_token_that_comes_along_must_be_valid_and_of_the_keys_account() {
    let (world, user) = World::set_up().await;
    let other = world.another_account("bob@example.org").await;
    let key = world.key(&user, "registration").await;
    let body = registration("registration_key", &key);
    world.post(REGISTER, "nonsense", body.clone()).await.is(401, "unauthorized");
    world.post(REGISTER, &other, body.clone()).await.is(401, "key-unknown");
    assert_eq!(world.post(REGISTER, &user, body).await.status, 201);
}

#[tokio::test]
async fn an_id_of_another_account_is_as_good_as_none() {
    let (world, user) = World::set_up().await;
    let other = world.another_account("bob@example.org").await;
    let theirs = world.online_device(&other).await;
    let key = world.key(&user, "fleet").await;
    let mut answers = Vec::new();
    for (seed, id) in [(1, theirs.id.as_str()), (2, "dev_00000000000000000000000000000099")] {
        let mut body = registration("fleet_key", &key);
        body["public_key"] = json!(pair(seed).verifying());
        body["device_id"] = json!(id);
        let mut answer = register(&world, body).await;
        assert_ne!(Device::from_answer(&answer).id, id);
        assert_eq!(answer.body["requested_id_unknown"], true, "{answer:?}");
        for new in ["device_id", "device_token"] {
            answer.body[new] = json!("new");
        }
        answers.push(answer.body);
    }
    assert_eq!(answers[0], answers[1], "nothing tells that the id exists elsewhere");
    assert_eq!(world.get(&theirs.path("/commands?wait=0"), &theirs.token).await.status, 200);
}

#[tokio::test]
async fn many_at_once_with_one_registration_key_make_one_device() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "registration").await;
    let attempts = (1..=20).map(|seed| {
        let mut body = registration("registration_key", &key);
        body["public_key"] = json!(pair(seed).verifying());
        register(&world, body)
    });
    let answers = futures_util::future::join_all(attempts).await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    let refused = answers.iter().filter(|answer| answer.body["code"] == "key-used-up").count();
    assert_eq!((made, refused), (1, 19));
    assert_eq!(devices(&world, &user).await, 1);
}

#[tokio::test]
async fn a_device_id_that_the_account_does_not_have_gets_another_and_is_told() {
    let (world, user) = World::set_up().await;
    let unknown = "dev_00000000000000000000000000000099";
    let key = world.key(&user, "registration").await;
    let mut body = registration("registration_key", &key);
    body["device_id"] = json!(unknown);
    let answer = register(&world, body.clone()).await;
    let device = Device::from_answer(&answer);
    assert_ne!(device.id.to_string(), unknown);
    assert_eq!(answer.body["requested_id_unknown"], true, "{answer:?}");
    // The backend recognizes the device by its own id, with the same key and the same key pair.
    body["device_id"] = json!(device.id);
    let again = register(&world, body).await;
    assert_eq!(again.status, 201, "{again:?}");
    assert_ne!(again.body["requested_id_unknown"], true, "{again:?}");
}

/// Returns a registration of `device` with the proof of its key pair.
fn again(world: &World, device: &Device, kind: &str, key: &str) -> Value {
    let mut body = registration(kind, key);
    let now = link_backend::host::clock::Clock::now(&*world.clock);
    let statement = proof_statement(device.id.parse().unwrap(), pair(1).verifying(), now);
    body["device_id"] = json!(device.id);
    body["proof"] = json!({ "issued_at": now, "signature": pair(1).sign(&statement) });
    body
}

#[tokio::test]
async fn a_second_registration_keeps_name_tags_and_models_unless_told_otherwise() {
    let (world, user) = World::set_up().await;
    let body = json!({ "kind": "fleet", "tags": ["lab"] });
    let fleet = world.post("/api/v1/keys", &user, body).await.text("key");
    let first = Device::from_answer(&register(&world, registration("fleet_key", &fleet)).await);
    world.hello(&first, 0, &[]).await;
    let path = format!("/api/v1/devices/{}", first.id);
    let change = json!({ "name": "desk", "add_tags": ["window"], "remove_tags": ["lab"] });
    let changed = world.call("PATCH", &path, &user, Some(change)).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let model = world.model(&user, false).await;
    let deployment = world.deployed(&user, &first, &model).await;

    let mut body = again(&world, &first, "fleet_key", &fleet);
    body["name"] = json!("its-host");
    body["keeps_name"] = json!(true);
    let second = Device::from_answer(&register(&world, body).await);
    assert_eq!((&second.id, second.epoch), (&first.id, 2));
    let seen = world.get(&path, &user).await.body;
    assert_eq!((&seen["name"], &seen["tags"]), (&json!("desk"), &json!(["window"])));

    let tagged = json!({ "kind": "registration", "tags": ["fresh"] });
    let made = world.post("/api/v1/keys", &user, tagged).await;
    let key = made.text("key");
    let mut body = again(&world, &first, "registration_key", &key);
    body["name"] = json!("new name");
    let third = Device::from_answer(&register(&world, body).await);
    assert_eq!((&third.id, third.epoch), (&first.id, 3));
    let seen = world.get(&path, &user).await.body;
    assert_eq!((&seen["name"], &seen["tags"]), (&json!("new name"), &json!(["window", "fresh"])));
    assert_eq!(seen["key_id"], made.body["info"]["key_id"]);
    let kept = world.get(&format!("/api/v1/deployments/{deployment}"), &user).await;
    assert_eq!((&kept.body["state"], &kept.body["current"]), (&json!("completed"), &json!(true)));
    assert_eq!(devices(&world, &user).await, 1);
}

#[tokio::test]
async fn a_key_of_another_account_is_refused_to_a_known_device_before_anything_changes() {
    let (world, user) = World::set_up().await;
    let other = world.another_account("bob@example.org").await;
    let device = world.online_device(&user).await;
    let path = format!("/api/v1/devices/{}", device.id);
    let before = world.get(&path, &user).await.body;
    for kind in ["registration", "fleet"] {
        let theirs = world.key(&other, kind).await;
        let body = again(&world, &device, &format!("{kind}_key"), &theirs);
        let refused = register(&world, body).await;
        refused.is(409, "other-account");
        assert!(refused.text("hint").contains("link device transfer"), "{refused:?}");
    }
    assert_eq!(world.get(&path, &user).await.body, before);
    assert_eq!(world.get(&device.path("/commands?wait=0"), &device.token).await.status, 200);
    assert_eq!(devices(&world, &other).await, 0);
    let keys = world.get("/api/v1/keys", &other).await;
    assert!(keys.items().iter().all(|key| key["devices"] == 0), "{keys:?}");
}
