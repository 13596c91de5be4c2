//! Signed releases, with the compiled command and real archives: a release with a trusted signature is installed, and
//! any other is refused before a file is written.
//!
//! The programs of these releases are scripts, so the agent does not start (exit code 41) even if the release is good.
//! All checks of interest come before that.

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use link_protocol::{
    command::Sha256Hex,
    release::{
        Archive, Channel, Contents, KeySet, Manifest, Package, ReleasedFile, SCHEMA, Statement,
    },
    signing::{Signed, SigningKey},
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::{Home, Ran};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const PROGRAMS: [&str; 3] = ["link", "link-agent", "link-guard"];

/// The exit code of an installation whose agent is a script.
const LAID_OUT: i32 = 41;

// Holds: S5-5
#[test]
fn a_release_by_a_trusted_key_is_verified_and_installed() {
    let release = Release::new().signed_by(1);
    let ran = release.install(&public(&[1]));
    assert_eq!(ran.code, LAID_OUT, "{ran:?}");
    assert!(ran.stderr.contains(&format!("signature of release {VERSION} verified")), "{ran:?}");
    let receipt = std::fs::read_to_string(release.home.path("data/receipt.json")).unwrap();
    let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["versions"][0]["release"]["channel"], "beta");
    assert_eq!(receipt["versions"][0]["release"]["counter"], 7);
}

#[test]
fn the_plan_of_an_installation_is_a_document() {
    let release = Release::new().signed_by(1);
    let from = release.unpacked().display().to_string();
    let words = ["install-files", "--from", &from, "--dry-run", "--json"];
    let ran = release.home.link_with(&[("LINK_DEV_RELEASE_KEYS", &public(&[1]))], &words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let plan = ran.stdout_json();
    assert_eq!(plan["version"], VERSION);
    assert!(plan["would"].as_array().is_some_and(|steps| !steps.is_empty()), "{plan}");
}

// Holds: S4.4-8b
#[test]
fn whatever_no_trusted_key_signed_is_refused_and_nothing_is_written() {
    let faults: [(&str, Fault); 8] = [
        ("is not signed", |release| release.remove("contents.json")),
        ("not the file that was signed", |release| {
            release.write("link-agent", "#!/bin/sh\nexit 1\n");
        }),
        ("does not fit", |release| {
            let text = release.read("contents.json").replace("beta", "beda");
            release.write("contents.json", &text);
        }),
        ("not of the form", |release| release.write("contents.json", "{}")),
        ("does not trust", |release| release.sign(2, VERSION, 7)),
        ("not part of the release", |release| release.write("more", "")),
        ("is missing", |release| release.remove("link-guard")),
        ("9.9.9", |release| release.sign(1, "9.9.9", 7)),
    ];
    for (words, fault) in faults {
        let release = Release::new().signed_by(1);
        fault(&release);
        let before = release.tree();
        let ran = release.install(&public(&[1]));
        assert!(ran.code == 24 && ran.stderr.contains(words), "{words}: {ran:?}");
        assert_eq!(release.tree(), before, "{words}");
    }
}

#[test]
fn a_release_for_another_system_is_said_to_be_that() {
    let release = Release::new();
    release.sign_for("sparc-unknown-plan9", 1, VERSION, 7);
    let before = release.tree();
    let ran = release.install(&public(&[1]));
    let words = format!("the release is for sparc-unknown-plan9, and this system is {}", target());
    assert!(ran.code == 13 && ran.stderr.contains(&words), "{ran:?}");
    assert_eq!(release.tree(), before);
}

#[test]
fn a_refusal_leaves_what_is_installed_as_it_is() {
    let release = Release::new().signed_by(1);
    assert_eq!(release.install(&public(&[1])).code, LAID_OUT);
    release.write("link-agent", "#!/bin/sh\nexit 1\n");
    let before = release.tree();
    assert_eq!(release.install(&public(&[1])).code, 24);
    assert_eq!(release.tree(), before);
}

#[test]
fn an_older_release_is_refused_and_the_same_version_is_a_repair() {
    let release = Release::new().signed_by(1);
    assert_eq!(release.install(&public(&[1])).code, LAID_OUT);
    release.sign(1, VERSION, 6);
    assert_eq!(release.install(&public(&[1])).code, LAID_OUT, "the same version");
    // The state after a later version was installed and its entry in the receipt was lost.
    let current = PathBuf::from(release.home.path("data/current"));
    std::fs::remove_file(&current).unwrap();
    std::os::unix::fs::symlink(current.with_file_name("versions/99.0.0"), &current).unwrap();
    let before = release.tree();
    let ran = release.install(&public(&[1]));
    assert!(ran.code == 25 && ran.stderr.contains("older than the installed 99.0.0"), "{ran:?}");
    assert_eq!(release.tree(), before);
}

#[test]
fn a_key_that_a_trusted_one_introduced_signs_releases_too() {
    let release = Release::new().signed_by(2);
    assert_eq!(release.install(&public(&[1])).code, 24);
    let set = KeySet { schema: SCHEMA, counter: 1, keys: vec![key(2).verifying().clone()] };
    let introduced = |by: u8| {
        let chain: [Signed; 1] = [key(by).seal_release(&Statement::Keys(set.clone()))];
        release.write("keys.json", &serde_json::to_string(&chain).unwrap());
    };
    introduced(3);
    assert_eq!(release.install(&public(&[1])).code, 24, "introduced by a stranger");
    introduced(1);
    let ran = release.install(&public(&[1]));
    assert!(ran.code == LAID_OUT && ran.stderr.contains("verified"), "{ran:?}");
}

#[test]
fn a_build_that_trusts_nobody_says_that_nothing_was_checked() {
    let ran = Release::new().install("");
    assert!(ran.code == LAID_OUT && ran.stderr.contains("was NOT checked"), "{ran:?}");
    let release = Release::new();
    let before = release.tree();
    let ran = release.install("not a key");
    assert!(ran.code == 24 && ran.stderr.contains("32 bytes in base64url"), "{ran:?}");
    assert_eq!(release.tree(), before);
}

#[test]
fn a_mirror_that_changes_the_archive_and_its_checksum_is_found_out() {
    let release = Release::new();
    std::fs::copy(env!("CARGO_BIN_EXE_link"), release.unpacked().join("link")).unwrap();
    release.sign(1, VERSION, 7);
    let ran = release.install_from_archive();
    assert!(ran.stderr.contains("verified") && ran.code == LAID_OUT, "{ran:?}");

    let release = Release::new();
    std::fs::copy(env!("CARGO_BIN_EXE_link"), release.unpacked().join("link")).unwrap();
    release.sign(1, VERSION, 7);
    release.write("link-agent", "#!/bin/sh\nexit 2\n");
    let ran = release.install_from_archive();
    assert!(ran.code == 24 && ran.stderr.contains("not the file that was signed"), "{ran:?}");
    assert!(!release.home.has("data"), "nothing is left");
}

#[test]
fn a_downloaded_command_is_not_run_before_the_installed_one_agrees() {
    let release = Release::new();
    let command = release.unpacked().join("link");
    std::fs::copy(env!("CARGO_BIN_EXE_link"), &command).unwrap();
    release.sign(1, VERSION, 7);
    assert_eq!(release.install_from_archive().code, LAID_OUT);
    // A malicious mirror has replaced the command and its checksum, but cannot sign.
    let (ran_here, canary) = (release.dir.path().join("ran"), release.dir.path().display());
    release.write("link", &format!("#!/bin/sh\ntouch '{canary}/ran'\n"));
    // The script creates and deletes a temporary folder, which changes the parent folder's time, so only files are
    // compared.
    let files = || {
        let mut tree = release.tree();
        tree.retain(|path, _| path.is_file());
        tree
    };
    let before = files();
    let ran = release.install_from_archive();
    assert!(ran.code == 24 && ran.stderr.contains("not the file that was signed"), "{ran:?}");
    assert!(!ran_here.exists() && files() == before, "{ran:?}");

    std::fs::copy(env!("CARGO_BIN_EXE_link"), &command).unwrap();
    let again = release.install_from_archive();
    assert!(again.code == LAID_OUT && again.stderr.contains("verified"), "{again:?}");
    // A damaged installed command is not asked, because the download is to repair it.
    let installed = PathBuf::from(release.home.path("data/current/link"));
    std::fs::remove_file(&installed).unwrap();
    std::fs::write(&installed, "damaged").unwrap();
    assert_eq!(release.install_from_archive().code, LAID_OUT);
}

/// An older `link` without this check, or with a fault in it, must not be the program that decides.
#[test]
fn an_older_release_is_refused_by_the_installed_command_and_runs_nothing() {
    let release = Release::new();
    let command = release.unpacked().join("link");
    std::fs::copy(env!("CARGO_BIN_EXE_link"), &command).unwrap();
    release.sign(1, VERSION, 7);
    assert_eq!(release.install_from_archive().code, LAID_OUT);
    let current = PathBuf::from(release.home.path("data/current"));
    let later = current.with_file_name("versions/99.0.0");
    std::fs::create_dir(&later).unwrap();
    std::fs::copy(current.join("link"), later.join("link")).unwrap();
    std::fs::remove_file(&current).unwrap();
    std::os::unix::fs::symlink(&later, &current).unwrap();

    let ran_here = release.dir.path().join("ran");
    release.write("link", &format!("#!/bin/sh\ntouch '{}'\n", ran_here.display()));
    release.sign(1, VERSION, 6);
    let ran = release.install_from_archive();
    assert!(ran.code == 25 && ran.stderr.contains("older than the installed 99.0.0"), "{ran:?}");
    assert!(!ran_here.exists(), "{ran:?}");
}

#[test]
fn a_list_of_releases_that_has_expired_is_told_of_whatever_it_names() {
    let release = Release::new().signed_by(1);
    let trusted = public(&[1]);
    let link =
        |words: &[&str]| release.home.link_with(&[("LINK_DEV_RELEASE_KEYS", &trusted)], words);
    let (from, source) = (release.unpacked().display().to_string(), release.url());
    let installed = link(&["install-files", "--from", &from, "--source", &source]);
    assert_eq!(installed.code, LAID_OUT, "{installed:?}");
    let now = jiff::Timestamp::now();
    let day = jiff::SignedDuration::from_hours(24);
    for (expires_at, stale) in [(now + day, false), (now - day, true)] {
        for (version, member) in [(VERSION, "to"), ("99.0.0", "available")] {
            release.publish(version, expires_at);
            let ran = link(&["update", "--check", "--json"]);
            assert_eq!(ran.code, 0, "{ran:?}");
            let told = ran.stdout_json();
            assert_eq!((&told[member], &told["stale"]), (&json!(version), &json!(stale)));
            let ran = link(&["update", "--check"]);
            let warns = ran.stderr.contains("warning: the list of releases has expired");
            assert_eq!(warns, stale, "{ran:?}");
        }
    }
}

#[test]
fn a_forged_list_of_releases_is_told_apart_from_a_failed_download() {
    let release = Release::new().signed_by(1);
    let trusted = public(&[1]);
    let link =
        |words: &[&str]| release.home.link_with(&[("LINK_DEV_RELEASE_KEYS", &trusted)], words);
    let (from, source) = (release.unpacked().display().to_string(), release.url());
    let installed = link(&["install-files", "--from", &from, "--source", &source]);
    assert_eq!(installed.code, LAID_OUT, "{installed:?}");
    let tomorrow = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    let mut before = release.tree();
    // An update takes its lock in the folder, so the times of folders change.
    before.retain(|path, _| !path.is_dir());
    for signer in [1, 2] {
        release.publish_by(signer, "99.0.1", tomorrow);
        if signer == 1 {
            let list = release.folder().join("manifest.json");
            let text = std::fs::read_to_string(&list).unwrap();
            // The first member of the envelope is its contents, in base64.
            let at = text.len() / 2;
            let other = if text.as_bytes()[at] == b'A' { "B" } else { "A" };
            std::fs::write(&list, format!("{}{other}{}", &text[..at], &text[at + 1..])).unwrap();
        }
        for words in [&["update", "--check", "--json"][..], &["update", "--json"]] {
            let ran = link(words);
            assert_eq!(ran.code, 24, "{words:?}, signed by {signer}: {ran:?}");
            assert_eq!(ran.stderr_json()["error"], "signature-invalid", "{ran:?}");
        }
    }
    let mut after = release.tree();
    after.retain(|path, _| before.contains_key(path));
    assert_eq!(after, before, "an installed file has changed");
}

/// A change that a test makes to an unpacked release.
type Fault = fn(&Release);

/// An unpacked release of three scripts, and a home to install it in.
struct Release {
    dir: tempfile::TempDir,
    home: Home,
}

impl Release {
    fn new() -> Self {
        let release = Self { dir: tempfile::tempdir().unwrap(), home: Home::new() };
        std::fs::create_dir(release.unpacked()).unwrap();
        PROGRAMS.iter().for_each(|name| release.write(name, "#!/bin/sh\nexit 0\n"));
        let script = "chmod 755 \"$0\"/*";
        let made = Command::new("sh").arg("-c").arg(script).arg(release.unpacked()).status();
        assert!(made.unwrap().success());
        release
    }

    fn signed_by(self, signer: u8) -> Self {
        self.sign(signer, VERSION, 7);
        self
    }

    fn unpacked(&self) -> PathBuf {
        self.dir.path().join("unpacked")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.unpacked().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.unpacked().join(name)).unwrap()
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.unpacked().join(name)).unwrap();
    }

    fn sign(&self, signer: u8, version: &str, counter: u64) {
        self.sign_for(&target(), signer, version, counter);
    }

    fn sign_for(&self, target: &str, signer: u8, version: &str, counter: u64) {
        let file = |name: &&str| {
            let bytes = std::fs::read(self.unpacked().join(name)).unwrap();
            ReleasedFile {
                path: name.parse().unwrap(),
                size_bytes: bytes.len() as u64,
                sha256: Sha256Hex::from_digest(&Sha256::digest(&bytes)),
            }
        };
        let contents = Contents {
            schema: SCHEMA,
            version: version.parse().unwrap(),
            channel: Channel::Beta,
            target: target.into(),
            released_at: "2026-10-01T00:00:00Z".parse().unwrap(),
            counter,
            files: PROGRAMS.iter().map(file).collect(),
        };
        let signed = key(signer).seal_release(&Statement::Contents(contents));
        self.write("contents.json", &serde_json::to_string(&signed).unwrap());
    }

    /// Writes the manifest of a release without archives to download.
    fn publish(&self, version: &str, expires_at: jiff::Timestamp) {
        self.publish_by(1, version, expires_at);
    }

    fn publish_by(&self, signer: u8, version: &str, expires_at: jiff::Timestamp) {
        let archive = Archive {
            target: target(),
            package: Package::Everything,
            name: "link.tar.gz".parse().unwrap(),
            size_bytes: 1,
            sha256: Sha256Hex::from_digest(&Sha256::digest("")),
        };
        let manifest = Manifest {
            schema: SCHEMA,
            version: version.parse().unwrap(),
            channel: Channel::Beta,
            released_at: "2026-10-01T00:00:00Z".parse().unwrap(),
            expires_at,
            counter: 8,
            archives: vec![archive],
        };
        let signed = key(signer).seal_release(&Statement::Manifest(manifest));
        let text = serde_json::to_string(&signed).unwrap();
        std::fs::write(self.folder().join("manifest.json"), text).unwrap();
    }

    /// Returns the folder of the mirror, and creates it if it is missing.
    fn folder(&self) -> PathBuf {
        let folder = self.dir.path().join("release");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn url(&self) -> String {
        format!("file://{}", self.folder().display())
    }

    fn install(&self, trusted: &str) -> Ran {
        let from = self.unpacked().display().to_string();
        self.home
            .link_with(&[("LINK_DEV_RELEASE_KEYS", trusted)], &["install-files", "--from", &from])
    }

    /// Packs the unpacked release with matching checksums, and installs it with the script.
    fn install_from_archive(&self) -> Ran {
        let folder = self.folder();
        let asset = format!("link-{VERSION}-{}.tar.gz", target());
        let pack = "cd \"$0\" && tar -czf \"$1/$2\" * && cd \"$1\" && sha256sum \"$2\" >SHA256SUMS";
        let packed = Command::new("sh")
            .args(["-c", pack])
            .args([&self.unpacked(), &folder])
            .arg(asset)
            .status();
        assert!(packed.unwrap().success());
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install.sh");
        let output = Command::new("sh")
            .arg(script)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LINK_HOME", self.home.path(""))
            .env("LINK_INSTALL_URL", self.url())
            .env("LINK_DEV_RELEASE_KEYS", public(&[1]))
            .output()
            .unwrap();
        Ran::of(&[], output)
    }

    /// Every path in the home, with its modification time.
    fn tree(&self) -> BTreeMap<PathBuf, std::time::SystemTime> {
        let (mut tree, mut open) = (BTreeMap::new(), vec![PathBuf::from(self.home.path(""))]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = std::fs::symlink_metadata(&path).unwrap();
                if metadata.is_dir() {
                    open.push(path.clone());
                }
                tree.insert(path, metadata.modified().unwrap());
            }
        }
        tree
    }
}

/// The name of this system in the archives of a release.
fn target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn public(seeds: &[u8]) -> String {
    let keys = seeds.iter().map(|&seed| key(seed).verifying().public_key.clone());
    keys.collect::<Vec<_>>().join(",")
}
