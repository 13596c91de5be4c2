//! Transfer of a device to another account: the necessary permission, what is transferred, and the views of the device and of
//! both accounts afterwards.

use link_protocol::{
    counter::{Epoch, Seq},
    handover::Handover,
    key::KeyKind,
    signing::Signed,
};
use serde_json::{Value, json};

use crate::harness::{Answer, Device, MINUTE, World, pair, registration};

/// A device of ada that serves a model, and bob, who is to get the device.
struct Scene {
    world: World,
    ada: String,
    bob: String,
    device: Device,
    model: String,
}

impl Scene {
    async fn new() -> Self {
        Self::with_limit(100).await
    }

    async fn with_limit(limit: u32) -> Self {
        let world = World::with(|config| config.device_limit = limit).await;
        let ada = world.create_first_account().await;
        let bob = world.another_account("bob@example.org").await;
        let device = world.online_device(&ada).await;
        let model = world.model(&ada, false).await;
        world.deployed(&ada, &device, &model).await;
        Self { world, ada, bob, device, model }
    }

    async fn transfer(&self, user: &str, key: &str) -> Answer {
        let member = if key.starts_with("lfk_") { "fleet_key" } else { "registration_key" };
        self.ask(user, json!({ member: key })).await
    }

    async fn ask(&self, user: &str, body: Value) -> Answer {
        self.world.post(&format!("/api/v1/devices/{}/transfer", self.device.id), user, body).await
    }

    async fn bobs_key(&self, wish: Value) -> String {
        self.world.post("/api/v1/keys", &self.bob, wish).await.text("key")
    }

    /// Transfers the device to bob.
    async fn transferred() -> Self {
        let scene = Self::new().await;
        let key = scene.world.key(&scene.bob, "registration").await;
        assert_eq!(scene.transfer(&scene.ada, &key).await.status, 204);
        scene
    }

    async fn hello(&self, epoch: u64, last_seq: u64) -> Answer {
        let body = json!({
            "epoch": epoch, "boot_id": "boot", "agent_version": "1.3.0", "last_seq": last_seq,
            "inflight": [], "serving": [],
        });
        self.world.post(&self.device.path("/hello"), &self.device.token, body).await
    }

    async fn seen_by(&self, user: &str) -> Answer {
        self.world.get(&format!("/api/v1/devices/{}", self.device.id), user).await
    }

    fn handover_in(&self, welcome: &Answer) -> Handover {
        let signed: Signed = serde_json::from_value(welcome.body["handover"].clone()).unwrap();
        Handover::open(&signed, &self.device.backend_keys).unwrap()
    }

    async fn audit(&self, user: &str) -> Vec<Value> {
        let path = format!("/api/v1/audit?action=device&subject={}", self.device.id);
        self.world.get(&path, user).await.items().to_vec()
    }
}

// Holds: S2.1-4
#[tokio::test]
async fn a_device_comes_to_the_account_of_the_key_with_nothing_of_the_one_before() {
    let scene = Scene::new().await;
    let Scene { world, ada, bob, device, model } = &scene;
    let owner = async |user: &str| {
        let account = world.get("/api/v1/me", user).await.text("account_id");
        (scene.seen_by(user).await.text("owner"), account)
    };
    let (owner_before, hers) = owner(ada).await;
    assert_eq!(owner_before, hers);
    // Records in every table: a waiting command, usage, a log record, a sample and a model state.
    let stop = world.act(&format!("/api/v1/models/{model}/stop/{}", device.id), ada).await;
    let waiting = stop.text("command_id");
    let told = reports(device, model);
    for (method, path, body) in &told {
        let answer = world.call(method, path, &device.token, Some(body.clone())).await;
        assert_eq!(answer.status, 204, "{path}: {answer:?}");
    }
    let mut usage = world.get("/api/v1/usage", ada).await.body;
    assert!(!usage["items"].as_array().unwrap().is_empty());
    for item in usage["items"].as_array_mut().unwrap() {
        assert!(item.as_object_mut().unwrap().remove("device_name").is_some(), "{item}");
    }

    let key = scene.bobs_key(json!({ "kind": "registration", "tags": ["lab"] })).await;
    let answer = scene.transfer(ada, &key).await;
    assert_eq!((answer.status, answer.bytes.as_slice()), (204, &b""[..]));

    scene.seen_by(ada).await.is(404, "not-found");
    world.get(&format!("/api/v1/commands/{waiting}"), ada).await.is(404, "not-found");
    for list in ["devices", "deployments", "commands"] {
        let listed = world.get(&format!("/api/v1/{list}"), ada).await;
        assert!(listed.items().is_empty(), "{list}: {listed:?}");
    }
    assert_eq!(
        world.get("/api/v1/usage", ada).await.body,
        usage,
        "what was used stays ada's, without the name"
    );

    let seen = scene.seen_by(bob).await;
    assert_eq!((seen.status, seen.text("name")), (200, "box".into()));
    let (owner_after, his) = owner(bob).await;
    assert_eq!(owner_after, his);
    assert_ne!(owner_after, owner_before);
    assert_eq!((&seen.body["tags"], &seen.body["online"]), (&json!(["lab"]), &json!(false)));
    assert!(seen.body["last_seen_at"].is_null() && seen.body.get("system").is_none());
    for list in ["deployments", "commands", "usage"] {
        let listed = world.get(&format!("/api/v1/{list}"), bob).await;
        assert!(listed.items().is_empty(), "{list}: {listed:?}");
    }
    world.get(&format!("/api/v1/commands/{waiting}"), bob).await.is(404, "not-found");
    nothing_hangs_on(world, &device.id).await;
}

/// Checks that no table has rows of a device. The tables come from the schema.
async fn nothing_hangs_on(world: &World, device: &str) {
    macro_rules! rows {
        ($($table:literal)+) => {
            $(
                let rows = world
                    .select(
                        concat!("SELECT device_id FROM ", $table, " WHERE device_id = $1"),
                        device,
                    )
                    .await;
                assert_eq!(rows, Vec::<String>::new(), $table);
            )+
        };
    }
    rows!("deployments" "commands" "model_states" "telemetry" "logs" "system_samples");
}

/// The regular reports of an agent.
fn reports(device: &Device, model: &str) -> [(&'static str, String, Value); 5] {
    let inference = format!("inf_{:032x}", 1);
    let pipeline = model.replace("mdl_", "pip_");
    [
        (
            "POST",
            device.path(&format!("/models/{model}/telemetry")),
            json!({
                "inference_id": inference, "model_id": model, "prompt_tokens": 5,
                "completion_tokens": 7, "provenance": "exact", "duration_ms": 40,
                "time_to_first_token_ms": 4,
            }),
        ),
        (
            "POST",
            device.path(&format!("/models/{model}/status")),
            json!({
                "model_id": model, "pipeline_id": pipeline, "state": "serving", "is_serving": true,
                "port": 8080, "allowlist_digest": "0".repeat(64), "generation": 3,
            }),
        ),
        (
            "POST",
            "/api/v1/logs".to_owned(),
            json!({
                "message": "of ada", "severity": "info", "category": "other",
            }),
        ),
        (
            "POST",
            device.path("/system"),
            json!({
                "cpu_percent": 10.0, "cpu_count": 8,
                "memory": { "used_bytes": 3, "total_bytes": 16 },
                "agent": { "cpu_percent": 0.1, "memory_bytes": 7 },
            }),
        ),
        (
            "PUT",
            device.path("/status"),
            json!({
                "status": "online", "agent_version": "1.3.0", "uptime_s": 1,
            }),
        ),
    ]
}

#[tokio::test]
async fn what_a_device_says_before_it_has_begun_anew_reaches_nobody() {
    let scene = Scene::transferred().await;
    let Scene { world, bob, device, model, .. } = &scene;
    for (method, path, body) in reports(device, model) {
        let answer = world.call(method, &path, &device.token, Some(body)).await;
        answer.is(503, "handover-pending");
    }
    let nothing = format!("cmd_{:032x}", 1);
    world.result(device, &nothing, "succeeded").await.is(503, "handover-pending");
    world.receipt(device, &nothing, "stored").await.is(503, "handover-pending");
    let poll = world.get(&device.path("/commands?wait=0"), &device.token).await;
    poll.is(503, "handover-pending");
    let content = device.path(&format!("/models/{model}/content"));
    world.get(&content, &device.token).await.is(503, "handover-pending");
    nothing_hangs_on(world, &device.id).await;
    assert_eq!(scene.seen_by(bob).await.body["online"], false);
}

#[tokio::test]
async fn the_hello_of_the_epoch_before_brings_the_handover_and_the_next_one_is_online() {
    let scene = Scene::transferred().await;
    let Scene { world, bob, device, .. } = &scene;
    let models = world.model(bob, false).await;
    let deployed = world.deploy(bob, device, &models).await;
    assert_eq!(deployed.status, 202, "it waits: {deployed:?}");
    // The device can repeat the hello, because it may be killed before it has finished.
    for _ in 0..3 {
        let welcome = scene.hello(1, 1).await;
        assert_eq!((welcome.status, &welcome.body["epoch"]), (200, &json!(2)));
        assert_eq!(welcome.body["commands"], json!([]), "not even those of the new account");
        let handover = scene.handover_in(&welcome);
        assert_eq!(
            (handover.device_id.to_string(), handover.to_epoch),
            (device.id.clone(), Epoch(2))
        );
        assert_eq!(scene.seen_by(bob).await.body["online"], false);
    }
    let welcome = scene.hello(2, 0).await;
    assert!(welcome.body.get("handover").is_none());
    let [command] = &device.open(&welcome)[..] else { panic!("{welcome:?}") };
    assert_eq!(command.command_id.to_string(), deployed.text("command_id"));
    assert_eq!(command.epoch, Epoch(2));
    assert!(command.seq > Seq(1), "no number of before stands for a new command: {}", command.seq);
    assert_eq!(scene.seen_by(bob).await.body["online"], true);
    let done = world.result(device, &deployed.text("command_id"), "succeeded").await;
    assert_eq!(done.status, 204);
}

#[tokio::test]
async fn a_poll_that_waits_ends_so_that_the_device_says_hello() {
    let scene = Scene::new().await;
    let key = scene.world.key(&scene.bob, "registration").await;
    let path = scene.device.path("/commands?wait=50");
    let poll = scene.world.get(&path, &scene.device.token);
    let transfer = async {
        loop {
            // From here on, only a waiting poll keeps the device online.
            scene.world.advance(2 * MINUTE);
            if scene.seen_by(&scene.ada).await.body["online"] == true {
                break;
            }
        }
        scene.transfer(&scene.ada, &key).await
    };
    let (ended, transferred) = tokio::join!(poll, transfer);
    assert_eq!(transferred.status, 204);
    ended.is(503, "handover-pending");
}

#[tokio::test]
async fn a_device_that_was_off_for_a_month_and_went_on_to_others_has_one_handover() {
    let scene = Scene::transferred().await;
    let world = &scene.world;
    world.advance(30 * 24 * 60 * MINUTE);
    let bob = login(world, "bob@example.org").await;
    let ada = login(world, "ada@example.org").await;
    let back = world.key(&ada, "registration").await;
    assert_eq!(scene.transfer(&bob, &back).await.status, 204);
    scene.transfer(&bob, &back).await.is(404, "not-found");
    assert_eq!(scene.handover_in(&scene.hello(1, 1).await).to_epoch, Epoch(3));
    assert_eq!(scene.handover_in(&scene.hello(2, 0).await).to_epoch, Epoch(3));
    assert!(scene.hello(3, 0).await.body.get("handover").is_none());
    assert_eq!(scene.seen_by(&ada).await.body["online"], true);
}

async fn login(world: &World, email: &str) -> String {
    let body = json!({ "email": email, "password": crate::harness::PASSWORD });
    world.post("/api/v1/auth/login", "", body).await.text("access_token")
}

#[tokio::test]
async fn both_accounts_have_it_in_their_log_and_neither_learns_who_the_other_is() {
    let scene = Scene::transferred().await;
    let log = scene.audit(&scene.ada).await;
    let gone = &log[0];
    assert_eq!((&gone["action"], &gone["detail"]), (&json!("device.transfer"), &json!("box")));
    assert_eq!(gone["actor"]["kind"], "user");
    let [came] = &scene.audit(&scene.bob).await[..] else { panic!("one entry") };
    assert_eq!(came["action"], "device.receive");
    assert_eq!(came["actor"], json!({ "kind": "device", "id": scene.device.id }));
    let keys = scene.world.get("/api/v1/keys", &scene.bob).await;
    let key = keys.items()[0]["key_id"].as_str().unwrap();
    assert_eq!(came["detail"], format!("box, with {key}"));
}

#[tokio::test]
async fn a_key_that_is_not_good_or_is_the_own_accounts_moves_nothing() {
    let scene = Scene::with_limit(1).await;
    let Scene { world, ada, bob, device, .. } = &scene;
    let unknown = link_protocol::key::EnrolmentKey::from_secret(KeyKind::Fleet, [7; 32]);
    scene.transfer(ada, unknown.expose()).await.is(401, "key-unknown");
    let own = world.key(ada, "registration").await;
    let refused = scene.transfer(ada, &own).await;
    refused.is(422, "invalid-request");
    assert!(refused.text("detail").contains("in already"), "{refused:?}");

    let expires_at = jiff::Timestamp::from_millisecond(1_790_000_060_000).unwrap();
    let late = scene.bobs_key(json!({ "kind": "fleet", "expires_at": expires_at })).await;
    world.advance(MINUTE);
    scene.transfer(ada, &late).await.is(403, "key-expired");
    let made = world.post("/api/v1/keys", bob, json!({ "kind": "fleet" })).await;
    let id = made.body["info"]["key_id"].as_str().unwrap();
    world.delete(&format!("/api/v1/keys/{id}"), bob).await;
    scene.transfer(ada, &made.text("key")).await.is(403, "key-revoked");

    let used = world.key(bob, "registration").await;
    let mut body = registration("registration_key", &used);
    body["public_key"] = json!(pair(2).verifying());
    world.post("/api/v1/devices/register-with-key", "", body).await;
    scene.transfer(ada, &used).await.is(409, "key-used-up");
    let good = world.key(bob, "registration").await;
    scene.transfer(ada, &good).await.is(409, "device-limit-reached");

    for (body, code) in [
        (json!({}), "invalid-request"),
        (json!({ "registration_key": good, "fleet_key": late }), "invalid-request"),
        (json!({ "fleet_key": good }), "invalid-request"),
        (json!({ "registration_key": good, "account": "acc" }), "invalid-request"),
        (json!({ "registration_key": good.replace("lrk_", "lrk_x") }), "key-mistyped"),
    ] {
        let refused = scene.ask(ada, body).await;
        refused.is(422, code);
        assert!(!String::from_utf8_lossy(&refused.bytes).contains(&good), "{refused:?}");
    }
    scene.transfer(bob, &good).await.is(404, "not-found");
    let seen = scene.seen_by(ada).await;
    assert_eq!((seen.status, &seen.body["online"]), (200, &json!(true)), "{seen:?}");
    assert_eq!(scene.hello(device.epoch, 1).await.body["epoch"], 1);
}

/// A registration key is consumed, because the previous owner has seen it.
#[tokio::test]
async fn the_giver_cannot_take_the_device_back_with_the_key() {
    for kind in ["registration", "fleet"] {
        let scene = Scene::new().await;
        let Scene { world, ada, bob, device, .. } = &scene;
        let key = scene.bobs_key(json!({ "kind": kind })).await;
        assert_eq!(scene.transfer(ada, &key).await.status, 204);
        let info = world.get("/api/v1/keys", bob).await.items()[0].clone();
        let is_spent = json!(kind == "registration");
        assert_eq!((&info["devices"], &info["revoked"]), (&json!(1), &is_spent), "{kind}");

        let mut takeover = registration(&format!("{kind}_key"), &key);
        takeover["public_key"] = json!(pair(2).verifying());
        takeover["device_id"] = json!(device.id);
        let register = "/api/v1/devices/register-with-key";
        let refused = world.post(register, "", takeover.clone()).await;
        refused.is(403, if kind == "fleet" { "proof-required" } else { "key-revoked" });
        // With the device's own public key, before the device has entered the new epoch.
        takeover["public_key"] = json!(pair(1).verifying());
        takeover.as_object_mut().unwrap().remove("device_id");
        let other = world.post(register, "", takeover).await;
        assert_ne!(other.body["device_id"], json!(device.id), "{other:?}");
        assert_eq!(scene.hello(2, 0).await.status, 200, "the device itself is where it was");
    }
}

#[tokio::test]
async fn of_transfers_at_the_same_time_one_succeeds() {
    let scene = Scene::new().await;
    let fleet = scene.bobs_key(json!({ "kind": "fleet" })).await;
    let single = scene.world.key(&scene.bob, "registration").await;
    let (ada, keys) = (&scene.ada, [&fleet, &single, &fleet, &single]);
    let answers = futures_util::future::join_all(keys.map(|key| scene.transfer(ada, key))).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 404, 404, 404]);
    assert_eq!(scene.handover_in(&scene.hello(1, 1).await).to_epoch, Epoch(2));
    let keys = scene.world.get("/api/v1/keys", &scene.bob).await;
    let counted = keys.items().iter().map(|key| key["devices"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(counted, 1);
}

/// A request may have read that the device is the giver's, and go on when the transfer is done.
#[tokio::test]
async fn what_the_giver_asks_for_during_the_transfer_does_not_reach_the_device_of_the_receiver() {
    for round in 0..4 {
        let scene = Scene::new().await;
        let key = scene.world.key(&scene.bob, "registration").await;
        let (world, ada, device) = (&scene.world, &scene.ada, &scene.device);
        let mut models = Vec::new();
        for _ in 0..12 {
            models.push(world.model(ada, false).await);
        }
        let stop = format!("/api/v1/models/{}/stop/{}", scene.model, device.id);
        let deploys = models.iter().map(|model| world.deploy(ada, device, model));
        let (moved, deployed, _stopped) = futures_util::future::join3(
            scene.transfer(ada, &key),
            futures_util::future::join_all(deploys),
            world.post(&stop, ada, json!({})),
        )
        .await;
        assert_eq!(moved.status, 204, "{moved:?}");
        let statuses: Vec<u16> = deployed.iter().map(|answer| answer.status).collect();
        assert!(statuses.iter().all(|status| [202, 404].contains(status)), "{statuses:?}");
        for list in ["deployments", "commands"] {
            let found = world.get(&format!("/api/v1/{list}"), &scene.bob).await;
            assert_eq!(found.items().len(), 0, "round {round}, {statuses:?}: {found:?}");
        }
    }
}
