//! The steps of an installation, from its arguments to a running program, decided before the first step. Pure.
//!
//! A [`Plan`] is the only list of steps: `--dry-run` prints it, and an installation carries it out. Each step is
//! idempotent, and the receipt names the results of a step before the step begins. So the next run finishes an
//! interrupted one, and an uninstallation can undo it. This file decides the steps that concern files. [`device`] and
//! [`backend`] decide the steps after them.

use std::{fmt, path::PathBuf};

use semver::Version;

pub mod backend;
pub mod device;

/// The steps of an installation, in order. `Further` is the type of the steps after the file steps.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plan<Further> {
    /// File steps, run while the installer's lock is held.
    pub files: Vec<FileStep>,
    /// Steps that run after the lock is released, because the programs that they start need it.
    pub further: Vec<Further>,
}

impl<Further: fmt::Display> Plan<Further> {
    /// Returns a description of each step.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let files = self.files.iter().map(ToString::to_string);
        files.chain(self.further.iter().map(ToString::to_string)).collect()
    }
}

/// The state of one of the installation's files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileState {
    Missing,
    /// The file is as it should be.
    Intact,
    /// The file is ours, but not as it should be.
    Damaged,
    /// The file is not ours.
    Foreign,
}

/// The state of the files of an installation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Observed {
    /// The current version.
    pub current: Option<Version>,
    /// The state of the wanted version.
    pub version: FileState,
    pub guard: FileState,
    /// The names of the command, each with its state.
    pub commands: Vec<(PathBuf, FileState)>,
    /// Completions and manual pages, each with its state.
    pub shared: Vec<(PathBuf, FileState)>,
    /// Completions and manual pages of another version that do not exist in the wanted version.
    pub outdated: Vec<PathBuf>,
}

/// One file step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileStep {
    LayOut(Version),
    PlaceGuard,
    /// Point `current` to a version. The version is on trial if it replaces another one.
    Switch {
        from: Option<Version>,
        to: Version,
    },
    /// Point a name of the command to the current version.
    Point(PathBuf),
    /// Write a completion or a manual page.
    Write(PathBuf),
    Delete(PathBuf),
}

/// Another program already uses a name of the command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NameTaken(pub PathBuf);

/// Decides the file steps that install `wanted` or repair it.
///
/// # Errors
/// [`NameTaken`]. Then nothing may be changed.
pub fn files(wanted: &Version, observed: &Observed) -> Result<Vec<FileStep>, NameTaken> {
    if let Some((name, _)) =
        observed.commands.iter().find(|(_, found)| *found == FileState::Foreign)
    {
        return Err(NameTaken(name.clone()));
    }
    let mut steps = Vec::new();
    if observed.version != FileState::Intact {
        steps.push(FileStep::LayOut(wanted.clone()));
    }
    // After an update, the previous guard stays in place until the trial of the new version has ended.
    if observed.guard != FileState::Intact {
        steps.push(FileStep::PlaceGuard);
    }
    if observed.current.as_ref() != Some(wanted) {
        steps.push(FileStep::Switch { from: observed.current.clone(), to: wanted.clone() });
    }
    let broken = |found: &FileState| matches!(found, FileState::Missing | FileState::Damaged);
    let named = |found: &[(PathBuf, FileState)], step: fn(PathBuf) -> FileStep| {
        let broken = found.iter().filter(|(_, found)| broken(found));
        broken.map(|(path, _)| step(path.clone())).collect::<Vec<_>>()
    };
    steps.extend(named(&observed.commands, FileStep::Point));
    steps.extend(named(&observed.shared, FileStep::Write));
    steps.extend(observed.outdated.iter().cloned().map(FileStep::Delete));
    Ok(steps)
}

impl FileStep {
    /// Returns the name of the checkpoint after the step.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::LayOut(_) => "laid-out",
            Self::PlaceGuard => "guard-placed",
            Self::Switch { .. } => "switched",
            Self::Point(_) => "command-pointed",
            Self::Write(_) => "shared-written",
            Self::Delete(_) => "outdated-deleted",
        }
    }
}

impl fmt::Display for FileStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LayOut(version) => write!(f, "lay out version {version}"),
            Self::PlaceGuard => f.write_str("place the guard"),
            Self::Switch { from: None, to } => write!(f, "make {to} the current version"),
            Self::Switch { from: Some(from), to } => {
                write!(f, "make {to} the current version in the place of {from}, on trial")
            }
            Self::Point(path) => write!(f, "make the command {}", path.display()),
            Self::Write(path) => write!(f, "write {}", path.display()),
            Self::Delete(path) => write!(f, "delete {}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FOUND: [FileState; 4] =
        [FileState::Missing, FileState::Intact, FileState::Damaged, FileState::Foreign];

    fn version(patch: u64) -> Version {
        Version::new(1, 3, patch)
    }

    fn nothing() -> Observed {
        Observed {
            current: None,
            version: FileState::Missing,
            guard: FileState::Missing,
            commands: vec![("bin/link".into(), FileState::Missing)],
            shared: vec![("man/link.1".into(), FileState::Missing)],
            outdated: vec!["man/old.1".into()],
        }
    }

    #[test]
    fn a_fresh_installation_points_to_a_version_only_once_it_is_there() {
        let steps = files(&version(0), &nothing()).unwrap();
        let said: Vec<_> = steps.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "lay out version 1.3.0",
                "place the guard",
                "make 1.3.0 the current version",
                "make the command bin/link",
                "write man/link.1",
                "delete man/old.1"
            ]
        );
    }

    #[test]
    fn a_program_of_the_same_name_stops_everything_and_a_foreign_page_is_left_alone() {
        let mut observed = nothing();
        observed.shared[0].1 = FileState::Foreign;
        let steps = files(&version(0), &observed).unwrap();
        assert!(!steps.iter().any(|step| matches!(step, FileStep::Write(_))));
        observed.commands[0].1 = FileState::Foreign;
        assert_eq!(files(&version(0), &observed), Err(NameTaken("bin/link".into())));
    }

    proptest! {
        /// An intact installation needs no step. The steps for a damaged one repair exactly the damage.
        #[test]
        fn what_is_intact_is_not_touched(
            version_is in 0usize..3, guard in 0usize..3, command in 0usize..3, page in 0usize..4,
            current in proptest::option::of(0u64..2),
        ) {
            let observed = Observed {
                current: current.map(version),
                version: FOUND[version_is],
                guard: FOUND[guard],
                commands: vec![("bin/link".into(), FOUND[command])],
                shared: vec![("man/link.1".into(), FOUND[page])],
                outdated: Vec::new(),
            };
            let steps = files(&version(0), &observed).unwrap();
            let has = |name: &str| steps.iter().any(|step| step.name() == name);
            prop_assert_eq!(has("laid-out"), version_is != 1);
            prop_assert_eq!(has("guard-placed"), guard != 1);
            prop_assert_eq!(has("switched"), current != Some(0));
            prop_assert_eq!(has("command-pointed"), command != 1);
            prop_assert_eq!(has("shared-written"), page == 0 || page == 2);
        }
    }
}
