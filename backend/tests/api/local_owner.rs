//! The owner of a single-user backend logs in with a file that only this user can read.

#![expect(clippy::disallowed_methods, reason = "looks at the owner's file")]

use std::{net::SocketAddr, os::unix::fs::PermissionsExt as _, path::PathBuf};

use link_backend::config::owner_proof::OwnerProof;
use link_protocol::backend_api::local_owner::OwnerFile;
use serde_json::{Value, json};

use crate::harness::{Answer, PASSWORD, SECOND, World};

const LOGIN: &str = "/api/v1/auth/local/login";
const CODE: &str = "/api/v1/auth/local/code";
const REDEEM: &str = "/api/v1/auth/local/redeem";
const SET_PASSWORD: &str = "/api/v1/auth/local/password";

#[tokio::test]
async fn the_proof_makes_the_account_once_and_logs_its_owner_in() {
    let world = owned().await;
    let proof = proof(&world);
    let first = log_in(&world, &proof, json!("ada@laptop")).await;
    let me = world.get("/api/v1/me", &first.text("access_token")).await;
    assert_eq!((&me.body["email"], &me.body["role"]), (&json!("ada@laptop"), &json!("owner")));
    let again = log_in(&world, &proof, json!("eve@laptop")).await;
    let same = world.get("/api/v1/me", &again.text("access_token")).await;
    assert_eq!(me.body, same.body);
    let setup = json!({ "setup_token": "lst_x", "email": "eve@laptop", "password": PASSWORD });
    world.post("/api/v1/setup", "", setup).await.is(409, "already-set-up");
    let said = world.get("/api/v1/audit", &first.text("access_token")).await;
    assert!(said.items().iter().any(|entry| entry["action"] == "login.owner"), "{said:?}");
}

#[tokio::test]
async fn only_its_user_can_read_the_proof() {
    let world = owned().await;
    let file = owner_file(&world);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&file) & 0o777, 0o600);
    assert_eq!(mode(file.parent().unwrap()) & 0o777, 0o700);
}

#[tokio::test]
async fn whoever_comes_from_loopback_without_the_proof_is_nobody() {
    let world = owned().await;
    log_in(&world, &proof(&world), Value::Null).await;
    for wrong in ["", "lop_x", &format!("{}x", proof(&world))] {
        for (path, body) in [
            (LOGIN, json!({ "proof": wrong })),
            (CODE, json!({ "proof": wrong })),
            (SET_PASSWORD, json!({ "proof": wrong, "password": PASSWORD })),
        ] {
            world.post(path, "", body).await.is(401, "owner-proof-invalid");
        }
    }
    world.post(REDEEM, "", json!({ "code": "loc_x" })).await.is(401, "one-time-code-invalid");
}

#[tokio::test]
async fn a_one_time_code_is_good_for_one_login_within_thirty_seconds() {
    let world = owned().await;
    let proof = proof(&world);
    log_in(&world, &proof, json!("ada@laptop")).await;
    let code = ask_for_code(&world, &proof).await;
    let redeemed = redeem(&world, &code).await;
    assert_eq!(redeemed.status, 200, "{redeemed:?}");
    let me = world.get("/api/v1/me", &redeemed.text("access_token")).await;
    assert_eq!(me.body["email"], "ada@laptop");
    redeem(&world, &code).await.is(401, "one-time-code-invalid");

    let late = ask_for_code(&world, &proof).await;
    world.advance(30 * SECOND);
    redeem(&world, &late).await.is(401, "one-time-code-invalid");

    let mut codes = Vec::new();
    for _ in 0..9 {
        codes.push(ask_for_code(&world, &proof).await);
    }
    redeem(&world, &codes[0]).await.is(401, "one-time-code-invalid");
    assert_eq!(redeem(&world, &codes[8]).await.status, 200);
}

#[tokio::test]
async fn a_password_is_refused_until_the_owner_has_set_one() {
    let world = owned().await;
    let proof = proof(&world);
    let tokens = log_in(&world, &proof, json!("ada@laptop")).await;
    for password in ["!", PASSWORD] {
        let body = json!({ "email": "ada@laptop", "password": password });
        world.post("/api/v1/auth/login", "", body).await.is(401, "invalid-credentials");
    }
    let short = json!({ "proof": proof, "password": "short" });
    world.post(SET_PASSWORD, "", short).await.is(422, "invalid-request");
    let body = json!({ "proof": proof, "password": PASSWORD });
    assert_eq!(world.post(SET_PASSWORD, "", body).await.status, 204);
    let body = json!({ "email": "ada@laptop", "password": PASSWORD });
    assert_eq!(world.post("/api/v1/auth/login", "", body).await.status, 200);
    // All earlier logins have ended.
    world.get("/api/v1/me", &tokens.text("access_token")).await.is(401, "unauthorized");
}

#[tokio::test]
async fn two_first_logins_at_once_make_one_account() {
    let world = owned().await;
    let proof = proof(&world);
    let (one, other) = tokio::join!(
        log_in(&world, &proof, json!("ada@laptop")),
        log_in(&world, &proof, json!("ada@laptop")),
    );
    let one = world.get("/api/v1/me", &one.text("access_token")).await;
    let other = world.get("/api/v1/me", &other.text("access_token")).await;
    assert_eq!(one.body, other.body);
}

#[tokio::test]
async fn a_backend_of_many_has_no_owners_file() {
    let world = World::new().await;
    world.backend.app.offer_to_owner(address()).unwrap();
    assert!(!owner_file(&world).exists());
    world.post(LOGIN, "", json!({ "proof": "lop_x" })).await.is(404, "not-found");
    world.post(CODE, "", json!({ "proof": "lop_x" })).await.is(404, "not-found");
    world.post(REDEEM, "", json!({ "code": "loc_x" })).await.is(404, "not-found");
    let body = json!({ "proof": "lop_x", "password": PASSWORD });
    world.post(SET_PASSWORD, "", body).await.is(404, "not-found");
}

/// Makes the world a single-user backend that answers, and returns the proof of its owner.
pub(crate) fn proof_of(world: &World) -> String {
    world.backend.app.offer_to_owner(address()).unwrap();
    proof(world)
}

/// Returns a single-user backend that answers.
async fn owned() -> World {
    let world = World::with(|config| config.owner_proof = OwnerProof::File).await;
    world.backend.app.offer_to_owner(address()).unwrap();
    world
}

fn address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8000))
}

fn owner_file(world: &World) -> PathBuf {
    world.folder.path().join("run").join("owner.json")
}

fn proof(world: &World) -> String {
    let text = std::fs::read_to_string(owner_file(world)).unwrap();
    let file: OwnerFile = serde_json::from_str(&text).unwrap();
    assert_eq!(file.url, "http://127.0.0.1:8000");
    file.proof.expose().to_owned()
}

async fn log_in(world: &World, proof: &str, email: Value) -> Answer {
    let answer = world.post(LOGIN, "", json!({ "proof": proof, "email": email })).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

async fn ask_for_code(world: &World, proof: &str) -> String {
    let answer = world.post(CODE, "", json!({ "proof": proof })).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.body["expires_in"], 30);
    answer.text("code")
}

async fn redeem(world: &World, code: &str) -> Answer {
    world.post(REDEEM, "", json!({ "code": code })).await
}
