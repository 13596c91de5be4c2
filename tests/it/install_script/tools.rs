//! Machines with few programs.

use std::path::PathBuf;

use link_tests::release_server::{Fault, ReleaseServer};

use super::scratch::{Ran, Scratch, run, which};

/// The programs that the script needs on every system, besides one that downloads and one that
/// hashes.
const TOOLS: &[&str] = &[
    "awk", "cat", "cp", "cut", "dirname", "gzip", "head", "mkdir", "rm", "rmdir", "sed", "sleep",
    "tar", "tr", "uname", "wc",
];

#[tokio::test(flavor = "multi_thread")]
async fn one_program_that_downloads_and_one_that_hashes_are_enough() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let before = scratch.tree();
    for more in [["curl", "sha256sum"], ["wget", "shasum"], ["curl", "openssl"]] {
        if let Some(missing) = more.into_iter().find(|tool| which(tool).is_none()) {
            eprintln!("skipped: {missing} is not installed");
            continue;
        }
        let ran = install(&scratch, &server.url, &more);
        assert_eq!(ran.code, Some(0), "{more:?}: {ran:?}");
        scratch.uninstall();
        assert!(scratch.tree() == before, "{more:?}: {:?}", scratch.tree().keys());
    }
}

// Holds: S4.4-8b
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_downloaded_or_verified_for_want_of_a_program_is_not_installed() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let before = scratch.tree();
    for (more, code, says) in [
        (&["sha256sum"][..], 10, "curl or GNU wget is needed"),
        (&["curl"], 21, "no tool for SHA-256"),
        (&["wget"], 21, "no tool for SHA-256"),
    ] {
        if let Some(missing) = more.iter().find(|tool| which(tool).is_none()) {
            eprintln!("skipped: {missing} is not installed");
            continue;
        }
        let ran = install(&scratch, &server.url, more);
        assert_eq!(ran.code, Some(code), "{more:?}: {ran:?}");
        assert!(ran.stderr.contains(says), "{more:?}: {ran:?}");
        assert!(scratch.tree() == before, "{more:?}: {:?}", scratch.tree().keys());
    }
    assert_eq!(server.requests(""), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_gzip_is_told_what_it_lacks_before_anything_is_downloaded() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let before = scratch.tree();
    let tools = tools(&scratch, &["sha256sum"]);
    std::fs::remove_file(tools.join("gzip")).unwrap();
    for url in [&scratch.file_url(), &server.url] {
        let ran = run(scratch.script(&["dash"], url).env("PATH", &tools));
        assert_eq!(ran.code, Some(10), "{url}: {ran:?}");
        assert!(ran.stderr.contains("error: gzip is needed"), "{url}: {ran:?}");
        assert!(scratch.tree() == before, "{url}: {:?}", scratch.tree().keys());
    }
    assert_eq!(server.requests(""), 0);
}

/// Installs with only the named programs on PATH.
fn install(scratch: &Scratch, url: &str, more: &[&str]) -> Ran {
    let tools = tools(scratch, more);
    run(scratch.script(&["dash"], url).env("PATH", tools))
}

fn tools(scratch: &Scratch, more: &[&str]) -> PathBuf {
    let folder = scratch.path().join(more.join("-"));
    std::fs::create_dir(&folder).unwrap();
    for tool in TOOLS.iter().chain(more) {
        let program = which(tool).unwrap_or_else(|| panic!("{tool} is needed"));
        std::os::unix::fs::symlink(program, folder.join(tool)).unwrap();
    }
    folder
}

/// Some builds of it verify no certificate, and follow every redirect.
#[tokio::test(flavor = "multi_thread")]
async fn the_wget_of_busybox_is_not_trusted_with_a_download() {
    let Some(busybox) = which("busybox") else {
        eprintln!("skipped: busybox is not installed");
        return;
    };
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let tools = tools(&scratch, &["sha256sum"]);
    std::os::unix::fs::symlink(busybox, tools.join("wget")).unwrap();
    let ran = run(scratch.script(&["dash"], &server.url).env("PATH", tools));
    assert_eq!(ran.code, Some(10), "{ran:?}");
    for words in ["curl or GNU wget is needed", "apk add curl", "apt-get install curl"] {
        assert!(ran.stderr.contains(words), "no `{words}`: {ran:?}");
    }
    assert_eq!(server.requests(""), 0);
}
