//! Installing again: an intact installation is not downloaded, a damaged one is.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use link_tests::release_server::{Fault, ReleaseServer};

use super::{
    release::archive,
    scratch::{Scratch, run, shells},
};

const ARCHIVE: &str = ".tar.gz";
/// The number of small downloads: the checksums and the number of the newest version.
const DOCUMENTS: usize = 2;

// Holds: S4.4-8b
#[tokio::test(flavor = "multi_thread")]
async fn an_intact_installation_downloads_no_archive() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    for shell in shells() {
        let first = run(&mut scratch.script(shell, &server.url));
        assert_eq!(first.code, Some(0), "{shell:?}: {first:?}");
        let before = (server.requests(""), server.requests(ARCHIVE));
        let again = run(&mut scratch.script(shell, &server.url));
        assert_eq!(again.code, Some(0), "{shell:?}: {again:?}");
        assert!(again.stderr.contains("intact: there is nothing to do"), "{again:?}");
        assert!(!again.stderr.contains("downloading"), "{again:?}");
        let plan = run(scratch.script(shell, &server.url).arg("--dry-run"));
        assert_eq!(plan.code, Some(0), "{shell:?}: {plan:?}");
        let asked = (server.requests("") - before.0, server.requests(ARCHIVE) - before.1);
        assert_eq!(asked, (2 * DOCUMENTS, 0), "{shell:?}");
        scratch.uninstall();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_program_is_downloaded_again_and_nothing_else_is() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let first = scratch.install(&server.url);
    assert_eq!(first.code, Some(0), "{first:?}");
    let version = scratch.link_home().join("data/versions").join(env!("CARGO_PKG_VERSION"));
    let version = version.as_path();
    let (damaged, whole) = (1, 0);
    let damages: [(&str, usize, &dyn Fn()); 4] = [
        ("another agent", damaged, &|| replace(&version.join("link-agent"))),
        ("another command", damaged, &|| replace(&version.join("link"))),
        ("a guard that nobody may run", damaged, &|| {
            let mode = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(version.join("link-guard"), mode).unwrap();
        }),
        ("no name for the command", whole, &|| {
            std::fs::remove_file(scratch.link_home().join("bin/linkctl")).unwrap();
        }),
    ];
    for (what, downloads, damage) in damages {
        damage();
        let before = server.requests(ARCHIVE);
        let ran = scratch.install(&server.url);
        assert_eq!(ran.code, Some(0), "{what}: {ran:?}");
        assert!(ran.stderr.contains("repaired Link"), "{what}: {ran:?}");
        assert_eq!(server.requests(ARCHIVE) - before, downloads, "{what}");
        let again = scratch.install(&server.url);
        assert!(again.stderr.contains("there is nothing to do"), "{what}: {again:?}");
        assert_eq!(server.requests(ARCHIVE) - before, downloads, "{what}");
    }
    scratch.uninstall();
}

/// The version number is not enough: another archive of the same version may have been built.
#[tokio::test(flavor = "multi_thread")]
async fn another_archive_of_the_same_version_is_downloaded() {
    let scratch = Scratch::new();
    let first = scratch.install(&scratch.file_url());
    assert_eq!(first.code, Some(0), "{first:?}");
    let other = scratch.copy_of_release("other");
    let archive = archive(&other);
    let line = "gzip -dc \"$0\" | gzip -2 >\"$0.new\" && mv \"$0.new\" \"$0\"";
    let packed = run(std::process::Command::new("sh").args(["-c", line]).arg(&archive));
    assert_eq!(packed.code, Some(0), "{packed:?}");
    super::release::sum_up(&other);
    let server = ReleaseServer::start(&other, "", Fault::None).await;
    for downloads in [1, 1] {
        let ran = scratch.install(&server.url);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(server.requests(ARCHIVE), downloads, "{ran:?}");
    }
    scratch.uninstall();
}

/// Replaces a program that may be running.
fn replace(program: &Path) {
    std::fs::remove_file(program).unwrap();
    std::fs::write(program, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}
