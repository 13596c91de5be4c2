//! The completion of names, with a backend that is quick or slow, and in the shells of this machine.

use std::{
    os::unix::fs::symlink,
    process::Command,
    time::{Duration, Instant},
};

use axum::{Json, Router, routing::get};
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in};

#[test]
fn names_complete_at_once_or_not_at_all() {
    let (home, backend) = (Home::new(), Backend::start(app(Duration::ZERO)));
    log_in(&home, &backend);
    let complete = |home: &Home, words: &[&str]| {
        let words: Vec<&str> = ["complete", "--"].iter().chain(words).copied().collect();
        let ran = home.link(&words);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.stdout
    };
    assert_eq!(complete(&home, &["link", "device", "show", ""]), "attic\nworkstation\n");
    assert_eq!(complete(&home, &["link", "device", "show", "wo"]), "workstation\n");
    assert_eq!(complete(&home, &["link", "device", "list", "--select", "tag"]), "tag=lab\n");
    assert_eq!(complete(&home, &["link", "status", ""]), "");

    let slow = Backend::start(app(Duration::from_secs(20)));
    log_in(&home, &slow);
    let started = Instant::now();
    assert_eq!(complete(&home, &["link", "device", "show", ""]), "");
    // The command stops waiting after 250 ms. The rest is the start of the process on a busy machine.
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(complete(&Home::new(), &["link", "device", "show", ""]), "", "nobody is logged in");
}

#[test]
fn each_kind_of_name_completes_where_it_is_expected() {
    let (home, backend) = (Home::new(), Backend::start(app(Duration::ZERO)));
    log_in(&home, &backend);
    let accounts = format!("{}\n{}\n", id("acc", 1), id("acc", 2));
    for (line, names) in [
        ("model deploy ", "acme/llama\nsmollm\n"),
        ("model deploy smollm --device ", "attic\nworkstation\n"),
        ("model remove smollm --device=wo", "workstation\n"),
        ("run smo", "smollm\n"),
        ("device tag workstation ", "lab\n"),
        ("model stop smollm --select ta", "tag=lab\n"),
        ("key revoke ", "lab\n"),
        ("account use ", &accounts),
        ("member role ", "a@b.c\nb@b.c\n"),
        ("member remove b", "b@b.c\n"),
        ("member role a@b.c ", ""),
    ] {
        let words: Vec<&str> =
            ["complete", "--", "link"].into_iter().chain(line.split(' ')).collect();
        let ran = home.link(&words);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, names), "{line}: {ran:?}");
    }
}

#[test]
fn bash_completes_names_and_commands() {
    let shell = Shell::with("bash", Duration::ZERO).unwrap();
    let complete = |words: &str, word: &str| {
        shell.run(&format!(
            "source {}; COMP_WORDS=({words} '{word}'); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _link_names link '{word}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            shell.script
        ))
    };
    assert_eq!(complete("link device show", "wo"), "workstation\n");
    assert_eq!(complete("link device", "sh"), "show\n");
    assert!(complete("link device show", "--js").contains("--json"));

    let slow = Shell::with("bash", Duration::from_secs(20)).unwrap();
    let started = Instant::now();
    let names = slow.run(&format!(
        "source {}; COMP_WORDS=(link device show ''); COMP_CWORD=3; _link_names link '' show; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        slow.script
    ));
    assert!(!names.contains("workstation"), "{names}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn fish_completes_names_without_files_and_commands() {
    let Some(shell) = Shell::with("fish", Duration::ZERO) else { return };
    let complete = |shell: &Shell, line: &str| {
        shell.run(&format!("source {}; complete -C '{line}'", shell.script))
    };
    assert_eq!(complete(&shell, "link device show "), "attic\nworkstation\n");
    assert_eq!(complete(&shell, "link device show wo"), "workstation\n");
    assert!(complete(&shell, "link device sh").starts_with("show\t"));
    assert!(complete(&shell, "link model add ./").contains("completions.fish"), "a file");

    let slow = Shell::with("fish", Duration::from_secs(20)).unwrap();
    let started = Instant::now();
    assert!(!complete(&slow, "link device show ").contains("workstation"));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn zsh_completes_names_and_commands() {
    let Some(shell) = Shell::with("zsh", Duration::ZERO) else { return };
    // A shell on a pseudo-terminal of its own. It shows no completions while more keys wait, so the text that follows a
    // tab is awaited.
    let complete = |shell: &Shell, line: &str, awaited: &str| {
        let folder = shell.home.path("");
        shell.run(&format!(
            "zmodload zsh/zpty; cp {} {folder}/_link; \
             zpty shell 'zsh -f -i'; \
             zpty -w shell \"PS1=; unsetopt zle_bracketed_paste; fpath=({folder} \\$fpath); \
             autoload -Uz compinit; compinit -u -D; setopt list_ambiguous; LISTMAX=0; print ready\"; \
             zpty -r -m shell seen '*ready*ready*' >/dev/null; \
             zpty -n -w shell $'{line}\\t\\t'; seen=; \
             repeat 600; do \
             while zpty -r -t shell part; do seen+=$part; done; \
             [[ $seen == *'{awaited}'* ]] && break; sleep 0.05; done; \
             print -r -- $seen; zpty -d shell",
            shell.script
        ))
    };
    let named = complete(&shell, "link device show ", "workstation");
    assert!(named.contains("workstation") && named.contains("attic"), "{named}");
    let command = complete(&shell, "link device sh", "link device show");
    assert!(command.contains("link device show"), "{command}");

    // Without names, the shell offers the files of the folder.
    let slow = Shell::with("zsh", Duration::from_secs(20)).unwrap();
    let started = Instant::now();
    let named = complete(&slow, "link device show ", "completions");
    assert!(named.contains("completions") && !named.contains("workstation"), "{named}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// A shell with the completions of `link`, and a login at a backend that answers after a while.
struct Shell {
    program: &'static str,
    home: Home,
    script: String,
    _backend: Backend,
}

impl Shell {
    /// Prepares a shell, if this machine has it.
    fn with(program: &'static str, wait: Duration) -> Option<Self> {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("skipped: this machine has no {program}");
            return None;
        }
        let (home, backend) = (Home::new(), Backend::start(app(wait)));
        log_in(&home, &backend);
        let script = home.link(&["completions", program]).stdout;
        let script = home.file(&format!("completions.{program}"), &script);
        for name in ["link", "linkctl"] {
            symlink(env!("CARGO_BIN_EXE_link"), home.path(name)).unwrap();
        }
        Some(Self { program, home, script, _backend: backend })
    }

    /// Runs a line without the user's settings, and returns what the shell prints.
    fn run(&self, line: &str) -> String {
        let without_settings: &[&str] = match self.program {
            "bash" => &["--norc"],
            "fish" => &["--no-config"],
            _ => &["-f"],
        };
        let ran = Command::new(self.program)
            .args(without_settings)
            .args(["-c", line])
            .env_clear()
            .env("LINK_HOME", self.home.path(""))
            .env("HOME", self.home.path(""))
            .env("TERM", "dumb")
            .env("PATH", format!("{}:/usr/bin:/bin", self.home.path("")))
            .current_dir(self.home.path(""))
            .output()
            .unwrap();
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }
}

/// A backend with two names of each kind, where every answer takes `wait`.
pub(crate) fn app(wait: Duration) -> Router {
    let answer = |document: Value| {
        move || async move {
            tokio::time::sleep(wait).await;
            Json(document)
        }
    };
    let page = |items: [Value; 2]| answer(json!({ "items": items, "next_cursor": null }));
    let time = "2026-10-01T00:00:00Z";
    let model = |number, name: &str, owned: bool, publisher: Option<&str>| {
        json!({
            "model_id": id("mdl", number), "name": name, "file_name": "m.gguf", "url": null,
            "sha256": null, "size_bytes": 1024, "plugin": "language_model", "shared": !owned,
            "ready": true, "owned": owned, "publisher": publisher, "created_at": time,
        })
    };
    let key = |number, revoked: bool| {
        json!({
            "key_id": id("key", number), "kind": "fleet", "name": "lab", "created_at": time,
            "expires_at": null, "max_devices": null, "devices": 0, "tags": [], "revoked": revoked,
        })
    };
    let member = |number, email: &str| json!({ "user_id": id("usr", number), "email": email, "role": "owner", "joined_at": time });
    let account = |number, current: bool| {
        json!({
            "account_id": id("acc", number), "role": "owner", "joined_at": time,
            "current": current,
        })
    };
    let models = [model(1, "smollm", true, None), model(2, "llama", false, Some("acme"))];
    Router::new()
        .route("/api/v1/devices", get(page([device(1, "workstation"), device(2, "attic")])))
        .route("/api/v1/models", get(page(models)))
        .route("/api/v1/keys", get(page([key(1, false), key(2, true)])))
        .route("/api/v1/members", get(page([member(1, "a@b.c"), member(2, "b@b.c")])))
        .route("/api/v1/accounts", get(answer(json!([account(1, true), account(2, false)]))))
}

fn device(number: u32, name: &str) -> Value {
    json!({
        "device_id": id("dev", number), "name": name, "online": true, "status": "online",
        "agent_version": "1.3.0", "tags": ["lab"], "registered_at": "2026-10-01T00:00:00Z",
        "last_seen_at": null,
        "platform": { "os": "linux", "arch": "x86_64", "hostname": name },
    })
}
