//! The two names of the command: `link`, which coreutils has too, and `linkctl`.

use std::{os::unix::fs::symlink, path::Path, process::Command};

use axum::{Json, Router, routing::get};
use serde_json::json;

use crate::support::{Agent, Home, id, register};

#[test]
fn both_names_have_the_same_help_and_each_its_completions() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["link", "linkctl"] {
        symlink(env!("CARGO_BIN_EXE_link"), dir.path().join(name)).unwrap();
    }
    for words in [&["--help"][..], &["-h"], &["help", "model"], &["model", "deploy", "--help"]] {
        let (link, linkctl) =
            (print(dir.path(), "link", words), print(dir.path(), "linkctl", words));
        assert!(linkctl.contains("linkctl"), "{words:?}: {linkctl}");
        assert_eq!(linkctl.replace("linkctl", "link"), link, "{words:?}");
    }
    let completions = print(dir.path(), "linkctl", &["completions", "zsh"]);
    assert!(completions.starts_with("#compdef linkctl\n"), "{completions}");
    let completions = print(dir.path(), "link", &["completions", "zsh"]);
    assert!(completions.starts_with("#compdef link\n"), "{completions}");
}

#[test]
fn a_hint_says_what_this_shell_runs_as_our_command() {
    let home = Home::new();
    for program in ["system/link", "bin/link", "bin/linkctl"] {
        home.file(program, "");
    }
    register(&home);
    home.file("state/run/local-api.json", r#"{"port": 41234, "pid": 1}"#);
    let healthz = json!({
        "status": "online", "agent_version": "1.3.0", "channel": "stable",
        "device_id": id("dev", 1), "transport": { "type": "http", "state": "connected" },
        "models": [], "deployments": [], "currently_serving": false, "model_id": null,
    });
    let api = Router::new()
        .route("/healthz", get(async || Json(healthz)))
        .route("/models", get(async || Json(json!([]))));
    let _agent = Agent::start(&home, api);
    let (system, bin) = (home.path("system"), home.path("bin"));
    for (path, command) in [
        (format!("{bin}:{system}"), "link".to_owned()),
        (format!("{system}:{bin}"), "linkctl".to_owned()),
        (system, format!("LINK_HOME={} {bin}/linkctl", bin.trim_end_matches("/bin"))),
    ] {
        let link = |words: &[&str]| home.link_with(&[("PATH", &path)], words);
        let ran = link(&["whoami"]);
        let hint = format!("error: nobody is logged in\n hint: log in with `{command} login`");
        assert!(ran.stderr.starts_with(&hint), "PATH={path}: {ran:?}");
        // The results of a command hold hints too, except as JSON.
        let ran = link(&["engine", "list"]);
        let hint = format!("install one with `{command} engine install`, or from a file with");
        assert!(ran.stdout.contains(&hint), "PATH={path}: {ran:?}");
        let ran = link(&["status"]);
        let hint = format!("after a reboot run `{command} start`\n");
        assert!(ran.stdout.contains(&hint), "PATH={path}: {ran:?}");
        let hint = format!("no models; deploy one with `{command} model deploy MODEL`\n");
        assert!(ran.stdout.contains(&hint), "PATH={path}: {ran:?}");
        let why = link(&["status", "--json"]).stdout_json()["availability"]["why"].to_string();
        assert!(why.ends_with("after a reboot run `link start`\""), "{why}");
    }
}

fn print(bin: &Path, name: &str, words: &[&str]) -> String {
    let output =
        Command::new(bin.join(name)).args(words).env_clear().env("HOME", bin).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
