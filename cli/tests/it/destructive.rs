//! Destructive commands on a terminal: each asks before it changes anything, and `--yes` answers for the person.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    http::StatusCode,
    routing::{delete, get, post},
};
use link_protocol::{
    key::{EnrolmentKey, KeyKind},
    problem::Code,
};
use serde_json::{Value, json};

use crate::{
    support::{Backend, Home, id, log_in, refuse},
    terminal::Person,
};

/// Runs a command three times: refused, agreed to, and with `--yes`. Only the last two send `request`.
fn asks(words: &str, question: &str, request: &str) {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let key = EnrolmentKey::from_secret(KeyKind::Fleet, [7; 32]);
    let words = words.replace("KEY-FILE", &home.file("key.txt", key.expose()));
    let is_sent = || backend.seen().iter().any(|line| line == request);

    let mut person = Person::runs(&home, &words);
    person.answers(question, "n");
    let (code, said) = person.ends();
    assert!(code == 0 && said.contains("nothing was changed"), "{words}: {said}");
    assert!(!is_sent(), "{words}");

    let mut person = Person::runs(&home, &words);
    person.answers(question, "y");
    let (code, said) = person.ends();
    assert!(code == 0 && is_sent(), "{words}: {said}");

    let (code, said) = Person::runs(&home, &format!("{words} --yes")).ends();
    assert!(code == 0 && is_sent() && !said.contains(question), "{words}: {said}");
}

#[test]
fn removing_a_model_from_a_device_is_confirmed() {
    let request = format!("POST /api/v1/models/{}/uninstall/{}", id("mdl", 1), id("dev", 1));
    asks("model remove smollm --device box", "Delete `smollm` from the disk of box?", &request);
}

#[test]
fn removing_a_model_from_many_devices_is_confirmed() {
    let question = "Delete `smollm` from the disk of every selected device?";
    asks("model remove smollm --select tag=lab", question, "POST /api/v1/operations");
}

#[test]
fn revoking_a_key_is_confirmed() {
    let key = id("key", 1);
    let question = format!("Revoke {key}?");
    asks(&format!("key revoke {key}"), &question, &format!("DELETE /api/v1/keys/{key}"));
}

#[test]
fn removing_a_member_is_confirmed() {
    let request = format!("DELETE /api/v1/members/{}?keys=revoke", id("usr", 1));
    asks("member remove a@b.c --keys revoke", "Remove a@b.c from the account?", &request);
}

#[test]
fn transferring_a_device_is_confirmed() {
    let request = format!("POST /api/v1/devices/{}/transfer", id("dev", 1));
    asks("device transfer box --key-file KEY-FILE", "Transfer device box to another", &request);
}

#[test]
fn an_uninstallation_is_confirmed() {
    let (home, question) = (Home::new(), "Deregister this device and delete Link");
    home.file("config/kept", "");
    let mut person = Person::runs(&home, "uninstall");
    person.answers(question, "n");
    let (code, said) = person.ends();
    assert!(code == 0 && said.contains("nothing was changed"), "{said}");
    let mut person = Person::runs(&home, "uninstall");
    person.answers(question, "\u{3}");
    let (code, said) = person.ends();
    assert!(code == 130 && !said.contains("error"), "{code}: {said}");
    assert!(home.has("config/kept"));
    let mut person = Person::runs(&home, "uninstall");
    person.answers(question, "y");
    let (code, said) = person.ends();
    assert!(code == 0 && said.contains("deleted the installation"), "{said}");
    let (code, said) = Person::runs(&home, "uninstall --yes").ends();
    assert!(code == 0 && !said.contains(question), "{said}");
}

#[test]
fn a_login_on_a_device_opens_a_browser_only_after_a_yes() {
    for (answer, opens) in [("n", false), ("y", true)] {
        let (home, backend) = (Home::new(), Backend::start(app()));
        // The opener of the desktop is a script that leaves a mark.
        let opener = home.file("bin/xdg-open", "#!/bin/sh\n: > \"$LINK_HOME/opened\"\n");
        let made = std::process::Command::new("chmod").args(["+x", &opener]).status().unwrap();
        assert!(made.success());
        let path = format!("{}:{}", home.path("bin"), std::env::var("PATH").unwrap());
        let home = home.with("PATH", path);
        let mut person = Person::runs(&home, &format!("login --device --backend {}", backend.url));
        person.answers("Open the address in a browser on this machine?", answer);
        let (code, said) = person.ends();
        assert!(code == 0 && said.contains("logged in: a@b.c"), "{said}");
        let began = Instant::now();
        while opens && !home.has("opened") {
            assert!(began.elapsed() < Duration::from_secs(30), "no browser was opened");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(home.has("opened"), opens);
    }
}

/// A backend with one model, one device and one member, and a login that the second poll gets.
fn app() -> Router {
    let time = "2026-08-07T12:00:00Z";
    let model = json!({
        "model_id": id("mdl", 1), "name": "smollm", "file_name": "m.gguf", "url": null,
        "sha256": null, "size_bytes": 1024, "plugin": "language_model", "shared": false,
        "ready": true, "owned": true, "created_at": time,
    });
    let device = json!({
        "device_id": id("dev", 1), "name": "box", "online": true, "status": "online",
        "agent_version": "1.3.0", "platform": {"os": "linux", "arch": "x86_64", "hostname": "box"},
        "registered_at": time, "last_seen_at": null,
    });
    let member =
        json!({ "user_id": id("usr", 1), "email": "a@b.c", "role": "viewer", "joined_at": time });
    let me = json!({
        "user_id": id("usr", 2), "account_id": id("acc", 1), "email": "a@b.c", "role": "owner",
    });
    let command = json!({
        "command_id": id("cmd", 1), "type": "UNINSTALL_MODEL", "state": "sent",
        "model_id": id("mdl", 1), "device_id": id("dev", 1), "port": null,
        "created_at": time, "expires_at": "2026-08-08T12:00:00Z",
    });
    let operation = json!({
        "operation_id": id("op", 1), "work": { "kind": "remove", "model_id": id("mdl", 1) },
        "select": "tag=lab", "state": "running", "devices": 1,
        "counts": {
            "pending": 1, "sent": 0, "succeeded": 0, "failed": 0, "skipped": 0, "cancelled": 0,
        },
        "requested_by": { "kind": "user", "id": id("usr", 1) }, "created_at": time,
        "ended_at": null,
    });
    let left = json!({ "user_id": id("usr", 1), "revoked": [], "taken_over": [] });
    let code = json!({
        "device_code": "ldc_secret", "user_code": "WDJB-MJHT", "expires_in": 600, "interval": 1,
        "verification_uri": "http://link.example/device",
        "verification_uri_complete": "http://link.example/device#WDJB-MJHT",
    });
    let polls = Arc::new(AtomicUsize::new(0));
    let token = move || async move {
        if polls.fetch_add(1, Ordering::SeqCst) == 0 {
            return Err(refuse(Code::AuthorizationPending, "the person has not decided yet"));
        }
        Ok(Json(json!({
            "access_token": "access", "token_type": "Bearer", "expires_in": 900,
            "refresh_token": "refresh",
        })))
    };
    let page =
        |item: Value| move || async move { Json(json!({ "items": [item], "next_cursor": null })) };
    let answer = |document: Value| move || async move { Json(document) };
    let accepted = |document: Value| move || async move { (StatusCode::ACCEPTED, Json(document)) };
    let gone = || async { StatusCode::NO_CONTENT };
    Router::new()
        .route("/api/v1/models", get(page(model)))
        .route("/api/v1/devices", get(page(device)))
        .route("/api/v1/members", get(page(member)))
        .route("/api/v1/me", get(answer(me)))
        .route("/api/v1/models/{model}/uninstall/{device}", post(accepted(command)))
        .route("/api/v1/operations", post(accepted(operation)))
        .route("/api/v1/keys/{key}", delete(gone))
        .route("/api/v1/members/{member}", delete(answer(left)))
        .route("/api/v1/devices/{device}/transfer", post(gone))
        .route("/api/v1/auth/device/code", post(answer(code)))
        .route("/api/v1/auth/device/token", post(token))
}
