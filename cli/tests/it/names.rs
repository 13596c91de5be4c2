//! The two names of the command: `link` is a program of the system too, and `linkctl` is not.

use std::{os::unix::fs::symlink, path::Path, process::Command};

use crate::support::Home;

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
    let (system, bin) = (home.path("system"), home.path("bin"));
    for (path, command) in [
        (format!("{bin}:{system}"), "link".to_owned()),
        (format!("{system}:{bin}"), "linkctl".to_owned()),
        (system, format!("{bin}/linkctl")),
    ] {
        let ran = home.link_with(&[("PATH", &path)], &["whoami"]);
        let hint = format!("error: nobody is logged in\n hint: log in with `{command} login`");
        assert!(ran.stderr.starts_with(&hint), "PATH={path}: {ran:?}");
    }
}

fn print(bin: &Path, name: &str, words: &[&str]) -> String {
    let output =
        Command::new(bin.join(name)).args(words).env_clear().env("HOME", bin).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
