//! Power cuts at each step of an installation, a repair and an uninstallation: after the next run,
//! the installation is healthy, or nothing is left.

use std::process::Command;

use link_platform::checkpoint::KILL_AT;

use super::scratch::{Scratch, run};

/// The steps of an installation, including the PATH files.
const INSTALLING: &[&str] = &[
    "receipt-written",
    "version-copied",
    "version-renamed",
    "version-complete",
    "laid-out",
    "guard-placed",
    "switched",
    "command-pointed",
    "shared-written",
    "path-recorded",
    "path-edited",
];

/// The steps of an uninstallation.
const UNINSTALLING: &[&str] =
    &["unit-removed", "path-restored", "outside-removed", "folder-removed"];

#[test]
fn an_installation_that_is_cut_short_at_any_step_is_finished_by_the_next_run() {
    let scratch = with_start_files();
    let before = scratch.tree();
    for checkpoint in every_other(INSTALLING, 0) {
        is_killed(&mut installer(&scratch), checkpoint);
        is_healthy(&scratch, checkpoint);
        scratch.uninstall();
        assert_eq!(scratch.tree(), before, "{checkpoint}");
    }
}

#[test]
fn an_installation_that_is_cut_short_at_any_step_is_taken_away_by_an_uninstallation() {
    let scratch = with_start_files();
    let before = scratch.tree();
    for checkpoint in every_other(INSTALLING, 1) {
        is_killed(&mut installer(&scratch), checkpoint);
        // If no command is installed yet, the script downloads one.
        let gone = run(scratch.script(&["dash"], &scratch.file_url()).arg("--uninstall"));
        assert_eq!(gone.code, Some(0), "{checkpoint}: {gone:?}");
        assert_eq!(scratch.tree(), before, "{checkpoint}");
    }
}

#[test]
fn a_repair_and_an_uninstallation_that_are_cut_short_are_finished_by_the_next_run() {
    let scratch = with_start_files();
    let before = scratch.tree();
    let installed = run(&mut installer(&scratch));
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let agent = scratch.link_home().join("data/current/link-agent");
    for checkpoint in every_other(&INSTALLING[1..5], 1) {
        std::fs::remove_file(&agent).unwrap();
        std::fs::write(&agent, "damaged").unwrap();
        is_killed(&mut installer(&scratch), checkpoint);
        is_healthy(&scratch, checkpoint);
    }
    for checkpoint in every_other(UNINSTALLING, 0) {
        let uninstall = || {
            let mut command = scratch.script(&["dash"], &scratch.file_url());
            command.arg("--uninstall");
            command
        };
        is_killed(&mut uninstall(), checkpoint);
        let gone = run(&mut uninstall());
        assert_eq!(gone.code, Some(0), "{checkpoint}: {gone:?}");
        assert_eq!(scratch.tree(), before, "{checkpoint}");
        let again = run(&mut uninstall());
        assert_eq!(again.code, Some(0), "twice in a row is fine: {again:?}");
        let installed = run(&mut installer(&scratch));
        assert_eq!(installed.code, Some(0), "{installed:?}");
    }
    scratch.uninstall();
}

/// All steps in a full run, otherwise every other one, because the tests share them.
fn every_other(
    steps: &'static [&'static str],
    from: usize,
) -> impl Iterator<Item = &'static &'static str> {
    let is_full = std::env::var("LINK_TEST_FULL").is_ok_and(|value| value == "1");
    let (from, by) = if is_full { (0, 1) } else { (from, 2) };
    steps.iter().skip(from).step_by(by)
}

/// A home with start files of shells.
fn with_start_files() -> Scratch {
    let scratch = Scratch::new();
    std::fs::write(scratch.home().join(".profile"), "# mine\n").unwrap();
    std::fs::write(scratch.home().join(".bashrc"), "alias ll='ls -l'").unwrap();
    scratch
}

fn installer(scratch: &Scratch) -> Command {
    let mut command = scratch.script(&["dash"], &scratch.file_url());
    command.env("LINK_MODIFY_PATH", "1").env("SHELL", "/bin/bash");
    command
}

fn is_killed(command: &mut Command, checkpoint: &str) {
    let ran = run(command.env(KILL_AT, checkpoint));
    assert_eq!(ran.code, Some(137), "{checkpoint}: {ran:?}");
}

fn is_healthy(scratch: &Scratch, checkpoint: &str) {
    let again = run(&mut installer(scratch));
    assert_eq!(again.code, Some(0), "{checkpoint}: {again:?}");
    let profile = std::fs::read_to_string(scratch.home().join(".profile")).unwrap();
    assert_eq!(profile.matches(">>> link >>>").count(), 1, "{profile}");
}
