//! The repair operation (specification, section 4.1): its whole matrix.

use std::time::Duration;

use axum::{body::Body, http::Request};
use link_protocol::command::Command;
use serde_json::json;

use crate::{
    harness::{Answer, MINUTE, ORIGIN, SECOND, World},
    scene::Scene,
};

impl Scene {
    /// A model that is deployed on an online device.
    async fn new() -> Self {
        Self::deployed(World::set_up().await).await
    }

    async fn repair(&self, query: &str) -> Answer {
        self.repair_as(&self.user, &self.model, &self.device.id, query).await
    }

    async fn repair_as(&self, user: &str, model: &str, device: &str, query: &str) -> Answer {
        let path = format!("/api/v1/models/{model}/repair-serving/{device}{query}");
        self.world.act(&path, user).await
    }
}

// Holds: S4.1-1, S4.1-2, S4.1-4, S4.1-6, S4.1-7, S4.1-9, S1-4b, S2.1-1
#[tokio::test]
async fn a_repair_is_accepted_and_sent_with_the_current_allowlist() {
    let scene = Scene::new().await;
    scene.world.set_allowlist(&scene.user, &[ORIGIN, "https://new.example"]).await;
    let answer = scene.repair("").await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let id = answer.text("command_id");
    assert_eq!(answer.header("location"), format!("/api/v1/commands/{id}"));
    let body = &answer.body;
    assert_eq!(
        (body["type"].as_str(), body["state"].as_str()),
        (Some("REPAIR_SERVING"), Some("sent"))
    );
    assert_eq!(body["model_id"], scene.model.as_str());
    assert_eq!(body["device_id"], scene.device.id.as_str());
    assert!(body["port"].is_null() && body.get("result").is_none());
    let time = |member: &str| answer.text(member).parse::<jiff::Timestamp>().unwrap();
    assert_eq!(time("expires_at").duration_since(time("created_at")).as_hours(), 24);
    // Reading the command adds the names of its things, and changes nothing else.
    let mut read = scene.world.get(answer.header("location"), &scene.user).await.body;
    for (member, name) in [("model_name", "Tiny Model"), ("device_name", "box")] {
        let given = read.as_object_mut().unwrap().remove(member);
        assert_eq!(given, Some(json!(name)), "{member}");
    }
    assert_eq!(read, answer.body);

    let sent = scene.world.poll(&scene.device, 1).await;
    let [envelope] = &sent[..] else { panic!("{sent:?}") };
    let Ok(Command::RepairServing(repair)) = envelope.command() else { panic!("{envelope:?}") };
    let origins: Vec<_> = repair.allowlist.origins().iter().map(ToString::to_string).collect();
    assert_eq!(origins, ["https://new.example", ORIGIN]);
    assert_eq!(repair.port, None);
}

// Holds: S3.3-1, S1-5, S3.2-4, S7-1
#[tokio::test]
async fn a_repaired_deployment_is_stale_no_more_and_otherwise_the_same() {
    let scene = Scene::new().await;
    scene.world.set_allowlist(&scene.user, &[ORIGIN, "https://new.example"]).await;
    let stale = "/api/v1/deployments?stale=true";
    let before = scene.world.get(stale, &scene.user).await.items().to_vec();
    assert_eq!(before.len(), 1);
    let id = scene.repair("").await.text("command_id");
    scene.world.poll(&scene.device, 1).await;
    assert_eq!(scene.world.receipt(&scene.device, &id, "stored").await.status, 204);
    let path = format!("/api/v1/commands/{id}");
    let processed = scene.world.get(&path, &scene.user).await;
    assert_eq!(
        (processed.text("state").as_str(), processed.body.get("result")),
        ("processed", None)
    );
    assert_eq!(scene.world.get(stale, &scene.user).await.items().len(), 1);

    assert_eq!(scene.world.result(&scene.device, &id, "succeeded").await.status, 204);
    assert!(scene.world.get(stale, &scene.user).await.items().is_empty());
    let after = scene.world.get("/api/v1/deployments", &scene.user).await.items()[0].clone();
    assert_ne!(after["allowlist_digest"], before[0]["allowlist_digest"]);
    for member in ["port", "alias", "state", "model_id", "deployment_id"] {
        assert_eq!(after[member], before[0][member], "{member}");
    }
    let done = scene.world.get(&path, &scene.user).await;
    assert_eq!(done.body["result"]["status"], "succeeded");
}

#[tokio::test]
async fn a_failed_repair_changes_nothing() {
    let scene = Scene::new().await;
    scene.world.set_allowlist(&scene.user, &["https://new.example"]).await;
    let id = scene.repair("?port=9000").await.text("command_id");
    scene.world.poll(&scene.device, 1).await;
    scene.world.result(&scene.device, &id, "failed").await;
    let stale = scene.world.get("/api/v1/deployments?stale=true", &scene.user).await;
    assert_eq!(stale.items()[0]["port"], 8080);
}

// Holds: S4.1-5, S5-1
#[tokio::test]
async fn a_repair_needs_a_bearer_token() {
    let scene = Scene::new().await;
    for user in ["", "nonsense", scene.device.token.as_str()] {
        let refused = scene.repair_as(user, &scene.model, &scene.device.id, "?port=x").await;
        refused.is(401, "unauthorized");
    }
    scene.world.advance(15 * MINUTE);
    scene.repair("").await.is(401, "token-expired");
}

// Holds: S4.1-3, S8-2
#[tokio::test]
async fn a_port_is_a_whole_number_from_1_to_65535() {
    let scene = Scene::new().await;
    for port in ["0", "65536", "-1", "+1", "80.5", "x", "", "99999999999999999999", "8%200"] {
        scene.repair(&format!("?port={port}")).await.is(422, "invalid-request");
    }
    for port in [1, 65535] {
        let answer = scene.repair(&format!("?port={port}")).await;
        assert_eq!((answer.status, &answer.body["port"]), (202, &json!(port)));
    }
    let sent = scene.world.poll(&scene.device, 1).await;
    let Ok(Command::RepairServing(repair)) = sent[0].command() else { panic!("{sent:?}") };
    assert_eq!(repair.port.unwrap().get(), 65535);
    scene.world.result(&scene.device, &sent[0].command_id.to_string(), "succeeded").await;
    let deployment = scene.world.get("/api/v1/deployments", &scene.user).await;
    assert_eq!(deployment.items()[0]["port"], 65535);
}

// Holds: S4.1-8a, S5-2, S7-3, S2.1-2, S2.1-4
#[tokio::test]
async fn what_the_caller_may_not_see_is_not_found_and_what_is_not_theirs_is_forbidden() {
    let scene = Scene::deployed(World::set_up_sharing().await).await;
    let bob = scene.world.another_account("bob@example.org").await;
    let bobs_device = scene.world.online_device(&bob).await;
    let unknown_model = format!("mdl_{}", "0".repeat(32));
    let unknown_device = format!("dev_{}", "0".repeat(32));
    for (user, model, device) in [
        (&scene.user, scene.model.as_str(), unknown_device.as_str()),
        (&scene.user, scene.model.as_str(), "nonsense"),
        (&scene.user, scene.model.as_str(), bobs_device.id.as_str()),
        (&scene.user, unknown_model.as_str(), scene.device.id.as_str()),
        (&scene.user, "nonsense", scene.device.id.as_str()),
        (&bob, scene.model.as_str(), scene.device.id.as_str()),
        (&bob, scene.model.as_str(), bobs_device.id.as_str()),
    ] {
        scene.repair_as(user, model, device, "").await.is(404, "not-found");
    }

    let path = format!("/api/v1/models/{}", scene.model);
    let share = |shared: bool| {
        scene.world.call("PATCH", &path, &scene.user, Some(json!({ "shared": shared })))
    };
    assert_eq!(share(true).await.status, 200);
    scene.world.deployed(&bob, &bobs_device, &scene.model).await;
    let by_bob = scene.repair_as(&bob, &scene.model, &bobs_device.id, "").await;
    assert_eq!(by_bob.status, 202, "shared, and his device: {by_bob:?}");
    scene.repair_as(&bob, &scene.model, &scene.device.id, "").await.is(404, "not-found");

    assert_eq!(share(false).await.status, 200);
    let ended = scene.repair_as(&bob, &scene.model, &bobs_device.id, "").await;
    ended.is(403, "not-owner");
    let other_device = scene.world.online_device(&bob).await;
    let refused = scene.repair_as(&bob, &scene.model, &other_device.id, "").await;
    refused.is(403, "not-owner");
    assert!(refused.body["hint"].is_string());
}

// Holds: S4.1-8b, S7-2, S2.1-5, S3.4-1
#[tokio::test]
async fn a_device_that_is_offline_cannot_be_repaired() {
    let scene = Scene::new().await;
    scene.world.advance(Duration::from_secs(74));
    assert_eq!(scene.repair("?port=1").await.status, 202);
    scene.world.advance(SECOND);
    let offline = scene.repair("?port=2").await;
    offline.is(409, "device-offline");
    assert_eq!(offline.body["hint"], "retry when the device is online");

    scene.world.poll(&scene.device, 0).await;
    assert_eq!(scene.repair("?port=3").await.status, 202, "a poll is enough after a hello");
    for (status, code) in [
        ("stopping", 409),
        ("starting", 409),
        ("online", 202),
        ("starting", 409),
        ("deregistered", 409),
    ] {
        let body = json!({ "status": status, "agent_version": "1.3.0", "uptime_s": 1 });
        let path = scene.device.path("/status");
        assert_eq!(scene.world.put(&path, &scene.device.token, body).await.status, 204);
        assert_eq!(scene.repair("?port=4").await.status, code, "{status}");
    }
    scene.world.hello(&scene.device, 9, &[]).await;
    assert_eq!(scene.repair("?port=4").await.status, 202, "it said goodbye, and is back");
    let begins = json!({ "status": "starting", "agent_version": "1.3.0", "uptime_s": 0 });
    scene.world.put(&scene.device.path("/status"), &scene.device.token, begins).await;
    let path = format!("/api/v1/devices/{}", scene.device.id);
    let online = async || scene.world.get(&path, &scene.user).await.body["online"].clone();
    assert_eq!(online().await, false, "its command channel is not ready");
    let summary = scene.world.get("/api/v1/summary", &scene.user).await;
    assert_eq!(summary.body["devices"]["online"], 0, "{summary:?}");
    let selected = scene.world.get("/api/v1/devices?select=state=online", &scene.user).await;
    assert!(selected.items().is_empty(), "{selected:?}");
    scene.world.hello(&scene.device, 9, &[]).await;
    assert_eq!(online().await, true, "its hello is answered");
}

// Holds: S3.4-1
#[tokio::test]
async fn a_device_that_was_not_greeted_is_not_online() {
    let (world, user) = World::set_up().await;
    let device = world.register(&user).await;
    let body = json!({ "status": "online", "agent_version": "1.3.0", "uptime_s": 1 });
    world.put(&device.path("/status"), &device.token, body).await;
    world.poll(&device, 0).await;
    let path = format!("/api/v1/devices/{}", device.id);
    assert_eq!(world.get(&path, &user).await.body["online"], false);
    world.hello(&device, 0, &[]).await;
    assert_eq!(world.get(&path, &user).await.body["online"], true);
}

#[tokio::test]
async fn only_what_is_deployed_is_repaired() {
    let scene = Scene::empty(World::set_up().await).await;
    scene.repair("").await.is(409, "not-deployed");
    let deployment = scene.world.deploy(&scene.user, &scene.device, &scene.model).await;
    scene.repair("").await.is(409, "not-deployed");
    scene.world.poll(&scene.device, 0).await;
    scene.world.result(&scene.device, &deployment.text("command_id"), "failed").await;
    scene.repair("").await.is(409, "not-deployed");
    scene.world.deployed(&scene.user, &scene.device, &scene.model).await;
    assert_eq!(scene.repair("").await.status, 202, "deployed and not served is fine");

    let report = json!({
        "model_id": scene.model, "pipeline_id": scene.model.replace("mdl_", "pip_"),
        "state": "removed", "is_serving": false, "port": 8080, "allowlist_digest": "",
        "generation": 9,
    });
    let path = scene.device.path(&format!("/models/{}/status", scene.model));
    assert_eq!(scene.world.post(&path, &scene.device.token, report).await.status, 204);
    scene.repair("").await.is(409, "not-deployed");
}

#[tokio::test]
async fn the_same_wish_is_one_command_while_it_is_sent() {
    let scene = Scene::new().await;
    let first = scene.repair("").await.text("command_id");
    assert_eq!(scene.repair("").await.text("command_id"), first);
    scene.world.poll(&scene.device, 1).await;
    assert_eq!(scene.repair("").await.text("command_id"), first, "delivered is still sent");

    let state = |id: String| {
        let (world, user) = (&scene.world, &scene.user);
        async move { world.get(&format!("/api/v1/commands/{id}"), user).await.text("state") }
    };
    let other_port = scene.repair("?port=9000").await.text("command_id");
    assert_ne!(other_port, first);
    assert_eq!(state(first.clone()).await, "sent");
    assert_eq!(scene.world.receipt(&scene.device, &first, "stored").await.status, 204);

    scene.world.set_allowlist(&scene.user, &["https://new.example"]).await;
    let other_list = scene.repair("?port=9000").await.text("command_id");
    assert_ne!(other_list, other_port);
    assert_eq!(state(other_port).await, "sent", "another took its place");

    scene.world.receipt(&scene.device, &other_list, "stored").await;
    let next = scene.repair("?port=9000").await.text("command_id");
    assert_ne!(next, other_list, "what is processed is over");
    assert_eq!(state(other_list).await, "processed");
}

#[tokio::test]
async fn an_idempotency_key_stands_for_one_repair() {
    let scene = Scene::new().await;
    let repair = |query: &str| {
        let path =
            format!("/api/v1/models/{}/repair-serving/{}{query}", scene.model, scene.device.id);
        let request = Request::post(path)
            .header("authorization", format!("Bearer {}", scene.user))
            .header("idempotency-key", "repair-1");
        scene.world.send(request.body(Body::empty()).unwrap())
    };
    let first = repair("").await.text("command_id");
    scene.world.poll(&scene.device, 1).await;
    scene.world.result(&scene.device, &first, "succeeded").await;
    assert_eq!(repair("").await.text("command_id"), first, "even after it is done");
    repair("?port=9000").await.is(409, "idempotency-conflict");
    scene.world.advance(2 * MINUTE);
    assert_eq!(repair("").await.text("command_id"), first, "even while the device is offline");
}

// Holds: S3.3-2, S8-1
#[tokio::test]
async fn a_repair_that_nobody_acknowledges_expires_after_24_hours() {
    let scene = Scene::new().await;
    let id = scene.repair("").await.text("command_id");
    scene.world.poll(&scene.device, 1).await;
    scene.world.advance(24 * 60 * MINUTE);
    scene.world.sweep().await;
    let path = format!("/api/v1/commands/{id}");
    let user = || async {
        let body = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
        scene.world.post("/api/v1/auth/login", "", body).await.text("access_token")
    };
    assert_eq!(scene.world.get(&path, &user().await).await.text("state"), "sent");
    scene.world.advance(SECOND);
    scene.world.sweep().await;
    assert_eq!(scene.world.get(&path, &user().await).await.text("state"), "expired");
    scene.world.receipt(&scene.device, &id, "stored").await.is(410, "command-expired");
    scene.world.result(&scene.device, &id, "succeeded").await.is(410, "command-expired");
    assert!(scene.world.poll(&scene.device, 1).await.is_empty());
}

// Holds: S3.3-1, S3.3-2, S8-1
#[tokio::test]
async fn a_superseded_repair_stays_sent_and_its_late_acknowledgement_counts() {
    let scene = Scene::new().await;
    let (world, device, user) = (&scene.world, &scene.device, &scene.user);
    let older = scene.repair("?port=9101").await.text("command_id");
    world.poll(device, 1).await;
    let newer = scene.repair("?port=9102").await.text("command_id");
    let show = |id: &str| {
        let path = format!("/api/v1/commands/{id}?wait=20");
        async move { world.get(&path, user).await }
    };
    let told = show(&older).await;
    assert_eq!((told.text("state"), told.text("superseded_by")), ("sent".into(), newer.clone()));
    assert_eq!(told.body["result"]["status"], "superseded");
    assert_eq!(told.body["result"]["output"], format!("superseded by {newer}"));
    let sent = world.poll(device, 1).await;
    let sent: Vec<_> = sent.iter().map(|envelope| envelope.command_id.to_string()).collect();
    assert_eq!(sent, std::slice::from_ref(&newer), "the older one is not delivered again");

    assert_eq!(world.receipt(device, &older, "stored").await.status, 204);
    let told = show(&older).await;
    assert_eq!(
        (told.text("state"), told.text("superseded_by")),
        ("processed".into(), newer.clone())
    );
    assert_eq!(world.result(device, &older, "succeeded").await.status, 204);
    let told = show(&older).await;
    assert_eq!(told.body["result"]["status"], "succeeded", "it took effect all the same");
    assert_eq!(told.text("superseded_by"), newer);
    let path = format!("/api/v1/commands/{older}/explanation");
    let why = world.get(&path, &scene.user).await;
    assert!(why.text("happened").contains(&newer), "{why:?}");
    assert!(!why.text("next").contains("run the command again"), "{why:?}");
}

// Holds: S3.3-2, S8-1
#[tokio::test]
async fn a_superseded_repair_that_nobody_acknowledges_expires_after_24_hours() {
    let scene = Scene::new().await;
    let older = scene.repair("?port=9101").await.text("command_id");
    let newer = scene.repair("?port=9102").await.text("command_id");
    scene.world.advance(24 * 60 * MINUTE - SECOND);
    scene.world.sweep().await;
    let login = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
    let user = scene.world.post("/api/v1/auth/login", "", login).await.text("access_token");
    let path = format!("/api/v1/commands/{older}");
    assert_eq!(scene.world.get(&path, &user).await.text("state"), "sent");
    scene.world.advance(2 * SECOND);
    scene.world.sweep().await;
    let told = scene.world.get(&path, &user).await;
    assert_eq!((told.text("state"), told.text("superseded_by")), ("expired".into(), newer));
    assert_eq!(told.body["result"]["status"], "superseded");
    let why = scene.world.get(&format!("{path}/explanation"), &user).await;
    assert!(!why.text("next").contains("run the command again"), "{why:?}");
}

#[tokio::test]
async fn an_unknown_query_parameter_is_refused_and_the_answer_names_those_that_are_known() {
    let scene = Scene::new().await;
    let answer = scene.repair("?prot=9124").await;
    answer.is(422, "invalid-request");
    let detail = answer.text("detail");
    assert!(detail.contains("`prot`") && detail.contains("`port`"), "{detail}");
    let (model, device) = (&scene.model, &scene.device.id);
    let stop = format!("/api/v1/models/{model}/stop/{device}?now=yes");
    scene.world.act(&stop, &scene.user).await.is(422, "invalid-request");
    scene.world.get("/api/v1/devices?limt=2", &scene.user).await.is(422, "invalid-request");
    scene.world.act(&stop, "nobody").await.is(401, "unauthorized");
    // Where no token is asked for, people and scripts call, too.
    for path in ["auth/login", "auth/refresh", "setup", "members/accept", "devices/retire"] {
        let path = format!("/api/v1/{path}?remember=yes");
        let answer = scene.world.post(&path, "", json!({})).await;
        answer.is(422, "invalid-request");
        assert!(answer.text("detail").contains("`remember`"), "{path}: {answer:?}");
    }
    let register = "/api/v1/devices/register-with-key?device_nmae=lab";
    let answer = scene.world.post(register, "", json!({})).await;
    assert!(answer.text("detail").contains("`device_nmae`"), "{answer:?}");
    // A device may be newer than its backend.
    let poll = scene.device.path("/commands?after=1&wait=0&newer=yes");
    let answer = scene.world.get(&poll, &scene.device.token).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn a_repair_while_the_device_is_updated_says_what_will_happen() {
    let scene = Scene::new().await;
    assert!(scene.repair("").await.body.get("note").is_none());
    let report = json!({ "status": "updating", "agent_version": "1.3.0", "uptime_s": 9 });
    let path = scene.device.path("/status");
    assert_eq!(scene.world.put(&path, &scene.device.token, report).await.status, 204);
    let answer = scene.repair("?port=9101").await;
    assert_eq!(answer.status, 202, "{answer:?}");
    assert!(answer.text("note").contains("being updated"), "{answer:?}");
    let path = format!("/api/v1/commands/{}/explanation", answer.text("command_id"));
    let why = scene.world.get(&path, &scene.user).await;
    assert!(why.text("next").contains("after the running update"), "{why:?}");
}

#[tokio::test]
async fn many_repairs_at_once_are_one_command() {
    let scene = Scene::new().await;
    let answers = futures_util::future::join_all((0..20).map(|_| scene.repair(""))).await;
    let first = answers[0].text("command_id");
    assert!(answers.iter().all(|answer| answer.text("command_id") == first), "{answers:?}");
    assert_eq!(scene.world.poll(&scene.device, 1).await.len(), 1);
}
