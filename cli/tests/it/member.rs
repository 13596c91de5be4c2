//! `link member` shows and changes the members of an account.

use std::collections::HashMap;

use axum::{
    Json, Router,
    extract::Query,
    http::StatusCode,
    routing::{get, patch, post},
};
use link_protocol::problem::Code;
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in, refuse};

#[test]
fn members_and_invitations_are_listed() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["member", "list"]);
    assert_eq!(
        ran.stdout,
        format!(
            "E-MAIL  ROLE   SINCE                 ID\n\
             a@b.c   owner  2026-08-07T12:00:00Z  {}\n\n\
             INVITED  ROLE    UNTIL                 ID\n\
             anybody  viewer  2026-08-14T12:00:00Z  {}\n",
            id("usr", 1),
            id("inv", 2)
        )
    );
    let ran = home.link(&["member", "list", "--json"]);
    assert_eq!(ran.stdout_json()["members"][0]["role"], "owner");
}

#[test]
fn an_invitation_is_shown_once_and_accepted_without_a_login() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["member", "invite", "--role", "viewer"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "lit_token\n"), "{ran:?}");
    assert!(ran.stderr.contains("2026-08-14") && !ran.stderr.contains("lit_token"));

    let fresh = Home::new();
    let words = ["member", "accept", "--token-file", "-", "--email", "b@b.c", "--password-stdin"];
    let words: Vec<&str> = words.into_iter().chain(["--backend", &backend.url]).collect();
    let ran = fresh.link_with_input(&words, "lit_token\nlong enough here\n");
    assert_eq!((ran.code, ran.stderr.starts_with("joined and logged in")), (0, true), "{ran:?}");
    assert!(fresh.has("config/credentials.json"));
}

#[test]
fn who_accepts_without_a_login_and_an_address_is_told_what_to_do() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let words = ["member", "accept", "--token-file", "-", "--backend", &backend.url];
    let ran = home.link_with_input(&words, "lit_token\n");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("--email"), "{ran:?}");
}

#[test]
fn a_refused_role_keeps_the_words_of_the_backend() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["member", "role", "A@b.c", "viewer", "--json"]);
    assert_eq!((ran.code, ran.stderr_json()["error"].as_str()), (77, Some("last-owner")));
    let ran = home.link(&["member", "role", "nobody@b.c", "viewer"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no member has the e-mail or id `nobody@b.c`"), "{ran:?}");
}

#[test]
fn a_removal_without_a_terminal_revokes_the_keys_unless_it_is_told_otherwise() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["member", "remove", "a@b.c", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains(&format!("revoked the fleet key `lab` ({})", id("key", 3))));
    let ran = home.link(&["member", "remove", "a@b.c", "--yes", "--keys", "take-over", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stdout_json()["taken_over"][0]["key_id"], id("key", 3).as_str());
    assert_eq!(ran.stdout_json()["revoked"], json!([]));
}

fn app() -> Router {
    let members = || async {
        let member = json!({
            "user_id": id("usr", 1), "email": "a@b.c", "role": "owner",
            "joined_at": "2026-08-07T12:00:00Z",
        });
        Json(json!({ "items": [member], "next_cursor": null }))
    };
    let invitation = || {
        json!({
            "invitation_id": id("inv", 2), "role": "viewer", "email": null,
            "created_at": "2026-08-07T12:00:00Z", "expires_at": "2026-08-14T12:00:00Z",
        })
    };
    let list = move || async move { Json(json!({ "items": [invitation()], "next_cursor": null })) };
    let invite = move || async move {
        let body = json!({ "invitation_token": "lit_token", "info": invitation() });
        (StatusCode::CREATED, Json(body))
    };
    let accept = |Json(body): Json<Value>| async move {
        let wanted = json!({
            "invitation_token": "lit_token", "email": "b@b.c", "password": "long enough here",
        });
        assert_eq!(body, wanted);
        Json(json!({
            "access_token": "access", "token_type": "Bearer", "expires_in": 900,
            "refresh_token": "refresh",
        }))
    };
    let change = || async { refuse(Code::LastOwner, "the account has no other owner") };
    let remove = |Query(query): Query<HashMap<String, String>>| async move {
        let key = json!({
            "key_id": id("key", 3), "kind": "fleet", "name": "lab",
            "created_at": "2026-08-07T12:00:00Z", "expires_at": null, "max_devices": null,
            "devices": 1, "tags": [], "revoked": query["keys"] == "revoke",
            "created_by": id("usr", 1),
        });
        let (revoked, taken_over) = match query["keys"].as_str() {
            "revoke" => (vec![key], vec![]),
            "take_over" => (vec![], vec![key]),
            other => panic!("{other}"),
        };
        Json(json!({
            "user_id": id("usr", 1), "revoked": revoked, "taken_over": taken_over,
        }))
    };
    let me = || async {
        let (user, account) = (id("usr", 2), id("acc", 1));
        Json(json!({"user_id": user, "account_id": account, "email": "b@b.c", "role": "viewer"}))
    };
    Router::new()
        .route("/api/v1/members", get(members))
        .route("/api/v1/members/invitations", get(list).post(invite))
        .route("/api/v1/members/accept", post(accept))
        .route("/api/v1/members/{id}", patch(change).delete(remove))
        .route("/api/v1/me", get(me))
}

#[test]
fn the_audit_log_is_asked_for_a_member_by_the_e_mail() {
    let asked = |Query(query): Query<HashMap<String, String>>| async move {
        let entry = json!({
            "entry_id": id("aud", 1), "at": "2026-08-07T12:00:00Z", "action": "key.create",
            "actor": { "kind": "user", "id": query["actor"] }, "subject": id("key", 1),
            "address": null, "outcome": "done", "detail": "",
        });
        Json(json!({ "items": [entry], "next_cursor": null }))
    };
    let (home, backend) = (Home::new(), Backend::start(app().route("/api/v1/audit", get(asked))));
    log_in(&home, &backend);
    let ran = home.link(&["audit", "--actor", "A@b.c", "--json"]);
    assert_eq!(ran.stdout_json()[0]["actor"]["id"], id("usr", 1), "{ran:?}");
    let ran = home.link(&["audit", "--actor", "gone@b.c"]);
    assert_eq!(
        ran.stderr,
        "error: no member has the e-mail or id `gone@b.c`\n hint: `link audit --action \
         member.remove` has the ids of those who left\n"
    );
}
