//! The audit log: the actor and the action of every change.

use link_protocol::secret::Secret;
use serde_json::{Value, json};

use crate::harness::{MINUTE, PASSWORD, World};

const AUDIT: &str = "/api/v1/audit";

#[tokio::test]
async fn what_was_done_is_recorded_with_who_did_it() {
    let (world, ada) = World::set_up().await;
    let bob = world.member(&ada, "bob@example.org", "operator").await;
    let (ada_id, bob_id) = (id(&world, &ada).await, id(&world, &bob).await);
    let wish = json!({ "name": "ci", "scopes": ["keys:write"] });
    let made = world.post("/api/v1/tokens", &ada, wish).await;
    let token_id = made.body["info"]["token_id"].as_str().unwrap().to_owned();
    let key = json!({ "kind": "fleet", "name": "lab" });
    world.post("/api/v1/keys", &made.text("token"), key).await;
    let device = world.online_device(&ada).await;
    let model = world.model(&ada, false).await;
    world.deployed(&bob, &device, &model).await;
    let role = Some(json!({ "role": "viewer" }));
    world.call("PATCH", &format!("/api/v1/members/{bob_id}"), &ada, role).await;
    world.delete(&format!("/api/v1/devices/{}", device.id), &ada).await;

    let log = world.get(AUDIT, &ada).await;
    let seen: Vec<(String, Option<String>, String)> = log
        .items()
        .iter()
        .rev()
        .map(|entry| {
            assert_eq!(entry["outcome"], "done");
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let actor = text(&entry["actor"]["id"]);
            (text(&entry["action"]).unwrap(), actor, text(&entry["detail"]).unwrap())
        })
        .collect();
    let (ada_id, bob_id) = (Some(ada_id), Some(bob_id));
    let did = |who: &Option<String>, action: &str, detail: &str| {
        assert!(
            seen.contains(&(action.to_owned(), who.clone(), detail.to_owned())),
            "{action} {detail} {seen:#?}"
        );
    };
    did(&ada_id, "login.password", "");
    did(&ada_id, "member.invite", "operator");
    did(&bob_id, "member.join", "operator, bob@example.org");
    did(&ada_id, "token.create", "ci");
    did(&Some(token_id), "key.create", "lab");
    did(&ada_id, "model.create", "Tiny Model");
    did(&bob_id, "deployment.create", &format!("{model} to {}", device.id));
    did(&ada_id, "member.role", "viewer");
    did(&ada_id, "device.remove", "box");
    assert!(
        seen.iter()
            .any(|(action, who, _)| action == "device.register" && *who == Some(device.id.clone()))
    );
}

#[tokio::test]
async fn who_was_invited_and_who_has_left_stays_known() {
    let (world, ada) = World::set_up().await;
    let bob = world.member(&ada, "bob@example.org", "operator").await;
    let bob_id = id(&world, &bob).await;
    let wish = json!({ "role": "viewer", "email": "eve@example.org" });
    assert_eq!(world.post("/api/v1/members/invitations", &ada, wish).await.status, 201);
    world.delete(&format!("/api/v1/members/{bob_id}"), &ada).await;
    for (action, detail) in [
        ("member.invite", "viewer, for eve@example.org"),
        ("member.join", "operator, bob@example.org"),
        ("member.remove", "bob@example.org"),
    ] {
        let log = world.get(&format!("{AUDIT}?action={action}"), &ada).await;
        assert_eq!(log.items()[0]["detail"], detail, "{action}");
    }
}

#[tokio::test]
async fn a_password_that_the_operator_has_reset_is_recorded() {
    let (world, ada) = World::set_up().await;
    let ada_id = id(&world, &ada).await;
    let other = Secret::new("another correct horse");
    world.backend.app.reset_password("ada@example.org", other).await.unwrap();
    let login = json!({ "email": "ada@example.org", "password": "another correct horse" });
    let ada = world.post("/api/v1/auth/login", "", login).await.text("access_token");
    let log = world.get(&format!("{AUDIT}?action=account.password"), &ada).await;
    let entry = &log.items()[0];
    assert_eq!((&entry["actor"]["kind"], &entry["subject"]), (&json!("system"), &json!(ada_id)));
    assert_eq!(entry["detail"], "by `link-backend reset-password`");
}

#[tokio::test]
async fn the_log_is_filtered_paged_and_the_accounts_own() {
    let (world, ada) = World::set_up().await;
    for number in 0..5 {
        let body = json!({ "kind": "fleet", "name": number.to_string() });
        world.post("/api/v1/keys", &ada, body).await;
    }
    let keys = world.get(&format!("{AUDIT}?action=key&limit=2"), &ada).await;
    assert_eq!(keys.items()[0]["detail"], "4");
    let next = keys.text("next_cursor");
    let keys = world.get(&format!("{AUDIT}?action=key.create&limit=2&cursor={next}"), &ada).await;
    assert_eq!(keys.items()[0]["detail"], "2");
    let subject = keys.items()[0]["subject"].as_str().unwrap().to_owned();
    assert_eq!(world.get(&format!("{AUDIT}?subject={subject}"), &ada).await.items().len(), 1);
    let me = id(&world, &ada).await;
    assert_eq!(world.get(&format!("{AUDIT}?actor={me}"), &ada).await.items().len(), 6);
    let later = world.get(&format!("{AUDIT}?since=2036-01-01T00:00:00Z"), &ada).await;
    assert!(later.items().is_empty());
    for bad in ["action=%25", "since=yesterday", "limit=0", "actor=", "action=KEY"] {
        world.get(&format!("{AUDIT}?{bad}"), &ada).await.is(422, "invalid-request");
    }
    let bob = world.another_account("bob@example.org").await;
    assert_eq!(world.get(AUDIT, &bob).await.items().len(), 1, "only the own login");
}

#[tokio::test]
async fn a_refused_login_is_recorded_and_entries_end_with_the_retention() {
    let (world, ada) = World::set_up().await;
    let wrong = json!({ "email": "ada@example.org", "password": "wrong password" });
    world.post("/api/v1/auth/login", "", wrong).await.is(401, "invalid-credentials");
    let log = world.get(&format!("{AUDIT}?action=login"), &ada).await;
    assert_eq!(log.items()[0]["outcome"], "refused");
    assert!(!String::from_utf8_lossy(&log.bytes).contains("wrong password"));
    world.advance(MINUTE * 60 * 24 * 366);
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let login = world.post("/api/v1/auth/login", "", login).await;
    world.backend.app.purge().await.unwrap();
    assert_eq!(world.get(AUDIT, &login.text("access_token")).await.items().len(), 1);
}

async fn id(world: &World, token: &str) -> String {
    world.get("/api/v1/me", token).await.text("user_id")
}
