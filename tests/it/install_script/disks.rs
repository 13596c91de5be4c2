//! Disks that are full, read-only, or mounted without permission to run programs.

use std::process::Command;

use link_tests::release_server::{Fault, ReleaseServer};

use super::scratch::{Ran, Scratch, run, shells};

/// How to get a private mount namespace, as root and as another user.
const UNSHARE: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_has_its_own_exit_code_wherever_it_is_met() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let (file, url) = (scratch.file_url(), &server.url);
    let disk = |shell: &[&str], url: &str, options: &str, tool: &str| {
        let path = scratch.path_with_only(tool)?;
        let mut script = scratch.script(shell, url);
        let ran = mounted(script.env("PATH", path), HOME, options)?;
        assert_eq!(ran.code, Some(14), "{shell:?}: {options}: {url}: {ran:?}");
        assert_eq!(ran.stdout, "", "{shell:?}: {options}: {url}: something is left");
        Some(())
    };
    // Too small for a folder, for any copy, for a complete copy, or for the unpacked files.
    for options in ["nr_inodes=2", "size=16k", "size=8m", "size=48m"] {
        for shell in shells() {
            disk(shell, &file, options, "curl");
        }
    }
    for tool in ["curl", "wget"] {
        disk(&["dash"], url, "size=8m", tool);
    }
}

#[test]
fn a_home_that_cannot_be_written_is_said_to_be_that() {
    let scratch = Scratch::new();
    for shell in shells() {
        let Some(ran) = mounted(&scratch.script(shell, &scratch.file_url()), HOME, "ro") else {
            return;
        };
        assert_eq!(ran.code, Some(11), "{shell:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{shell:?}: something is left");
    }
}

#[test]
fn a_folder_for_temporary_files_from_which_nothing_may_be_run_is_not_used() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in shells() {
        let script = scratch.script(shell, &scratch.file_url());
        let Some(ran) = mounted(&script, "$TMPDIR", "noexec,size=16k") else {
            return;
        };
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{shell:?}: {ran:?}");
        scratch.uninstall();
        assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
    }
}

const HOME: &str = "$HOME";

/// Runs a script with a separate disk mounted at `place`, and prints the files that are left there.
/// None if mounts are not possible.
fn mounted(script: &Command, place: &str, options: &str) -> Option<Ran> {
    let unshare = UNSHARE.into_iter().find(|arguments| {
        let tried = Command::new("unshare").args(*arguments).arg("true").output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    let Some(unshare) = unshare else {
        eprintln!("skipped: mounts of one's own cannot be had here");
        return None;
    };
    let line = format!(
        "mount -t tmpfs -o {options} tmpfs \"{place}\" || exit 99; \"$@\"; code=$?; \
         find \"{place}\" -mindepth 1; exit $code"
    );
    let mut command = Command::new("unshare");
    command
        .args(unshare)
        .args(["sh", "-c", &line, "sh"])
        .arg(script.get_program())
        .args(script.get_args())
        .env_clear()
        .envs(script.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(run(&mut command))
}
