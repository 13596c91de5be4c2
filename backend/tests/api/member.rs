//! Members of an account, invitations, and a person's other accounts.

use serde_json::json;

use crate::harness::{MINUTE, PASSWORD, World, registration};

const INVITATIONS: &str = "/api/v1/members/invitations";
const ACCEPT: &str = "/api/v1/members/accept";
const DAY: u32 = 24 * 60;

#[tokio::test]
async fn an_invitation_is_good_once_and_for_its_time() {
    let (world, ada) = World::set_up().await;
    let token = world.invitation(&ada, "operator").await;
    assert!(token.starts_with("lit_"));
    let listed = world.get(INVITATIONS, &ada).await;
    assert_eq!(listed.items()[0]["role"], "operator");
    assert!(!String::from_utf8_lossy(&listed.bytes).contains(&token[4..]));

    let accept = |token: &str, email: &str| json!({ "invitation_token": token, "email": email, "password": PASSWORD });
    let short = json!({ "invitation_token": token, "email": "bob@example.org", "password": "x" });
    world.post(ACCEPT, "", short).await.is(422, "invalid-request");
    let taken = world.post(ACCEPT, "", accept(&token, "ada@example.org")).await;
    taken.is(422, "invalid-request");
    let joined = world.post(ACCEPT, "", accept(&token, "bob@example.org")).await;
    assert_eq!(joined.status, 201, "{joined:?}");
    let me = world.get("/api/v1/me", &joined.text("access_token")).await;
    assert_eq!(
        (&me.body["role"], &me.body["email"]),
        (&json!("operator"), &json!("bob@example.org"))
    );
    let again = world.post(ACCEPT, "", accept(&token, "eve@example.org")).await;
    again.is(410, "invitation-invalid");
    assert!(world.get(INVITATIONS, &ada).await.items().is_empty());

    let late = world.invitation(&ada, "viewer").await;
    world.advance(MINUTE * 7 * DAY);
    world.post(ACCEPT, "", accept(&late, "eve@example.org")).await.is(410, "invitation-invalid");
}

#[tokio::test]
async fn an_invitation_for_an_address_is_for_nobody_else_and_can_be_withdrawn() {
    let (world, ada) = World::set_up().await;
    let body = json!({ "role": "viewer", "email": "Bob@example.org" });
    let made = world.post(INVITATIONS, &ada, body).await;
    let token = made.text("invitation_token");
    let eve =
        json!({ "invitation_token": token, "email": "eve@example.org", "password": PASSWORD });
    world.post(ACCEPT, "", eve).await.is(410, "invitation-invalid");
    let id = made.body["info"]["invitation_id"].as_str().unwrap();
    assert_eq!(world.delete(&format!("{INVITATIONS}/{id}"), &ada).await.status, 204);
    let bob =
        json!({ "invitation_token": token, "email": "bob@example.org", "password": PASSWORD });
    world.post(ACCEPT, "", bob).await.is(410, "invitation-invalid");
}

#[tokio::test]
async fn only_an_owner_makes_owners_and_the_last_one_stays() {
    let (world, ada) = World::set_up().await;
    let admin = world.member(&ada, "admin@example.org", "admin").await;
    let viewer = world.member(&admin, "viewer@example.org", "viewer").await;
    let id = |token: &str| {
        let token = token.to_owned();
        let world = &world;
        async move { world.get("/api/v1/me", &token).await.text("user_id") }
    };
    let member = |id: &str| format!("/api/v1/members/{id}");
    let (ada_id, viewer_id) = (id(&ada).await, id(&viewer).await);

    let role = |role: &str| Some(json!({ "role": role }));
    let call = |method: &'static str, path: String, token: &str, body| {
        let token = token.to_owned();
        let world = &world;
        async move { world.call(method, &path, &token, body).await }
    };
    call("PATCH", member(&viewer_id), &admin, role("owner")).await.is(403, "forbidden");
    call("PATCH", member(&ada_id), &admin, role("viewer")).await.is(403, "forbidden");
    call("DELETE", member(&ada_id), &admin, None).await.is(403, "forbidden");
    world.post(INVITATIONS, &admin, json!({ "role": "owner" })).await.is(403, "forbidden");
    call("PATCH", member(&ada_id), &ada, role("admin")).await.is(409, "last-owner");
    call("DELETE", member(&ada_id), &ada, None).await.is(409, "last-owner");
    world.act("/api/v1/members/leave", &ada).await.is(409, "last-owner");

    let raised = call("PATCH", member(&viewer_id), &ada, role("owner")).await;
    assert_eq!((raised.status, &raised.body["role"]), (200, &json!("owner")));
    let list = world.get("/api/v1/members", &viewer).await;
    assert_eq!(list.items().len(), 3, "the new role counts at once, without a new login");
    assert_eq!(world.act("/api/v1/members/leave", &ada).await.status, 200);
    world.act("/api/v1/members/leave", &viewer).await.is(409, "last-owner");
}

#[tokio::test]
async fn who_is_removed_is_out_at_once_and_may_come_back() {
    let (world, ada) = World::set_up().await;
    let bob = world.member(&ada, "bob@example.org", "operator").await;
    let id = world.get("/api/v1/me", &bob).await.text("user_id");
    assert_eq!(world.get("/api/v1/devices", &bob).await.status, 200);
    assert_eq!(world.delete(&format!("/api/v1/members/{id}"), &ada).await.status, 200);
    world.get("/api/v1/devices", &bob).await.is(401, "unauthorized");
    let login = json!({ "email": "bob@example.org", "password": PASSWORD });
    world.post("/api/v1/auth/login", "", login).await.is(401, "invalid-credentials");
    world.delete(&format!("/api/v1/members/{id}"), &ada).await.is(404, "not-found");
    world.member(&ada, "bob@example.org", "viewer").await;
}

#[tokio::test]
async fn a_person_joins_further_accounts_and_enters_each() {
    let (world, ada) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let token = world.invitation(&ada, "viewer").await;
    let with_user = json!({ "invitation_token": token, "email": "x@y.z", "password": PASSWORD });
    world.post(ACCEPT, &bob, with_user).await.is(422, "invalid-request");
    let joined = world.post(ACCEPT, &bob, json!({ "invitation_token": token })).await;
    let there = joined.text("access_token");
    let account = world.get("/api/v1/me", &ada).await.text("account_id");
    let me = world.get("/api/v1/me", &there).await;
    assert_eq!((me.text("account_id"), me.text("role")), (account.clone(), "viewer".to_owned()));
    let again = world.invitation(&ada, "admin").await;
    let again = world.post(ACCEPT, &bob, json!({ "invitation_token": again })).await;
    again.is(409, "already-member");

    let accounts = world.get("/api/v1/accounts", &bob).await;
    assert_eq!(accounts.body.as_array().unwrap().len(), 2);
    let enter = |account: &str| json!({ "account_id": account });
    let entered = world.post("/api/v1/auth/account", &bob, enter(&account)).await;
    world
        .post("/api/v1/keys", &entered.text("access_token"), json!({ "kind": "fleet" }))
        .await
        .is(403, "forbidden");
    assert_eq!(world.post("/api/v1/keys", &bob, json!({ "kind": "fleet" })).await.status, 201);
    let foreign = world.get("/api/v1/me", &bob).await.text("account_id");
    world.post("/api/v1/auth/account", &ada, enter(&foreign)).await.is(404, "not-found");

    let refreshed = json!({ "refresh_token": entered.text("refresh_token") });
    let refreshed = world.post("/api/v1/auth/refresh", "", refreshed).await;
    let me = world.get("/api/v1/me", &refreshed.text("access_token")).await;
    assert_eq!(me.text("account_id"), account, "a login stays in its account");

    assert_eq!(world.act("/api/v1/members/leave", &there).await.status, 200);
    world.get("/api/v1/me", &entered.text("access_token")).await.is(401, "unauthorized");
    assert_eq!(world.get("/api/v1/me", &bob).await.status, 200, "the own account stays");
}

async fn registers_with(world: &World, key: &str) -> u16 {
    let body = registration("fleet_key", key);
    world.post("/api/v1/devices/register-with-key", "", body).await.status
}

#[tokio::test]
async fn the_keys_of_who_is_removed_are_revoked_unless_they_are_taken_over() {
    let (world, ada) = World::set_up().await;
    let ada_id = world.get("/api/v1/me", &ada).await.text("user_id");
    let bob = world.member(&ada, "bob@example.org", "admin").await;
    let id = world.get("/api/v1/me", &bob).await.text("user_id");
    let (mine, his) = (world.key(&ada, "fleet").await, world.key(&bob, "fleet").await);
    let scopes = json!({ "name": "ci", "scopes": ["keys:write"] });
    let token = world.post("/api/v1/tokens", &bob, scopes).await.text("token");
    let by_token = world.key(&token, "fleet").await;
    world.key(&bob, "registration").await;
    let of_bob = format!("/api/v1/keys?created_by={id}");
    assert_eq!(world.get(&of_bob, &ada).await.items().len(), 3);
    world.get("/api/v1/keys?created_by=x", &ada).await.is(422, "invalid-request");
    assert_eq!(registers_with(&world, &his).await, 201);

    let member = format!("/api/v1/members/{id}");
    world.delete(&format!("{member}?keys=forget"), &ada).await.is(422, "invalid-request");
    let removed = world.delete(&member, &ada).await;
    assert_eq!(removed.status, 200, "{removed:?}");
    assert_eq!(removed.body["user_id"], id.as_str());
    assert_eq!(removed.body["revoked"].as_array().unwrap().len(), 3, "{removed:?}");
    assert_eq!(removed.body["taken_over"], json!([]));
    assert_eq!(
        (registers_with(&world, &his).await, registers_with(&world, &by_token).await),
        (403, 403)
    );
    assert_eq!(registers_with(&world, &mine).await, 201);
    let log = world.get("/api/v1/audit?action=key.revoke", &ada).await;
    assert_eq!(log.items().len(), 3);
    for entry in log.items() {
        assert_eq!(
            (&entry["actor"]["id"], &entry["actor"]["kind"]),
            (&json!(ada_id), &json!("user"))
        );
        assert_eq!(entry["detail"], format!("{id} was removed"));
    }

    let eve = world.member(&ada, "eve@example.org", "admin").await;
    let id = world.get("/api/v1/me", &eve).await.text("user_id");
    let hers = world.key(&eve, "fleet").await;
    let removed = world.delete(&format!("/api/v1/members/{id}?keys=take_over"), &ada).await;
    assert_eq!(removed.body["taken_over"][0]["created_by"], ada_id.as_str(), "{removed:?}");
    assert_eq!(removed.body["revoked"], json!([]));
    assert_eq!(registers_with(&world, &hers).await, 201);
    let log = world.get("/api/v1/audit?action=key.takeover", &ada).await;
    assert_eq!(log.items().len(), 1);
    assert_eq!(log.items()[0]["detail"], format!("{id} was removed"));
}

#[tokio::test]
async fn the_keys_of_who_leaves_are_revoked() {
    let (world, ada) = World::set_up().await;
    let bob = world.member(&ada, "bob@example.org", "admin").await;
    let his = world.key(&bob, "fleet").await;
    assert_eq!(world.act("/api/v1/members/leave", &bob).await.status, 200);
    assert_eq!(registers_with(&world, &his).await, 403);
}
