//! `scripts/install.sh` with a local release folder, in the shells that must run it. The `link` of the release is a
//! script that records its arguments, so only `install.sh` itself is tested here.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install.sh");
const LINK: &str = "#!/bin/sh\n[ \"$1\" = self-check ] || printf '%s\\n' \"$*\"\n";

#[test]
fn a_release_is_verified_and_handed_over() {
    for shell in shells() {
        let release = Release::new(LINK);
        let ran = release.install(shell, &["--quiet"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.starts_with("install-files --source "), "{ran:?}");
        assert!(ran.stdout.contains(" --from "), "{ran:?}");
        assert!(ran.stdout.trim_end().ends_with("--quiet"), "{ran:?}");
        assert!(ran.stdout.contains(&format!("--made {}", release.home().display())), "{ran:?}");
        assert_eq!(ran.stderr, "");
        assert!(release.left_nothing(), "{shell}");
    }
}

#[test]
fn the_newest_version_is_the_one_in_latest() {
    for shell in shells() {
        let release = Release::new(LINK);
        release.add("9.9.9", LINK);
        assert_eq!(release.install(shell, &[]).code, 20, "two versions and no word which");
        std::fs::write(release.folder().join("LATEST"), "9.9.9\n").unwrap();
        let ran = release.install(shell, &[]);
        assert!(ran.code == 0 && ran.stderr.contains("downloading Link 9.9.9"), "{ran:?}");
        let ran = release.install(shell, &["--version", "1.3.0"]);
        assert!(ran.code == 0 && ran.stderr.contains("downloading Link 1.3.0"), "{ran:?}");
    }
}

// Holds: S4.4-9
#[test]
fn flags_win_over_the_environment() {
    for shell in shells() {
        let release = Release::new(LINK);
        let host = format!("file://{}", release.dir.path().display());
        let ran = release.install(shell, &["--repo-url", &host, "--branch", "rel", "--dry-run"]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains(&format!("--source {host}/rel ")), "{ran:?}");
        assert!(ran.stdout.trim_end().ends_with("--dry-run"), "{ran:?}");
        let variables = [("LINK_REPO_URL", host.as_str()), ("LINK_BRANCH", "rel")];
        let ran = release.install_with(shell, &["--dry-run"], &variables);
        assert!(ran.stdout.contains(&format!("--source {host}/rel ")), "{ran:?}");
        let wrong = [("LINK_REPO_URL", "file:///nowhere"), ("LINK_BRANCH", "wrong")];
        let flags = ["--repo-url", &host, "--branch", "rel", "--dry-run"];
        let ran = release.install_with(shell, &flags, &wrong);
        assert!(ran.stdout.contains(&format!("--source {host}/rel ")), "{ran:?}");
        let ran = release.install(shell, &["--branch", "beta", "--dry-run"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("--branch needs --repo-url"), "{ran:?}");
        assert!(!release.home().exists(), "a dry run makes nothing");
    }
}

#[test]
fn the_fleet_key_of_the_command_line_replaces_every_key_of_the_environment() {
    for shell in shells() {
        let link = "#!/bin/sh\n[ \"$1\" = self-check ] || env | grep -E '^LINK_(FLEET|REGISTRATION)_KEY' | sort\n";
        let release = Release::new(link);
        let host = format!("file://{}", release.folder().display());
        let variables = [
            ("LINK_INSTALL_URL", host.as_str()),
            ("LINK_FLEET_KEY", "lfk_other"),
            ("LINK_FLEET_KEY_FILE", "/nowhere"),
            ("LINK_REGISTRATION_KEY", "lrk_other"),
            ("LINK_REGISTRATION_KEY_FILE", "/nowhere"),
        ];
        let ran = release.install_with(shell, &["--fleet-key", "lfk_1"], &variables);
        assert_eq!(ran.stdout, "LINK_FLEET_KEY=lfk_1\n", "{shell}: {ran:?}");
    }
}

// Holds: S4.4-6a
#[test]
fn the_fleet_key_never_stands_in_an_argument() {
    for shell in shells() {
        let link =
            "#!/bin/sh\n[ \"$1\" = self-check ] || printf '%s|%s\\n' \"$*\" \"$LINK_FLEET_KEY\"\n";
        let release = Release::new(link);
        release.build_for(&["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"]);
        for machine in [("Linux", "x86_64", false), ("Darwin", "arm64", false)] {
            let ran = release.on(shell, machine, &["--fleet-key", "lfk_canary"]);
            let (arguments, key) = ran.stdout.trim_end().rsplit_once('|').unwrap();
            assert!(key == "lfk_canary" && !arguments.contains("canary"), "{machine:?}: {ran:?}");
        }
    }
}

// Holds: S4.4-8b, S5-5
#[test]
fn whatever_is_wrong_has_its_own_exit_code_and_installs_nothing() {
    let faults: [(i32, &str, Fault); 6] = [
        (22, "does not have its checksum", |release| {
            std::fs::write(release.asset("1.3.0"), "swapped").unwrap();
        }),
        (20, "no single valid checksum", |release| release.sums("0123 x\n")),
        (20, "no single valid checksum", |release| {
            let sums = release.read_sums();
            release.sums(&format!("{sums}{sums}"));
        }),
        (12, "cannot download", |release| {
            std::fs::remove_file(release.folder().join("SHA256SUMS")).unwrap();
        }),
        (12, "cannot download", |release| {
            std::fs::remove_file(release.asset("1.3.0")).unwrap();
        }),
        (23, "does not run here", |release| release.add("1.3.0", "#!/bin/sh\nexit 1\n")),
    ];
    for shell in shells() {
        for (code, words, fault) in &faults {
            let release = Release::new(LINK);
            fault(&release);
            let ran = release.install(shell, &["--version", "1.3.0"]);
            assert_eq!(ran.code, *code, "{shell}: {ran:?}");
            assert!(ran.stderr.contains(words) && ran.stdout.is_empty(), "{shell}: {ran:?}");
            assert!(release.left_nothing(), "{shell}: {words}");
        }
    }
}

#[test]
fn an_answer_without_an_end_fills_no_disk() {
    for shell in shells() {
        for name in ["SHA256SUMS", "LATEST"] {
            let release = Release::new(LINK);
            let document = release.folder().join(name);
            let _is_there = std::fs::remove_file(&document);
            std::os::unix::fs::symlink("/dev/zero", document).unwrap();
            let ran = release.install(shell, &[]);
            // Without a file that names the newest version, the script uses the only version in the checksums.
            assert_eq!(ran.code, if name == "LATEST" { 0 } else { 12 }, "{shell}: {ran:?}");
            assert!(release.left_nothing(), "{shell}: {name}");
        }
    }
}

/// A malicious mirror serves an archive with a matching checksum.
#[test]
fn an_archive_of_anything_but_a_few_plain_files_is_not_unpacked() {
    let kinds = [
        "ln -s /dev/zero contents.json",
        "mkfifo contents.json",
        "mkdir folder",
        "ln link-agent contents.json",
        "for n in 0 1 2 3 4 5 6; do for m in 0 1 2 3 4 5 6 7 8 9; do : >$n$m; done; done",
        "truncate -s 2147483648 contents.json",
    ];
    for (number, make) in kinds.into_iter().enumerate() {
        let shells = shells().filter(|shell| *shell == "dash" || number < 2);
        for shell in shells {
            let release = Release::new(LINK);
            let line = format!(
                "cd \"$0\" && mkdir all && tar -xzf *.gz -C all && (cd all && {make}) && \
                 (cd all && tar -cf - *) | gzip -1 >new && mv new *.gz && rm -r all && \
                 sha256sum *.gz >SHA256SUMS"
            );
            let made = Command::new("sh").args(["-c", &line]).arg(release.folder()).status();
            assert!(made.unwrap().success(), "{make}");
            let ran = release.install(shell, &[]);
            assert_eq!(ran.code, 24, "{shell}: {make}: {ran:?}");
            assert!(ran.stderr.contains("something else than a release"), "{ran:?}");
            assert!(ran.stdout.is_empty() && release.left_nothing(), "{shell}: {make}");
        }
    }
}

#[test]
fn a_mirror_in_a_folder_that_holds_a_pipe_keeps_nobody_waiting() {
    for shell in shells() {
        let release = Release::new(LINK);
        let sums = release.folder().join("SHA256SUMS");
        std::fs::remove_file(&sums).unwrap();
        assert!(Command::new("mkfifo").arg(&sums).status().unwrap().success());
        let ran = release.install(shell, &[]);
        assert!(ran.code == 12 && ran.stderr.contains("there is no such file"), "{ran:?}");
    }
}

#[test]
fn a_web_page_in_the_place_of_a_release_is_called_that() {
    for shell in shells() {
        let release = Release::new(LINK);
        release.sums("\n<!DOCTYPE html>\n<html><body>Please log in</body></html>\n");
        let ran = release.install(shell, &[]);
        assert_eq!(ran.code, 20, "{ran:?}");
        assert!(ran.stderr.contains("ask you to log in first"), "{ran:?}");
    }
}

/// Some shells decode every other character by the locale.
#[test]
fn the_script_is_plain_ascii() {
    assert!(std::fs::read(SCRIPT).unwrap().is_ascii());
}

#[test]
fn a_shell_that_was_told_to_end_at_the_first_failure_installs() {
    for shell in shells() {
        let release = Release::new(LINK);
        let output = Command::new(which(shell))
            .args(["-euf", SCRIPT, "--quiet"])
            .env_clear()
            .env("PATH", path())
            .env("LINK_HOME", release.home())
            .env("LINK_INSTALL_URL", format!("file://{}", release.folder().display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{shell}: {output:?}");
        assert!(release.left_nothing(), "{shell}");
    }
}

/// A home that another user owns, as `sudo -E` leaves it.
#[test]
fn a_home_of_another_user_is_not_written_to() {
    for shell in shells() {
        let release = Release::new(LINK);
        let home = release.dir.path().join("theirs");
        std::fs::create_dir(&home).unwrap();
        if std::os::unix::fs::chown(&home, Some(65_534), None).is_err() {
            eprintln!("skipped: only root can give a folder to another user");
            return;
        }
        let run = |name: &str, value: &Path| {
            Command::new(which(shell))
                .arg(SCRIPT)
                .env_clear()
                .env("PATH", path())
                .env(name, value)
                .env("LINK_INSTALL_URL", format!("file://{}", release.folder().display()))
                .output()
                .unwrap()
        };
        let refused = run("HOME", &home);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(11), "{shell}: {said}");
        for way in ["without sudo", "sudo -H sh install.sh", "sudo -iu USER"] {
            assert!(said.contains(way), "{shell}: {said}");
        }
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0, "{shell}");
        assert!(run("LINK_HOME", &home.join("link")).status.success(), "{shell}: asked for");
    }
}

#[test]
fn what_is_installed_is_uninstalled_with_force_if_that_is_asked_for() {
    for shell in shells() {
        let release = Release::new(LINK);
        let current = release.home().join("data/current");
        std::fs::create_dir_all(&current).unwrap();
        let link = current.join("link");
        std::fs::write(&link, LINK).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&link, executable).unwrap();
        let ran = release.install(shell, &["--uninstall"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "uninstall --yes\n"), "{ran:?}");
        let ran = release.install(shell, &["--uninstall", "--force"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "uninstall --yes --force\n"), "{ran:?}");
        let ran = release.install(shell, &["--uninstall", "--force", "--purge"]);
        assert_eq!(ran.stdout, "uninstall --yes --force --purge\n", "{ran:?}");
        let ran = release.install(shell, &["--uninstall", "--force", "--dry-run"]);
        assert!(ran.stderr.contains("uninstall --yes --force") && ran.stdout.is_empty(), "{ran:?}");

        std::fs::write(&link, "damaged").unwrap();
        let ran = release.install(shell, &["--uninstall", "--force", "--quiet"]);
        assert_eq!(ran.stdout, "uninstall --yes --force --quiet\n", "a fresh one: {ran:?}");
    }
}

#[test]
fn without_a_tool_for_checksums_nothing_is_run() {
    for shell in shells() {
        let release = Release::new(LINK);
        let tools = release.dir.path().join("tools");
        std::fs::create_dir(&tools).unwrap();
        for tool in [
            "uname", "cp", "mkdir", "mktemp", "tar", "gzip", "awk", "sed", "cut", "rm", "rmdir",
            "dirname", "head", "tr",
        ] {
            std::os::unix::fs::symlink(which(tool), tools.join(tool)).unwrap();
        }
        let ran = release.run(shell, &["--version", "1.3.0"], tools.to_str().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (21, ""), "{ran:?}");
        assert!(release.left_nothing());
    }
}

#[test]
fn wrong_usage_and_plain_http_are_refused() {
    for shell in shells() {
        let release = Release::new(LINK);
        assert_eq!(release.install(shell, &["--verison", "1"]).code, 2);
        assert_eq!(release.install(shell, &["--version"]).code, 2);
        let ran = release.install(shell, &["--repo-url", "http://release.example"]);
        assert!(ran.code == 12 && ran.stderr.contains("https:// or file:// only"), "{ran:?}");
    }
}

#[test]
fn a_copy_that_was_cut_off_does_nothing() {
    let whole = std::fs::read_to_string(SCRIPT).unwrap();
    let release = Release::new(LINK);
    let cut = release.dir.path().join("cut.sh");
    let body = whole.find("\n{ ").unwrap() + 2;
    for end in (body..whole.trim_end().len()).step_by(211).chain([whole.trim_end().len() - 1]) {
        if !whole.is_char_boundary(end) {
            continue;
        }
        std::fs::write(&cut, &whole[..end]).unwrap();
        let ran = release.run_script("dash", &cut, &[], &path());
        assert!(ran.code != 0 && ran.stdout.is_empty(), "cut at {end}: {ran:?}");
        assert!(!release.home().exists(), "cut at {end}");
    }
}

#[test]
fn a_machine_without_a_build_is_told_which_builds_the_release_has() {
    for shell in shells() {
        let release = Release::new(LINK);
        let sum = "a".repeat(64);
        let mut sums = release.read_sums();
        for target in ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"] {
            sums.push_str(&format!("{sum}  link-1.3.0-{target}.tar.gz\n"));
        }
        sums.push_str(&format!("{sum}  link-1.3.0-aarch64-apple-darwin.cdx.json\n"));
        release.sums(&sums);
        let here = std::env::consts::ARCH;
        let has = format!("Linux on {here}, macOS on aarch64, Windows on x86_64");
        for (machine, name) in [
            (("Linux", "riscv64", false), "Linux on riscv64"),
            (("Darwin", "x86_64", false), "macOS on x86_64"),
        ] {
            for flags in [&[][..], &["--version", "1.3.0"]] {
                let ran = release.on(shell, machine, flags);
                assert_eq!(ran.code, 13, "{shell}: {ran:?}");
                let says =
                    format!("this release has no build for {name}; it has builds for: {has}");
                assert!(ran.stderr.contains(&says), "{shell}: {ran:?}");
                assert!(release.left_nothing(), "{shell}");
            }
        }
    }
}

#[test]
fn the_archive_is_chosen_by_system_and_processor_and_rosetta_is_seen_through() {
    for shell in shells() {
        let release = Release::new(LINK);
        release.build_for(&[
            "aarch64-unknown-linux-gnu",
            "x86_64-unknown-linux-gnu",
            "aarch64-apple-darwin",
        ]);
        for (machine, target) in [
            (("Linux", "aarch64", false), "aarch64-unknown-linux-gnu"),
            (("Linux", "amd64", false), "x86_64-unknown-linux-gnu"),
            (("Darwin", "arm64", false), "aarch64-apple-darwin"),
            (("Darwin", "x86_64", true), "aarch64-apple-darwin"),
        ] {
            let ran = release.on(shell, machine, &[]);
            assert_eq!(ran.code, 0, "{shell}: {ran:?}");
            let says = format!("downloading Link 1.3.0 for {target}");
            assert!(ran.stderr.contains(&says), "{shell}: {ran:?}");
        }
    }
}

#[test]
fn an_archive_of_another_machine_under_this_ones_name_is_refused_by_name() {
    let contents = r#"{"text":"{\"kind\":\"contents\",\"target\":\"aarch64-unknown-linux-gnu\"}"}"#;
    for shell in shells() {
        let release = Release::new(LINK);
        let unpacked = tempfile::tempdir().unwrap();
        std::fs::write(unpacked.path().join("link"), LINK).unwrap();
        std::fs::write(unpacked.path().join("contents.json"), contents).unwrap();
        let name = "link-1.3.0-x86_64-unknown-linux-gnu.tar.gz";
        let pack = format!(
            "cd '{}' && chmod 755 link && tar -czf '{1}/{name}' link contents.json && cd '{1}' && sha256sum {name} >SHA256SUMS",
            unpacked.path().display(),
            release.folder().display()
        );
        assert!(Command::new("sh").args(["-c", &pack]).status().unwrap().success());
        let ran = release.on(shell, ("Linux", "x86_64", false), &[]);
        assert_eq!(ran.code, 24, "{shell}: {ran:?}");
        let says = "holds programs for Linux on aarch64, and this machine is Linux on x86_64";
        assert!(ran.stderr.contains(says) && ran.stdout.is_empty(), "{shell}: {ran:?}");
        assert!(release.left_nothing(), "{shell}");
    }
}

/// A change that a test makes to a release.
type Fault = fn(&Release);

struct Release {
    dir: tempfile::TempDir,
}

#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Release {
    /// A folder with version 1.3.0, whose `link` is the script `link`.
    fn new(link: &str) -> Self {
        let release = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(release.folder()).unwrap();
        release.add("1.3.0", link);
        release
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("rel")
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("a home")
    }

    fn asset(&self, version: &str) -> PathBuf {
        self.folder()
            .join(format!("link-{version}-{}-unknown-linux-gnu.tar.gz", std::env::consts::ARCH))
    }

    fn add(&self, version: &str, link: &str) {
        let unpacked = tempfile::tempdir().unwrap();
        for name in ["link", "link-agent", "link-guard"] {
            std::fs::write(unpacked.path().join(name), link).unwrap();
        }
        let (from, asset) = (unpacked.path().display(), self.asset(version));
        let pack = format!(
            "chmod 755 '{from}'/* && tar -C '{from}' -czf '{}' link link-agent link-guard && cd '{}' && sha256sum *.gz > SHA256SUMS",
            asset.display(),
            self.folder().display()
        );
        assert!(Command::new("sh").args(["-c", &pack]).status().unwrap().success());
    }

    /// Makes the archive of 1.3.0 that of these targets, and of no other.
    fn build_for(&self, targets: &[&str]) {
        let packed = std::fs::read(self.asset("1.3.0")).unwrap();
        let sum = &self.read_sums()[..64];
        let mut sums = String::new();
        for target in targets {
            let name = format!("link-1.3.0-{target}.tar.gz");
            std::fs::write(self.folder().join(&name), &packed).unwrap();
            sums.push_str(&format!("{sum}  {name}\n"));
        }
        self.sums(&sums);
    }

    fn sums(&self, text: &str) {
        std::fs::write(self.folder().join("SHA256SUMS"), text).unwrap();
    }

    fn read_sums(&self) -> String {
        std::fs::read_to_string(self.folder().join("SHA256SUMS")).unwrap()
    }

    fn install(&self, shell: &str, flags: &[&str]) -> Ran {
        self.run(shell, flags, &path())
    }

    /// Runs the script with other variables in place of `LINK_INSTALL_URL`.
    fn install_with(&self, shell: &str, flags: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(shell, Path::new(SCRIPT), flags, &path());
        command.env_remove("LINK_INSTALL_URL").envs(variables.iter().copied());
        ran(&mut command)
    }

    /// Installs on a machine that names this system and processor, perhaps translated by Rosetta.
    fn on(&self, shell: &str, machine: (&str, &str, bool), flags: &[&str]) -> Ran {
        let (system, processor, is_translated) = machine;
        let tools = self.dir.path().join("tools");
        std::fs::create_dir_all(&tools).unwrap();
        let uname = format!("case $1 in -s) echo {system};; -m) echo {processor};; esac");
        let sysctl =
            format!("[ \"$*\" = '-n sysctl.proc_translated' ] && echo {}", u8::from(is_translated));
        for (name, script) in [("uname", uname), ("sysctl", sysctl)] {
            let write = format!(
                "printf '#!/bin/sh\\n%s\\n' \"$1\" >'{0}' && chmod 755 '{0}'",
                tools.join(name).display()
            );
            assert!(
                Command::new("sh").args(["-c", &write, "sh", &script]).status().unwrap().success()
            );
        }
        self.run(shell, flags, &format!("{}:{}", tools.display(), path()))
    }

    fn run(&self, shell: &str, flags: &[&str], path: &str) -> Ran {
        self.run_script(shell, Path::new(SCRIPT), flags, path)
    }

    fn run_script(&self, shell: &str, script: &Path, flags: &[&str], path: &str) -> Ran {
        ran(&mut self.command(shell, script, flags, path))
    }

    fn command(&self, shell: &str, script: &Path, flags: &[&str], path: &str) -> Command {
        let mut command = Command::new(which(shell));
        command
            .arg(script)
            .args(flags)
            .env_clear()
            .env("PATH", path)
            .env("LINK_HOME", self.home())
            .env("LINK_INSTALL_URL", format!("file://{}", self.folder().display()))
            .stdin(Stdio::null());
        command
    }

    /// Returns whether the script has deleted its temporary folder.
    fn left_nothing(&self) -> bool {
        !self.home().join("data").exists()
    }
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The shells of this machine that `install.sh` must run in.
fn shells() -> impl Iterator<Item = &'static str> {
    ["dash", "bash"].into_iter().filter(|shell| find(shell).is_some())
}

fn which(tool: &str) -> PathBuf {
    find(tool).unwrap_or_else(|| panic!("{tool} is needed"))
}

fn find(tool: &str) -> Option<PathBuf> {
    std::env::split_paths(&path()).map(|folder| folder.join(tool)).find(|path| path.is_file())
}

fn path() -> String {
    std::env::var("PATH").unwrap()
}
