//! The audit log records every operation that changes something. Exceptions are named here, with their reasons.

use std::collections::BTreeSet;

use link_backend::config::owner_proof::OwnerProof;
use link_protocol::{counter::Epoch, retire::RetireCode};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Device, World, pair, registration},
    local_owner, operation, session,
};

/// Operations that change something and are not recorded.
const UNRECORDED: &[(&str, &str)] = &[
    ("POST /api/v1/auth/refresh", "goes on with a login that is recorded; a reuse is recorded"),
    ("POST /api/v1/auth/logout", "gives something up"),
    ("POST /api/v1/auth/device/code", "nobody is asked yet"),
    ("POST /api/v1/auth/device/inquire", "changes nothing"),
    ("POST /api/v1/auth/device/decide", "the login that it leads to is recorded"),
    ("POST /api/v1/auth/local/code", "the login that it leads to is recorded"),
];

/// Performs operations and checks that the audit log records them.
struct Deeds<'a> {
    world: &'a World,
    owner: String,
    done: BTreeSet<String>,
}

impl Deeds<'_> {
    /// Sends `method` `template` with the last of `ids` filled in, as `token`, and checks that the log contains
    /// `action`.
    async fn act(
        &mut self,
        (method, template): (&str, &str),
        ids: &[(&str, &str)],
        token: &str,
        body: Option<Value>,
        action: &str,
    ) -> Answer {
        let mut path = template.to_owned();
        for (name, id) in ids {
            path = path.replace(&format!("{{{name}}}"), id);
        }
        let before = self.count(action).await;
        let answer = if path.ends_with("/content") {
            let request = axum::http::Request::builder()
                .method(method)
                .uri(&path)
                .header("upload-offset", "0")
                .header("authorization", format!("Bearer {token}"))
                .header("content-type", "application/octet-stream")
                .body(axum::body::Body::from("weights"));
            self.world.send(request.unwrap()).await
        } else {
            self.world.call(method, &path, token, body).await
        };
        assert!(answer.status < 300, "{method} {path}: {answer:?}");
        assert_eq!(self.count(action).await, before + 1, "{method} {path}: no `{action}`");
        self.done.insert(format!("{method} {template}"));
        answer
    }

    async fn count(&self, action: &str) -> usize {
        let path = format!("/api/v1/audit?limit=200&action={action}");
        self.world.get(&path, &self.owner).await.items().len()
    }
}

/// Returns every operation that changes something and is called by a person or without a token.
fn changing() -> BTreeSet<String> {
    let document: Value = serde_json::from_str(&link_backend::openapi_json()).unwrap();
    let mut found = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let of_a_device = operation["security"].to_string().contains("device_token");
            if ["post", "put", "patch", "delete"].contains(&method.as_str()) && !of_a_device {
                found.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    found
}

#[tokio::test]
async fn every_operation_that_changes_something_is_in_the_log() {
    let world = World::with(|config| config.owner_proof = OwnerProof::File).await;
    let owner = world.create_first_account().await;
    let mut deeds = Deeds { world: &world, owner: owner.clone(), done: BTreeSet::new() };
    // The first login is recorded as soon as there is an account to read the log.
    assert_eq!(deeds.count("login.password").await, 1);
    deeds.done.insert("POST /api/v1/setup".to_owned());

    let device = people(&mut deeds, &owner).await;
    things(&mut deeds, &owner, &device).await;
    devices(&mut deeds, &owner, &device).await;
    sessions(&mut deeds, &owner).await;
    by_the_proof(&mut deeds).await;

    let unrecorded = UNRECORDED.iter().map(|(operation, _)| (*operation).to_owned());
    let known: BTreeSet<String> = deeds.done.iter().cloned().chain(unrecorded).collect();
    assert_eq!(changing(), known);
    assert!(UNRECORDED.iter().all(|(operation, _)| !deeds.done.contains(*operation)));
}

async fn people(deeds: &mut Deeds<'_>, owner: &str) -> Device {
    let world = deeds.world;
    let login = json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
    let path = ("POST", "/api/v1/auth/login");
    deeds.act(path, &[], "", Some(login), "login.password").await;
    let account = world.get("/api/v1/me", owner).await.text("account_id");
    let body = Some(json!({ "account_id": account }));
    deeds.act(("POST", "/api/v1/auth/account"), &[], owner, body, "login.account").await;

    let invitations = ("POST", "/api/v1/members/invitations");
    let invite = || Some(json!({ "role": "operator" }));
    let made = deeds.act(invitations, &[], owner, invite(), "member.invite").await;
    let id = made.body["info"]["invitation_id"].as_str().unwrap();
    let withdraw = ("DELETE", "/api/v1/members/invitations/{invitation_id}");
    deeds.act(withdraw, &[("invitation_id", id)], owner, None, "member.withdraw").await;
    let mut joined = Vec::new();
    for email in ["bob@example.org", "eve@example.org"] {
        let token = world.invitation(owner, "operator").await;
        let body = json!({
            "invitation_token": token, "email": email, "password": crate::harness::PASSWORD,
        });
        let path = ("POST", "/api/v1/members/accept");
        joined.push(deeds.act(path, &[], "", Some(body), "member.join").await.text("access_token"));
    }
    let bob = world.get("/api/v1/me", &joined[0]).await.text("user_id");
    let (ids, member) = ([("user_id", bob.as_str())], "/api/v1/members/{user_id}");
    let role = Some(json!({ "role": "viewer" }));
    deeds.act(("PATCH", member), &ids, owner, role, "member.role").await;
    deeds.act(("DELETE", member), &ids, owner, None, "member.remove").await;
    deeds.act(("POST", "/api/v1/members/leave"), &[], &joined[1], None, "member.remove").await;

    let wish = Some(json!({ "name": "ci", "scopes": ["devices:read"] }));
    let made = deeds.act(("POST", "/api/v1/tokens"), &[], owner, wish, "token.create").await;
    let id = made.body["info"]["token_id"].as_str().unwrap();
    let revoke = ("DELETE", "/api/v1/tokens/{token_id}");
    deeds.act(revoke, &[("token_id", id)], owner, None, "token.revoke").await;

    let request = axum::http::Request::post("/api/v1/auth/device/code")
        .header("content-type", "application/json")
        .header("host", "127.0.0.1:8080")
        .body(axum::body::Body::from(json!({ "client_name": "laptop" }).to_string()));
    let codes = world.send(request.unwrap()).await;
    let decision = json!({ "user_code": codes.text("user_code"), "allow": true });
    assert_eq!(world.post("/api/v1/auth/device/decide", owner, decision).await.status, 204);
    let poll = Some(json!({ "device_code": codes.text("device_code") }));
    deeds.act(("POST", "/api/v1/auth/device/token"), &[], "", poll, "login.device").await;

    let keys = ("POST", "/api/v1/keys");
    let wish = |kind| Some(json!({ "kind": kind }));
    let made = deeds.act(keys, &[], owner, wish("fleet"), "key.create").await;
    let id = made.body["info"]["key_id"].as_str().unwrap();
    deeds
        .act(("DELETE", "/api/v1/keys/{key_id}"), &[("key_id", id)], owner, None, "key.revoke")
        .await;
    let key = world.key(owner, "registration").await;
    let register = ("POST", "/api/v1/devices/register-with-key");
    let body = Some(registration("registration_key", &key));
    let device = Device::from_answer(&deeds.act(register, &[], "", body, "device.register").await);
    world.hello(&device, 0, &[]).await;
    device
}

/// Sets a password. This must be the last operation, because it ends every login.
async fn by_the_proof(deeds: &mut Deeds<'_>) {
    let world = deeds.world;
    let proof = local_owner::proof_of(world);
    let shown = || Some(json!({ "proof": proof }));
    let log_in = ("POST", "/api/v1/auth/local/login");
    deeds.act(log_in, &[], "", shown(), "login.owner").await;
    let code = world.post("/api/v1/auth/local/code", "", json!({ "proof": proof })).await;
    let code = Some(json!({ "code": code.text("code") }));
    deeds.act(("POST", "/api/v1/auth/local/redeem"), &[], "", code, "login.code").await;
    let path = "/api/v1/auth/local/password";
    let password = json!({ "proof": proof, "password": crate::harness::PASSWORD });
    assert_eq!(world.post(path, "", password).await.status, 204);
    deeds.owner = world.post(log_in.1, "", json!({ "proof": proof })).await.text("access_token");
    assert_eq!(deeds.count("account.password").await, 2);
    deeds.done.insert(format!("POST {path}"));
}

async fn things(deeds: &mut Deeds<'_>, owner: &str, device: &Device) {
    let world = deeds.world;
    let body = Some(json!({ "origins": ["https://work.example"] }));
    let setting = ("PUT", "/api/v1/settings/allowlist");
    deeds.act(setting, &[], owner, body, "setting.allowlist").await;

    let announced = json!({ "name": "Weights", "file_name": "weights.gguf", "plugin": "other" });
    let path = ("POST", "/api/v1/models");
    let made = deeds.act(path, &[], owner, Some(announced), "model.create").await;
    let (id, model) = (made.text("model_id"), "/api/v1/models/{model_id}");
    let ids = [("model_id", id.as_str())];
    let content = ("PUT", "/api/v1/models/{model_id}/content");
    deeds.act(content, &ids, owner, None, "model.change").await;
    let announced = json!({
        "name": "Parts", "file_name": "parts.gguf", "plugin": "other", "size_bytes": 7,
    });
    let parts = deeds.act(path, &[], owner, Some(announced), "model.create").await;
    let of_parts = parts.text("model_id");
    let of_parts = [("model_id", of_parts.as_str())];
    deeds.act(("PATCH", content.1), &of_parts, owner, None, "model.change").await;
    let name = Some(json!({ "name": "Heavier" }));
    deeds.act(("PATCH", model), &ids, owner, name, "model.change").await;
    deeds.act(("DELETE", model), &ids, owner, None, "model.remove").await;

    let id = world.model(owner, false).await;
    let wish = || Some(json!({ "device_id": device.id, "model_id": id }));
    let path = ("POST", "/api/v1/deployments");
    let made = deeds.act(path, &[], owner, wish(), "deployment.create").await;
    let deployment = made.text("deployment_id");
    let ids = [("deployment_id", deployment.as_str())];
    let cancel = ("POST", "/api/v1/deployments/{deployment_id}/cancel");
    deeds.act(cancel, &ids, owner, None, "deployment.cancel").await;
    world.deployed(owner, device, &id).await;
    let ids = [("model_id", id.as_str()), ("device_id", device.id.as_str())];
    for (what, action) in [
        ("repair-serving", "serving.repair"),
        ("serve", "serving.start"),
        ("stop", "serving.stop"),
        ("uninstall", "serving.uninstall"),
    ] {
        let template = format!("/api/v1/models/{{model_id}}/{what}/{{device_id}}");
        deeds.act(("POST", &template), &ids, owner, None, action).await;
    }
}

async fn sessions(deeds: &mut Deeds<'_>, owner: &str) {
    let world = deeds.world;
    let before = deeds.count("login.password").await;
    session::Browser::local().logged_in(world).await;
    assert_eq!(deeds.count("login.password").await, before + 1);
    deeds.done.insert("POST /api/v1/session".to_owned());
    let login = || json!({ "email": "ada@example.org", "password": crate::harness::PASSWORD });
    let other = world.post("/api/v1/auth/login", "", login()).await.text("access_token");
    let path = ("DELETE", "/api/v1/session");
    deeds.act(path, &[], &other, None, "login.end").await;
    let listed = world.get("/api/v1/sessions", owner).await;
    let ends = listed.items().iter().find(|item| item["current"] == false).unwrap();
    let ids = [("session_id", ends["session_id"].as_str().unwrap())];
    let path = ("DELETE", "/api/v1/sessions/{session_id}");
    deeds.act(path, &ids, owner, None, "login.end").await;
    let path = ("DELETE", "/api/v1/sessions");
    deeds.act(path, &[], owner, None, "login.end").await;
    let body = json!({
        "current_password": crate::harness::PASSWORD, "new_password": "another long password",
    });
    let path = ("POST", "/api/v1/me/password");
    deeds.act(path, &[], owner, Some(body), "account.password").await;
}

async fn devices(deeds: &mut Deeds<'_>, owner: &str, device: &Device) {
    let world = deeds.world;
    let (ids, path) = ([("device_id", device.id.as_str())], "/api/v1/devices/{device_id}");
    let tags = Some(json!({ "add_tags": ["lab"] }));
    deeds.act(("PATCH", path), &ids, owner, tags, "device.tag").await;
    let name = Some(json!({ "name": "desk" }));
    deeds.act(("PATCH", path), &ids, owner, name, "device.rename").await;
    let version = Some(json!({ "version": "1.4.0" }));
    let update = ("POST", "/api/v1/devices/{device_id}/update");
    deeds.act(update, &ids, owner, version, "device.update").await;
    let model = world.model(owner, false).await;
    let wish = json!({ "work": { "kind": "serve", "model_id": model }, "devices": [device.id] });
    let operations = ("POST", operation::OPERATIONS);
    let made = deeds.act(operations, &[], owner, Some(wish), "operation.create").await;
    operation::work(world).await;
    let (made, of) = (made.text("operation_id"), "/api/v1/operations/{operation_id}");
    let of_many = [("operation_id", made.as_str())];
    let retry = format!("{of}/retry");
    deeds.act(("POST", &retry), &of_many, owner, None, "operation.retry").await;
    let cancel = format!("{of}/cancel");
    deeds.act(("POST", &cancel), &of_many, owner, None, "operation.cancel").await;
    deeds.act(("DELETE", path), &ids, owner, None, "device.remove").await;

    let given = world.register(owner).await;
    let other = world.another_account("transfer@example.org").await;
    let key = Some(json!({ "registration_key": world.key(&other, "registration").await }));
    let (ids, transfer) =
        ([("device_id", given.id.as_str())], "/api/v1/devices/{device_id}/transfer");
    deeds.act(("POST", transfer), &ids, owner, key, "device.transfer").await;

    // A device that deregisters and a device that is removed by its retire code are recorded too.
    let goes = world.register(owner).await;
    let before = deeds.count("device.remove").await;
    assert_eq!(world.delete(&goes.path(""), &goes.token).await.status, 204);
    assert_eq!(deeds.count("device.remove").await, before + 1);
    let retired = world.register(owner).await;
    let now = link_backend::host::clock::Clock::now(&*world.clock);
    let code = RetireCode::sign(&pair(1), retired.id.parse().unwrap(), Epoch(retired.epoch), now);
    let body = Some(json!({ "retire_code": code.expose() }));
    deeds.act(("POST", "/api/v1/devices/retire"), &[], "", body, "device.remove").await;
}
