//! An installation does exactly what `--dry-run` prints: the same steps in the same order, and
//! nothing else.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use link_protocol::key::KeyKind;
use link_tests::{backend::TestBackend, schema, tree};
use serde_json::Value;

use super::{
    release::{archive, backend_archive},
    scratch::{Scratch, run},
};

/// Files that an installation writes for itself, and that no step names.
const OWN: [&str; 8] = [
    "data/versions",
    "data/guard",
    "data/current",
    "data/receipt.json",
    "data/install.lock",
    "data/update.json",
    "config/backend_url",
    "backend",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dry_run_prints_is_what_an_installation_then_does() {
    let backend = TestBackend::start().await;
    let key = backend.key(KeyKind::Registration).await;
    let mut installer = Installer::new("install-files");
    let home = installer.scratch.home();
    std::fs::write(home.join(".profile"), "# mine\n").unwrap();
    installer.set("LINK_MODIFY_PATH", "1");
    installer.set("SHELL", "/bin/bash");
    let profile = home.join("profile.ps1").display().to_string();
    installer.set("LINK_POWERSHELL_PROFILE", &profile);
    installer.set("LINK_BACKEND_URL", &backend.url);
    installer.set("LINK_REGISTRATION_KEY", key.expose());
    let printed = installer.script_prints();
    let first = installer.does_what_it_says();
    assert_eq!(printed, first, "of the script and of its last command");
    for (number, words) in ["lay out version", "place the guard", "make"].iter().enumerate() {
        assert!(first[number].starts_with(words), "{first:?}");
    }
    let after_files: Vec<_> =
        first.iter().skip_while(|step| !step.starts_with("keep the")).collect();
    let begins = ["keep the address", "register this device", "start the agent", "put ", "load "];
    assert_eq!(after_files.len(), begins.len(), "{first:?}");
    assert!(
        after_files.iter().zip(begins).all(|(step, begin)| step.starts_with(begin)),
        "{first:?}"
    );
    assert!(after_files[3].ends_with(&home.join(".profile").display().to_string()), "{first:?}");
    assert!(after_files[4].ends_with(&profile), "{first:?}");

    assert_eq!(installer.does_what_it_says(), [""; 0], "again");

    let stopped = installer.scratch.link(&["stop"]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let command = installer.scratch.link_home().join("bin/linkctl");
    let page = installer.scratch.link_home().join("data/share/man/man1/link.1");
    std::fs::remove_file(&command).unwrap();
    std::fs::write(&page, "scribble").unwrap();
    std::fs::write(home.join(".profile"), "# mine\n").unwrap();
    let profile = home.join(".profile");
    let bin = installer.scratch.link_home().join("bin");
    assert_eq!(
        installer.does_what_it_says(),
        [
            format!("make the command {}", command.display()),
            format!("write {}", page.display()),
            "start the agent".to_owned(),
            format!("put {} on PATH in {}", bin.display(), profile.display()),
        ],
        "a repair"
    );

    let agent = installer.scratch.link_home().join("data/current/link-agent");
    std::fs::remove_file(&agent).unwrap();
    let repaired = installer.does_what_it_says();
    assert!(repaired[0].starts_with("lay out version"), "{repaired:?}");
    assert_eq!(repaired[1..], ["stop the agent, and start it again"], "a program");

    std::fs::remove_file(installer.scratch.link_home().join("data/receipt.json")).unwrap();
    let listed = installer.does_what_it_says();
    let last = listed.last().unwrap();
    assert!(last.starts_with("list in the receipt what puts the command on PATH"), "{listed:?}");

    installer.scratch.uninstall();
    // Without the first receipt, nobody knows who created the empty folders.
    let left = installer.scratch.tree().into_iter().filter(|(path, _)| path.is_file());
    assert_eq!(left.collect::<Vec<_>>(), [(profile, b"# mine\n".to_vec())]);
}

/// The dry run happens before the command exists, and the installation after that.
#[test]
fn a_folder_that_is_first_on_path_already_is_put_there_in_no_file() {
    let mut installer = Installer::new("install-files");
    std::fs::write(installer.scratch.home().join(".profile"), "# mine\n").unwrap();
    let bin = installer.scratch.link_home().join("bin");
    let path = std::env::var_os("PATH").unwrap();
    let folders = [bin].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap();
    installer.set("LINK_MODIFY_PATH", "1");
    installer.set("PATH", path.to_str().unwrap());
    let steps = installer.does_what_it_says();
    assert_eq!(steps.last().unwrap(), "start the agent");
    installer.scratch.uninstall();
}

#[test]
fn what_a_dry_run_prints_is_what_an_installation_of_a_backend_then_does() {
    let installer = Installer::new("install-backend");
    let config = installer.scratch.link_home().join("backend-config/backend.toml");
    let first = installer.does_what_it_says();
    assert_eq!(*first.last().unwrap(), format!("write {}", config.display()));
    assert_eq!(installer.does_what_it_says(), [""; 0], "again");
    let command = installer.scratch.link_home().join("bin/link-backend");
    std::fs::remove_file(&command).unwrap();
    let repaired = installer.does_what_it_says();
    assert_eq!(repaired, [format!("make the command {}", command.display())]);
    let gone = run(installer.scratch.script(&["dash"], &installer.scratch.file_url()).args([
        "--backend",
        "--uninstall",
        "--purge",
    ]));
    assert_eq!(gone.code, Some(0), "{gone:?}");
}

/// An unpacked release, and the command that `install.sh` calls.
struct Installer {
    scratch: Scratch,
    subcommand: &'static str,
    variables: Vec<(&'static str, String)>,
}

impl Installer {
    fn new(subcommand: &'static str) -> Self {
        let scratch = Scratch::new();
        let unpacked = scratch.path().join("unpacked");
        std::fs::create_dir(&unpacked).unwrap();
        let packed = match subcommand {
            "install-backend" => backend_archive(&scratch.release),
            _ => archive(&scratch.release),
        };
        let ran = run(Command::new("tar").arg("-xzf").arg(packed).arg("-C").arg(&unpacked));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        Self { scratch, subcommand, variables: Vec::new() }
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.variables.push((name, value.to_owned()));
    }

    /// The steps that the script prints, without the word before each step.
    fn script_prints(&self) -> Vec<String> {
        let mut script = self.scratch.script(&["dash"], &self.scratch.file_url());
        script.envs(self.variables.iter().cloned()).arg("--dry-run");
        let ran = run(&mut script);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let steps = ran.stdout.lines().map(|line| line.strip_prefix("would ").unwrap());
        steps.map(str::to_owned).collect()
    }

    /// Runs the dry run and the installation, and returns their steps, which must be equal.
    fn does_what_it_says(&self) -> Vec<String> {
        let before = self.tree();
        let would = steps(&self.run(&["--dry-run"]), "would");
        assert!(self.tree() == before, "a dry run changes nothing");
        let did = steps(&self.run(&[]), "did");
        assert_eq!(did, would);
        let after = self.tree();
        let changed = |path: &&PathBuf| after.get(*path) != before.get(*path);
        let paths = before.keys().chain(after.keys());
        for path in paths.filter(|path| !path.is_dir()).filter(changed) {
            let is_named = did.iter().any(|step| step.contains(&path.display().to_string()));
            assert!(is_named || self.is_own(path), "{} is in no step of {did:?}", path.display());
        }
        did
    }

    /// The files of the home, except the folder in which a running agent works.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let link_home = self.scratch.link_home();
        let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let entries = entries(&self.scratch.home()).chain(entries(&link_home));
        let paths = entries.map(|entry| entry.path());
        let (folders, files): (Vec<_>, Vec<_>) = paths
            .filter(|path| *path != link_home && *path != link_home.join("state"))
            .partition(|path| path.is_dir());
        let folders: Vec<_> = folders.iter().map(PathBuf::as_path).collect();
        let mut tree = tree::of(&folders);
        tree.extend(files.into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())));
        tree
    }

    fn is_own(&self, path: &Path) -> bool {
        let own = path.strip_prefix(self.scratch.link_home());
        own.is_ok_and(|path| OWN.iter().any(|own| path.starts_with(own)))
    }

    fn run(&self, arguments: &[&str]) -> Value {
        let unpacked = self.scratch.path().join("unpacked");
        let mut command = self.scratch.shell(&["env"], "");
        command
            .envs(self.variables.iter().cloned())
            .arg(unpacked.join("link"))
            .arg(self.subcommand)
            .args(["--json", "--from"])
            .arg(&unpacked)
            .args(arguments);
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        schema::printed_by(self.subcommand, &ran.stdout)
    }
}

fn steps(document: &Value, name: &str) -> Vec<String> {
    let steps = document[name].as_array().unwrap_or_else(|| panic!("no {name}: {document}"));
    steps.iter().map(|step| step.as_str().unwrap().to_owned()).collect()
}
