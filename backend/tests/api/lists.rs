//! What lists have in common: names beside ids, entity tags, and exports as CSV. Also the installer of the backend.

use axum::{body::Body, http::Request};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http_body_util::BodyExt as _;
use link_backend::releases::{Keys, Place, Releases, pull};
use link_platform::fs::write_atomic;
use link_protocol::{
    command::Sha256Hex,
    limits,
    release::{MANIFEST_FILE, SCHEMA, Statement},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tower::ServiceExt as _;

use crate::harness::{Answer, PASSWORD, World, pair, registration};

/// Reads `path` with the tag of an earlier answer.
async fn known(world: &World, path: &str, user: &str, tag: &str) -> Answer {
    let request = Request::get(path)
        .header("authorization", format!("Bearer {user}"))
        .header("if-none-match", tag)
        .body(Body::empty())
        .unwrap();
    world.send(request).await
}

pub(crate) async fn rename(world: &World, user: &str, device: &str, name: &str) {
    let path = format!("/api/v1/devices/{device}");
    let answer = world.call("PATCH", &path, user, Some(json!({ "name": name }))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Publishes a release for Linux, as `link-backend releases pull` does.
async fn publish(world: &World, version: &str, channel: &str) {
    let from = tempfile::tempdir().unwrap();
    let (target, programs) = ("x86_64-unknown-linux-gnu", b"programs");
    let archive = format!("link-{version}-{target}.tar.gz");
    let sha256 = Sha256Hex::from_digest(&Sha256::digest(programs));
    let manifest: Statement = serde_json::from_value(json!({
        "kind": "manifest", "schema": SCHEMA, "version": version, "channel": channel,
        "released_at": "2026-07-01T00:00:00Z", "expires_at": "2027-07-01T00:00:00Z", "counter": 1,
        "archives": [{
            "target": target, "name": archive, "size_bytes": programs.len(), "sha256": sha256,
        }],
    }))
    .unwrap();
    let signer = pair(1);
    let signed = serde_json::to_vec(&signer.seal_release(&manifest)).unwrap();
    write_atomic(&from.path().join(archive), programs).unwrap();
    write_atomic(&from.path().join(MANIFEST_FILE), &signed).unwrap();
    let keys = Keys::new(None, &[signer.verifying().public_key.clone()]).unwrap();
    let releases = Releases::in_folder(world.folder.path());
    pull(&releases, &Place::Local(from.path().to_owned()), &keys, false).await.unwrap();
}

pub(crate) fn text(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    String::from_utf8(answer.bytes.clone()).unwrap()
}

#[tokio::test]
async fn deployments_and_commands_have_the_names_of_what_they_are_about() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let deployment = world.deployed(&user, &device, &model).await;
    rename(&world, &user, &device.id, "shelf 3").await;
    let name = world.get(&format!("/api/v1/models/{model}"), &user).await.text("name");
    let list = world.get("/api/v1/commands", &user).await;
    let command = list.items()[0]["command_id"].as_str().unwrap().to_owned();
    for item in [
        world.get("/api/v1/deployments", &user).await.items()[0].clone(),
        world.get(&format!("/api/v1/deployments/{deployment}"), &user).await.body,
        list.items()[0].clone(),
        world.get(&format!("/api/v1/commands/{command}"), &user).await.body,
        world.get(&format!("/api/v1/commands/{command}/explanation"), &user).await.body["command"]
            .clone(),
    ] {
        assert_eq!(
            (&item["device_name"], &item["model_name"]),
            (&json!("shelf 3"), &json!(name)),
            "{item}"
        );
    }
}

#[tokio::test]
async fn an_unchanged_answer_is_not_sent_again() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    for path in ["/api/v1/devices".to_owned(), format!("/api/v1/devices/{}", device.id)] {
        let tag = world.get(&path, &user).await.header("etag").to_owned();
        let again = known(&world, &path, &user, &format!("\"x\", W/{tag}")).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{again:?}");
        assert_eq!((again.header("etag"), again.header("cache-control")), (&tag[..], "no-store"));
        rename(&world, &user, &device.id, &format!("new {}", path.len())).await;
        let changed = known(&world, &path, &user, &tag).await;
        assert_eq!(changed.status, 200);
        assert_ne!(changed.header("etag"), tag);
        known(&world, &path, "nonsense", &tag).await.is(401, "unauthorized");
    }
}

/// Registers more devices than a page has, and returns their number and the last one.
pub(crate) async fn two_pages_of_devices(world: &World, user: &str) -> (u32, String) {
    let key = world.key(user, "fleet").await;
    let count = limits::PAGE_SIZE_LIMIT + 5;
    let mut last = Value::Null;
    for number in 0..count {
        let mut body = registration("fleet_key", &key);
        let pair = pair(u8::try_from(number).unwrap());
        body["public_key"] = serde_json::to_value(pair.verifying()).unwrap();
        let answer = world.post("/api/v1/devices/register-with-key", "", body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        last = answer.body["device_id"].clone();
    }
    (count, last.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_export_ends_with_the_access_of_its_reader() {
    let world = World::with(|config| config.device_limit = 1_000).await;
    let user = world.create_first_account().await;
    two_pages_of_devices(&world, &user).await;
    let member = world.member(&user, "bob@example.org", "operator").await;
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let session = world.post("/api/v1/auth/login", "", login).await;
    let wish = json!({ "name": "ci", "scopes": ["devices:read"] });
    let token = world.post("/api/v1/tokens", &user, wish).await;
    let export = async |token: &str| {
        let request = Request::get("/api/v1/devices/export")
            .header("authorization", format!("Bearer {token}"))
            .body(Body::empty())
            .unwrap();
        let mut body = world.backend.router.clone().oneshot(request).await.unwrap().into_body();
        assert!(body.frame().await.unwrap().is_ok());
        body
    };
    let mut stays = export(&user).await;
    let mut demoted = export(&member).await;
    let mut left = export(&session.text("access_token")).await;
    let mut revoked = export(&token.text("token")).await;

    let me = world.get("/api/v1/me", &member).await.text("user_id");
    let role = Some(json!({ "role": "viewer" }));
    let changed = world.call("PATCH", &format!("/api/v1/members/{me}"), &user, role).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let refresh = json!({ "refresh_token": session.text("refresh_token") });
    assert_eq!(world.post("/api/v1/auth/logout", "", refresh).await.status, 204);
    let id = token.body["info"]["token_id"].as_str().unwrap();
    assert_eq!(world.delete(&format!("/api/v1/tokens/{id}"), &user).await.status, 204);
    for body in [&mut demoted, &mut left, &mut revoked] {
        assert!(body.frame().await.unwrap().is_err(), "the answer is cut off");
        assert!(body.frame().await.is_none());
    }
    assert!(stays.frame().await.unwrap().is_ok());
    assert!(stays.frame().await.is_none());
}

#[tokio::test]
async fn an_export_has_every_page_of_the_list_and_no_formula() {
    let world = World::with(|config| config.device_limit = 1_000).await;
    let user = world.create_first_account().await;
    let (count, last) = two_pages_of_devices(&world, &user).await;
    rename(&world, &user, &last, "=HYPERLINK(\"http://a.example\",\"b\")").await;
    let answer = world.get("/api/v1/devices/export", &user).await;
    assert!(answer.header("content-type").starts_with("text/csv"), "{answer:?}");
    assert!(answer.header("content-disposition").contains("devices.csv"));
    let all = text(&answer);
    assert_eq!(all.split_terminator("\r\n").count() as u32, count + 1, "a head and a row for each");
    assert!(all.starts_with("device_id,name,online,"), "{}", &all[..80]);
    let escaped = format!("{last},\"'=HYPERLINK(\"\"http://a.example\"\",\"\"b\"\")\",");
    assert!(all.contains(&escaped), "{}", &all[..400]);
    let some = text(&world.get("/api/v1/devices/export?q=HYPERLINK", &user).await);
    assert_eq!(some.split_terminator("\r\n").count(), 2);
    let stranger = world.another_account("bob@example.org").await;
    let none = text(&world.get("/api/v1/devices/export", &stranger).await);
    assert_eq!(none.split_terminator("\r\n").count(), 1);
    world.get("/api/v1/devices/export?select=colour", &user).await.is(422, "invalid-request");
    world.get("/api/v1/devices/export?limit=3", &user).await.is(422, "invalid-request");
}

#[tokio::test]
async fn deployments_commands_usage_and_audit_are_exported_with_the_filters_of_their_lists() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let deployment = world.deployed(&user, &device, &model).await;
    let usage = json!({
        "inference_id": format!("inf_{:032x}", 1), "model_id": model, "prompt_tokens": 3,
        "completion_tokens": 4, "provenance": "exact", "duration_ms": 5,
        "time_to_first_token_ms": 1,
    });
    let path = device.path(&format!("/models/{model}/telemetry"));
    assert_eq!(world.post(&path, &device.token, usage).await.status, 204);
    let other = format!("dev_{}", "0".repeat(32));
    for (path, wanted, filter) in [
        ("deployments", deployment.as_str(), format!("device_id={other}")),
        ("commands", &device.id, format!("device_id={other}")),
        ("usage", &model, format!("device_id={other}")),
        ("audit", "deployment.create", "action=member".to_owned()),
    ] {
        let all = text(&world.get(&format!("/api/v1/{path}/export"), &user).await);
        assert!(all.contains(wanted) || path == "audit", "{path}: {all}");
        let rows = all.split_terminator("\r\n").count();
        let listed = world.get(&format!("/api/v1/{path}"), &user).await.items().len();
        assert_eq!(rows, listed + 1, "{path}: {all}");
        if path == "usage" {
            let shown = world.get(&format!("/api/v1/devices/{}", device.id), &user).await;
            let named = format!("{},{},{model},Tiny Model,", device.id, shown.text("name"));
            assert!(all.contains(&named), "names stand beside the ids: {all}");
        }
        let filtered = text(&world.get(&format!("/api/v1/{path}/export?{filter}"), &user).await);
        assert_eq!(filtered.split_terminator("\r\n").count(), 1, "{path}: {filtered}");
    }
    let viewer = world.member(&user, "vera@example.org", "viewer").await;
    world.get("/api/v1/audit/export", &viewer).await.is(403, "forbidden");
    assert_eq!(world.get("/api/v1/commands/export", &viewer).await.status, 200);
}

#[tokio::test]
async fn the_installer_is_described_with_a_line_for_each_system() {
    let (world, user) = World::set_up().await;
    let install = world.get("/api/v1/install", &user).await;
    assert_eq!(install.status, 200, "{install:?}");
    assert!(install.body["release"].is_null(), "nothing is published");
    let systems = install.body["systems"].as_array().unwrap();
    let names: Vec<_> = systems.iter().map(|system| system["system"].as_str().unwrap()).collect();
    assert_eq!(names, ["linux", "macos", "windows"]);
    let line = systems[0]["fleet_line"].as_str().unwrap();
    let base = install.body["backend_url"].as_str().unwrap_or("{backend}");
    assert!(line.starts_with(&format!("curl -fsSL {base}/install.sh | ")), "{line}");
    assert!(line.ends_with("LINK_FLEET_KEY={key} sh"), "{line}");
    assert_eq!(systems[2]["shell"], "powershell");
    let line = systems[2]["registration_line"].as_str().unwrap();
    let end = format!("$env:LINK_REGISTRATION_KEY='{{key}}'; irm {base}/install.ps1 | iex");
    assert!(line.ends_with(&end), "{line}");
    assert!(systems[2].get("released").is_none(), "unknown without a release: {systems:?}");
    world.get("/api/v1/install", "").await.is(401, "unauthorized");
}

#[tokio::test]
async fn the_installer_names_the_published_release_and_its_systems() {
    let (world, user) = World::set_up().await;
    publish(&world, "1.4.0", "beta").await;
    let install = world.get("/api/v1/install", &user).await;
    assert_eq!(install.status, 200, "{install:?}");
    assert_eq!(install.body["release"], json!({ "version": "1.4.0", "channel": "beta" }));
    let systems = install.body["systems"].as_array().unwrap();
    let released = systems.iter().map(|system| system["released"].as_bool().unwrap());
    assert_eq!(released.collect::<Vec<_>>(), [true, false, false], "Linux only: {systems:?}");
}

#[tokio::test]
async fn the_cursor_of_another_list_is_refused_by_every_list() {
    let (world, user) = World::set_up().await;
    let device = world.register(&user).await;
    let logs = format!("devices/{}/logs", device.id);
    let cursor = |place: &str| URL_SAFE_NO_PAD.encode(place);
    let of = |prefix: &str| cursor(&format!("{prefix}_{}", "0".repeat(32)));
    let lists = [
        ("audit", "aud"),
        ("commands", "cmd"),
        ("deployments", "dep"),
        ("devices", "dev"),
        ("keys", "key"),
        ("members", "usr"),
        ("members/invitations", "inv"),
        ("models", "mdl"),
        ("operations", "op"),
        ("tokens", "tok"),
        ("usage", "inf"),
        (&logs, "log"),
    ];
    for (list, prefix) in lists {
        for (_, other) in lists.iter().filter(|(_, other)| *other != prefix) {
            let path = format!("/api/v1/{list}?cursor={}", of(other));
            let answer = world.get(&path, &user).await;
            answer.is(422, "invalid-request");
            assert!(answer.text("detail").starts_with("cursor: "), "{list} {other}: {answer:?}");
        }
        if !["usage", logs.as_str()].contains(&list) {
            let own = world.get(&format!("/api/v1/{list}?cursor={}", of(prefix)), &user).await;
            assert_eq!(own.status, 200, "{list}: {own:?}");
        }
    }
}
