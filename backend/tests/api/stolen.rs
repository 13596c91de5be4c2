//! Stolen keys, codes and tokens: what a thief can do with them, how the owner notices, and how the owner ends it.

use std::time::Duration;

use link_protocol::{id::DeviceId, registration::proof_statement, signing::SigningKey};
use serde_json::{Value, json};

use crate::harness::{Answer, Device, PASSWORD, World, pair, registration};

const REGISTER: &str = "/api/v1/devices/register-with-key";
const ACCEPT: &str = "/api/v1/members/accept";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sends a request from `address`.
async fn from(world: &World, address: &str, path: &str, body: Value) -> Answer {
    let request = axum::http::Request::post(path)
        .header("content-type", "application/json")
        .header("x-forwarded-for", address)
        .body(axum::body::Body::from(body.to_string()));
    world.send(request.unwrap()).await
}

async fn registrations(world: &World, user: &str, device: &str) -> Vec<Value> {
    let log = world.get(&format!("/api/v1/audit?action=device&subject={device}"), user).await;
    log.items().to_vec()
}

fn of_another_machine(kind: &str, key: &str, seed: u8) -> Value {
    let mut body = registration(kind, key);
    body["public_key"] = json!(pair(seed).verifying());
    body["name"] = json!("another");
    body
}

#[tokio::test]
async fn a_thief_of_a_registration_key_gets_no_second_device_and_is_seen_taking_the_first() {
    let world = World::with(|config| config.behind_proxy = true).await;
    let ada = world.create_first_account().await;
    let made = world.post("/api/v1/keys", &ada, json!({ "kind": "registration" })).await;
    let (key, key_id) = (made.text("key"), made.body["info"]["key_id"].as_str().unwrap());
    let first = from(&world, "192.0.2.1", REGISTER, registration("registration_key", &key)).await;
    let first = Device::from_answer(&first);
    world.hello(&first, 0, &[]).await;

    // The key alone registers no second device.
    let second = of_another_machine("registration_key", &key, 2);
    from(&world, "192.0.2.66", REGISTER, second.clone()).await.is(409, "key-used-up");
    assert_eq!(world.get("/api/v1/devices", &ada).await.items().len(), 1);
    assert_eq!(registrations(&world, &ada, &first.id).await.len(), 1);

    // With the key and the id of the device, the thief takes over the record: the device is refused from then on, and
    // the owner sees the address and the key of the takeover.
    let mut takeover = second;
    takeover["device_id"] = json!(first.id);
    let thief = from(&world, "192.0.2.66", REGISTER, takeover.clone()).await;
    let thief = Device::from_answer(&thief);
    assert_eq!((&thief.id, thief.epoch), (&first.id, 2));
    for (method, path) in
        [("GET", "/commands?wait=0"), ("POST", "/hello"), ("PUT", "/status"), ("DELETE", "")]
    {
        let answer = world.call(method, &first.path(path), &first.token, Some(json!({}))).await;
        answer.is(401, "unauthorized");
    }
    let seen = registrations(&world, &ada, &first.id).await;
    let addresses: Vec<&str> =
        seen.iter().map(|entry| entry["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["192.0.2.66", "192.0.2.1"]);
    assert_eq!(seen[0]["detail"], format!("another, with {key_id}"));
    let shown = world.get(&format!("/api/v1/devices/{}", first.id), &ada).await;
    assert_eq!((shown.text("name").as_str(), &shown.body["online"]), ("another", &json!(false)));

    // After the key is revoked and the device is removed, the thief has no access any more.
    assert_eq!(world.delete(&format!("/api/v1/keys/{key_id}"), &ada).await.status, 204);
    from(&world, "192.0.2.66", REGISTER, takeover.clone()).await.is(403, "key-revoked");
    assert_eq!(world.delete(&format!("/api/v1/devices/{}", first.id), &ada).await.status, 204);
    world.get(&thief.path("/commands?wait=0"), &thief.token).await.is(401, "unauthorized");
    from(&world, "192.0.2.66", REGISTER, takeover).await.is(403, "key-revoked");
}

#[tokio::test]
async fn a_thief_of_a_fleet_key_stays_within_its_bounds_and_ends_with_it() {
    let (world, ada) = World::set_up().await;
    let expires_at = link_backend::host::clock::Clock::now(&*world.clock)
        .checked_add(jiff::SignedDuration::try_from(DAY).unwrap())
        .unwrap();
    let make = |more: Value| {
        let mut body = json!({ "kind": "fleet" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (world, ada) = (&world, ada.clone());
        async move { world.post("/api/v1/keys", &ada, body).await }
    };
    let register = |body: Value| world.post(REGISTER, "", body);

    let bounded = make(json!({ "max_devices": 1 })).await.text("key");
    assert_eq!(register(of_another_machine("fleet_key", &bounded, 3)).await.status, 201);
    register(of_another_machine("fleet_key", &bounded, 4)).await.is(409, "key-used-up");

    let revoked = make(json!({})).await;
    let key = revoked.text("key");
    let path = format!("/api/v1/keys/{}", revoked.body["info"]["key_id"].as_str().unwrap());
    let before = Device::from_answer(&register(of_another_machine("fleet_key", &key, 5)).await);
    assert_eq!(world.delete(&path, &ada).await.status, 204);
    register(of_another_machine("fleet_key", &key, 6)).await.is(403, "key-revoked");
    let mut again = of_another_machine("fleet_key", &key, 5);
    again["device_id"] = json!(before.id);
    register(again).await.is(403, "key-revoked");
    assert_eq!(world.get(&before.path("/commands?wait=0"), &before.token).await.status, 200);

    let expiring = make(json!({ "expires_at": expires_at })).await.text("key");
    world.advance(DAY);
    register(of_another_machine("fleet_key", &expiring, 7)).await.is(403, "key-expired");
}

#[tokio::test]
async fn a_fleet_key_takes_no_device_over_with_a_proof_that_is_old_or_of_something_else() {
    let (world, ada) = World::set_up().await;
    let victim = world.online_device(&ada).await;
    let fleet = world.key(&ada, "fleet").await;
    let now = link_backend::host::clock::Clock::now(&*world.clock);
    let id: DeviceId = victim.id.parse().unwrap();
    let other: DeviceId = format!("dev_{:032x}", 7).parse().unwrap();
    let mut body = of_another_machine("fleet_key", &fleet, 2);
    body["device_id"] = json!(victim.id);
    world.post(REGISTER, "", body.clone()).await.is(403, "proof-required");

    let by = |key: &SigningKey, statement: &[u8], issued_at: jiff::Timestamp| json!({ "issued_at": issued_at, "signature": key.sign(statement) });
    let (own, stranger) = (pair(1), pair(2));
    let old = now.checked_sub(jiff::SignedDuration::from_mins(11)).unwrap();
    let statement = |device, key: &SigningKey, at| proof_statement(device, key.verifying(), at);
    for proof in [
        by(&stranger, &statement(id, &stranger, now), now),
        by(&own, &statement(other, &stranger, now), now),
        by(&own, &statement(id, &pair(3), now), now),
        by(&own, &statement(id, &stranger, old), old),
        by(&own, &statement(id, &stranger, old), now),
    ] {
        body["proof"] = proof;
        world.post(REGISTER, "", body.clone()).await.is(403, "proof-required");
    }
    assert_eq!(world.get(&victim.path("/commands?wait=0"), &victim.token).await.status, 200);
}

#[tokio::test]
async fn whoever_guesses_invitations_learns_nothing_and_makes_nobody_hash_a_password() {
    let (world, ada) = World::set_up().await;
    let real = world.invitation(&ada, "admin").await;
    let mut near = real.clone().into_bytes();
    near[20] = if near[20] == b'x' { b'y' } else { b'x' };
    let near = String::from_utf8(near).unwrap();
    let body = |token: &str, email: &str, password: &str| json!({ "invitation_token": token, "email": email, "password": password });
    let mut answers = Vec::new();
    for (email, password) in
        [("eve@example.org", PASSWORD), ("ada@example.org", PASSWORD), ("no address", "short")]
    {
        // A password that is too short is refused before it is hashed.
        for token in [near.as_str(), "lit_", ""] {
            let mut refused = world.post(ACCEPT, "", body(token, email, password)).await;
            refused.is(410, "invitation-invalid");
            refused.body["request_id"].take();
            answers.push(refused.body);
        }
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let joined = world.post(ACCEPT, "", body(&real, "bob@example.org", PASSWORD)).await;
    assert_eq!(joined.status, 201);
}

#[tokio::test]
async fn an_open_invitation_has_as_many_attempts_as_a_login_and_stays_open() {
    let (world, ada) = World::set_up().await;
    let wish = json!({ "role": "viewer", "email": "bob@example.org" });
    let made = world.post("/api/v1/members/invitations", &ada, wish).await;
    let token = made.text("invitation_token");
    let body =
        |email: &str| json!({ "invitation_token": token, "email": email, "password": PASSWORD });
    for _ in 0..10 {
        let refused = world.post(ACCEPT, "", body("eve@example.org")).await;
        refused.is(410, "invitation-invalid");
    }
    world.post(ACCEPT, "", body("bob@example.org")).await.is(429, "too-many-attempts");
    world.advance(Duration::from_secs(60));
    let joined = world.post(ACCEPT, "", body("bob@example.org")).await;
    assert_eq!(joined.status, 201, "{joined:?}");
    let open = world.invitation(&ada, "viewer").await;
    let mut body =
        json!({ "invitation_token": open, "email": "ada@example.org", "password": PASSWORD });
    world.post(ACCEPT, "", body.clone()).await.is(422, "invalid-request");
    body["email"] = json!("carol@example.org");
    assert_eq!(world.post(ACCEPT, "", body).await.status, 201, "a refusal does not use it up");
}

#[tokio::test]
async fn a_stolen_personal_token_is_no_way_to_a_login() {
    let (world, ada) = World::set_up().await;
    let scopes = ["account:read", "members:read", "devices:read", "keys:write", "settings:write"];
    let wish = json!({ "name": "ci", "scopes": scopes });
    let made = world.post("/api/v1/tokens", &ada, wish.clone()).await;
    let token = made.text("token");
    let account = world.get("/api/v1/me", &token).await.text("account_id");
    let code = world.post("/api/v1/auth/device/code", "", json!({ "client_name": "thief" })).await;
    // A backend without a public address issues no code. The request is refused whatever the code is.
    let user_code = code.body["user_code"].as_str().unwrap_or("BCDF-GHJK").to_owned();
    let token_id = made.body["info"]["token_id"].as_str().unwrap().to_owned();
    for (method, path, body) in [
        ("POST", "/api/v1/tokens", Some(wish)),
        ("GET", "/api/v1/tokens", None),
        ("DELETE", &format!("/api/v1/tokens/{token_id}"), None),
        ("POST", "/api/v1/auth/account", Some(json!({ "account_id": account }))),
        ("GET", "/api/v1/accounts", None),
        ("POST", "/api/v1/auth/device/inquire", Some(json!({ "user_code": user_code }))),
        (
            "POST",
            "/api/v1/auth/device/decide",
            Some(json!({ "user_code": user_code, "allow": true })),
        ),
        ("POST", "/api/v1/members/leave", None),
    ] {
        world.call(method, path, &token, body).await.is(403, "scope-missing");
    }
    // The token works neither as a refresh token nor as a device token.
    let refresh = json!({ "refresh_token": token });
    world.post("/api/v1/auth/refresh", "", refresh).await.is(401, "unauthorized");
    let device = world.online_device(&ada).await;
    world.get(&device.path("/commands?wait=0"), &token).await.is(401, "unauthorized");

    // The token's actions are recorded under its own id, and revoking it takes effect at once.
    let key = world.post("/api/v1/keys", &token, json!({ "kind": "fleet" })).await;
    assert_eq!(key.status, 201);
    let log = world.get("/api/v1/audit?action=key.create", &ada).await;
    assert_eq!(log.items()[0]["actor"], json!({ "kind": "token", "id": token_id }));
    assert_eq!(world.delete(&format!("/api/v1/tokens/{token_id}"), &ada).await.status, 204);
    world.get("/api/v1/devices", &token).await.is(401, "unauthorized");
}

#[tokio::test]
async fn what_a_member_holds_reaches_no_further_once_they_are_demoted_and_ends_with_them() {
    let (world, ada) = World::set_up().await;
    let login = json!({ "email": "bob@example.org", "password": PASSWORD });
    world.member(&ada, "bob@example.org", "admin").await;
    let tokens = world.post("/api/v1/auth/login", "", login.clone()).await;
    let (access, refresh) = (tokens.text("access_token"), tokens.text("refresh_token"));
    let bob = world.get("/api/v1/me", &access).await.text("user_id");
    let wish = json!({ "name": "ci", "scopes": ["keys:write", "members:write", "devices:read"] });
    let personal = world.post("/api/v1/tokens", &access, wish).await.text("token");
    let member = format!("/api/v1/members/{bob}");
    let key = json!({ "kind": "fleet" });
    for held in [&access, &personal] {
        assert_eq!(world.post("/api/v1/keys", held, key.clone()).await.status, 201);
    }

    let role = |role: &str| Some(json!({ "role": role }));
    assert_eq!(world.call("PATCH", &member, &ada, role("viewer")).await.status, 200);
    let renewed = world.post("/api/v1/auth/refresh", "", json!({ "refresh_token": refresh })).await;
    let (renewed, refresh) = (renewed.text("access_token"), renewed.text("refresh_token"));
    for held in [&access, &personal, &renewed] {
        world.post("/api/v1/keys", held, key.clone()).await.is(403, "forbidden");
        // None of the tokens can restore the role either.
        world.call("PATCH", &member, held, role("admin")).await.is(403, "forbidden");
        let invites = json!({ "role": "admin" });
        world.post("/api/v1/members/invitations", held, invites).await.is(403, "forbidden");
        assert_eq!(world.get("/api/v1/devices", held).await.status, 200);
    }

    assert_eq!(world.delete(&member, &ada).await.status, 200);
    for held in [&access, &personal, &renewed] {
        world.get("/api/v1/devices", held).await.is(401, "unauthorized");
    }
    let body = json!({ "refresh_token": refresh });
    world.post("/api/v1/auth/refresh", "", body).await.is(401, "unauthorized");
    world.post("/api/v1/auth/login", "", login).await.is(401, "invalid-credentials");
}
