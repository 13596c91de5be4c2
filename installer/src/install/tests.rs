//! First installation, reinstallation, repair, update and uninstallation, in a temporary home.

use std::{collections::BTreeMap, io, os::unix::fs::PermissionsExt as _};

use link_platform::paths::Roots;
use link_protocol::release::Channel;

use super::*;
use crate::{
    layout::{PROGRAMS, complete_mark},
    trust::Trust,
    uninstall::{Places, Uninstallation},
};

#[test]
fn programs_read_these_words_of_an_outcome() {
    let outcomes = [
        InstallOutcome::Installed,
        InstallOutcome::Intact,
        InstallOutcome::Repaired,
        InstallOutcome::Changed,
    ];
    let words = outcomes.map(|outcome| format!("{}\n", outcome.as_str())).concat();
    assert_eq!(words, include_str!("golden/outcomes.txt"));
}

#[test]
fn what_stays_because_it_holds_something_else_is_named() {
    let scratch = Scratch::new();
    assert_eq!(scratch.install("1.3.0").unwrap(), InstallOutcome::Installed);
    let state = scratch.layout.roots().state.clone();
    let begun = Uninstallation::begin(&scratch.layout).unwrap();
    let left = begun.finish(Places::default());
    assert!(left.failed.is_empty() && left.folders.is_empty(), "{left:?}");

    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("mine"), "another's").unwrap();
    assert_eq!(scratch.install("1.3.0").unwrap(), InstallOutcome::Installed);
    let begun = Uninstallation::begin(&scratch.layout).unwrap();
    let left = begun.finish(Places::default());
    assert!(left.failed.is_empty() && left.folders.contains(&state), "{left:?}");
}

#[test]
fn a_fresh_installation_points_to_its_version() {
    let scratch = Scratch::new();
    assert_eq!(scratch.install("1.3.0").unwrap(), InstallOutcome::Installed);
    let text = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    assert_eq!(text(scratch.layout.command()), "link 1.3.0");
    assert_eq!(text(scratch.layout.current().join("link-agent")), "link-agent 1.3.0");
    assert!(complete_mark(&scratch.layout.version("1.3.0")).is_file());
}

#[test]
fn installing_again_writes_nothing() {
    let scratch = Scratch::new();
    scratch.install("1.3.0").unwrap();
    let before = scratch.tree();
    assert_eq!(scratch.install("1.3.0").unwrap(), InstallOutcome::Intact);
    assert_eq!(scratch.tree(), before);
}

#[test]
fn whatever_is_damaged_is_repaired_and_taken_away_afterwards() {
    let damages: [fn(&Layout); 13] = [
        |layout| std::fs::write(layout.version("1.3.0").join("link"), "changed").unwrap(),
        |layout| std::fs::remove_file(layout.version("1.3.0").join("link-agent")).unwrap(),
        |layout| set_mode(&layout.version("1.3.0").join("link-agent"), 0o644),
        |layout| std::fs::remove_file(complete_mark(&layout.version("1.3.0"))).unwrap(),
        |layout| std::fs::remove_file(layout.current()).unwrap(),
        |layout| std::fs::remove_file(layout.guard()).unwrap(),
        |layout| set_mode(&layout.guard(), 0o644),
        |layout| std::fs::remove_file(layout.command()).unwrap(),
        |layout| {
            link_platform::pointer::replace(&layout.command(), Path::new("/bin/true")).unwrap();
        },
        |layout| std::fs::remove_file(page(layout)).unwrap(),
        |layout| std::fs::write(page(layout), "scribble").unwrap(),
        |layout| std::fs::remove_file(layout.receipt()).unwrap(),
        |layout| std::fs::write(layout.receipt(), "{").unwrap(),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let scratch = Scratch::new();
        let before = scratch.tree();
        scratch.install("1.3.0").unwrap();
        damage(&scratch.layout);
        let outcome = scratch.install("1.3.0").unwrap();
        assert_eq!(outcome, InstallOutcome::Repaired, "damage {number}");
        assert_eq!(scratch.install("1.3.0").unwrap(), InstallOutcome::Intact, "damage {number}");
        assert_eq!(std::fs::read_to_string(page(&scratch.layout)).unwrap(), ".TH link");
        assert!(scratch.uninstall().is_empty());
        // Without the receipt, nobody knows who created the folders that do not have our name.
        let receipt_was_lost = number >= 11;
        assert!(receipt_was_lost || scratch.tree() == before, "damage {number}");
    }
}

#[test]
fn a_first_installation_that_fails_leaves_nothing() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let release = scratch.release("1.3.0");
    std::fs::remove_file(release.from.join("link-guard")).unwrap();
    assert!(matches!(
        run(&release, &scratch.layout, None),
        Err(InstallError::Change(ChangeError::Io { .. }))
    ));
    assert_eq!(scratch.tree(), before);

    // The identity of the device existed before, and stays.
    let identity = scratch.layout.roots().state.join("identity.json");
    std::fs::create_dir_all(identity.parent().unwrap()).unwrap();
    std::fs::write(&identity, "{}").unwrap();
    let before = scratch.tree();
    assert!(run(&release, &scratch.layout, None).is_err());
    assert_eq!(scratch.tree(), before);
}

#[test]
fn what_would_be_done_is_said_and_not_done() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let release = scratch.release("1.3.0");
    let layout = &scratch.layout;
    let install = Install { release: &release, layout, shared: &[], made: None, source: None };
    let plan = install.plan(|_files| Vec::<()>::new()).unwrap();
    let names: Vec<_> = plan.files.iter().map(FileStep::name).collect();
    let commands = ["command-pointed"; 2];
    assert_eq!(names[..3], ["laid-out", "guard-placed", "switched"]);
    assert_eq!(names[3..], commands);
    assert_eq!(scratch.tree(), before);
}

#[test]
fn a_page_that_the_new_version_does_not_have_is_deleted() {
    let scratch = Scratch::new();
    scratch.install("1.3.0").unwrap();
    let release = scratch.release("1.3.1");
    let layout = &scratch.layout;
    let install = Install { release: &release, layout, shared: &[], made: None, source: None };
    assert_eq!(install.run_files().unwrap(), InstallOutcome::Changed);
    assert!(!page(layout).exists());
}

#[test]
fn another_version_becomes_the_current_one_beside_the_old() {
    let scratch = Scratch::new();
    scratch.install("1.3.0").unwrap();
    assert_eq!(scratch.install("1.3.1").unwrap(), InstallOutcome::Changed);
    assert_eq!(std::fs::read_to_string(scratch.layout.command()).unwrap(), "link 1.3.1");
    assert!(complete_mark(&scratch.layout.version("1.3.0")).is_file());
}

#[test]
fn a_program_of_the_same_name_is_not_replaced() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(&scratch.layout.roots().bin).unwrap();
    std::fs::write(scratch.layout.command(), "somebody else's").unwrap();
    assert!(matches!(scratch.install("1.3.0"), Err(InstallError::NameTaken(_))));
    assert!(scratch.uninstall().is_empty());
    assert_eq!(std::fs::read_to_string(scratch.layout.command()).unwrap(), "somebody else's");
}

#[test]
fn an_older_release_is_refused_and_the_same_version_is_not() {
    let scratch = Scratch::new();
    let install = |version: &str, counter| {
        let signed = InstalledRelease { channel: Channel::Beta, counter, kid: "k".into() };
        let release = Release { signed: Some(signed), ..scratch.release(version) };
        run(&release, &scratch.layout, None)
    };
    let receipt = || {
        let receipt = Receipt::read(&scratch.layout.receipt()).unwrap();
        receipt.version("1.3.1").unwrap().release.clone().unwrap()
    };
    assert_eq!(install("1.3.1", 5).unwrap(), InstallOutcome::Installed);
    let before = scratch.tree();
    assert!(matches!(install("1.3.0", 4), Err(InstallError::Downgrade { .. })));
    assert_eq!(install("1.3.1", 4).unwrap(), InstallOutcome::Intact);
    assert_eq!(scratch.tree(), before, "and the higher counter is kept");
    assert_eq!(install("1.3.1", 6).unwrap(), InstallOutcome::Intact);
    assert_eq!((receipt().counter, receipt().channel), (6, Channel::Beta));
    assert_eq!(install("1.3.2", 6).unwrap(), InstallOutcome::Changed);
}

#[test]
fn a_program_that_changed_after_it_was_verified_is_not_installed() {
    let scratch = Scratch::new();
    let release = scratch.release("1.3.0");
    std::fs::write(release.from.join("link-agent"), "swapped").unwrap();
    let refused = run(&release, &scratch.layout, None);
    assert!(matches!(refused, Err(InstallError::Change(ChangeError::Changed(_)))));
    assert!(!scratch.layout.version("1.3.0").exists() && !scratch.layout.current().exists());
}

#[test]
fn two_installers_do_not_meet() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(&scratch.layout.roots().data).unwrap();
    let held = fs::try_lock(&scratch.layout.lock()).unwrap();
    assert!(
        held.is_some()
            && matches!(scratch.install("1.3.0"), Err(InstallError::Change(ChangeError::Busy)))
    );
}

#[test]
fn uninstalling_leaves_the_home_as_it_was() {
    let scratch = Scratch::new();
    std::fs::write(scratch.home().join("mine"), "kept").unwrap();
    let before = scratch.tree();
    scratch.install("1.3.0").unwrap();
    std::fs::write(scratch.layout.roots().state.join("identity.json"), "{}").unwrap();
    std::fs::create_dir_all(&scratch.layout.roots().config).unwrap();
    std::fs::write(scratch.layout.roots().config.join("credentials.json"), "{}").unwrap();
    assert!(scratch.uninstall().is_empty());
    assert_eq!(scratch.tree(), before);
}

#[test]
fn what_commands_have_written_into_folders_that_were_there_is_deleted() {
    let scratch = Scratch::new();
    let roots = scratch.layout.roots();
    for folder in [&roots.data, &roots.state, &roots.config] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(roots.agent_config(), "{}").unwrap();
    let before = scratch.tree();
    scratch.install("1.3.0").unwrap();
    for (folder, name) in [
        (&roots.config, "engine-keys"),
        (&roots.config, "plugin-keys"),
        (&roots.state, "catalogue.json"),
        (&roots.state, "plugin-download.lock"),
        (&roots.state, "plugin-download/archive"),
        (&roots.state, "check/0123abcd/key"),
    ] {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), "ours").unwrap();
    }
    assert!(scratch.uninstall().is_empty());
    assert_eq!(scratch.tree(), before);
}

#[test]
fn a_command_that_is_a_copy_of_an_earlier_version_is_deleted_and_any_other_program_stays() {
    for (copied, stays) in [("link 1.3.0", false), ("link of somebody else", true)] {
        let scratch = Scratch::new();
        scratch.install("1.3.0").unwrap();
        scratch.install("1.3.1").unwrap();
        let command = scratch.layout.command();
        std::fs::remove_file(&command).unwrap();
        std::fs::write(&command, copied).unwrap();
        assert!(scratch.uninstall().is_empty());
        assert_eq!(command.exists(), stays, "{copied}");
    }
}

#[test]
fn a_damaged_receipt_does_not_keep_an_uninstallation_from_its_end() {
    for lost in [false, true] {
        let scratch = Scratch::new();
        scratch.install("1.3.0").unwrap();
        if lost {
            std::fs::remove_file(scratch.layout.receipt()).unwrap();
        } else {
            std::fs::write(scratch.layout.receipt(), "{\"versions\": [").unwrap();
        }
        let shared = [
            SharedFile { path: page(&scratch.layout), contents: b".TH link".to_vec() },
            SharedFile { path: scratch.home().join("mine"), contents: b"ours".to_vec() },
        ];
        std::fs::write(scratch.home().join("mine"), "another's").unwrap();
        let begun = Uninstallation::begin(&scratch.layout).unwrap();
        assert!(begun.has_lost_receipt());
        let left = begun.finish(Places { shells: None, shared: &shared });
        assert!(left.failed.is_empty(), "{left:?}");
        let files: Vec<_> = scratch.tree().into_iter().filter(|(_, file)| file.is_some()).collect();
        assert!(matches!(&files[..], [(mine, _)] if mine.ends_with("mine")), "{files:?}");
    }
}

#[test]
fn nothing_is_taken_away_while_an_installer_works() {
    let scratch = Scratch::new();
    scratch.install("1.3.0").unwrap();
    let before = scratch.tree();
    let held = Versions::lock(&scratch.layout).unwrap();
    assert!(matches!(Uninstallation::begin(&scratch.layout), Err(ChangeError::Busy)));
    drop(held);
    let begun = Uninstallation::begin(&scratch.layout).unwrap();
    assert!(matches!(Versions::lock(&scratch.layout), Err(ChangeError::Busy)));
    drop(begun);
    assert_eq!(scratch.tree(), before);
}

#[test]
fn folders_that_the_script_made_before_are_taken_away_too() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let data = scratch.layout.roots().data.clone();
    std::fs::create_dir_all(&data).unwrap();
    run(&scratch.release("1.3.0"), &scratch.layout, Some(&data)).unwrap();
    assert!(scratch.uninstall().is_empty());
    assert_eq!(scratch.tree(), before);
}

/// Two installers start at once. The first to finish has found a folder that the other one created.
#[test]
fn folders_of_the_second_of_two_installations_are_taken_away_too() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let data = scratch.layout.roots().data.clone();
    std::fs::create_dir_all(&data).unwrap();
    let release = scratch.release("1.3.0");
    assert_eq!(run(&release, &scratch.layout, None).unwrap(), InstallOutcome::Installed);
    assert_eq!(run(&release, &scratch.layout, Some(&data)).unwrap(), InstallOutcome::Intact);
    assert!(scratch.uninstall().is_empty());
    assert_eq!(scratch.tree(), before);
}

#[test]
fn uninstalling_keeps_what_others_put_into_folders_that_were_there() {
    let scratch = Scratch::new();
    let data = scratch.layout.roots().data.clone();
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("thesis"), "kept").unwrap();
    let before = scratch.tree();
    scratch.install("1.3.0").unwrap();
    assert!(scratch.uninstall().is_empty());
    assert_eq!(scratch.tree(), before);
}

fn run(
    release: &Release,
    layout: &Layout,
    made: Option<&Path>,
) -> Result<InstallOutcome, InstallError> {
    let shared = [SharedFile { path: page(layout), contents: b".TH link".to_vec() }];
    let install = Install { release, layout, shared: &shared, made, source: None };
    install.run_files()
}

fn page(layout: &Layout) -> PathBuf {
    layout.roots().data.with_file_name("share").join("man/link.1")
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

struct Scratch {
    dir: tempfile::TempDir,
    layout: Layout,
}

impl Scratch {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("a home").join("ü");
        std::fs::create_dir_all(&home).unwrap();
        Self { layout: Layout::new(Roots::below(&home)), dir }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("a home").join("ü")
    }

    fn install(&self, version: &str) -> Result<InstallOutcome, InstallError> {
        run(&self.release(version), &self.layout, None)
    }

    fn uninstall(&self) -> Vec<(PathBuf, io::Error)> {
        Uninstallation::begin(&self.layout).unwrap().finish(Places::default()).failed
    }

    fn release(&self, version: &str) -> Release {
        Trust::new([])
            .unwrap()
            .verify(&self.unpacked(version), &version.parse().unwrap(), &PROGRAMS)
            .unwrap()
    }

    fn unpacked(&self, version: &str) -> PathBuf {
        let from = self.dir.path().join("unpacked");
        std::fs::create_dir_all(&from).unwrap();
        for name in PROGRAMS {
            std::fs::write(from.join(name), format!("{name} {version}")).unwrap();
            set_mode(&from.join(name), 0o755);
        }
        from
    }

    /// Every path in the home, with its modification time.
    fn tree(&self) -> BTreeMap<PathBuf, Option<std::time::SystemTime>> {
        let (mut tree, mut open) = (BTreeMap::new(), vec![self.home()]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = std::fs::symlink_metadata(&path).unwrap();
                let changed = metadata.is_file().then(|| metadata.modified().unwrap());
                if metadata.is_dir() {
                    open.push(path.clone());
                }
                tree.insert(path, changed);
            }
        }
        tree
    }
}
