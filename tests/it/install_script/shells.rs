//! The script installs and uninstalls in every shell, from a folder and over the network.

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
};

use link_tests::release_server::{Fault, ReleaseServer};

use super::scratch::{SCRIPT, Scratch, run, shells, which};

// Holds: S4.4-8b
#[tokio::test(flavor = "multi_thread")]
async fn every_shell_installs_verifies_and_uninstalls_and_leaves_nothing() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let before = scratch.tree();
    for shell in shells() {
        for url in [&scratch.file_url(), &server.url] {
            let ran = run(&mut scratch.script(shell, url));
            assert_eq!(ran.code, Some(0), "{shell:?} {url}: {ran:?}");
            for words in ["signature of release", "verified", "installed Link", "not registered"] {
                assert!(ran.stderr.contains(words), "{shell:?} {url}: {ran:?}");
            }
            assert!(scratch.link(&["--version"]).stdout.starts_with("link "));
            let ran = run(scratch.script(shell, url).arg("--uninstall"));
            assert_eq!(ran.code, Some(0), "{shell:?} {url}: {ran:?}");
            assert!(scratch.tree() == before, "{shell:?} {url}: {:?}", scratch.tree().keys());
        }
    }
}

/// `link` is also a program of coreutils, and in most shells the name means that one.
#[test]
fn the_last_line_is_a_command_of_the_shell_that_it_is_read_in() {
    let scratch = Scratch::new();
    let bin = scratch.link_home().join("bin");
    let system: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let home = scratch.link_home();
    let by_path =
        format!("LINK_HOME='{}' '{}' status", home.display(), bin.join("linkctl").display());
    let shells: Vec<_> = shells().collect();
    let mut shells = shells.into_iter().cycle();
    for (folders, command) in [
        ([std::slice::from_ref(&bin), &*system].concat(), "link status"),
        ([&*system, std::slice::from_ref(&bin)].concat(), "linkctl status"),
        (system.clone(), &*by_path),
    ] {
        let path = std::env::join_paths(&folders).unwrap();
        let shell = shells.next().unwrap();
        let ran = run(scratch.script(shell, &scratch.file_url()).env("PATH", &path));
        let last = ran.stderr.lines().last().and_then(|line| line.split_once(": ")).unwrap().1;
        assert_eq!((ran.code, last), (Some(0), command), "{shell:?}: {ran:?}");
        let line = last.replace("status", "self-check");
        let said = run(scratch.shell(shell, "").env("PATH", &path).args(["-c", &line]));
        assert_eq!((said.code, &*said.stdout), (Some(0), "ok\n"), "{shell:?}: {line}: {said:?}");
        let share = scratch.link_home().join("data/share/man");
        let page = std::fs::read_to_string(share.join("man1/linkctl.1")).unwrap();
        let other = page.strip_prefix(".so ").unwrap().trim_end();
        assert!(share.join(other).is_file(), "`man linkctl` is `man link`: {page}");
        scratch.uninstall();
    }
}

#[test]
fn a_script_that_is_piped_to_a_shell_without_a_terminal_installs() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in shells() {
        let mut command = scratch.shell(shell, &scratch.file_url());
        let ran = run(command.args(["-s", "--", "--quiet"]).stdin(File::open(SCRIPT).unwrap()));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{shell:?}: {ran:?}");
        scratch.uninstall();
        assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
    }
}

#[test]
fn a_shell_without_a_terminal_or_a_standard_input_installs() {
    let scratch = Scratch::new();
    for shell in shells() {
        let mut inner = scratch.script(shell, &scratch.file_url());
        let mut command = Command::new(which("setsid").unwrap());
        let variables = inner.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command
            .args(["--wait", "sh", "-c", "exec \"$@\" <&-", "sh"])
            .env_clear()
            .envs(variables)
            .arg(inner.get_program())
            .args(inner.get_args());
        let ran = run(command.stdin(Stdio::null()));
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
        let ran = run(inner.arg("--uninstall"));
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
    }
}

/// Nobody has edited its start files, and it may not even know the question.
#[test]
fn nothing_is_promised_of_a_shell_that_was_not_asked() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in ["/usr/bin/tcsh", "/bin/csh", "/usr/bin/nu"] {
        let mut command = scratch.script(&["dash"], &scratch.file_url());
        let ran = run(command.env_remove("LINK_HOME").env("SHELL", shell));
        assert_eq!(ran.code, Some(0), "{shell}: {ran:?}");
        let bin = scratch.home().join(".local/bin");
        let what = format!("{shell} reads start files that were not edited: put {}", bin.display());
        assert!(ran.stderr.contains(&what), "{shell}: {ran:?}");
        assert!(!ran.stderr.contains("login shell"), "{shell}: {ran:?}");
        // Where it can be asked, it has to agree.
        if Path::new(shell).exists() {
            let mut asked = scratch.shell(&["dash"], "");
            let found = run(asked.args(["-c", "exec \"$0\" -c 'which linkctl'", shell]));
            assert_ne!(found.code, Some(0), "{shell}: {found:?}");
        }
        let ran = run(command.arg("--uninstall"));
        assert_eq!(ran.code, Some(0), "{shell}: {ran:?}");
    }
    assert!(scratch.tree() == before, "{:?}", scratch.tree().keys());
}

#[test]
fn help_is_printed_and_nothing_else_is_done() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in shells() {
        let ran = run(scratch.script(shell, "").arg("--help"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        assert!(ran.stdout.starts_with("Usage: install.sh"), "{ran:?}");
        let ran = run(scratch.script(shell, "").arg("--hepl"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    }
    assert!(scratch.tree() == before);
}
