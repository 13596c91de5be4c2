//! Logins, the file that stores a login, and the first account.

use std::{
    io::{Read as _, Write as _},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Json, Router,
    routing::{get, post},
};
use link_protocol::{personal_token::PersonalToken, problem::Code};
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in, refuse};

#[test]
fn a_login_is_kept_where_only_its_owner_can_read_it() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let ran = home.link_with_input(&login(&backend), "right password\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stderr, format!("logged in: a@b.c at {}\n", backend.url));
    let listing = std::process::Command::new("stat")
        .args(["-c", "%a", &home.path("config/credentials.json")])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&listing.stdout), "600\n");
    let ran = home.link(&["whoami", "--json"]);
    assert_eq!(ran.stdout_json()["email"], "a@b.c");
    assert!(!format!("{ran:?}").contains("access"), "no token is ever shown");
}

#[test]
fn a_wrong_password_keeps_nothing_and_says_what_to_do() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let ran = home.link_with_input(&login(&backend), "wrong password\n");
    assert_eq!(ran.code, 77);
    assert_eq!(ran.stderr, "error: wrong e-mail or password\n hint: check both and try again\n");
    assert!(!home.has("config/credentials.json"));
}

#[test]
fn the_first_account_takes_its_secrets_from_stdin_line_by_line() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let words = [
        "account",
        "create",
        "--setup-token-file",
        "-",
        "--email",
        "a@b.c",
        "--password-stdin",
        "--backend",
        &backend.url,
    ];
    let ran = home.link_with_input(&words, "the token\nright password\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.starts_with("created the first account and logged in: a@b.c"), "{ran:?}");
    assert!(home.has("config/credentials.json"));
}

#[test]
fn logging_out_revokes_the_login_and_forgets_it() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let ran = home.link(&["logout"]);
    assert_eq!((ran.code, home.has("config/credentials.json")), (0, false), "{ran:?}");
    assert_eq!(backend.seen(), ["POST /api/v1/auth/logout"]);
    assert_eq!(home.link(&["logout"]).stderr, "nobody was logged in\n");
}

#[test]
fn a_personal_access_token_is_read_from_a_file_and_kept() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let token = PersonalToken::from_secret([7; 32]);
    let file = home.file("token.txt", token.expose());
    let words = ["login", "--token-file", &file, "--backend", &backend.url];
    let ran = home.link(&words);
    assert_eq!((ran.code, ran.stderr.starts_with("logged in: a@b.c")), (0, true), "{ran:?}");
    let ran = home.link(&["logout"]);
    assert!(ran.stderr.contains("the token stays valid"), "{ran:?}");
    assert_eq!(backend.seen(), ["GET /api/v1/me"]);

    let words = ["login", "--token-file", "-", "--backend", &backend.url];
    let ran = home.link_with_input(&words, "lpt_mistyped\n");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("mistyped or incomplete"), "{ran:?}");
    assert!(backend.seen().is_empty(), "nobody was asked");
}

#[test]
fn a_machine_waits_until_its_person_has_let_it_in() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let words = ["login", "--device", "--no-browser", "--backend", &backend.url];
    let ran = home.link(&words);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stderr
            .starts_with("open http://link.example/device and enter the code WDJB-MJHT within")
    );
    assert!(ran.stderr.contains("logged in: a@b.c"), "{ran:?}");
    assert!(home.has("config/credentials.json") && !ran.stderr.contains("ldc_"), "{ran:?}");
    let polls = backend.seen().iter().filter(|line| line.ends_with("/device/token")).count();
    assert_eq!(polls, 2, "the first was too early");
}

#[test]
fn a_machine_that_nobody_decides_about_gives_up() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let words = ["login", "--device", "--no-browser", "--timeout", "500ms", "--json"];
    let words: Vec<&str> = words.into_iter().chain(["--backend", &backend.url]).collect();
    let ran = home.link(&words);
    assert_eq!(ran.code, 75, "{ran:?}");
    let (prompt, error) = ran.stderr.split_once('\n').unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(prompt).unwrap(),
        json!({"user_code": "WDJB-MJHT", "verification_uri": "http://link.example/device"})
    );
    assert_eq!(serde_json::from_str::<Value>(error).unwrap()["error"], "gave-up");
}

/// The password is sent as soon as the prompt appears, as with a paste or with `expect`.
// Holds: S4.4-13b
#[test]
fn a_password_that_is_sent_with_its_prompt_is_not_shown() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let (link, url) = (env!("CARGO_BIN_EXE_link"), &backend.url);
    let line = format!("exec {link} login --email a@b.c --backend {url}");
    for _ in 0..20 {
        let mut terminal = Command::new("script")
            .args(["-qefc", &line, "/dev/null"])
            .env("LINK_HOME", home.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut keyboard, mut screen) =
            (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
        let (mut shown, mut byte) = (Vec::new(), [0]);
        while !shown.ends_with(b"Password: ") {
            screen.read_exact(&mut byte).unwrap();
            shown.extend(byte);
        }
        keyboard.write_all(b"right password\n").unwrap();
        screen.read_to_end(&mut shown).unwrap();
        assert!(terminal.wait().unwrap().success(), "{}", String::from_utf8_lossy(&shown));
        assert!(!String::from_utf8_lossy(&shown).contains("right password"));
    }
}

fn login(backend: &Backend) -> Vec<&str> {
    vec!["login", "--email", "a@b.c", "--password-stdin", "--backend", &backend.url]
}

fn app() -> Router {
    let tokens = || {
        Json(json!({
            "access_token": "access", "token_type": "Bearer", "expires_in": 900,
            "refresh_token": "refresh",
        }))
    };
    let login = move |Json(body): Json<Value>| async move {
        if body == json!({"email": "a@b.c", "password": "right password"}) {
            Ok(tokens())
        } else {
            Err(refuse(Code::InvalidCredentials, "wrong e-mail or password"))
        }
    };
    let setup = move |Json(body): Json<Value>| async move {
        let wanted = json!({
            "setup_token": "the token", "email": "a@b.c", "password": "right password",
        });
        assert_eq!(body, wanted);
        tokens()
    };
    let me = || async {
        Json(
            json!({"user_id": id("usr", 1), "account_id": id("acc", 1), "email": "a@b.c", "role": "owner"}),
        )
    };
    let code = || async {
        Json(json!({
            "device_code": "ldc_secret", "user_code": "WDJB-MJHT", "expires_in": 600,
            "interval": 1, "verification_uri": "http://link.example/device",
            "verification_uri_complete": "http://link.example/device#WDJB-MJHT",
        }))
    };
    let asked = Arc::new(AtomicBool::new(false));
    let token = move || async move {
        if asked.swap(true, Ordering::SeqCst) {
            Ok(tokens())
        } else {
            Err(refuse(Code::AuthorizationPending, "the person has not decided yet"))
        }
    };
    Router::new()
        .route("/api/v1/auth/device/code", post(code))
        .route("/api/v1/auth/device/token", post(token))
        .route("/api/v1/auth/login", post(login))
        .route("/api/v1/auth/logout", post(|| async {}))
        .route("/api/v1/setup", post(setup))
        .route("/api/v1/me", get(me))
}
