//! `scripts/prove`, which people run on machines that no test here has.

use super::{
    release::archive,
    scratch::{Scratch, run},
};

const PROVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/prove");
const KEY: &str = "lrk_canary0123456789canary";

#[test]
fn a_release_is_proved_and_nothing_of_it_is_left() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let url = scratch.file_url();
    let ran = run(scratch.shell(&["dash"], &url).args([PROVE, url.as_str()]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for check in ["the release is installed", "a killed agent comes back", "no process is left"] {
        assert!(ran.stdout.contains(&format!("ok    {check}\n")), "{ran:?}");
    }
    assert!(ran.stdout.ends_with(" passed, 0 failed, 2 skipped\n"), "{ran:?}");
    assert!(ran.stdout.contains("skip  the device is registered: no key was given"), "{ran:?}");
    assert_eq!(scratch.tree(), before);
}

#[test]
fn a_release_that_is_damaged_fails_the_proof() {
    let scratch = Scratch::new();
    let release = scratch.copy_of_release("damaged");
    std::fs::write(archive(&release), "damaged").unwrap();
    let before = scratch.tree();
    let url = super::scratch::file_url(&release);
    let ran = run(scratch.shell(&["dash"], &url).args([PROVE, url.as_str()]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stdout.contains("FAIL  the release is installed: exit code 22, not 0\n"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("does not have its checksum"), "{ran:?}");
    assert_eq!(scratch.tree(), before);
}

#[test]
fn a_report_holds_no_key_and_no_name_of_a_folder() {
    let scratch = Scratch::new();
    let url = scratch.file_url();
    let mut command = scratch.shell(&["dash"], &url);
    command.env("LINK_REGISTRATION_KEY", KEY).env("LINK_BACKEND_URL", "http://127.0.0.1:9");
    let ran = run(command.args([PROVE, url.as_str()]));
    assert_eq!(ran.code, Some(1), "the key is too short: {ran:?}");
    assert!(
        ran.stdout.contains("FAIL  the release is installed: exit code 31, not 0\n"),
        "{ran:?}"
    );
    for private in ["canary", scratch.home().to_str().unwrap()] {
        assert!(!ran.stdout.contains(private) && !ran.stderr.contains(private), "{ran:?}");
    }
}

#[test]
fn a_wrong_word_is_refused() {
    let scratch = Scratch::new();
    for words in [&["--servce"][..], &["ftp://a.example"], &[]] {
        let ran = run(scratch.shell(&["dash"], "").arg(PROVE).args(words));
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
    }
}
