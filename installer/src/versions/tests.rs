//! Versions on a real disk: put on trial, committed, rolled back, and deleted.

use std::os::unix::fs::PermissionsExt as _;

use link_platform::paths::Roots;

use super::*;
use crate::{decide::update::TRIAL_STARTS, install::Install, layout::PROGRAMS, trust::Trust};

#[test]
fn a_version_on_trial_is_kept_with_the_one_before_it_and_older_ones_go() {
    let scratch = Scratch::with(&[1, 2]);
    assert!(scratch.versions().resolve(Asker::StartingGuard).unwrap().is_some());
    scratch.versions().commit(&version(2)).unwrap();
    scratch.add(3);
    scratch.versions().commit(&version(3)).unwrap();
    assert_eq!(scratch.on_disk(), ["1.3.2", "1.3.3"]);
    let receipt = Receipt::read(&scratch.layout.receipt()).unwrap();
    assert!(receipt.version("1.3.1").is_none() && receipt.version("1.3.3").is_some());
}

#[test]
fn a_roll_back_points_to_the_version_before_and_remembers_why() {
    let scratch = Scratch::with(&[1, 2]);
    scratch.versions().roll_back(&version(9), failure("another one")).unwrap();
    assert_eq!(current(&scratch.layout), Some(version(2)), "which is not on trial");
    scratch.versions().roll_back(&version(2), failure("it ended")).unwrap();
    assert_eq!(current(&scratch.layout), Some(Version::new(1, 3, 1)));
    let state = state(&scratch.layout);
    assert_eq!((state.pending, &*state.skipped[0].reason), (None, "it ended"));
    assert_eq!(scratch.on_disk(), ["1.3.1"]);
    assert!(scratch.versions().resolve(Asker::StartingGuard).unwrap().is_none());
}

#[test]
fn a_version_that_is_interrupted_again_and_again_is_rolled_back() {
    let scratch = Scratch::with(&[1, 2]);
    for _ in 0..TRIAL_STARTS {
        assert!(scratch.versions().resolve(Asker::StartingGuard).unwrap().is_some());
        assert!(
            scratch.versions().resolve(Asker::RunningGuard).unwrap().is_some(),
            "only starts count"
        );
    }
    scratch.versions().uncount_start().unwrap();
    assert!(scratch.versions().resolve(Asker::StartingGuard).unwrap().is_some());
    assert!(scratch.versions().resolve(Asker::StartingGuard).unwrap().is_none());
    assert_eq!(current(&scratch.layout), Some(Version::new(1, 3, 1)));
}

#[test]
fn what_takes_the_place_of_a_version_on_trial_falls_back_to_the_one_before_both() {
    let scratch = Scratch::with(&[1, 2, 3]);
    scratch.versions().roll_back(&version(3), failure("it ended")).unwrap();
    assert_eq!(current(&scratch.layout), Some(Version::new(1, 3, 1)));
}

#[test]
fn a_repair_that_was_cut_short_between_two_names_is_taken_back() {
    let scratch = Scratch::with(&[1]);
    let folder = scratch.layout.version("1.3.1");
    std::fs::rename(&folder, beside(&folder, "old")).unwrap();
    assert!(scratch.versions().resolve(Asker::StartingGuard).unwrap().is_none());
    assert!(folder.join(program::AGENT).is_file());
}

#[test]
fn the_guard_of_a_version_is_placed_once_it_has_proved_itself() {
    let scratch = Scratch::with(&[1, 2]);
    let guard = || std::fs::read_to_string(scratch.layout.guard()).unwrap();
    scratch.versions().refresh_guard().unwrap();
    assert_eq!(guard(), "link-guard 1");
    scratch.versions().commit(&version(2)).unwrap();
    assert_eq!(guard(), "link-guard 2");
}

#[test]
fn a_damaged_state_is_not_overwritten_and_the_version_that_runs_goes_on() {
    let scratch = Scratch::with(&[1, 2]);
    let file = scratch.layout.update_state();
    std::fs::write(&file, "{\"schema\": 1, \"pend").unwrap();
    let versions = scratch.versions();
    let changes = [
        versions.resolve(Asker::StartingGuard).map(|_| ()),
        versions.commit(&version(2)),
        versions.roll_back(&version(2), failure("it ended")),
        versions.swap(&version(1)),
        versions.skip(&version(3), "it is bad"),
        versions.uncount_start(),
    ];
    for refused in changes {
        let error = refused.unwrap_err();
        assert!(
            matches!(&error, ChangeError::State(StateError::Damaged { path, .. }) if *path == file),
            "{error}"
        );
        assert!(error.to_string().contains("update.json` is damaged; delete it"), "{error}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"{\"schema\": 1, \"pend");
    assert_eq!(current(&scratch.layout), Some(version(2)));
    assert_eq!(scratch.on_disk(), ["1.3.1", "1.3.2"], "what ran before is still there");
    std::fs::remove_file(&file).unwrap();
    assert!(versions.resolve(Asker::StartingGuard).unwrap().is_none());
}

#[test]
fn a_damaged_receipt_is_not_overwritten_and_does_not_keep_a_trial_from_its_end() {
    let scratch = Scratch::with(&[1, 2]);
    let receipt = scratch.layout.receipt();
    std::fs::write(&receipt, "{\"versions\": [").unwrap();
    let versions = scratch.versions();
    let refused = versions.change_receipt(|receipt| receipt.linger = Some("me".to_owned()));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("receipt.json` is damaged; run install.sh again"), "{error}");
    versions.roll_back(&version(2), failure("it ended")).unwrap();
    assert_eq!(current(&scratch.layout), Some(version(1)));
    assert_eq!(std::fs::read(&receipt).unwrap(), b"{\"versions\": [");
}

fn failure(reason: &str) -> TrialFailure {
    TrialFailure { reason: reason.to_owned(), is_its_fault: true }
}

fn version(patch: u64) -> Version {
    Version::new(1, 3, patch)
}

struct Scratch {
    _dir: tempfile::TempDir,
    unpacked: PathBuf,
    layout: Layout,
}

impl Scratch {
    fn with(patches: &[u64]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let unpacked = dir.path().join("unpacked");
        std::fs::create_dir_all(&unpacked).unwrap();
        let layout = Layout::new(Roots::below(&dir.path().join("home")));
        let scratch = Self { _dir: dir, unpacked, layout };
        patches.iter().for_each(|patch| scratch.add(*patch));
        scratch
    }

    fn add(&self, patch: u64) {
        for name in PROGRAMS {
            let path = self.unpacked.join(name);
            std::fs::write(&path, format!("{name} {patch}")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let trust = Trust::new([]).unwrap();
        let release = trust.verify(&self.unpacked, &Version::new(1, 3, patch), &PROGRAMS).unwrap();
        let layout = &self.layout;
        let install = Install { release: &release, layout, shared: &[], made: None, source: None };
        install.run_files().unwrap();
    }

    fn versions(&self) -> Versions {
        Versions::lock(&self.layout).unwrap()
    }

    fn on_disk(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.layout.versions()).unwrap().map(Result::unwrap);
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
