//! A device that was installed from a release has no backend: `link up` fetches it from there.

use link_tests::{
    installed::{Installed, OLD},
    person::Person,
    release::{Agent, Releases},
};

#[tokio::test]
async fn a_backend_that_is_not_there_is_fetched_from_the_release_and_verified() {
    let releases = Releases::new();
    releases.publish(OLD, Agent::Good);
    let ann = Person::new();
    ann.installs(&releases);
    let port = ann.backend_port().to_string();
    // What nobody has signed is not run, and nothing of it stays.
    let archive = Installed::archive_in(&releases, OLD);
    let whole = std::fs::read(&archive).unwrap();
    let mut altered = whole.clone();
    altered[whole.len() / 2] ^= 1;
    std::fs::write(&archive, altered).unwrap();
    let refused = ann.installed(&releases, &["up", "--port", &port]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.err.contains("the backend could not be downloaded"), "{refused:?}");
    for made in ["backend/current", "backend-config", "backend-data", "bin/link-backend"] {
        assert!(!ann.place().join(made).exists(), "{made}");
    }
    std::fs::write(&archive, whole).unwrap();
    let up = ann.installed(&releases, &["up", "--port", &port]);
    assert_eq!(up.code, 0, "{up:?}");
    assert!(up.err.contains("downloading the backend from file://"), "{up:?}");
    assert!(ann.place().join("backend/current/link-backend").is_file());
    let again = ann.installed(&releases, &["up"]);
    assert!(again.code == 0 && !again.err.contains("fetching"), "{again:?}");

    let purged = ann.installed(&releases, &["down", "--purge", "--yes"]);
    assert_eq!(purged.code, 0, "{purged:?}");
    assert!(!ann.place().join("backend").exists(), "the programs go with it");
}
