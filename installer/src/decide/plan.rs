//! The steps of an installation, from its arguments to a program that runs, decided before the first of them. Pure.
//!
//! A [`Plan`] is the only list of steps: `--dry-run` prints the list, and an installation carries it out. Each step is
//! idempotent, and the receipt lists its results before the step begins. So the next run finishes an interrupted one, and
//! an uninstallation undoes it by the receipt. This file decides the steps with files; [`device`] and [`backend`] decide
//! the steps after them.

use std::{fmt, path::PathBuf};

use semver::Version;

pub mod backend;
pub mod device;

/// The steps of an installation, in order. `Further` is the type of the steps after the files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plan<Further> {
    /// Steps under the lock that one installer holds.
    pub files: Vec<FileStep>,
    /// Steps without that lock, because the programs that they start need it.
    pub further: Vec<Further>,
}

impl<Further: fmt::Display> Plan<Further> {
    /// Returns each step in words.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let files = self.files.iter().map(ToString::to_string);
        files.chain(self.further.iter().map(ToString::to_string)).collect()
    }
}

/// The state of the place of a file of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
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
    /// The wanted version.
    pub version: Found,
    pub guard: Found,
    /// The names of the command.
    pub commands: Vec<(PathBuf, Found)>,
    /// Completions and manual pages.
    pub shared: Vec<(PathBuf, Found)>,
    /// Completions and pages of another version that the wanted version does not have.
    pub outdated: Vec<PathBuf>,
}

/// One step with the files.
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

/// A name of the command is another program.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NameTaken(pub PathBuf);

/// Decides what must be done with the files so that `wanted` is installed and whole.
///
/// # Errors
/// [`NameTaken`]. Nothing must be done then.
pub fn files(wanted: &Version, observed: &Observed) -> Result<Vec<FileStep>, NameTaken> {
    if let Some((name, _)) = observed.commands.iter().find(|(_, found)| *found == Found::Foreign) {
        return Err(NameTaken(name.clone()));
    }
    let mut steps = Vec::new();
    if observed.version != Found::Intact {
        steps.push(FileStep::LayOut(wanted.clone()));
    }
    // After an update the guard before stays until the new version has proved itself.
    if observed.guard != Found::Intact {
        steps.push(FileStep::PlaceGuard);
    }
    if observed.current.as_ref() != Some(wanted) {
        steps.push(FileStep::Switch { from: observed.current.clone(), to: wanted.clone() });
    }
    let broken = |found: &Found| matches!(found, Found::Missing | Found::Damaged);
    let named = |found: &[(PathBuf, Found)], step: fn(PathBuf) -> FileStep| {
        let broken = found.iter().filter(|(_, found)| broken(found));
        broken.map(|(path, _)| step(path.clone())).collect::<Vec<_>>()
    };
    steps.extend(named(&observed.commands, FileStep::Point));
    steps.extend(named(&observed.shared, FileStep::Write));
    steps.extend(observed.outdated.iter().cloned().map(FileStep::Delete));
    Ok(steps)
}

impl FileStep {
    /// The name of the checkpoint after the step.
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

    const FOUND: [Found; 4] = [Found::Missing, Found::Intact, Found::Damaged, Found::Foreign];

    fn version(patch: u64) -> Version {
        Version::new(1, 3, patch)
    }

    fn nothing() -> Observed {
        Observed {
            current: None,
            version: Found::Missing,
            guard: Found::Missing,
            commands: vec![("bin/link".into(), Found::Missing)],
            shared: vec![("man/link.1".into(), Found::Missing)],
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
        observed.shared[0].1 = Found::Foreign;
        let steps = files(&version(0), &observed).unwrap();
        assert!(!steps.iter().any(|step| matches!(step, FileStep::Write(_))));
        observed.commands[0].1 = Found::Foreign;
        assert_eq!(files(&version(0), &observed), Err(NameTaken("bin/link".into())));
    }

    proptest! {
        /// An intact installation needs no step, and the steps of a damaged one repair exactly the damage.
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
