//! Releases that are unreachable or invalid: each fault has its exit code, and nothing is
//! installed.

use std::{path::Path, process::Command};

use link_tests::{
    device::free_port,
    program,
    release_server::{Fault, ReleaseServer},
};

use super::{
    release::{archive, sum_up},
    scratch::{Ran, Scratch, file_url, run, shells},
};

const SUMS: &str = "SHA256SUMS";
const ARCHIVE: &str = ".tar.gz";

// Holds: S4.4-8b
#[tokio::test(flavor = "multi_thread")]
async fn checksums_that_the_server_does_not_give_whole_install_nothing() {
    refuses(
        SUMS,
        &[
            (Fault::Status(404), 12),
            (Fault::Status(500), 12),
            (Fault::Page, 20),
            (Fault::Slow, 12),
            (Fault::Redirect, 12),
            (Fault::CutEvery(40), 12),
            (Fault::Endless, 12),
        ],
    )
    .await;
}

// Holds: S4.4-8b
#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_the_server_does_not_give_whole_installs_nothing() {
    refuses(
        ARCHIVE,
        &[
            (Fault::Status(404), 12),
            (Fault::Status(503), 12),
            (Fault::Page, 22),
            (Fault::Slow, 12),
            (Fault::Redirect, 12),
            (Fault::Short, 22),
            (Fault::Long, 22),
            (Fault::CutEvery(1000), 12),
        ],
    )
    .await;
}

#[test]
fn a_server_that_does_not_run_is_a_failed_download() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for tool in ["curl", "wget"] {
        let url = format!("http://127.0.0.1:{}", free_port());
        let Some(ran) = install_with(&scratch, tool, &url) else { continue };
        assert_eq!(ran.code, Some(12), "{tool}: {ran:?}");
        assert!(scratch.tree() == before, "{tool}: {:?}", scratch.tree().keys());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_is_cut_again_and_again_goes_on_where_it_was() {
    let scratch = Scratch::new();
    let length = std::fs::metadata(archive(&scratch.release)).unwrap().len();
    let full = std::env::var_os("LINK_TEST_FULL").is_some();
    let every = if full { 4 * 1024 } else { 1024 * 1024 };
    let server = ReleaseServer::start(&scratch.release, ARCHIVE, Fault::CutEvery(every)).await;
    let ran = scratch.install(&server.url);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let cuts = usize::try_from(length).unwrap().div_ceil(every) - 1;
    assert_eq!(server.resumed(ARCHIVE), cuts);
    scratch.uninstall();

    for tool in ["curl", "wget"] {
        let fault = Fault::CutOnceWithoutRanges;
        let server = ReleaseServer::start(&scratch.release, ARCHIVE, fault).await;
        let Some(ran) = install_with(&scratch, tool, &server.url) else { continue };
        assert_eq!(ran.code, Some(0), "{tool}: {ran:?}");
        scratch.uninstall();
        let fault = Fault::CutEvery(8 * 1024 * 1024);
        let server = ReleaseServer::start(&scratch.release, ARCHIVE, fault).await;
        let ran = install_with(&scratch, tool, &server.url).unwrap();
        assert_eq!(ran.code, Some(0), "{tool}: {ran:?}");
        assert!(server.resumed(ARCHIVE) > 0, "{tool}");
        scratch.uninstall();
    }
}

// Holds: S4.4-8b
#[test]
fn checksums_that_do_not_say_one_thing_clearly_are_refused() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let release = scratch.copy_of_release("release");
    let sums = std::fs::read_to_string(release.join(SUMS)).unwrap();
    let of_device = |line: &&str| line.ends_with(ARCHIVE) && !line.contains("-backend");
    let entry = sums.lines().find(of_device).unwrap();
    let other = entry.replacen(&entry[..8], "00000000", 1);
    let upper = format!("{}{}", entry[..64].to_uppercase(), &entry[64..]);
    let version = ["", env!("CARGO_PKG_VERSION")];
    for (text, code) in [
        (format!("{sums}{entry}\n"), 20),
        (format!("{sums}{other}\n"), 20),
        (sums.replace(&format!("{entry}\n"), ""), 20),
        (String::new(), 20),
        (sums.replace(entry, &entry[1..]), 20),
        (sums.replace(entry, &upper), 20),
        (format!("{sums}garbage\n"), 20),
        (sums.replace(entry, &other), 22),
    ] {
        std::fs::write(release.join(SUMS), &text).unwrap();
        for (shell, version) in shells().flat_map(|shell| version.map(|version| (shell, version))) {
            let mut script = scratch.script(shell, &file_url(&release));
            let ran = run(script.env("LINK_VERSION", version));
            assert_eq!(ran.code, Some(code), "{shell:?}: {version}: {text}: {ran:?}");
            assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
        }
    }
    std::fs::write(release.join(SUMS), sums.replace('\n', "\r\n")).unwrap();
    let ran = scratch.install(&file_url(&release));
    assert_eq!(ran.code, Some(0), "lines may end as on Windows: {ran:?}");
}

// Holds: S4.4-8b
#[test]
fn an_archive_that_was_swapped_altered_or_signed_by_a_stranger_is_refused() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let refused = |release: &Path, code, says: &str| {
        let ran = scratch.install(&file_url(release));
        assert_eq!(ran.code, Some(code), "{says}: {ran:?}");
        assert!(ran.stderr.contains(says), "{ran:?}");
        assert!(scratch.tree() == before, "{says}: {:?}", scratch.tree().keys());
    };

    let swapped = scratch.copy_of_release("swapped");
    std::fs::copy(swapped.join("install.sh"), archive(&swapped)).unwrap();
    refused(&swapped, 22, "does not have its checksum");

    let altered = scratch.copy_of_release("altered");
    let line = "mkdir files && tar -xzf \"$0\" -C files && echo >>files/link-agent \
                && (cd files && tar -cf - *) | gzip -1 >\"$0\" && rm -r files";
    let altering =
        run(Command::new("sh").args(["-c", line]).arg(archive(&altered)).current_dir(&altered));
    assert_eq!(altering.code, Some(0), "{altering:?}");
    refused(&altered, 22, "does not have its checksum");
    sum_up(&altered);
    refused(&altered, 24, "not the file that was signed");

    let key = scratch.path().join("key");
    let made = run(Command::new(program::path("xtask")).arg("release-key").arg(&key));
    assert_eq!(made.code, Some(0), "{made:?}");
    let foreign = scratch.path().join("foreign");
    link_tests::release::pack(&foreign, &key);
    refused(&foreign, 24, "does not trust");
}

/// Installs while `file` is served with each fault, and checks the exit code that stands beside it.
async fn refuses(file: &'static str, faults: &[(Fault, i32)]) {
    // They wait for the server most of the time, so all run at once.
    let tries = faults.iter().flat_map(|&fault| ["curl", "wget"].map(|tool| (fault, tool)));
    let running: Vec<_> = tries
        .map(|((fault, code), tool)| tokio::spawn(is_refused(file, fault, code, tool)))
        .collect();
    for ended in running {
        ended.await.unwrap();
    }
}

/// Tries once, in a home of its own.
async fn is_refused(file: &'static str, fault: Fault, code: i32, tool: &'static str) {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let server = ReleaseServer::start(&scratch.release, file, fault).await;
    let url = server.url.clone();
    let tried = move || (install_with(&scratch, tool, &url), scratch);
    let (Some(ran), scratch) = tokio::task::spawn_blocking(tried).await.unwrap() else { return };
    assert_eq!(ran.code, Some(code), "{tool}, {file}: {fault:?}: {ran:?}");
    let left = scratch.tree();
    assert!(left == before, "{tool}, {file}: {fault:?}: {:?}", left.keys());
    let most = if fault == Fault::Status(404) { 1 } else { 3 };
    let requests = server.requests(file);
    assert!((1..=most).contains(&requests), "{tool}: {fault:?}: {requests} requests");
}

/// Installs with `tool` as the only download program. None if it is not installed.
fn install_with(scratch: &Scratch, tool: &str, url: &str) -> Option<Ran> {
    let path = scratch.path_with_only(tool)?;
    let mut script = scratch.script(&["dash"], url);
    Some(run(script.env("PATH", path).env("LINK_STALL_SECONDS", "2")))
}
