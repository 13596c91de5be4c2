//! Registration: a key alone is enough, and a device is either registered or not.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse as _,
    routing::{get, post},
};
use link_protocol::{
    identity::Identity,
    key::{EnrolmentKey, KeyKind},
    problem::Code,
    registration::{REGISTER_PATH, RegisterRequest, proof_statement},
    signing::SigningKey,
};
use serde_json::json;

use crate::{
    support::{Backend, Home, id, log_in, refuse},
    terminal::at_a_terminal,
};

type Requests = Arc<Mutex<Vec<RegisterRequest>>>;

// Holds: S4.4-2, S5-3a
#[test]
fn a_key_alone_registers_and_the_identity_is_what_the_agent_reads() {
    let (home, requests) = (Home::new(), Requests::default());
    let backend = Backend::start(accepting(&requests));
    let ran = register(&home, &backend);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains(&format!("registered as {}", id("dev", 1))), "{ran:?}");
    let identity = identity(&home);
    assert_eq!(identity.backend_url, backend.url);
    let request = requests.lock().unwrap()[0].clone();
    assert_eq!(identity.signing_key().unwrap().verifying(), &request.public_key);
    assert_eq!(request.agent_version.to_string(), env!("CARGO_PKG_VERSION"));
    assert!(request.device_id.is_none() && request.proof.is_none());
    assert!(!home.has("state/registration.pending"));
}

// Holds: S4.4-2, S4.4-3, S5-3a
#[test]
fn the_key_may_stand_in_the_environment_or_a_file_or_come_from_stdin_or_a_prompt() {
    for kind in [KeyKind::Registration, KeyKind::Fleet] {
        let requests = Requests::default();
        let backend = Backend::start(accepting(&requests));
        let key = key(kind);
        let (variable, flag) = match kind {
            KeyKind::Registration => ("LINK_REGISTRATION_KEY", "--registration-key"),
            KeyKind::Fleet => ("LINK_FLEET_KEY", "--fleet-key"),
        };
        let home = Home::new().with(variable, &key).with("LINK_BACKEND_URL", &backend.url);
        assert_eq!(home.link(&["register"]).code, 0);
        let home = Home::new().with("LINK_BACKEND_URL", &backend.url);
        assert_eq!(home.link_with_input(&["register", flag, "-"], &format!("{key}\n")).code, 0);
        let home = Home::new().with("LINK_BACKEND_URL", &backend.url);
        let file = home.file("secret", &format!("{key}\n"));
        assert_eq!(home.link_with(&[(&format!("{variable}_FILE"), &file)], &["register"]).code, 0);
        let both = [(variable, &*key), (&*format!("{variable}_FILE"), &*file)];
        let ran = home.link_with(&both, &["register", "--new-device"]);
        assert!(ran.code == 2 && ran.stderr.contains("are set"), "{ran:?}");
        let home = Home::new().with("LINK_BACKEND_URL", &backend.url);
        let words = format!("register {flag} -");
        let shown = at_a_terminal(&home, 100, &words, &format!("{key}\n"));
        assert!(shown.contains("key: ") && shown.contains("registered as"), "{shown}");
        assert_eq!(requests.lock().unwrap().len(), 4);
        for request in requests.lock().unwrap().iter() {
            let sent = match kind {
                KeyKind::Registration => &request.registration_key,
                KeyKind::Fleet => &request.fleet_key,
            };
            assert_eq!(sent.as_ref().map(EnrolmentKey::expose), Some(key.as_str()));
        }
    }
}

#[test]
fn a_refused_key_registers_nothing_and_has_its_exit_code() {
    for (code, exit) in [
        (Code::KeyUnknown, 31),
        (Code::KeyExpired, 31),
        (Code::KeyUsedUp, 31),
        (Code::KeyRevoked, 31),
        (Code::DeviceLimitReached, 77),
    ] {
        let answer = move || async move { refuse(code, "no") };
        let backend = Backend::start(Router::new().route(REGISTER_PATH, post(answer)));
        let home = Home::new();
        let ran = register(&home, &backend);
        assert_eq!(ran.code, exit, "{ran:?}");
        assert!(ran.stderr.contains("hint:") && !ran.stderr.contains("lrk_"), "{ran:?}");
        assert!(!home.has("state/identity.json"));
    }
}

#[test]
fn a_lost_answer_is_continued_by_the_same_command() {
    let (home, requests) = (Home::new(), Requests::default());
    let (calls, record) = (Arc::new(AtomicU32::new(0)), Arc::clone(&requests));
    let answer = move |Json(request): Json<RegisterRequest>| {
        record.lock().unwrap().push(request);
        let lost = calls.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if lost {
                StatusCode::BAD_GATEWAY.into_response()
            } else {
                registered().into_response()
            }
        }
    };
    let backend = Backend::start(Router::new().route(REGISTER_PATH, post(answer)));
    let ran = register(&home, &backend);
    assert_eq!((ran.code, home.has("state/identity.json")), (69, false), "{ran:?}");
    assert!(ran.stderr.contains("run the same command again"), "{ran:?}");
    assert_eq!(register(&home, &backend).code, 0);
    let requests = requests.lock().unwrap();
    assert_eq!(requests[0].public_key, requests[1].public_key, "so that it is the same device");
}

#[test]
fn registering_again_keeps_the_device_and_proves_its_key() {
    let (home, requests) = (Home::new(), Requests::default());
    let backend = Backend::start(accepting(&requests));
    register(&home, &backend);
    register(&home, &backend);
    let request = requests.lock().unwrap()[1].clone();
    let (device, proof) = (request.device_id.unwrap(), request.proof.unwrap());
    assert_eq!(device.to_string(), id("dev", 1));
    let statement = proof_statement(device, &request.public_key, proof.issued_at);
    assert_eq!(request.public_key.verify(&statement, &proof.signature), Ok(()));
}

#[test]
fn registering_again_changes_the_name_only_if_one_is_given() {
    let (home, requests) = (Home::new(), Requests::default());
    let backend = Backend::start(accepting(&requests));
    let key = key(KeyKind::Registration);
    let words = ["register", "--registration-key", &key, "--backend", &backend.url];
    let named = [&words[..], &["--name", "desk"]].concat();
    for words in [&named[..], &words, &named] {
        let ran = home.link(words);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let requests = requests.lock().unwrap();
    let sent: Vec<_> =
        requests.iter().map(|request| (request.name.as_str(), request.keeps_name)).collect();
    let hostname = requests[1].platform.hostname.as_str();
    assert_eq!(sent, [("desk", false), (hostname, true), ("desk", false)]);
}

#[test]
fn a_key_of_another_account_changes_nothing_and_says_what_to_do() {
    let (home, requests) = (Home::new(), Requests::default());
    let answers = Arc::new(AtomicU32::new(0));
    let record = Arc::clone(&requests);
    let answer = move |Json(request): Json<RegisterRequest>| {
        record.lock().unwrap().push(request);
        let is_first = answers.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if is_first {
                registered().into_response()
            } else {
                refuse(Code::OtherAccount, "the key belongs to another account")
            }
        }
    };
    let backend = Backend::start(Router::new().route(REGISTER_PATH, post(answer)));
    assert_eq!(register(&home, &backend).code, 0);
    let before = std::fs::read(home.path("state/identity.json")).unwrap();
    let ran = register(&home, &backend);
    assert_eq!(ran.code, 77, "{ran:?}");
    assert!(ran.stderr.contains("the key belongs to another account"), "{ran:?}");
    assert!(ran.stderr.contains("link device transfer"), "{ran:?}");
    assert!(ran.stderr.contains("link register --new-device"), "{ran:?}");
    assert_eq!(std::fs::read(home.path("state/identity.json")).unwrap(), before);
}

// Holds: S4.4-15
#[test]
fn a_device_is_activated_again_with_its_id_and_its_key_alone() {
    let (home, requests) = (Home::new(), Requests::default());
    let backend = Backend::start(accepting(&requests));
    let (key, device) = (key(KeyKind::Registration), id("dev", 1));
    let words =
        ["register", "--registration-key", &key, "--device-id", &device, "--backend", &backend.url];
    assert_eq!(home.link(&words).code, 0);
    let request = requests.lock().unwrap()[0].clone();
    assert_eq!(request.device_id.map(|id| id.to_string()), Some(device));
    assert!(request.proof.is_none() && home.has("state/identity.json"));
}

// Holds: S5-3b, S4.3-1
#[test]
fn whoever_is_logged_in_needs_no_key_and_shows_the_token() {
    let answer = |headers: HeaderMap, Json(request): Json<RegisterRequest>| async move {
        assert_eq!(headers[header::AUTHORIZATION], "Bearer access");
        assert!(request.registration_key.is_some());
        registered()
    };
    let app = Router::new().route("/api/v1/keys", post(new_key)).route(REGISTER_PATH, post(answer));
    let (home, backend) = (Home::new(), Backend::start(app));
    log_in(&home, &backend);
    let ran = home.link(&["register"]);
    assert!(ran.code == 0 && home.has("state/identity.json"), "{ran:?}");
}

#[test]
fn a_new_key_is_shown_with_the_whole_line_for_a_device() {
    let (home, backend) =
        (Home::new(), Backend::start(Router::new().route("/api/v1/keys", post(new_key))));
    log_in(&home, &backend);
    for (kind, word, variable) in [
        (KeyKind::Registration, "registration", "LINK_REGISTRATION_KEY"),
        (KeyKind::Fleet, "fleet", "LINK_FLEET_KEY"),
    ] {
        let (key, url) = (key(kind), &backend.url);
        let ran = home.link(&["key", "create", "--kind", word]);
        assert_eq!(ran.stdout, format!("{key}\n"), "a script takes the key alone");
        let line = format!("curl -fsSL {url}/install.sh | {variable}={key} sh");
        let windows = format!("$env:{variable}='{key}'; irm {url}/install.ps1 | iex");
        let said = format!(
            "copy the key now: it is not shown again\non the device: {line}\n\
             on Windows, in PowerShell, if the release has a build for Windows: {windows}\n\
             no other machine can reach this address: set `public_url` of the backend for devices elsewhere\n"
        );
        assert_eq!((ran.code, &ran.stderr), (0, &said));
    }
}

#[test]
fn the_line_for_a_device_has_the_address_that_the_backend_has_for_devices() {
    let info = json!({ "backend_url": "https://link.example", "release": null, "systems": [] });
    let app = Router::new()
        .route("/api/v1/keys", post(new_key))
        .route("/api/v1/install", get(|| async { Json(info) }));
    let (home, backend) = (Home::new(), Backend::start(app));
    log_in(&home, &backend);
    let ran = home.link(&["key", "create", "--kind", "fleet"]);
    assert!(ran.stderr.contains("curl -fsSL https://link.example/install.sh | "), "{ran:?}");
    assert!(!ran.stderr.contains("public_url"), "{ran:?}");
}

// Holds: S5-3b, S4.4-13a
#[test]
fn a_login_that_is_given_with_a_key_is_shown_with_it() {
    let answer = |headers: HeaderMap, Json(request): Json<RegisterRequest>| async move {
        assert!(request.registration_key.is_some());
        let token = headers.get(header::AUTHORIZATION).map(|value| value.to_str().unwrap());
        match token {
            Some("Bearer JWT-OF-THE-LOGIN" | "Bearer TOKEN-OBTAINED") => {
                registered().into_response()
            }
            _ => refuse(Code::Unauthorized, "who is this?").into_response(),
        }
    };
    let login = || async {
        let (access, refresh) = ("JWT-OF-THE-LOGIN", "refresh");
        Json(json!({"access_token": access, "token_type": "Bearer", "expires_in": 900,
            "refresh_token": refresh}))
    };
    let me = || async {
        Json(json!({"user_id": id("usr", 1), "account_id": id("acc", 1),
            "email": "ada@example.org", "role": "owner"}))
    };
    let app = Router::new()
        .route("/api/v1/auth/login", post(login))
        .route("/api/v1/me", axum::routing::get(me))
        .route(REGISTER_PATH, post(answer));
    let backend = Backend::start(app);
    let key = key(KeyKind::Registration);
    let with = |home: &Home, login: &[&str], input: &str| {
        let mut words = vec!["register", "--registration-key", &key, "--backend", &backend.url];
        words.extend(login);
        home.link_with_input(&words, input)
    };
    let home = Home::new();
    let ran = with(&home, &["--email", "ada@example.org", "--password-stdin"], "a long password\n");
    assert!(ran.code == 0 && home.has("state/identity.json"), "{ran:?}");
    let home = Home::new();
    let ran = with(&home, &["--token", "TOKEN-OBTAINED"], "");
    assert!(ran.code == 0 && home.has("state/identity.json"), "{ran:?}");
    let home = Home::new();
    let ran = with(&home, &["--token", "garbage"], "");
    assert!(ran.code != 0 && !home.has("state/identity.json"), "{ran:?}");
}

#[test]
fn a_device_id_that_the_account_does_not_have_is_told() {
    let (home, requests) = (Home::new(), Requests::default());
    let backend = Backend::start(accepting(&requests));
    let (key, asked) = (key(KeyKind::Registration), id("dev", 9));
    let words =
        ["register", "--registration-key", &key, "--device-id", &asked, "--backend", &backend.url];
    let ran = home.link(&words);
    let told = format!("registered as {}: {asked} is not a device of this account", id("dev", 1));
    assert!(ran.code == 0 && ran.stderr.contains(&told), "{ran:?}");
}

#[test]
fn another_backend_needs_a_clear_word() {
    let (home, requests) = (Home::new(), Requests::default());
    let (first, second) =
        (Backend::start(accepting(&requests)), Backend::start(accepting(&requests)));
    register(&home, &first);
    let ran = register(&home, &second);
    assert!(ran.code == 1 && ran.stderr.contains("--new-device"), "{ran:?}");
    assert_eq!(identity(&home).backend_url, first.url);
    assert!(second.seen().is_empty());
}

#[test]
fn without_a_key_or_a_login_it_says_what_to_give() {
    let home = Home::new().with("LINK_BACKEND_URL", "http://127.0.0.1:9");
    let ran = home.link(&["register"]);
    assert_eq!(ran.code, 30);
    assert!(ran.stderr.contains("--fleet-key") && ran.stderr.contains("link login"), "{ran:?}");
}

fn register(home: &Home, backend: &Backend) -> crate::support::Ran {
    let key = key(KeyKind::Registration);
    home.link(&["register", "--registration-key", &key, "--backend", &backend.url])
}

fn key(kind: KeyKind) -> String {
    EnrolmentKey::from_secret(kind, [7; 32]).expose().to_owned()
}

/// Answers like a backend that creates a key.
async fn new_key(Json(body): Json<serde_json::Value>) -> Json<serde_json::Value> {
    let kind = if body["kind"] == "fleet" { KeyKind::Fleet } else { KeyKind::Registration };
    let info = json!({
        "key_id": id("key", 1), "kind": kind, "name": "", "expires_at": null,
        "created_at": "2026-11-21T00:00:00Z", "max_devices": null, "devices": 0, "tags": [],
        "revoked": false,
    });
    Json(json!({"key": key(kind), "info": info}))
}

fn identity(home: &Home) -> Identity {
    Identity::parse(&std::fs::read_to_string(home.path("state/identity.json")).unwrap()).unwrap()
}

fn accepting(requests: &Requests) -> Router {
    let record = Arc::clone(requests);
    let answer = move |Json(request): Json<RegisterRequest>| {
        record.lock().unwrap().push(request);
        async { registered() }
    };
    Router::new().route(REGISTER_PATH, post(answer))
}

fn registered() -> Json<serde_json::Value> {
    Json(json!({
        "device_id": id("dev", 1), "device_token": "token", "epoch": 1,
        "transport": {"type": "http"},
        "backend_keys": [SigningKey::from_seed(&[1; 32]).verifying()],
        "a_field_of_the_future": true,
    }))
}
