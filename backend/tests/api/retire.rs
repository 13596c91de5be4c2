//! Retire codes: a valid code removes its device, and all other codes remove nothing.

use jiff::Timestamp;
use link_protocol::{counter::Epoch, retire::RetireCode};
use serde_json::json;

use crate::harness::{Answer, Device, World, pair, registration};

const REGISTER: &str = "/api/v1/devices/register-with-key";
const RETIRE: &str = "/api/v1/devices/retire";

async fn retire(world: &World, code: &str) -> Answer {
    world.post(RETIRE, "", json!({ "retire_code": code })).await
}

/// Returns the retire code of `device`, signed with the key pair of `seed`.
fn code(device: &Device, seed: u8) -> RetireCode {
    let now = Timestamp::from_second(1_790_000_000).unwrap();
    RetireCode::sign(&pair(seed), device.id.parse().unwrap(), Epoch(device.epoch), now)
}

async fn devices(world: &World, user: &str) -> usize {
    world.get("/api/v1/devices", user).await.items().len()
}

// Holds: S3.4-5
#[tokio::test]
async fn a_code_removes_its_device_without_a_login_and_frees_its_slot() {
    let world = World::with(|config| config.device_limit = 1).await;
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    let key = world.key(&user, "registration").await;
    let mut another = registration("registration_key", &key);
    another["public_key"] = json!(pair(2).verifying());
    world.post(REGISTER, "", another.clone()).await.is(409, "device-limit-reached");

    let retired = retire(&world, code(&device, 1).expose()).await;
    assert_eq!((retired.status, retired.bytes.as_slice()), (204, &b""[..]));
    assert_eq!(devices(&world, &user).await, 0);
    world.get(&device.path("/commands?wait=0"), &device.token).await.is(401, "unauthorized");
    assert_eq!(world.post(REGISTER, "", another).await.status, 201);
}

#[tokio::test]
async fn whoever_did_not_sign_removes_nothing_and_learns_nothing() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let known = code(&device, 2);
    let never = Device { id: format!("dev_{:032x}", 7), ..device.clone() };
    let of_a_newer_registration = code(&Device { epoch: 2, ..device.clone() }, 2);
    let gone = world.register(&user).await;
    assert_eq!(world.delete(&gone.path(""), &gone.token).await.status, 204);

    let mut answers = Vec::new();
    for forged in [known, code(&never, 1), of_a_newer_registration, code(&gone, 1)] {
        let mut refused = retire(&world, forged.expose()).await;
        refused.is(404, "retire-code-unknown");
        assert!(refused.body["hint"].is_string());
        refused.body["request_id"].take();
        answers.push(refused.body);
    }
    assert!(answers.iter().all(|body| *body == answers[0]), "{answers:?}");
    assert_eq!(devices(&world, &user).await, 1);
    assert_eq!(world.get(&device.path("/commands?wait=0"), &device.token).await.status, 200);
}

#[tokio::test]
async fn a_code_that_came_twice_is_refused_the_second_time() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let code = code(&device, 1);
    assert_eq!(retire(&world, code.expose()).await.status, 204);
    retire(&world, code.expose()).await.is(404, "retire-code-unknown");
}

#[tokio::test]
async fn a_code_does_not_remove_a_newer_registration_of_its_device() {
    let (world, user) = World::set_up().await;
    let key = world.key(&user, "registration").await;
    let body = registration("registration_key", &key);
    let first = Device::from_answer(&world.post(REGISTER, "", body.clone()).await);
    let old = code(&first, 1);
    let second = Device::from_answer(&world.post(REGISTER, "", body.clone()).await);
    assert_eq!((&second.id, second.epoch), (&first.id, 2));
    let stale = retire(&world, old.expose()).await;
    stale.is(409, "retire-code-stale");
    assert!(stale.body["hint"].is_string());

    let mut with_new_pair = body;
    with_new_pair["device_id"] = json!(first.id);
    with_new_pair["public_key"] = json!(pair(2).verifying());
    let third = Device::from_answer(&world.post(REGISTER, "", with_new_pair).await);
    for former in [old, code(&second, 1)] {
        retire(&world, former.expose()).await.is(404, "retire-code-unknown");
    }
    assert_eq!(devices(&world, &user).await, 1);
    assert_eq!(retire(&world, code(&third, 2).expose()).await.status, 204);
    assert_eq!(devices(&world, &user).await, 0);
}

#[tokio::test]
async fn a_text_that_is_no_code_says_so_and_is_not_repeated() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let good = code(&device, 1).expose().to_owned();
    for place in [5, 50, 100, 138] {
        let mut altered = good.clone().into_bytes();
        altered[place] = if altered[place] == b'x' { b'y' } else { b'x' };
        let altered = String::from_utf8(altered).unwrap();
        let refused = retire(&world, &altered).await;
        refused.is(422, "retire-code-mistyped");
        assert!(refused.body["hint"].is_string());
        assert!(!String::from_utf8_lossy(&refused.bytes).contains(&altered), "{refused:?}");
    }
    for (bad, why) in [
        ("", "a retire code starts with `lrc_`"),
        ("hunter2", "a retire code starts with `lrc_`"),
        (&good[..100], "the code is incomplete: expected 139 characters, got 100"),
    ] {
        let refused = retire(&world, bad).await;
        refused.is(422, "retire-code-mistyped");
        assert_eq!(refused.text("detail"), why);
    }
    let more = json!({ "retire_code": good, "force": true });
    world.post(RETIRE, "", more).await.is(422, "invalid-request");
    world.post(RETIRE, "", json!({})).await.is(422, "invalid-request");
    world.get(RETIRE, "").await.is(405, "method-not-allowed");
    assert_eq!(devices(&world, &user).await, 1);
}

#[tokio::test]
async fn a_code_is_good_whatever_token_comes_along() {
    let (world, user) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    for token in ["nonsense", &bob, &user] {
        let device = world.register(&user).await;
        let body = json!({ "retire_code": code(&device, 1).expose() });
        assert_eq!(world.post(RETIRE, token, body).await.status, 204, "{token}");
    }
    assert_eq!(devices(&world, &user).await, 0);
}
