//! Prompts on a terminal: each answer is checked when it is given, and a wrong answer is asked for again.

use axum::{
    Json, Router,
    response::IntoResponse as _,
    routing::{get, post},
};
use link_protocol::problem::Code;
use serde_json::{Value, json};

use crate::{
    support::{Backend, Home, id, log_in, refuse},
    terminal::Person,
};

const PASSWORD: &str = "New password (12 or more characters): ";

#[test]
fn the_first_account_asks_again_for_each_wrong_answer() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let mut person = Person::runs(&home, &format!("account create --backend {}", backend.url));
    person.answers("Setup token: ", "\n");
    let said = person.answers("Setup token: ", "the token\n");
    assert!(said.contains("the setup token cannot be empty"), "{said}");
    person.answers("E-mail: ", "ada\n");
    person.sees("an e-mail has the form name@host");
    person.answers("E-mail: ", "ada@example.org\n");
    person.answers(PASSWORD, "\n");
    for (wrong, fault) in [
        ("tooshort\n", "the password cannot be empty; use at least 12 characters"),
        ("right password\n", "the password must have at least 12 characters"),
    ] {
        let said = person.answers(PASSWORD, wrong);
        assert!(said.contains(fault), "{said}");
    }
    person.answers("Repeat password: ", "left password\n");
    let said = person.answers(PASSWORD, "right password\n");
    assert!(said.contains("the two passwords differ"), "{said}");
    let said = person.answers("Repeat password: ", "right password\n");
    assert!(!said.contains("differ"), "{said}");
    let (code, said) = person.ends();
    assert_eq!(code, 0, "{said}");
    let done =
        format!("created the first account and logged in: ada@example.org at {}", backend.url);
    assert!(said.contains(&done), "{said}");
    assert!(home.has("config/credentials.json"));
}

#[test]
fn the_end_of_input_cancels_at_each_prompt_of_the_first_account() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let words = format!("account create --backend {}", backend.url);
    let answers =
        [("Setup token: ", "the token\n"), ("E-mail: ", "ada@example.org\n"), (PASSWORD, "")];
    for last in 0..answers.len() {
        let mut person = Person::runs(&home, &words);
        for (prompt, answer) in &answers[..last] {
            person.answers(prompt, answer);
        }
        // Ctrl-D ends a line prompt, and Ctrl-C ends every prompt.
        person.answers(answers[last].0, if last == 1 { "\u{3}" } else { "\u{4}" });
        let (code, said) = person.ends();
        assert_eq!(code, 130, "{last}: {said}");
    }
    assert!(!home.has("config/credentials.json"));
}

#[test]
fn the_prompt_for_a_checksum_is_repeated_after_a_mistake_and_ends_with_the_input() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let mut person = Person::runs(&home, "model add --url http://127.0.0.1:9/m.gguf");
    person.answers("now): ", "abc\n");
    let said = person.answers("now): ", "\u{4}");
    assert!(said.contains("this is not a SHA-256"), "{said}");
    let (code, said) = person.ends();
    assert_eq!(code, 130, "{said}");
    assert!(said.contains("error: cancelled"), "{said}");
}

/// A backend that waits for its first account.
fn app() -> Router {
    let setup = |Json(body): Json<Value>| async move {
        let wanted = json!({
            "setup_token": "the token", "email": "ada@example.org", "password": "right password",
        });
        if body != wanted {
            return refuse(Code::SetupTokenInvalid, "the setup token is wrong");
        }
        Json(json!({
            "access_token": "access", "token_type": "Bearer", "expires_in": 900,
            "refresh_token": "refresh",
        }))
        .into_response()
    };
    let me = || async {
        Json(json!({
            "user_id": id("usr", 1), "account_id": id("acc", 1), "email": "ada@example.org",
            "role": "owner",
        }))
    };
    Router::new().route("/api/v1/setup", post(setup)).route("/api/v1/me", get(me))
}
