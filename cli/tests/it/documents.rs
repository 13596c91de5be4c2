//! Each command prints with `--json` what its schema describes, and no command is without one.

mod backend;

use std::{collections::BTreeSet, os::unix::fs::PermissionsExt as _, path::Path};

use link_protocol::{
    counter::Epoch,
    key::{EnrolmentKey, KeyKind},
    personal_token::PersonalToken,
    retire::RetireCode,
    signing::SigningKey,
};
use serde_json::{Value, json};

use self::backend::{agent, answer, app, release_key};
use crate::{
    schemas,
    support::{Agent, Backend, Home, id, log_in, register},
};

/// Commands that print no document, with `--json` either: texts for shells, and steps of the
/// installer.
const WITHOUT_A_DOCUMENT: [&str; 6] =
    ["complete", "completions", "reach", "refresh-files", "self-check", "verify-files"];

/// Commands that need programs of Link or a release. The black-box tests check their documents, and `release.rs` those
/// of `install-files --dry-run` and `update --check`.
const NEED_AN_INSTALLATION: [&str; 5] =
    ["install-backend", "install-files", "restart", "up", "update"];

#[test]
fn every_command_has_a_schema_or_prints_no_document() {
    let documents: Vec<&str> =
        link_cli::documents().iter().map(link_cli::document::Document::name).collect();
    let named: BTreeSet<String> =
        documents.iter().chain(&WITHOUT_A_DOCUMENT).map(|name| (*name).to_owned()).collect();
    assert_eq!(named.len(), documents.len() + WITHOUT_A_DOCUMENT.len(), "a name is listed twice");
    assert_eq!(named, schemas::commands(), "see cli/src/command/documents.rs");
}

#[test]
fn a_schema_is_valid_and_permits_the_members_of_later_versions() {
    let all = link_cli::documents().into_iter().chain(link_cli::documents_on_stderr());
    for document in all {
        let schema = document.schema();
        let name = document.name();
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        let text = schema.to_string();
        assert!(!text.contains(r#""additionalProperties":false"#), "{name}");
        assert!(!text.contains("#/components/"), "{name}");
    }
}

#[test]
fn a_name_of_the_openapi_documents_means_the_same_in_a_schema() {
    let read = |text: &str| -> Value {
        serde_json::from_str(&text.replace("#/components/schemas/", "#/$defs/")).unwrap()
    };
    let documents = [
        read(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json"))),
        read(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/local-api.json"))),
    ];
    for document in link_cli::documents() {
        let schema = document.schema();
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            let components = documents.iter().map(|known| &known["components"]["schemas"][name]);
            for component in components.filter(|component| !component.is_null()) {
                assert_eq!(definition, component, "{name} in {}", document.file_name());
            }
        }
    }
}

#[test]
fn a_member_that_is_missing_or_not_described_is_a_fault() {
    let faults = |document| schemas::faults("stop", &document).len();
    assert_eq!(faults(json!({"running": false, "stopped": true})), 0);
    assert_ne!(faults(json!({"running": false})), 0);
    assert_ne!(faults(json!({"running": false, "stopped": true, "new": 1})), 0);
}

#[test]
fn what_a_command_prints_fits_its_schema() {
    let tried = [
        of_the_account(),
        of_logins(),
        of_devices(),
        of_operations(),
        of_models(),
        of_this_machine(),
        of_engines(),
        of_plugins(),
        of_a_served_model(),
        of_a_backend_for_one_person(),
    ];
    let mut tried: BTreeSet<String> = tried.into_iter().flatten().collect();
    tried.extend(NEED_AN_INSTALLATION.map(str::to_owned));
    let all = link_cli::documents().iter().map(|known| known.name().to_owned()).collect();
    assert_eq!(tried, all, "each document is printed here, or the command needs an installation");
}

fn of_the_account() -> Vec<String> {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    all(
        &home,
        &[
            "whoami",
            "account list",
            "member list",
            "member invite --role viewer",
            "member role b@b.c viewer",
            "member remove b@b.c --yes",
            &format!("member remove {} --yes", id("inv", 2)),
            "token create --name ci --scope devices:read",
            "token list",
            &format!("token revoke {}", id("tok", 1)),
            "audit",
            "usage",
            "key create --kind fleet",
            "key list",
            &format!("key revoke {} --yes", id("key", 1)),
            "allowlist list",
            "allowlist add https://c.example",
            "allowlist remove https://a.example",
            &format!("account use {}", id("acc", 1)),
            "logout",
            "logout",
        ],
    )
}

fn of_logins() -> Vec<String> {
    let backend = Backend::start(app());
    let home = Home::new().with("LINK_BACKEND_URL", &backend.url);
    let token = home.file("token.txt", PersonalToken::from_secret([7; 32]).expose());
    vec![
        with_input(&home, "login --email a@b.c --password-stdin", "long enough here\n"),
        with_input(&home, &format!("login --token-file {token}"), ""),
        with_input(
            &home,
            "account create --setup-token-file - --email a@b.c --password-stdin",
            "the token\nlong enough here\n",
        ),
        with_input(
            &home,
            "member accept --token-file - --email c@b.c --password-stdin",
            "lit_token\nlong enough here\n",
        ),
    ]
}

fn of_devices() -> Vec<String> {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let key = EnrolmentKey::from_secret(KeyKind::Fleet, [7; 32]);
    let key = home.file("key.txt", key.expose());
    let signing = SigningKey::from_seed(&[3; 32]);
    let device = id("dev", 1).parse().unwrap();
    let code =
        RetireCode::sign(&signing, device, Epoch(1), "2026-11-21T00:00:00Z".parse().unwrap());
    let registration = EnrolmentKey::from_secret(KeyKind::Registration, [7; 32]);
    all(
        &home,
        &[
            "device list",
            "device show box",
            "device rename box lab-1",
            "device tag box lab",
            "device untag box lab",
            "device update box --to 1.4.0",
            "device update box --to 1.4.0 --wait",
            &format!("device transfer box --key-file {key} --yes"),
            "device remove box --yes",
            &format!("device retire {} --backend {}", code.expose(), backend.url),
            "logs box",
            "fleet list",
            "fleet show lab",
            "commands list",
            &format!("commands show {}", id("cmd", 1)),
            &format!("commands explain {}", id("cmd", 1)),
            &format!("register --registration-key {}", registration.expose()),
        ],
    )
}

fn of_operations() -> Vec<String> {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let operation = id("op", 1);
    let mut printed = all(
        &home,
        &[
            "operation list",
            &format!("operation show {operation}"),
            &format!("operation cancel {operation}"),
            &format!("operation retry {operation}"),
            &format!("operation retry {operation} --wait"),
            &format!("operation wait {operation}"),
        ],
    );
    for verb in [
        "model deploy smollm",
        "model serve smollm",
        "model stop smollm",
        "model remove smollm --yes",
        "repair-serving smollm",
        "device update --to 1.4.0",
        "device tag blue",
        "device untag blue",
        "device rename lab-{n}",
    ] {
        for how in ["", " --dry-run", " --wait"] {
            printed.extend(all(&home, &[&format!("{verb} --select tag=lab{how}")]));
        }
    }
    printed
}

fn of_models() -> Vec<String> {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let home = home.with("LINK_DEV_RELEASE_KEYS", release_key().verifying().public_key.clone());
    log_in(&home, &backend);
    let sum = "0".repeat(64);
    all(
        &home,
        &[
            "model list",
            "model search",
            &format!("model add --url https://models.example/m.gguf --sha256 {sum} --size 1024"),
            "model show smollm",
            "model show smollm2-135m",
            "model deploy smollm --device box",
            "model deploy smollm --device box --serve --wait",
            "model serve smollm --device box",
            "model stop smollm --device box --wait",
            "model remove smollm --device box --yes",
            "model cancel smollm --device box",
            "model delete smollm --yes",
            "repair-serving smollm --device box",
        ],
    )
}

fn of_this_machine() -> Vec<String> {
    let home = Home::new().with("LINK_SERVICE", "none");
    // The lock of the backend's installer is in this folder.
    home.file("backend/versions/none", "");
    let support = format!("support --yes --out {}", home.path("support.tar.gz"));
    let before = ["status", "doctor", &support, "stop", "down"];
    all(&home, &[&before[..], &["uninstall-backend --yes", "uninstall --yes"]].concat())
}

fn of_plugins() -> Vec<String> {
    let home = Home::new();
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins/language_model");
    let made = home.path("echo");
    let (key, out) = (home.path("publisher.key"), home.path(""));
    let public = release_key().verifying().clone();
    let (file, trusted) = (home.file("publisher.pub", &public.public_key), &public.kid);
    all(
        &home,
        &[
            "plugin list",
            "plugin show language_model",
            &format!("plugin check {checkout}"),
            &format!("plugin new {made}"),
            &format!("plugin check {made}"),
            &format!("plugin install {checkout}"),
            "plugin list",
            "plugin remove language_model",
            &format!("plugin key {key}"),
            &format!("plugin pack {made} --sign-with {key} --out {out}"),
            "plugin trust --list",
            &format!("plugin trust {file}"),
            "plugin trust --list",
            &format!("plugin trust --remove {trusted}"),
        ],
    )
}

fn of_engines() -> Vec<String> {
    let home = Home::new();
    let program = home.file("build/llama-server", "#!/bin/sh\necho 'version: 9789 (abc)' >&2\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let build = home.path("build");
    let key = release_key().verifying().clone();
    let file = home.file("engines.pub", &key.public_key);
    all(
        &home,
        &[
            "engine list",
            &format!("engine install {build} --build b9789"),
            "engine list",
            "engine use b9789",
            "engine remove b9789",
            "engine trust --list",
            &format!("engine trust {file}"),
            "engine trust --list",
            &format!("engine trust --remove {}", key.kid),
        ],
    )
}

fn of_a_served_model() -> Vec<String> {
    let home = Home::new();
    register(&home);
    home.file("state/run/local-api.json", r#"{"port": 41234, "pid": 1}"#);
    let engine = Backend::start(answer());
    let (_, port) = engine.url.rsplit_once(':').unwrap();
    let _agent = Agent::start(&home, agent(port));
    // A running agent holds its lock.
    let lock = link_platform::fs::try_lock(Path::new(&home.path("state/agent.lock"))).unwrap();
    assert!(lock.is_some());
    let question = "smollm why";
    all(&home, &["status", "start", &format!("chat {question}"), &format!("run {question}")])
}

fn of_a_backend_for_one_person() -> Vec<String> {
    let backend = Backend::start(app());
    let home = Home::new().with("LINK_SERVICE", "none");
    let owner = json!({
        "proof": "secret", "url": backend.url, "pid": std::process::id(), "version": "1.3.0",
    });
    home.file("backend-data/run/owner.json", &owner.to_string());
    let name = with_input(&home, "account password --password-stdin", "long enough here\n");
    all(&home, &["open"]).into_iter().chain([name]).collect()
}

/// Runs each command, and returns the names of the commands.
fn all(home: &Home, lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| with_input(home, line, "")).collect()
}

/// Runs a command with `--json`, checks its document, and returns the name of the command.
fn with_input(home: &Home, line: &str, input: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().chain(["--json"]).collect();
    let ran = home.link_with_input(&words, input);
    assert!(!ran.stdout.is_empty(), "{line}: {ran:?}");
    ran.stdout_json();
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    schemas::command(&words)
}
