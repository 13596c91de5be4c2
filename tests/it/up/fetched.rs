//! A device that was installed from a release has no backend: `link up` downloads it from that
//! release.

use std::path::Path;

use link_protocol::exit_code::ExitCode;
use link_tests::{
    installed::OLD,
    person::Person,
    release::{Agent, Releases},
};

const NEW: &str = "9.9.1";

#[tokio::test]
async fn a_backend_that_is_not_there_is_fetched_from_the_release_and_verified() {
    let releases = Releases::new();
    releases.publish(OLD, Agent::Good);
    let ann = Person::new();
    ann.installs(&releases);
    let port = ann.backend_port().to_string();
    // An unsigned archive is not run, and leaves nothing.
    let archive = releases.archive(OLD, "-backend");
    let whole = std::fs::read(&archive).unwrap();
    let mut altered = whole.clone();
    altered[whole.len() / 2] ^= 1;
    releases.replace_archive(OLD, "-backend", &altered);
    let refused = ann.installed(&releases, &["up", "--port", &port]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.err.contains("the backend could not be downloaded"), "{refused:?}");
    for made in ["backend/current", "backend-config", "backend-data", "bin/link-backend"] {
        assert!(!ann.place().join(made).exists(), "{made}");
    }
    releases.replace_archive(OLD, "-backend", &whole);
    let up = ann.installed(&releases, &["up", "--port", &port]);
    assert_eq!(up.code, 0, "{up:?}");
    assert!(up.err.contains("downloading the backend from file://"), "{up:?}");
    assert!(ann.place().join("backend/current/link-backend").is_file());
    let again = ann.installed(&releases, &["up"]);
    assert!(again.code == 0 && !again.err.contains("downloading"), "{again:?}");

    let purged = ann.installed(&releases, &["down", "--purge", "--yes"]);
    assert_eq!(purged.code, 0, "{purged:?}");
    assert!(!ann.place().join("backend").exists(), "the programs go with it");
}

/// The old release is from before there were two archives.
#[test]
fn an_update_brings_the_backend_along() {
    let releases = Releases::new();
    releases.publish_as_one_archive(OLD);
    let ann = Person::new();
    ann.installs(&releases);
    let port = ann.backend_port().to_string();
    let up = ann.installed(&releases, &["up", "--port", &port]);
    assert_eq!(up.code, 0, "{up:?}");
    assert_eq!(versions(&ann), [OLD, OLD, OLD]);

    releases.publish(NEW, Agent::Good);
    let updated = ann.installed(&releases, &["update"]);
    assert_eq!(updated.code, 0, "{updated:?}");
    assert!(updated.err.contains(&format!("updated the backend {OLD} to {NEW}")), "{updated:?}");
    assert_eq!(versions(&ann), [NEW, NEW, NEW]);
    // The device's new version is on trial for a while, and nothing newer is there.
    let again = ann.installed(&releases, &["update"]);
    assert!(again.code == 0 && !again.err.contains("the backend"), "{again:?}");
}

#[test]
fn a_backend_that_does_not_start_gives_its_place_back_and_the_device_keeps_its_update() {
    let releases = Releases::new();
    releases.publish(OLD, Agent::Good);
    let ann = Person::new();
    ann.installs(&releases);
    let port = ann.backend_port().to_string();
    let up = ann.installed(&releases, &["up", "--port", &port]);
    assert_eq!(up.code, 0, "{up:?}");
    releases.publish_with_broken_backend(NEW);
    let refused = ann.installed(&releases, &["update"]);
    assert_eq!(refused.code, i32::from(ExitCode::RolledBack.number()), "{refused:?}");
    let says = format!("the backend {NEW} does not run here");
    assert!(refused.err.contains(&says) && refused.err.contains("is back"), "{refused:?}");
    assert_eq!(versions(&ann), [OLD, OLD, NEW]);
}

#[test]
fn a_backend_is_installed_from_a_release_of_one_archive() {
    let releases = Releases::new();
    releases.publish_as_one_archive(OLD);
    let ann = Person::new();
    ann.installs_with(&releases, &["--backend"]);
    assert!(ann.place().join("backend/current/link-backend").is_file());
    assert!(!ann.place().join("bin/link").exists(), "a device is another installation");
}

/// The versions of the running backend, of the installed backend, and of the device.
fn versions(person: &Person) -> [String; 3] {
    let runs = std::fs::read_link(format!("/proc/{}/exe", person.owner().pid)).unwrap();
    let current = |product: &str| person.place().join(product).join("current").canonicalize();
    [runs, current("backend").unwrap(), current("data").unwrap()].map(|path| version_of(&path))
}

/// The version in `path`: the name of the version's folder, or `path` itself.
fn version_of(path: &Path) -> String {
    let names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.skip_while(|name| name != "versions").nth(1).unwrap()
}
