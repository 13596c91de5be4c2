//! Calls every operation of the OpenAPI document without the necessary permission.

use link_backend::domain::permission;
use link_protocol::{backend_api::member::Role, permission::Permission};
use serde_json::{Value, json};

use crate::harness::{Answer, World};

struct Operation {
    method: String,
    path: String,
    /// The accepted token schemes; empty if no token is necessary.
    needs: Vec<String>,
    /// The permission that a person needs.
    permission: Option<Permission>,
}

impl Operation {
    /// Tells whether the answer is a 403 with this code. An answer to HEAD has no code.
    fn is_refused(&self, answer: &Answer, code: &str) -> bool {
        let has_code = self.method == "HEAD" || answer.body["code"] == code;
        answer.status == 403 && has_code
    }
}

/// Returns the operations of the document, so that the test covers new operations by itself.
fn operations() -> Vec<Operation> {
    let document: Value = serde_json::from_str(&link_backend::openapi_json()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(responses) = operation["responses"].as_object() else { continue };
            assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
            let alternatives = operation["security"].as_array().cloned().unwrap_or_default();
            let optional = alternatives.iter().any(|one| one == &json!({}));
            let names = alternatives.iter().flat_map(|one| one.as_object().unwrap().keys());
            let needs = if optional { vec![] } else { names.cloned().collect() };
            let named = |one: &Value| one["access_token"][0].as_str().map(str::to_owned);
            let permission = alternatives.iter().find_map(named);
            operations.push(Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                needs,
                permission: permission.map(|name| name.parse().unwrap()),
            });
        }
    }
    operations
}

fn fill(path: &str, device: &str, model: &str) -> String {
    path.replace("{device_id}", device)
        .replace("{model_id}", model)
        .replace("{key_id}", &format!("key_{}", "0".repeat(32)))
        .replace("{command_id}", &format!("cmd_{}", "0".repeat(32)))
        .replace("{deployment_id}", &format!("dep_{}", "0".repeat(32)))
        .replace("{user_id}", &format!("usr_{}", "0".repeat(32)))
        .replace("{invitation_id}", &format!("inv_{}", "0".repeat(32)))
        .replace("{token_id}", &format!("tok_{}", "0".repeat(32)))
        .replace("{operation_id}", &format!("op_{}", "0".repeat(32)))
        .replace("{session_id}", &format!("ses_{}", "0".repeat(32)))
}

#[test]
fn only_these_operations_need_no_token() {
    let open: Vec<String> = operations()
        .into_iter()
        .filter(|operation| operation.needs.is_empty())
        .map(|operation| format!("{} {}", operation.method, operation.path))
        .collect();
    assert_eq!(
        open,
        [
            "POST /api/v1/auth/device/code",
            "POST /api/v1/auth/device/token",
            "POST /api/v1/auth/local/code",
            "POST /api/v1/auth/local/login",
            "POST /api/v1/auth/local/password",
            "POST /api/v1/auth/local/redeem",
            "POST /api/v1/auth/login",
            "POST /api/v1/auth/logout",
            "POST /api/v1/auth/refresh",
            "POST /api/v1/devices/register-with-key",
            "POST /api/v1/devices/retire",
            "POST /api/v1/members/accept",
            "POST /api/v1/session",
            "POST /api/v1/setup",
            "GET /healthz",
            "GET /readyz",
        ]
    );
    assert!(operations().len() > 35);
}

// Holds: S9-1, S4.1-5, S5-1
#[tokio::test]
async fn every_other_operation_refuses_a_request_without_a_valid_token() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    for operation in operations().iter().filter(|operation| !operation.needs.is_empty()) {
        assert!(operation.path.starts_with("/api/v1/"), "{}", operation.path);
        let path = fill(&operation.path, &device.id, &model);
        let of_the_other_kind = match operation.needs[0].as_str() {
            "access_token" => &device.token,
            _ => &user,
        };
        for token in ["", "nonsense", of_the_other_kind] {
            let answer = world.call(&operation.method, &path, token, None).await;
            assert_eq!(answer.status, 401, "{} {path}: {answer:?}", operation.method);
        }
    }
}

#[tokio::test]
async fn every_operation_of_people_and_scripts_refuses_an_unknown_query_parameter() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let member = world.post("/api/v1/keys", &user, json!({ "nonsense": 1 })).await;
    let mut refused = 0;
    for operation in operations() {
        // Probes ask for the health, and some of them add parameters of their own.
        let is_probe = ["/healthz", "/readyz"].contains(&operation.path.as_str());
        if is_probe || operation.needs == ["device_token"] {
            continue;
        }
        let path = format!("{}?nonsense=1", fill(&operation.path, &device.id, &model));
        let token = if operation.needs.is_empty() { "" } else { user.as_str() };
        let answer = world.call(&operation.method, &path, token, None).await;
        let place = format!("{} {path}: {answer:?}", operation.method);
        assert_eq!(answer.status, member.status, "{place}");
        if operation.method != "HEAD" {
            for same in ["type", "title", "code"] {
                assert_eq!(answer.body[same], member.body[same], "{place}");
            }
            assert!(
                answer.text("detail").contains("unknown query parameter `nonsense`"),
                "{place}"
            );
        }
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}

/// An agent may be newer than its backend.
#[tokio::test]
async fn every_operation_of_agents_tolerates_an_unknown_query_parameter() {
    let (world, user) = World::set_up().await;
    let (newer, known) = (world.online_device(&user).await, world.online_device(&user).await);
    let model = world.model(&user, false).await;
    let (last, others): (Vec<_>, Vec<_>) = operations()
        .into_iter()
        .filter(|operation| operation.needs == ["device_token"])
        .partition(|operation| operation.method == "DELETE");
    let mut tolerated = 0;
    for operation in others.iter().chain(&last) {
        let path = |id| format!("{}?wait=0", fill(&operation.path, id, &model));
        let (method, asked) = (&operation.method, format!("{}&nonsense=1", path(&newer.id)));
        let answer = world.call(method, &asked, &newer.token, None).await;
        let same = world.call(method, &path(&known.id), &known.token, None).await;
        assert_ne!(answer.status, 401, "{method} {asked}: {answer:?}");
        assert_eq!(answer.status, same.status, "{method} {asked}: {answer:?}");
        assert_eq!(answer.body["detail"], same.body["detail"], "{method} {asked}");
        tolerated += 1;
    }
    assert!(tolerated >= 13, "{tolerated}");
}

#[test]
fn every_operation_of_a_person_names_one_permission() {
    for operation in operations().iter().filter(|one| one.needs == ["access_token"]) {
        assert!(operation.permission.is_some(), "{} {}", operation.method, operation.path);
    }
}

#[tokio::test]
async fn every_operation_is_open_to_the_roles_that_have_its_permission_and_to_no_other() {
    let (world, owner) = World::set_up().await;
    let mut refused = 0;
    for role in Role::ALL {
        let email = format!("{}@example.org", role.as_str());
        let member = world.member(&owner, &email, role.as_str()).await;
        // A logout ends the login of the test; every role may log out.
        let (last, others): (Vec<_>, Vec<_>) = operations()
            .into_iter()
            .filter(|operation| operation.needs == ["access_token"])
            .filter(|operation| operation.path != "/api/v1/session")
            .partition(|operation| operation.path.ends_with("/leave"));
        for operation in others.iter().chain(&last) {
            let path = fill(&operation.path, &zeros("dev"), &zeros("mdl"));
            let answer = world.call(&operation.method, &path, &member, None).await;
            let may = permission::allows(role, operation.permission.unwrap());
            let place = format!("{role:?} {} {path}: {answer:?}", operation.method);
            assert_eq!(operation.is_refused(&answer, "forbidden"), !may, "{place}");
            assert_ne!(answer.status, 401, "{place}");
            refused += usize::from(!may);
        }
    }
    assert!(refused >= 25, "{refused}");
}

#[tokio::test]
async fn every_operation_is_open_to_the_tokens_that_have_its_scope_and_to_no_other() {
    let (world, owner) = World::set_up().await;
    let mut refused = 0;
    for scope in Permission::ALL.iter().filter(|scope| scope.can_be_scope()) {
        let wish = json!({ "name": scope.as_str(), "scopes": [scope] });
        let token = world.post("/api/v1/tokens", &owner, wish).await.text("token");
        for operation in operations().iter().filter(|one| one.needs == ["access_token"]) {
            let path = fill(&operation.path, &zeros("dev"), &zeros("mdl"));
            let answer = world.call(&operation.method, &path, &token, None).await;
            let needed = operation.permission.unwrap();
            // Every token can read the identity of its owner.
            let may = needed == *scope || needed == Permission::ReadAccount;
            let place = format!("{scope} {} {path}: {answer:?}", operation.method);
            assert_eq!(operation.is_refused(&answer, "scope-missing"), !may, "{place}");
            assert_ne!(answer.status, 401, "{place}");
            refused += usize::from(!may);
        }
    }
    assert!(refused >= 700, "{refused}");
}

fn zeros(prefix: &str) -> String {
    format!("{prefix}_{}", "0".repeat(32))
}

#[tokio::test]
async fn what_another_account_owns_is_not_found() {
    let (world, user) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let deployment = world.deployed(&user, &device, &model).await;
    let command = {
        let path = format!("/api/v1/models/{model}/stop/{}", device.id);
        world.act(&path, &user).await.text("command_id")
    };
    let key = world.post("/api/v1/keys", &user, json!({ "kind": "fleet" })).await;
    let key = key.body["info"]["key_id"].as_str().unwrap().to_owned();
    let me = world.get("/api/v1/me", &user).await.text("user_id");
    let invited = json!({ "role": "viewer" });
    let invited = world.post("/api/v1/members/invitations", &user, invited).await;
    let invitation = invited.body["info"]["invitation_id"].as_str().unwrap().to_owned();
    let wish = json!({ "name": "ci", "scopes": ["devices:read"] });
    let token = world.post("/api/v1/tokens", &user, wish).await;
    let token = token.body["info"]["token_id"].as_str().unwrap().to_owned();
    let session = world.get("/api/v1/sessions", &user).await;
    let session = session.items()[0]["session_id"].as_str().unwrap().to_owned();
    let wish = json!({ "work": { "kind": "tag", "tags": ["x"] }, "devices": [device.id] });
    let many = world.post("/api/v1/operations", &user, wish).await.text("operation_id");
    // A key proves that its owner wants a device, not that bob may transfer one.
    let carol = world.another_account("carol@example.org").await;
    let wanted = world.key(&carol, "registration").await;
    let mut tried = 0;
    for operation in operations() {
        let named = operation.path.contains('{') && operation.needs == ["access_token"];
        if !named {
            continue;
        }
        let path = operation
            .path
            .replace("{device_id}", &device.id)
            .replace("{model_id}", &model)
            .replace("{key_id}", &key)
            .replace("{command_id}", &command)
            .replace("{deployment_id}", &deployment)
            .replace("{user_id}", &me)
            .replace("{invitation_id}", &invitation)
            .replace("{token_id}", &token)
            .replace("{session_id}", &session)
            .replace("{operation_id}", &many);
        let body = match operation.path.rsplit('/').next() {
            Some("update") => Some(json!({ "version": "1.4.0" })),
            Some("transfer") => Some(json!({ "registration_key": wanted })),
            Some("{device_id}") if operation.method == "PATCH" => {
                Some(json!({ "add_tags": ["x"] }))
            }
            Some("{user_id}") => Some(json!({ "role": "viewer" })),
            _ => (operation.method == "PATCH").then(|| json!({ "name": "mine" })),
        };
        let answer = if path.ends_with("/content") {
            let request = axum::http::Request::put(&path)
                .header("authorization", format!("Bearer {bob}"))
                .header("content-type", "application/octet-stream");
            world.send(request.body(axum::body::Body::from("x")).unwrap()).await
        } else {
            world.call(&operation.method, &path, &bob, body).await
        };
        answer.is(404, "not-found");
        tried += 1;
    }
    assert!(tried >= 14, "{tried}");
    for list in [
        "keys",
        "devices",
        "models",
        "deployments",
        "members/invitations",
        "tokens",
        "commands",
        "operations",
    ] {
        assert!(world.get(&format!("/api/v1/{list}"), &bob).await.items().is_empty(), "{list}");
    }
    let read = world.get(&format!("/api/v1/devices/{}", device.id), &user).await;
    assert_eq!(read.status, 200, "nothing was changed");
}

#[tokio::test]
async fn a_device_is_refused_at_the_path_of_another() {
    let (world, user) = World::set_up().await;
    let (one, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let model = world.model(&user, false).await;
    let mut tried = 0;
    for operation in operations() {
        if operation.needs == ["device_token"] && operation.path.contains("{device_id}") {
            for id in [other.id.as_str(), "nonsense"] {
                let path = fill(&operation.path, id, &model);
                let answer = world.call(&operation.method, &path, &one.token, None).await;
                answer.is(404, "not-found");
            }
            tried += 1;
        }
    }
    assert!(tried >= 10, "{tried}");
    assert_eq!(world.get(&other.path("/commands?wait=0"), &other.token).await.status, 200);
}

#[tokio::test]
async fn an_id_that_is_malformed_names_nothing() {
    let (world, user) = World::set_up().await;
    for operation in operations() {
        if operation.needs == ["access_token"] && operation.path.contains('{') {
            let mut path = operation.path.clone();
            while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
                path.replace_range(start..=end, "nonsense");
            }
            let answer = world.call(&operation.method, &path, &user, Some(json!({}))).await;
            assert_eq!(answer.status, 404, "{} {path}: {answer:?}", operation.method);
            if operation.method != "HEAD" {
                answer.is(404, "not-found");
            }
        }
    }
}
