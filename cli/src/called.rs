//! How to call this program in the shell that started it. `link` is also a program of coreutils,
//! and a shell runs the first match on PATH.
//!
//! The texts of this program say `link`. If that name would run another program or none, the output
//! says `linkctl` or the path of the command instead.

use std::{
    borrow::Cow,
    env::consts::EXE_SUFFIX,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use link_platform::program;

/// The names of the command, the preferred name first.
pub(crate) const NAMES: [&str; 2] = ["link", "linkctl"];

/// The facts that decide the name.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The folders on PATH.
    pub(crate) folders: Vec<PathBuf>,
    /// The folder of the command.
    pub(crate) bin: PathBuf,
    /// The folder of `LINK_HOME`, without which the command would work on another installation. Whoever has that installation on
    /// PATH has the variable too.
    pub(crate) home: Option<PathBuf>,
}

static SURROUNDINGS: OnceLock<Surroundings> = OnceLock::new();

impl Surroundings {
    /// Returns the command to type in this shell: a name that the shell finds, or the path.
    pub(crate) fn command(&self) -> String {
        let is_ours = |name: &&&str| self.first_with(name).is_some_and(|first| first == self.bin);
        if let Some(name) = NAMES.iter().find(is_ours) {
            return (*name).to_owned();
        }
        let command = quoted(&self.bin.join(NAMES[1]));
        // No shell of Windows sets a variable for one command.
        match self.home.as_ref().filter(|_| EXE_SUFFIX.is_empty()) {
            Some(home) => format!("LINK_HOME={} {command}", quoted(home)),
            None => command,
        }
    }

    /// Returns the first folder on PATH that contains a program called `name`.
    pub(crate) fn first_with(&self, name: &str) -> Option<&Path> {
        let file = format!("{name}{EXE_SUFFIX}");
        self.folders.iter().map(PathBuf::as_path).find(|folder| folder.join(&file).is_file())
    }

    /// Returns whether the command is installed. A development build has no installed command, and
    /// its user knows the path.
    fn is_installed(&self) -> bool {
        self.bin.join(program::LINKCTL).is_file()
    }
}

/// Stores the facts that [`in_words`] needs.
pub(crate) fn remember(surroundings: Surroundings) {
    // The facts do not change while the process runs.
    let _known_already = SURROUNDINGS.set(surroundings);
}

/// Returns the name by which this process was called, or the preferred name if that is none of
/// ours.
pub(crate) fn own_name() -> &'static str {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let is_it = |name: &&&str| called.file_stem().is_some_and(|stem| stem == **name);
    NAMES.iter().find(is_it).unwrap_or(&NAMES[0])
}

/// Replaces `link` in each command of `text` with the name that works in this shell.
pub(crate) fn in_words(text: &str) -> Cow<'_, str> {
    match SURROUNDINGS.get().filter(|surroundings| surroundings.is_installed()) {
        Some(surroundings) => with(text, &surroundings.command()),
        None => Cow::Borrowed(text),
    }
}

fn with<'a>(text: &'a str, command: &str) -> Cow<'a, str> {
    if command == NAMES[0] {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("`link ", &format!("`{command} ")))
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes folders of programs")]
    fn a_name_that_the_shell_gives_to_another_program_is_not_said() {
        let dir = tempfile::tempdir().unwrap();
        let (system, bin) = (dir.path().join("usr-bin"), dir.path().join("bin"));
        for (folder, names) in [(&system, ["link", "ln"]), (&bin, NAMES)] {
            std::fs::create_dir(folder).unwrap();
            names.iter().for_each(|name| std::fs::write(folder.join(name), "").unwrap());
        }
        let path = bin.join("linkctl").display().to_string();
        for (folders, command) in [
            (vec![&bin, &system], "link"),
            (vec![&bin], "link"),
            (vec![&system, &bin], "linkctl"),
            (vec![&system], &*path),
            (vec![], &*path),
        ] {
            let folders: Vec<_> = folders.into_iter().cloned().collect();
            let surroundings =
                Surroundings { folders: folders.clone(), bin: bin.clone(), home: None };
            assert!(surroundings.is_installed());
            assert_eq!(surroundings.command(), command, "{folders:?}");
            let home = dir.path().join("a home");
            let with_home = format!("LINK_HOME={} {command}", quoted(&home));
            let expected = if command == path { &*with_home } else { command };
            assert_eq!(Surroundings { home: Some(home), ..surroundings }.command(), expected);
        }
        let bin = dir.path().join("nowhere");
        let built = Surroundings { folders: vec![system], bin, home: None };
        assert!(!built.is_installed());
    }

    #[test]
    fn each_command_of_a_text_is_said_as_it_is_called() {
        let text = "register with `link register`, or see `link --help`; the link of `ada`";
        assert_eq!(with(text, "link"), text);
        assert_eq!(
            with(text, "linkctl"),
            "register with `linkctl register`, or see `linkctl --help`; the link of `ada`"
        );
    }

    #[test]
    fn a_path_is_written_as_a_shell_reads_it() {
        for (path, word) in [
            ("/home/ada/.local/bin/linkctl", "/home/ada/.local/bin/linkctl"),
            ("/home/a b/linkctl", "'/home/a b/linkctl'"),
            ("/home/o'neil/linkctl", r"'/home/o'\''neil/linkctl'"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }
}
