//! The output and the exit codes of the compiled command, without a backend.

use std::process::Command;

use crate::support::{self, Home};
use serde_json::json;

// Holds: S4.4-4
#[test]
fn the_help_text_is_the_committed_one() {
    let ran = Home::new().link(&["--help"]);
    assert_eq!(ran.code, 0);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/golden/help.txt");
    if std::env::var_os("LINK_UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, &ran.stdout).unwrap();
    }
    let committed = std::fs::read_to_string(golden).unwrap_or_default();
    assert_eq!(ran.stdout, committed, "run with LINK_UPDATE_GOLDEN=1 if the change is meant");
}

// Holds: S4.4-4
#[test]
fn the_version_is_printed_and_nothing_else() {
    let ran = Home::new().link(&["--version"]);
    let version = concat!("link ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, version, ""));
}

#[test]
fn the_version_and_the_help_need_no_home() {
    for flag in ["--version", "--help"] {
        let mut link = Command::new(env!("CARGO_BIN_EXE_link"));
        let output = link.arg(flag).env_clear().output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{flag}: {output:?}");
        assert!(!output.stdout.is_empty(), "{flag}");
    }
}

// Holds: S9-3
#[test]
fn the_changelog_has_the_release_line_and_this_is_its_newest_version_or_a_newer_one() {
    let changelog = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../CHANGELOG.md"));
    let (_, line) = changelog.split_once("## The release line").unwrap();
    let releases: Vec<&str> = line.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let expected = [
        "1.3.0 (2026-08-07)",
        "1.2.2 (2026-07-31)",
        "1.2.1",
        "1.2.0",
        "1.1.0",
        "1.0.19",
        "1.0.18",
        "1.0.17",
        "1.0.16",
        "1.0.15",
        "1.0.9",
    ];
    assert_eq!(releases, expected);
    let version = |text: &str| text.parse::<semver::Version>().unwrap();
    assert!(version(env!("CARGO_PKG_VERSION")) >= version("1.3.0"));
}

// Holds: S4.4-11, S9-8
#[test]
fn removed_words_are_refused_with_their_replacement() {
    for (words, replacement) in [
        (&["manager"][..], "link status"),
        (&["setup"], "link register"),
        (&["install"], "install.sh"),
        (&["tui"], "link status"),
        (&["--tui"], "link status"),
        (&["login", "--username", "me"], "--email"),
    ] {
        let ran = Home::new().link(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}");
        assert!(
            ran.stderr.contains("was removed") && ran.stderr.contains(replacement),
            "{words:?}"
        );
    }
}

#[test]
fn two_files_get_a_graceful_answer() {
    let home = Home::new();
    let (from, to) = (home.file("one.txt", "1"), home.path("two.txt"));
    let ran = home.link(&[&from, &to]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains(&format!("ln {from} {to}")), "{}", ran.stderr);
    assert!(!std::path::Path::new(&to).exists());
}

#[test]
fn a_similar_command_is_named() {
    let ran = Home::new().link(&["modle", "list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("'model'"), "{}", ran.stderr);
}

#[test]
fn wrong_usage_is_one_json_document_when_that_is_asked_for() {
    let ran = Home::new().link(&["--json", "repair-serving", "m", "--port", "70000"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(
        ran.stderr_json(),
        json!({
            "error": "usage", "exit_code": 2, "hint": "see `link --help`",
            "message": "invalid value '70000' for '--port <N>': port must be a whole number from 1 to 65535, got `70000`",
        })
    );
}

#[test]
fn the_self_check_says_ok() {
    let ran = Home::new().link(&["self-check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "ok\n"));
}

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = Home::new().link(&["completions", shell]);
        assert!(ran.code == 0 && ran.stdout.contains("repair-serving"), "{shell}");
    }
}

#[test]
fn a_mistyped_key_is_refused_before_anyone_is_called() {
    let home = Home::new();
    for (key, why) in [
        ("hello", "starts with `lrk_`"),
        ("lrk_short", "incomplete: expected 53 characters"),
        ("lrk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "checksum does not fit"),
    ] {
        let ran =
            home.link(&["register", "--registration-key", key, "--backend", "http://127.0.0.1:9"]);
        assert_eq!(ran.code, 31, "{key}");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert!(!ran.stderr.contains(key) || key == "hello", "the key itself is not repeated");
    }
    assert!(!home.has("state/identity.json"));
}

#[test]
fn a_device_that_is_not_registered_says_so() {
    let home = Home::new();
    let ran = home.link(&["status"]);
    assert_eq!(ran.code, 30);
    assert_eq!(ran.without_service(), "Agent      not running\nDevice     not registered\n");
    assert_eq!(ran.stderr, "\nrun `link up`, or register this device with `link register`\n");
    let ran = home.link(&["status", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (30, ""));
    let mut status = ran.stdout_json();
    // The availability after a logout depends on the machine.
    assert_eq!(status["availability"].take()["tier"], "detached");
    assert_eq!(
        status,
        json!({
            "registered": false, "running": false, "backend_url": null, "device_id": null,
            "agent": null, "local_port": null, "pipelines": [], "engines": [], "availability": null,
        })
    );
}

#[test]
fn commands_that_need_a_login_say_how_to_get_one() {
    for words in [&["whoami"][..], &["model", "list"], &["repair-serving", "m"]] {
        let ran = Home::new().link(words);
        assert_eq!(ran.code, 77, "{words:?}");
        let hint = "log in with `link login`, or run `link up` for a backend of your own";
        assert_eq!(ran.stderr, format!("error: nobody is logged in\n hint: {hint}\n"));
    }
}

#[test]
fn an_update_of_what_was_not_installed_is_declined() {
    let ran = Home::new().link(&["update"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("it was not installed by install.sh"), "{ran:?}");
}

#[test]
fn an_unreachable_backend_is_named_with_the_cause() {
    let home = Home::new();
    let backend = format!("http://127.0.0.1:{}", support::closed_port());
    let words = ["login", "--email", "a@b.c", "--password-stdin", "--backend", &backend];
    let ran = home.link_with_input(&words, "hunter2hunter2\n");
    assert_eq!(ran.code, 69);
    assert!(ran.stderr.contains(&format!("no answer from {backend}")), "{}", ran.stderr);
    assert!(ran.stderr.contains("Connection refused"), "{}", ran.stderr);
    assert!(!home.has("config/credentials.json"));
}

#[test]
fn without_a_terminal_questions_name_their_flag() {
    let home = Home::new();
    let ran = home.link(&["login", "--backend", "http://127.0.0.1:9"]);
    assert!(ran.code == 2 && ran.stderr.contains("--email"), "{}", ran.stderr);
}

#[test]
fn an_uninstallation_by_a_script_is_meant() {
    let home = Home::new();
    let ran = home.link(&["uninstall"]);
    assert!(ran.code == 0 && ran.stderr.contains("nothing was installed"), "{}", ran.stderr);
}

/// `sudo -E link …`, or a root shell by `sudo -s`, keeps the person's HOME.
#[test]
fn a_home_of_another_user_is_not_written_to_by_the_command() {
    let dir = tempfile::tempdir().unwrap();
    if std::os::unix::fs::chown(dir.path(), Some(65_534), None).is_err() {
        eprintln!("skipped: only root can give a folder to another user");
        return;
    }
    let link = |variable: &str, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_link"));
        command.args(words).env_clear().env(variable, dir.path());
        let ran = command.output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    for words in [&["whoami"][..], &["login", "--device"], &["start"], &["update"], &["register"]] {
        let (code, said) = link("HOME", words);
        assert_eq!(code, Some(11), "{words:?}: {said}");
        assert!(
            said.contains("belongs to another user") && said.contains("sudo -iu USER"),
            "{said}"
        );
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    for (variable, words) in [("HOME", &["self-check"][..]), ("LINK_HOME", &["whoami"])] {
        assert_ne!(link(variable, words).0, Some(11), "{variable} {words:?}");
    }
}
