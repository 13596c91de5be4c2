//! The shells' start files in a temporary home: edited once, edited twice, and restored.

use std::collections::BTreeMap;

use link_platform::paths::Roots;

use super::*;
use crate::uninstall::{Places, Uninstallation};

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
    assert!(scratch.uninstall().is_empty());
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
    assert!(scratch.uninstall().is_empty());
    assert_eq!(std::fs::read_to_string(&profile).unwrap(), "umask 077\n");
}

#[test]
fn files_that_are_edited_at_once_are_all_in_the_receipt() {
    let scratch = Scratch::new();
    let homes: Vec<_> = (0..6).map(|number| scratch.dir.path().join(number.to_string())).collect();
    std::thread::scope(|scope| {
        for home in &homes {
            std::fs::create_dir(home).unwrap();
            let (layout, config) = (&scratch.layout, home.join(".config"));
            let shells = Shells { home: home.clone(), config, ..Shells::default() };
            scope
                .spawn(move || assert_eq!(add(layout, of_path(&shells)).unwrap().changed.len(), 1));
        }
    });
    let receipt = Receipt::read(&scratch.layout.receipt()).unwrap();
    let listed = |home: &PathBuf| receipt.path_files.iter().any(|file| file.path.starts_with(home));
    assert!(homes.iter().all(listed), "{receipt:?}");
}

#[test]
fn no_file_is_edited_while_another_installer_works_or_the_receipt_is_damaged() {
    let scratch = Scratch::new();
    scratch.file(".profile", "umask 077\n");
    let before = scratch.files();
    std::fs::write(scratch.layout.receipt(), "{").unwrap();
    let refused = add(&scratch.layout, of_path(&scratch.shells()));
    assert!(matches!(
        refused,
        Err(ChangeError::State(crate::state_file::StateError::Damaged { .. }))
    ));
    std::fs::remove_file(scratch.layout.receipt()).unwrap();
    let held = Versions::lock(&scratch.layout).unwrap();
    assert!(matches!(add(&scratch.layout, of_path(&scratch.shells())), Err(ChangeError::Busy)));
    assert_eq!(scratch.files(), before);
    drop(held);
    assert_eq!(scratch.add().changed.len(), 1);
}

#[test]
fn a_damaged_receipt_does_not_keep_our_block_from_going() {
    let scratch = Scratch::new();
    scratch.file(".bashrc", "alias ll='ls -l'");
    let before = scratch.files();
    assert_eq!(scratch.add().changed.len(), 2);
    std::fs::write(scratch.layout.receipt(), "{\"path_files\": [").unwrap();
    let begun = Uninstallation::begin(&scratch.layout).unwrap();
    assert!(begun.has_lost_receipt());
    let left = begun.finish(Places { shells: Some(&scratch.shells()), shared: &[] });
    assert!(left.failed.is_empty(), "{left:?}");
    assert_eq!(scratch.files(), before);
    assert!(!scratch.layout.receipt().exists());
}

#[test]
fn a_profile_of_powershell_loads_the_completions_until_the_end_also_without_a_receipt() {
    for loses_receipt in [false, true] {
        for mine in [None, Some("Set-PSReadLineOption -EditMode Vi\r\n")] {
            let scratch = Scratch::new();
            let profile = scratch.home().join("Documents/PowerShell/profile.ps1");
            let shells = Shells { power_shell: Some(profile.clone()), ..scratch.shells() };
            if let Some(mine) = mine {
                std::fs::create_dir_all(profile.parent().unwrap()).unwrap();
                std::fs::write(&profile, mine).unwrap();
            }
            let files = path_env::completion_files(&shells);
            let edited = add(&scratch.layout, files.clone()).unwrap();
            assert_eq!(edited.changed.first(), Some(&profile), "the start files are not asked for");
            let again = add(&scratch.layout, files).unwrap();
            assert_eq!((again.changed.len(), again.intact.first()), (0, Some(&profile)));
            let text = std::fs::read_to_string(&profile).unwrap();
            assert!(text.starts_with(mine.unwrap_or_default()), "{text}");
            let folder = scratch.layout.completions().display().to_string().replace('\'', "''");
            assert!(text.contains(&format!("-LiteralPath ('{folder}') -Filter")), "{text}");
            if loses_receipt {
                std::fs::write(scratch.layout.receipt(), "{").unwrap();
            }
            let places = Places { shells: Some(&shells), shared: &[] };
            let left = Uninstallation::begin(&scratch.layout).unwrap().finish(places);
            assert!(left.failed.is_empty(), "{left:?}");
            assert_eq!(std::fs::read_to_string(&profile).ok().as_deref(), mine);
        }
    }
}

#[test]
fn a_profile_in_the_code_page_of_the_machine_keeps_its_bytes_and_one_in_utf16_is_left_alone() {
    let scratch = Scratch::new();
    let profile = scratch.home().join("profile.ps1");
    let shells = Shells { power_shell: Some(profile.clone()), ..scratch.shells() };
    let files = path_env::completion_files(&shells);
    let umlauts = b"# f\xfcr mich\r\n";
    std::fs::write(&profile, umlauts).unwrap();
    assert_eq!(add(&scratch.layout, files.clone()).unwrap().changed.len(), 1);
    let edited = std::fs::read(&profile).unwrap();
    assert!(edited.starts_with(umlauts) && edited.len() > umlauts.len());
    // The owner saves the file with further characters of the code page.
    std::fs::write(&profile, [&edited[..], b"# gr\xf6\xdfer\r\n"].concat()).unwrap();
    assert!(scratch.uninstall().is_empty());
    assert_eq!(std::fs::read(&profile).unwrap(), b"# f\xfcr mich\r\n# gr\xf6\xdfer\r\n");
    let wide = b"\xff\xfe#\0\n\0";
    std::fs::write(&profile, wide).unwrap();
    let skipped = add(&scratch.layout, files).unwrap().skipped;
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert_eq!(std::fs::read(&profile).unwrap(), wide);
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
    // The last of them reads no start file that is edited, so nothing may be claimed for it.
    for (shell, finds) in [
        ("/bin/sh", true),
        ("/usr/bin/bash", true),
        ("/usr/bin/zsh", true),
        ("/usr/bin/fish", true),
        ("/usr/bin/yash", false),
    ] {
        if !Path::new(shell).exists() {
            eprintln!("skipped: {shell} is not installed");
            continue;
        }
        let scratch = Scratch::new();
        let shells = Shells { login_shell: Some(shell.into()), ..scratch.shells() };
        add(&scratch.layout, of_path(&shells)).unwrap();
        let command = scratch.layout.command();
        std::fs::create_dir_all(command.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/bin/true", &command).unwrap();
        let resolved = resolve_in_login_shell(&shells, "alice", "link");
        assert_eq!(resolved == Resolved::Found(command), finds, "{shell}: {resolved:?}");
    }
}

/// A shell that records how it is asked and answers for none of its own start files: the link below its name decides.
#[test]
fn a_shell_that_is_asked_is_asked_as_a_login_shell_and_by_itself() {
    let scratch = Scratch::new();
    for name in ["yash", "fish", "ksh93"] {
        let (shell, asked) = (scratch.dir.path().join(name), scratch.dir.path().join("asked"));
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}'\necho 'a greeting'\necho \"/found/by/$SHELL\"\n",
            asked.display()
        );
        executable(&shell, &script);
        let shells = Shells { login_shell: Some(shell.clone()), ..scratch.shells() };
        let found = PathBuf::from(format!("/found/by/{}", shell.display()));
        assert_eq!(resolve_in_login_shell(&shells, "alice", "link"), Resolved::Found(found));
        assert_eq!(std::fs::read_to_string(&asked).unwrap(), "-l\n-c\ncommand -v link\n");

        executable(&shell, "#!/bin/sh\nexit 1\n");
        assert_eq!(resolve_in_login_shell(&shells, "alice", "link"), Resolved::Nothing);
    }
}

/// The answer of one shell says nothing about a shell with other start files.
#[test]
fn a_shell_of_another_kind_is_not_spoken_for() {
    let scratch = Scratch::new();
    scratch.add();
    for shell in ["/usr/bin/tcsh", "/bin/csh", "/usr/bin/nu", "/usr/bin/xonsh"] {
        let shells = Shells { login_shell: Some(shell.into()), ..scratch.shells() };
        let resolved = resolve_in_login_shell(&shells, "alice", "link");
        assert_eq!(resolved, Resolved::NotAsked(shell.into()));
    }
    let (shell, ran) = (scratch.dir.path().join("tcsh"), scratch.dir.path().join("ran"));
    executable(&shell, &format!("#!/bin/sh\n: >'{}'\necho /bin/link\n", ran.display()));
    let shells = Shells { login_shell: Some(shell.clone()), ..scratch.shells() };
    assert_eq!(resolve_in_login_shell(&shells, "alice", "link"), Resolved::NotAsked(shell));
    assert!(!ran.exists(), "a shell that may not know the question is not started");
}

fn executable(path: &Path, script: &str) {
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
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
        add(&self.layout, of_path(&self.shells())).unwrap()
    }

    fn uninstall(&self) -> Vec<(PathBuf, io::Error)> {
        Uninstallation::begin(&self.layout).unwrap().finish(Places::default()).failed
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
