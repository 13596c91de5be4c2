//! The files of the shells in a scratch home: edited, edited again, and as they were before.

use std::collections::BTreeMap;

use link_platform::paths::Roots;

use super::*;
use crate::uninstall::uninstall;

#[test]
fn taking_it_away_gives_every_file_back() {
    let scratch = Scratch::new();
    scratch.file(".bashrc", "alias ll='ls -l'");
    scratch.file(".zshrc", "setopt autocd\r\n");
    std::fs::create_dir(scratch.home().join(".config/fish")).unwrap();
    let before = scratch.files();
    let edited = scratch.add();
    assert!(edited.skipped.is_empty() && edited.intact.is_empty(), "{edited:?}");
    let names = [".profile", ".bashrc", ".zshenv", ".zshrc", ".config/fish/conf.d/link.fish"];
    assert_eq!(edited.changed, names.map(|name| scratch.home().join(name)));
    assert_eq!(scratch.add().changed, Vec::<PathBuf>::new());
    scratch.file(".profile", "");
    assert_eq!(scratch.add().changed, [scratch.home().join(".profile")]);
    assert!(uninstall(&scratch.layout).is_empty());
    assert_eq!(scratch.files(), before);
    assert!(!scratch.home().join(".config/fish/conf.d").exists());
}

#[test]
fn what_a_person_wrote_into_a_file_of_ours_stays() {
    let scratch = Scratch::new();
    scratch.add();
    let profile = scratch.home().join(".profile");
    let text = std::fs::read_to_string(&profile).unwrap();
    scratch.file(".profile", &format!("{text}umask 077\n"));
    assert!(uninstall(&scratch.layout).is_empty());
    assert_eq!(std::fs::read_to_string(&profile).unwrap(), "umask 077\n");
}

#[test]
fn a_file_that_is_no_text_is_left_alone() {
    let scratch = Scratch::new();
    std::fs::write(scratch.home().join(".bashrc"), b"# caf\xe9\n").unwrap();
    let edited = scratch.add();
    assert_eq!(edited.skipped.len(), 1, "{edited:?}");
    assert_eq!(std::fs::read(scratch.home().join(".bashrc")).unwrap(), b"# caf\xe9\n");
}

#[test]
fn a_fresh_login_shell_finds_the_command() {
    let scratch = Scratch::new();
    scratch.add();
    let command = scratch.layout.command();
    std::fs::create_dir_all(command.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/bin/true", &command).unwrap();
    assert_eq!(resolve_in_login_shell(&scratch.shells(), "alice"), Some(command));
}

struct Scratch {
    dir: tempfile::TempDir,
    layout: Layout,
}

impl Scratch {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("a home's");
        for folder in ["data", "user/.config"] {
            std::fs::create_dir_all(own.join(folder)).unwrap();
        }
        Self { layout: Layout::new(Roots::below(&own)), dir }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("a home's/user")
    }

    fn shells(&self) -> Shells {
        let (home, config) = (self.home(), self.home().join(".config"));
        Shells { home, config, ..Shells::default() }
    }

    fn add(&self) -> Edited {
        add(&self.layout, &self.shells()).unwrap()
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.home().join(name), text).unwrap();
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let names = [".profile", ".bashrc", ".zshenv", ".zshrc", ".config/fish/conf.d/link.fish"];
        let paths = names.map(|name| self.home().join(name)).into_iter();
        paths.filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?))).collect()
    }
}
