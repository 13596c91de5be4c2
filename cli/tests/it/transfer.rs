//! `link device transfer`: the sources of the key, and that nothing is sent before the key is
//! right.

use axum::{Json, Router, http::StatusCode, routing::post};
use link_protocol::key::{EnrolmentKey, KeyKind};
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in};

#[test]
fn a_device_is_given_away_with_the_key_of_a_file_or_of_stdin() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let device = id("dev", 1);
    let registration = EnrolmentKey::from_secret(KeyKind::Registration, [7; 32]);
    let file = home.file("key.txt", &format!("{}\n", registration.expose()));
    let ran = home.link(&["device", "transfer", &device, "--key-file", &file, "--yes", "--json"]);
    assert_eq!((ran.code, ran.stdout_json()), (0, json!({ "transferred": device })), "{ran:?}");

    let fleet = EnrolmentKey::from_secret(KeyKind::Fleet, [8; 32]);
    let words = ["device", "transfer", &device, "--key-file", "-", "--yes"];
    let ran = home.link_with_input(&words, fleet.expose());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert!(
        ran.stderr.starts_with(&format!("{device} now belongs to the other account")),
        "{ran:?}"
    );
    let call = format!("POST /api/v1/devices/{device}/transfer");
    assert_eq!(backend.seen(), [call.clone(), call]);
}

#[test]
fn nothing_is_sent_without_a_key_or_a_yes_and_no_key_is_repeated() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let device = id("dev", 1);
    let good = EnrolmentKey::from_secret(KeyKind::Registration, [7; 32]);
    let mistyped = good.expose().replace("lrk_", "lrk_x");
    for (text, yes, code, says) in [
        (mistyped.as_str(), true, 31, "key-mistyped"),
        ("hunter2", true, 31, "key-mistyped"),
        ("", true, 2, "holds no key"),
        (good.expose(), false, 2, "--yes"),
    ] {
        let file = home.file("key.txt", text);
        let mut words = vec!["device", "transfer", &device, "--json", "--key-file", &file];
        words.extend(yes.then_some("--yes"));
        let ran = home.link(&words);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(says), "{words:?}: {ran:?}");
        for secret in [good.expose(), &mistyped, "hunter2"] {
            assert!(!ran.stderr.contains(secret), "{ran:?}");
        }
    }
    assert_eq!(backend.seen(), Vec::<String>::new());
}

/// A backend that accepts a key only in the field for its kind.
fn app() -> Router {
    let transfer = async |Json(body): Json<Value>| {
        let fits = |member: &str, prefix: &str| {
            body[member].as_str().is_some_and(|key| key.starts_with(prefix))
        };
        let one = body.as_object().is_some_and(|body| body.len() == 1);
        let good = one && (fits("registration_key", "lrk_") || fits("fleet_key", "lfk_"));
        if good { StatusCode::NO_CONTENT } else { StatusCode::UNPROCESSABLE_ENTITY }
    };
    Router::new().route("/api/v1/devices/{device_id}/transfer", post(transfer))
}
