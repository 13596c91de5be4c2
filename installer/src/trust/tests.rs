//! Unpacked releases in a temporary folder: signed, and tampered with.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "makes the files that a hostile mirror would"
)]

use link_protocol::{
    limits,
    release::{Channel, KeySet, ReleasedFile, SCHEMA, Statement},
    signing::SigningKey,
};
use sha2::{Digest as _, Sha256};

use super::*;
use crate::layout::PROGRAMS;

#[test]
fn a_build_that_trusts_no_key_says_that_it_checked_nothing() {
    let unpacked = Unpacked::new();
    let release =
        Trust::new([]).unwrap().verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS).unwrap();
    assert!(!release.is_signed() && release.programs.len() == PROGRAMS.len());
}

#[test]
fn a_build_that_trusts_a_key_takes_what_it_signed_and_nothing_unsigned() {
    let unpacked = Unpacked::new();
    let verify = || trust(&[1, 2]).verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS);
    assert!(matches!(verify(), Err(VerifyError::Unsigned)));
    unpacked.sign(2);
    let release = verify().unwrap();
    let signed = release.signed.unwrap();
    assert_eq!((signed.counter, signed.channel), (7, Channel::Beta));
    assert_eq!(signed.kid, key(2).verifying().kid);
}

// Holds: S5-5
#[test]
fn whatever_was_changed_after_signing_is_refused() {
    let changes: [fn(&Unpacked); 7] = [
        |unpacked| unpacked.write("link-agent", "changed"),
        |unpacked| unpacked.write("more", "extra"),
        |unpacked| std::fs::create_dir(unpacked.path().join("more")).unwrap(),
        |unpacked| std::fs::remove_file(unpacked.path().join("link-guard")).unwrap(),
        |unpacked| unpacked.write(CONTENTS_FILE, "{}"),
        |unpacked| unpacked.write(KEYS_FILE, "{}"),
        |unpacked| unpacked.sign(3),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let unpacked = Unpacked::new();
        unpacked.sign(1);
        change(&unpacked);
        let refused = trust(&[1]).verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS);
        let right = matches!(
            refused,
            Err(VerifyError::Refused(_)
                | VerifyError::Unpacked(UnpackedError::Malformed(_))
                | VerifyError::Unpacked(UnpackedError::NotPlain(_)))
        );
        assert!(right, "{number}: {refused:?}");
    }
    let unpacked = Unpacked::new();
    unpacked.sign(1);
    let other = trust(&[1]).verify(unpacked.path(), &Version::new(1, 3, 1), &PROGRAMS);
    assert!(matches!(other, Err(VerifyError::Refused(RefusedRelease::Version { .. }))));
    unpacked.sign_for(1, "sparc-unknown-plan9");
    let other = trust(&[1]).verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS);
    assert!(matches!(other, Err(VerifyError::Refused(RefusedRelease::Target { .. }))));
}

/// A mirror must not be able to exhaust the memory or the time of a reader, so none of these files
/// is read.
#[test]
fn what_is_no_plain_file_of_its_size_is_refused_before_it_is_read() {
    let in_place_of = |name: &str, make: &dyn Fn(&Path)| {
        for trusted in [trust(&[1]), Trust::new([]).unwrap()] {
            let unpacked = Unpacked::new();
            unpacked.sign(1);
            let path = unpacked.path().join(name);
            drop(std::fs::remove_file(&path));
            make(&path);
            let refused =
                trusted.verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS).unwrap_err();
            let right = matches!(
                refused,
                VerifyError::Unpacked(UnpackedError::NotPlain(_))
                    | VerifyError::Unpacked(UnpackedError::TooLong(_))
            );
            assert!(right, "{name}: {refused:?}");
        }
    };
    for name in [CONTENTS_FILE, KEYS_FILE, "link-agent", "more"] {
        in_place_of(name, &|path| std::os::unix::fs::symlink("/dev/zero", path).unwrap());
        in_place_of(name, &|path| {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        });
        in_place_of(name, &|path| {
            std::fs::File::create(path).unwrap().set_len(200_000_000_000).unwrap();
        });
    }
    let unpacked = Unpacked::new();
    let statement = std::fs::File::create(unpacked.path().join(CONTENTS_FILE)).unwrap();
    statement.set_len(limits::RELEASE_STATEMENT_LIMIT + 1).unwrap();
    let refused =
        trust(&[1]).verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS).unwrap_err();
    assert!(matches!(refused, VerifyError::Unpacked(UnpackedError::TooLong(_))), "{refused:?}");
    let unpacked = Unpacked::new();
    for number in 0..limits::RELEASE_FILES_LIMIT {
        unpacked.write(&number.to_string(), "");
    }
    let refused =
        trust(&[1]).verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS).unwrap_err();
    assert!(matches!(refused, VerifyError::Unpacked(UnpackedError::TooLong(_))), "{refused:?}");
}

#[test]
fn a_key_that_a_trusted_one_introduced_is_trusted() {
    let unpacked = Unpacked::new();
    unpacked.sign(2);
    let set = KeySet { schema: SCHEMA, counter: 1, keys: vec![key(2).verifying().clone()] };
    let chain = [key(1).seal_release(&Statement::Keys(set))];
    unpacked.write(KEYS_FILE, &serde_json::to_string(&chain).unwrap());
    assert!(
        trust(&[1]).verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS).unwrap().is_signed()
    );
    assert!(matches!(
        trust(&[3]).verify(unpacked.path(), &Version::new(1, 3, 0), &PROGRAMS),
        Err(VerifyError::Refused(RefusedRelease::Untrusted(_)))
    ));
}

#[test]
fn a_list_of_keys_may_have_gaps_and_no_mistakes() {
    let (one, two) = (public(1), public(2));
    assert_eq!(Trust::new([format!(" {one}, ,{two},").as_str()]).unwrap(), trust(&[1, 2]));
    assert!(matches!(Trust::new([&one[1..]]), Err(VerifyError::Keys(_))));
}

#[test]
fn a_development_build_trusts_the_keys_of_its_caller_beside_its_own() {
    let (own, callers) = (Trust::new(BUILT_IN).unwrap(), trust(&[9]));
    let both = [own.keys.clone(), callers.keys].concat();
    assert_eq!(Trust::of_this_build(None).unwrap(), own);
    let expected = if cfg!(debug_assertions) { both } else { own.keys };
    assert_eq!(Trust::of_this_build(Some(&public(9))).unwrap().keys, expected);
}

struct Unpacked {
    dir: tempfile::TempDir,
}

impl Unpacked {
    fn new() -> Self {
        let unpacked = Self { dir: tempfile::tempdir().unwrap() };
        PROGRAMS.iter().for_each(|name| unpacked.write(name, name));
        unpacked
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn sign(&self, signer: u8) {
        self.sign_for(signer, facts::target().unwrap());
    }

    fn sign_for(&self, signer: u8, target: &str) {
        let file = |name: &&str| ReleasedFile {
            path: name.parse().unwrap(),
            size_bytes: name.len() as u64,
            sha256: Sha256Hex::from_digest(&Sha256::digest(name)),
        };
        let contents = Contents {
            schema: SCHEMA,
            version: "1.3.0".parse().unwrap(),
            channel: Channel::Beta,
            target: target.into(),
            released_at: "2026-10-01T00:00:00Z".parse().unwrap(),
            counter: 7,
            files: PROGRAMS.iter().map(file).collect(),
        };
        let signed = key(signer).seal_release(&Statement::Contents(contents));
        self.write(CONTENTS_FILE, &serde_json::to_string(&signed).unwrap());
    }
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn public(seed: u8) -> String {
    key(seed).verifying().public_key.clone()
}

fn trust(seeds: &[u8]) -> Trust {
    let keys: Vec<_> = seeds.iter().map(|&seed| public(seed)).collect();
    Trust::new([keys.join(",").as_str()]).unwrap()
}
