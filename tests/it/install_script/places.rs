//! The places of an installation, and its uninstallation.

use std::path::PathBuf;

use link_protocol::install_script::Releases;

use super::scratch::{SCRIPT, Scratch, file_url, run, shells};

#[test]
fn without_a_home_it_is_said_what_to_set() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    // zsh takes a missing HOME from the list of users, so it would install into the home of the user that runs the test.
    for shell in shells().filter(|shell| shell[0] != "zsh") {
        let mut command = scratch.script(shell, &scratch.file_url());
        let ran = run(command.env_remove("LINK_HOME").env_remove("HOME"));
        assert_eq!(ran.code, Some(11), "{shell:?}: {ran:?}");
        assert!(ran.stderr.contains("set LINK_HOME"), "{shell:?}: {ran:?}");
        assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
    }
}

#[test]
fn the_installer_of_a_host_needs_no_address() {
    let scratch = Scratch::new();
    scratch.copy_of_release("stable");
    let host = file_url(scratch.path());
    let installer = scratch.path().join("install.sh");
    let script = std::fs::read_to_string(SCRIPT).unwrap();
    std::fs::write(&installer, Releases::Below(&host).shell(&script)).unwrap();
    for shell in shells() {
        // As `curl … | sh` runs it, with another channel and with the one that has a release.
        let piped = |words: &[&str]| {
            let mut command = scratch.shell(shell, "");
            command.env_remove("LINK_INSTALL_URL").arg("-s").arg("--").args(words);
            run(command.stdin(std::fs::File::open(&installer).unwrap()))
        };
        let ran = piped(&["--branch", "beta"]);
        assert_ne!(ran.code, Some(0), "{shell:?}: {ran:?}");
        assert!(ran.stderr.contains(&format!("{host}/beta")), "{shell:?}: {ran:?}");
        let ran = piped(&[]);
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
        assert!(scratch.link_home().join("bin/link").exists());
        scratch.uninstall();
    }
}

#[test]
fn the_home_of_a_user_is_as_before_once_link_is_uninstalled() {
    let scratch = Scratch::new();
    std::fs::write(scratch.home().join(".profile"), "# mine").unwrap();
    let before = scratch.tree();
    for shell in shells() {
        let mut command = scratch.script(shell, &scratch.file_url());
        command.env_remove("LINK_HOME");
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
        assert!(scratch.home().join(".local/bin/link").exists());
        let ran = run(command.arg("--uninstall"));
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
        assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
    }
}

#[test]
fn the_command_is_put_where_the_user_keeps_programs() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let (own, usual) = (scratch.home().join("my programs"), scratch.home().join(".local/bin"));
    let mut command = scratch.script(&["dash"], &scratch.file_url());
    let ran = run(command.env_remove("LINK_HOME").env("XDG_BIN_HOME", &own));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        own.join("link").exists() && own.join("linkctl").exists() && !usual.exists(),
        "{ran:?}"
    );
    assert!(ran.stderr.contains(&format!("put {} on PATH", own.display())), "{ran:?}");
    // Another shell does not know the variable: the receipt says where the command is.
    let ran = run(command.env_remove("XDG_BIN_HOME").arg("--uninstall"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(scratch.tree() == before, "{:?}", scratch.tree().keys());

    // A relative path does not count.
    let ran = run(scratch
        .script(&["dash"], &scratch.file_url())
        .env_remove("LINK_HOME")
        .env("XDG_BIN_HOME", "programs"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(usual.join("linkctl").exists(), "{ran:?}");
    let ran = run(command.arg("--uninstall"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

// Holds: S4.4-1b
#[test]
fn a_link_that_does_not_run_is_uninstalled_by_a_fresh_one() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in shells() {
        assert_eq!(scratch.install(&scratch.file_url()).code, Some(0));
        let program = scratch.link_home().join("data/current/link");
        std::fs::remove_file(&program).unwrap();
        std::fs::write(&program, "damaged").unwrap();
        let installed = paths(&scratch);

        let ran = run(scratch.script(shell, "").arg("--uninstall"));
        assert_eq!(ran.code, Some(60), "{shell:?}: {ran:?}");
        assert!(ran.stderr.contains("add --repo-url URL"), "{shell:?}: {ran:?}");
        assert_eq!(paths(&scratch), installed, "{shell:?}");

        for _twice in 0..2 {
            let ran = run(scratch.script(shell, &scratch.file_url()).arg("--uninstall"));
            assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
            assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
        }
    }
}

fn paths(scratch: &Scratch) -> Vec<PathBuf> {
    scratch.tree().into_keys().collect()
}
