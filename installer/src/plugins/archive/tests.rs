//! Archives of plugins: made by their publishers, and by people who tampered with them.

#![expect(clippy::disallowed_methods, reason = "makes the files that a hostile publisher would")]

use link_platform::paths::Roots;
use link_protocol::{
    release::{KeySet, SCHEMA, Statement},
    signing::Untrusted,
};

use super::*;
use crate::plugins::{ChangeError, Holder, Plugins};

const PROJECT: &str = include_str!("../../../../plugins/language_model/plugin.toml");
const ADAPTER: &str = include_str!("../../../../plugins/language_model/adapter.toml");

/// A machine, and a folder with the archives of a publisher whose key it trusts.
struct Bench {
    dir: tempfile::TempDir,
    roots: Roots,
    owner_keys: OwnerKeys,
    /// No release key.
    nobody: Trust,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::below(&dir.path().join("home"));
        let owner_keys = OwnerKeys::of_plugins(&roots.config);
        owner_keys.add(Path::new(&key(1).verifying().public_key)).unwrap();
        std::fs::create_dir(dir.path().join("site")).unwrap();
        Self { dir, roots, owner_keys, nobody: Trust::new([]).unwrap() }
    }

    fn site(&self) -> PathBuf {
        self.dir.path().join("site")
    }

    /// Writes the folder of a plugin.
    fn folder(&self, id: &str, version: &str) -> PathBuf {
        let folder = self.dir.path().join("folder");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("plugin.toml"), project(id, version)).unwrap();
        std::fs::write(folder.join("adapter.toml"), ADAPTER).unwrap();
        fs::write_program(&folder.join("engine"), b"#!/bin/sh\n").unwrap();
        folder
    }

    fn pack(&self, id: &str, version: &str, signer: &SigningKey, serial: u64) -> PathBuf {
        let folder = self.folder(id, version);
        pack(&folder, &self.site(), signer, serial, Timestamp::UNIX_EPOCH).unwrap().archive
    }

    /// Signs `bytes` as the archive of `echo` 1.0.0 with the trusted key.
    fn sign(&self, bytes: &[u8]) -> PathBuf {
        let version = Version::new(1, 0, 0);
        let archive = self.site().join(archive_name("echo", &version));
        let statement = PluginArchive {
            plugin: "echo".to_owned(),
            version,
            size_bytes: bytes.len() as u64,
            sha256: hash_of(bytes),
        };
        let signed = Issue::new(1, Timestamp::UNIX_EPOCH, statement).seal(&key(1)).unwrap();
        std::fs::write(&archive, bytes).unwrap();
        std::fs::write(beside(&archive, SIGNATURE_SUFFIX), to_json(&signed)).unwrap();
        archive
    }

    fn open(&self, archive: &Path) -> Result<VerifiedArchive, ArchiveError> {
        VerifiedArchive::open(archive, &self.nobody, &self.owner_keys)
    }

    fn install(&self, archive: &Path) -> Result<Manifest, ChangeError> {
        let opened = VerifiedArchive::open(archive, &self.nobody, &self.owner_keys);
        opened.map_or_else(
            |error| panic!("{error}"),
            |opened| Plugins::install_archive(&self.roots, &opened),
        )
    }
}

#[test]
fn the_plugin_of_a_signed_archive_is_installed_with_its_programs_and_its_signer() {
    let bench = Bench::new();
    let archive = bench.pack("echo", "1.0.0", &key(1), 7);
    let bytes = std::fs::read(&archive).unwrap();
    assert_eq!(bench.install(&archive).unwrap().id, "echo");
    let folder = bench.roots.plugins().join("echo");
    let origin = crate::plugins::Origin::of(&folder).unwrap();
    assert_eq!((origin.signed_by, origin.serial), (key(1).verifying().kid.clone(), 7));
    assert!(fs::is_executable(&folder.join("engine")));
    assert!(!fs::is_executable(&folder.join("adapter.toml")));
    // The archive of an installed plugin is the archive from which it was installed.
    bench.pack("echo", "1.0.0", &key(1), 7);
    let again = pack(&folder, &bench.site(), &key(1), 8, Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(std::fs::read(again.archive).unwrap(), bytes);
}

#[test]
fn an_archive_that_was_changed_in_any_byte_is_refused() {
    let bench = Bench::new();
    let archive = bench.pack("echo", "1.0.0", &key(1), 7);
    let bytes = std::fs::read(&archive).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&archive, changed).unwrap();
        assert!(matches!(bench.open(&archive), Err(ArchiveError::Altered(_))), "{at}");
    }
    for changed in [bytes[..bytes.len() - 1].to_vec(), [&*bytes, b"\0"].concat(), Vec::new()] {
        std::fs::write(&archive, changed).unwrap();
        assert!(matches!(bench.open(&archive), Err(ArchiveError::Altered(_))));
    }
    std::fs::write(&archive, &bytes).unwrap();
    let signature = beside(&archive, SIGNATURE_SUFFIX);
    let text = std::fs::read(&signature).unwrap();
    for at in 0..text.len() {
        let mut changed = text.clone();
        changed[at] ^= 1;
        std::fs::write(&signature, changed).unwrap();
        if let Ok(opened) = bench.open(&archive) {
            // The spare bits at the end of a base64 text leave the signature the same.
            assert!(opened.serial == 7 && opened.manifest.id == "echo", "{at}");
        }
    }
}

#[test]
fn an_archive_of_nobody_and_of_a_stranger_is_refused() {
    let bench = Bench::new();
    let archive = bench.pack("echo", "1.0.0", &key(2), 7);
    let refused = bench.open(&archive).unwrap_err();
    let source = RefusedDocument::Untrusted(Untrusted::UnknownKey);
    assert!(matches!(refused, ArchiveError::Refused { source: found, .. } if found == source));
    // The keys that engine indexes are trusted with sign no plugin.
    let engines = OwnerKeys::of_engines(&bench.roots.config);
    engines.add(Path::new(&key(2).verifying().public_key)).unwrap();
    assert!(bench.open(&archive).is_err());
    std::fs::remove_file(beside(&archive, SIGNATURE_SUFFIX)).unwrap();
    assert!(matches!(bench.open(&archive), Err(ArchiveError::Unsigned { .. })));
}

#[test]
fn an_archive_is_named_as_it_was_signed() {
    let bench = Bench::new();
    let archive = bench.pack("echo", "1.0.0", &key(1), 7);
    let renamed = bench.site().join("other-2.0.0.tar.gz");
    for suffix in ["", SIGNATURE_SUFFIX] {
        std::fs::rename(beside(&archive, suffix), beside(&renamed, suffix)).unwrap();
    }
    let refused = bench.open(&renamed).unwrap_err();
    assert!(refused.to_string().ends_with("was signed as `echo-1.0.0.tar.gz`"), "{refused}");
}

#[test]
fn a_release_key_and_those_that_it_introduces_sign_plugins() {
    let bench = Bench::new();
    let (old, new) = (key(8), key(9));
    let trust = Trust::new([old.verifying().public_key.as_str()]).unwrap();
    let signed_by = |archive: &Path| {
        VerifiedArchive::open(archive, &trust, &bench.owner_keys).map(|archive| archive.signed_by)
    };
    assert_eq!(signed_by(&bench.pack("echo", "1.0.0", &old, 1)).unwrap(), "release");
    let archive = bench.pack("echo", "1.0.0", &new, 2);
    assert!(signed_by(&archive).is_err());
    let keys = KeySet { schema: SCHEMA, counter: 1, keys: vec![new.verifying().clone()] };
    let chain = vec![old.seal_release(&Statement::Keys(keys))];
    let beside = bench.site().join(KEYS_FILE);
    std::fs::write(&beside, serde_json::to_vec(&chain).unwrap()).unwrap();
    assert_eq!(signed_by(&archive).unwrap(), "release");
    std::fs::write(&beside, "{}").unwrap();
    assert!(matches!(signed_by(&archive), Err(ArchiveError::Chain(..))));
}

// A trusted publisher's machine may be in the hands of somebody else.
#[test]
fn what_no_plugin_holds_is_refused_though_it_is_signed() {
    use tar::EntryType::{Block, Char, Directory, Fifo, GNUSparse, Link, Regular, Symlink};
    let bench = Bench::new();
    let entry = |name: &str, kind| tar_of(&[(name, kind, b"")]);
    let file = |name: &'static str| (name, Regular, b"x".as_slice());
    let zeros = vec![0; 64 * 1024 * 1024];
    let many: Vec<String> = (0..=PLUGIN_FILES).map(|number| format!("echo/{number}")).collect();
    let many: Vec<_> = many.iter().map(|name| (&**name, Regular, b"".as_slice())).collect();
    let project = project("echo", "1.0.0");
    let good = [
        ("echo/plugin.toml", Regular, project.as_bytes()),
        ("echo/adapter.toml", Regular, ADAPTER.as_bytes()),
    ];
    let with = |more| tar_of(&[&good[..], &[more]].concat());
    assert!(bench.open(&bench.sign(&gzip(&tar_of(&good)))).is_ok());
    for (tar, why) in [
        (entry("echo/link", Symlink), "not a regular file"),
        (entry("echo/link", Link), "not a regular file"),
        (entry("echo/device", Char), "not a regular file"),
        (entry("echo/device", Block), "not a regular file"),
        (entry("echo/pipe", Fifo), "not a regular file"),
        (entry("echo/holes", GNUSparse), "failed to unpack"),
        (entry("echo/", Directory), "not a regular file"),
        (entry("/etc/passwd", Regular), "not a regular file"),
        (entry("../echo/file", Regular), "not a regular file"),
        (entry("echo/../file", Regular), "not a regular file"),
        (entry("echo/.hidden", Regular), "not a regular file"),
        (entry("echo/.link-origin.json", Regular), "not a regular file"),
        (entry("echo/deep/file", Regular), "not a regular file"),
        (entry("file", Regular), "not a regular file"),
        (with(file("echo/plugin.toml")), "twice"),
        (with(file("echo/PLUGIN.toml")), "twice"),
        (with(file("other/file")), "`other/file` is not in the folder `echo`"),
        (with(("echo/zeros", Regular, &zeros)), "more than 64 files or 4194304 bytes"),
        (tar_of(&many), "more than 64 files"),
        (tar_of(&[file("echo/file")]), "no text file `plugin.toml`"),
        (tar_of(&[("echo/plugin.toml", Regular, &[255, 254])]), "no text file `plugin.toml`"),
        (tar_of(&good[..1]), "has no `plugin.toml`"),
        (zeros.clone(), "no text file `plugin.toml`"),
        (huge(), "more than 64 files or 4194304 bytes"),
        (b"no archive".repeat(100), "failed to unpack"),
    ] {
        let refused = bench.open(&bench.sign(&gzip(&tar))).unwrap_err().to_string();
        assert!(refused.contains(why), "{why}: {refused}");
    }
    assert!(bench.open(&bench.sign(b"no gzip")).unwrap_err().to_string().contains("unpack"));
    let archive = bench.sign(b"");
    std::fs::File::options()
        .write(true)
        .open(&archive)
        .and_then(|file| file.set_len(10 << 30))
        .unwrap();
    assert!(matches!(bench.open(&archive), Err(ArchiveError::TooLong(_))));
    std::fs::remove_file(&archive).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &archive).unwrap();
    assert!(matches!(bench.open(&archive), Err(ArchiveError::Io { .. })));
    assert!(!bench.roots.plugins().exists(), "nothing was written");
}

#[test]
fn an_archive_that_holds_another_plugin_or_version_than_was_signed_is_refused() {
    let bench = Bench::new();
    for (id, version) in [("other", "1.0.0"), ("echo", "1.0.1"), ("language_model", "1.0.0")] {
        let (project, name) = (project(id, version), format!("{id}/plugin.toml"));
        let adapter = format!("{id}/adapter.toml");
        let tar = tar_of(&[
            (&name, tar::EntryType::Regular, project.as_bytes()),
            (&adapter, tar::EntryType::Regular, ADAPTER.as_bytes()),
        ]);
        let refused = bench.open(&bench.sign(&gzip(&tar))).unwrap_err().to_string();
        let expected = format!("signed as `echo` 1.0.0 and holds `{id}` {version}");
        assert!(refused.contains(&expected), "{refused}");
    }
}

#[test]
fn a_publisher_replaces_its_own_plugins_and_no_newer_ones() {
    let bench = Bench::new();
    bench.owner_keys.add(Path::new(&key(2).verifying().public_key)).unwrap();
    let taken = |result: Result<Manifest, ChangeError>| {
        let error = result.unwrap_err();
        let ChangeError::Taken { by, .. } = error else { panic!("{error}") };
        by
    };
    let first = |version, serial| bench.pack("echo", version, &key(1), serial);
    assert!(bench.install(&first("1.1.0", 7)).is_ok());
    assert!(bench.install(&first("1.1.0", 7)).is_ok(), "a repair");
    let older = bench.install(&first("1.0.0", 6)).unwrap_err();
    let expected = "the archive with version 1.0.0 of the plugin `echo` is older than the installed 1.1.0: \
                    number 6, after 7";
    assert_eq!(older.to_string(), expected);
    let signer = Holder::Signer(key(1).verifying().kid.clone());
    assert_eq!(taken(bench.install(&bench.pack("echo", "2.0.0", &key(2), 9))), signer);
    // A damaged plugin stays its publisher's.
    std::fs::write(bench.roots.plugins().join("echo/plugin.toml"), "damaged").unwrap();
    assert_eq!(taken(bench.install(&bench.pack("echo", "2.0.0", &key(2), 9))), signer);
    assert!(bench.install(&first("1.2.0", 8)).is_ok());
    Plugins::remove(&bench.roots, "echo").unwrap();
    assert!(bench.install(&bench.pack("echo", "2.0.0", &key(2), 9)).is_ok());

    // The owner's folder replaces any plugin, and no archive replaces the owner's folder.
    Plugins::install(&bench.roots, &bench.folder("echo", "0.1.0")).unwrap();
    assert_eq!(taken(bench.install(&bench.pack("echo", "2.0.0", &key(2), 10))), Holder::Folder);
    // Nor does the record in a folder give the plugin to a publisher.
    let folder = bench.folder("echo", "0.1.0");
    let record = format!(r#"{{"signed_by":"{}","serial":1}}"#, key(2).verifying().kid);
    std::fs::write(folder.join(".link-origin.json"), record).unwrap();
    Plugins::install(&bench.roots, &folder).unwrap();
    assert_eq!(taken(bench.install(&bench.pack("echo", "2.0.0", &key(2), 10))), Holder::Folder);

    let shipped = bench.pack("language_model", "9.0.0", &key(1), 1);
    assert_eq!(taken(bench.install(&shipped)), Holder::Release);
    let left: Vec<_> = std::fs::read_dir(bench.roots.plugins()).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "the plugin and the lock: {left:?}");
}

fn project(id: &str, version: &str) -> String {
    let text = PROJECT.replace("language_model", id);
    let line = text.lines().find(|line| line.starts_with("version")).unwrap();
    text.replace(line, &format!("version = \"{version}\""))
}

fn tar_of(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, kind, contents) in entries {
        archive.append(&header(name, *kind, contents.len() as u64), *contents).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Returns the header of a file of ten gigabytes, and the first bytes of the file.
fn huge() -> Vec<u8> {
    let header = header("echo/zeros", tar::EntryType::Regular, 10 << 30);
    [header.as_bytes().as_slice(), &[0; 4096]].concat()
}

fn header(name: &str, kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    // The crate would refuse to write these names.
    header.as_ustar_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    header
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}
