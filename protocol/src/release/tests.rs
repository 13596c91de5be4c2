//! Tests a release with a trusted key, and every reason to refuse it.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

const TARGET: &str = "x86_64-unknown-linux-gnu";

#[test]
fn what_was_signed_and_is_there_is_accepted() {
    let contents = Contents::open(&seal(&key(1), &contents()), &trusted()).unwrap();
    assert_eq!(contents.check("1.3.0", TARGET, &found()), Ok(()));
}

#[test]
fn whatever_differs_from_what_was_signed_is_refused() {
    use RefusedRelease::{Altered, Extra, Missing, Version as OtherVersion};
    let contents = contents();
    let cases: [(RefusedRelease, &str, Change); 5] = [
        (
            OtherVersion { signed: contents.version.clone(), expected: "1.3.1".into() },
            "1.3.1",
            |_| {},
        ),
        (Missing("link-agent".into()), "1.3.0", |found| drop(found.remove(1))),
        (Extra("x".into()), "1.3.0", |found| {
            found.push(FoundFile { name: "x".into(), ..file(9) });
        }),
        (Altered(name("link")), "1.3.0", |found| found[0].size_bytes += 1),
        (Altered(name("link-agent")), "1.3.0", |found| found[1].sha256 = digest(7)),
    ];
    for (refused, version, change) in cases {
        let mut found = found();
        change(&mut found);
        assert_eq!(contents.check(version, TARGET, &found), Err(refused));
    }
    let (signed, expected) = (TARGET.to_owned(), "aarch64-apple-darwin".to_owned());
    let other = contents.check("1.3.0", &expected, &found());
    assert_eq!(other, Err(RefusedRelease::Target { signed, expected }));
}

#[test]
fn the_texts_that_released_programs_read_stay_as_they_are() {
    let text = |statement| serde_json::to_string(&statement).unwrap();
    let (one, three) = ("01".repeat(32), "03".repeat(32));
    let mut contents = contents();
    contents.files.truncate(1);
    assert_eq!(
        text(Statement::Contents(contents.clone())),
        format!(
            r#"{{"kind":"contents","schema":1,"version":"1.3.0","channel":"stable","target":"x86_64-unknown-linux-gnu","released_at":"2026-10-01T00:00:00Z","counter":5,"files":[{{"path":"link","size_bytes":1,"sha256":"{one}"}}]}}"#
        )
    );
    assert_eq!(
        text(Statement::Manifest(manifest())),
        format!(
            r#"{{"kind":"manifest","schema":1,"version":"1.3.0","channel":"stable","released_at":"2026-10-01T00:00:00Z","expires_at":"2026-12-30T00:00:00Z","counter":5,"archives":[{{"target":"x86_64-unknown-linux-gnu","name":"link.tar.gz","size_bytes":3,"sha256":"{three}"}}]}}"#
        )
    );
    let VerifyingKey { kid, public_key } = key(2).verifying().clone();
    assert_eq!(
        text(Statement::Keys(key_set(1, 2))),
        format!(
            r#"{{"kind":"keys","schema":1,"counter":1,"keys":[{{"kid":"{kid}","public_key":"{public_key}"}}]}}"#
        )
    );
    let later = text(Statement::Contents(contents.clone())).replace("{\"kind", "{\"new\":1,\"kind");
    let opened = Contents::open(&key(1).seal_text(later), &trusted());
    assert_eq!(opened, Ok(contents), "an unknown field is tolerated");
}

/// Two readers could each take a different one of the two values, so every reader refuses the statement, even with a
/// valid signature.
#[test]
fn a_statement_that_says_a_thing_twice_is_refused() {
    let text = |statement| serde_json::to_string(&statement).unwrap();
    let twice = |text: &str, member: &str, more: &str| {
        assert!(text.contains(member), "{text}");
        key(1).seal_text(text.replacen(member, &format!("{more}{member}"), 1))
    };
    let refused = Err(RefusedRelease::NotTheStatement);
    let of_contents = text(Statement::Contents(contents()));
    for (member, more) in [
        ("\"kind\":", "\"kind\":\"manifest\","),
        ("\"schema\":", "\"schema\":1,"),
        ("\"version\":", "\"version\":\"9.9.9\","),
        ("\"counter\":", "\"counter\":9,"),
        ("\"files\":", "\"files\":[],"),
        ("\"sha256\":", "\"sha256\":\"00\","),
    ] {
        let opened = Contents::open(&twice(&of_contents, member, more), &trusted());
        assert_eq!(opened.map(drop), refused, "{more}");
    }
    let of_manifest = text(Statement::Manifest(manifest()));
    for (member, more) in [
        ("\"channel\":", "\"channel\":\"alpha\","),
        ("\"expires_at\":", "\"expires_at\":\"2036-10-01T00:00:00Z\","),
        ("\"archives\":", "\"archives\":[],"),
        ("\"size_bytes\":", "\"size_bytes\":1,"),
    ] {
        let opened = Manifest::open(&twice(&of_manifest, member, more), &trusted());
        assert_eq!(opened.map(drop), refused, "{more}");
    }
    let of_keys = text(Statement::Keys(key_set(1, 2)));
    let both = twice(&of_keys, "\"keys\":", "\"keys\":[],");
    assert_eq!(introduce(&trusted(), &[both]).map(drop), refused);
    let signed = serde_json::to_string(&seal(&key(1), &contents())).unwrap();
    let signed = signed.replacen("\"envelope\":", "\"envelope\":\"{}\",\"envelope\":", 1);
    assert!(serde_json::from_str::<Signed>(&signed).is_err(), "around the signature too");
}

#[test]
fn contents_are_believed_only_as_contents_of_this_schema_by_a_trusted_key() {
    let other = Untrusted::UnknownKey.into();
    assert_eq!(Contents::open(&seal(&key(2), &contents()), &trusted()), Err(other));
    let renamed = Signed { kid: key(1).verifying().kid.clone(), ..seal(&key(2), &contents()) };
    assert_eq!(Contents::open(&renamed, &trusted()), Err(Untrusted::BadSignature.into()));
    let later = Contents { schema: SCHEMA + 1, ..contents() };
    let text = serde_json::to_string(&Statement::Contents(contents())).unwrap();
    for signed in [
        seal(&key(1), &later),
        key(1).seal_release(&Statement::Manifest(manifest())),
        key(1).seal_release(&Statement::Keys(key_set(1, 2))),
        key(1).seal_text(text.replace("link-agent", "../link-agent")),
        key(1).seal_text(text.replace("link-agent", ".link")),
        key(1).seal_text(String::new()),
    ] {
        let opened = Contents::open(&signed, &trusted());
        assert_eq!(opened, Err(RefusedRelease::NotTheStatement), "{}", signed.envelope);
    }
}

#[test]
fn a_name_that_is_listed_twice_in_whatever_case_is_refused() {
    for twice in ["link", "LINK"] {
        let mut contents = contents();
        contents.files[1].path = name(twice);
        let opened = Contents::open(&seal(&key(1), &contents), &trusted());
        assert_eq!(opened, Err(RefusedRelease::Duplicate(name(twice))));
    }
    let mut manifest = manifest();
    manifest.archives.push(manifest.archives[0].clone());
    let signed = key(1).seal_release(&Statement::Manifest(manifest));
    assert!(matches!(Manifest::open(&signed, &trusted()), Err(RefusedRelease::Duplicate(_))));
}

#[test]
fn a_device_and_a_backend_take_their_own_archives_and_an_older_manifest_has_one_for_both() {
    let one = manifest();
    let target = one.archives[0].target.clone();
    let named = |manifest: &Manifest, package| {
        let archive = manifest.archive(&target, package)?;
        Some(archive.name.as_str().to_owned())
    };
    for package in [Package::Device, Package::Backend] {
        assert_eq!(named(&one, package).as_deref(), Some("link.tar.gz"));
        assert_eq!(one.archive("aarch64-unknown-linux-gnu", package), None);
    }
    let archive =
        |package, file: &str| Archive { package, name: name(file), ..one.archives[0].clone() };
    let both = Manifest {
        archives: vec![
            archive(Package::Device, "device.tar.gz"),
            archive(Package::Backend, "backend.tar.gz"),
        ],
        ..one.clone()
    };
    let text = serde_json::to_string(&both).unwrap();
    assert!(text.contains(r#""package":"device""#) && text.contains(r#""package":"backend""#));
    assert_eq!(named(&both, Package::Device).as_deref(), Some("device.tar.gz"));
    assert_eq!(named(&both, Package::Backend).as_deref(), Some("backend.tar.gz"));
    // The package of a later version is not installed, but the manifest is still readable.
    let later = text.replace(r#""package":"backend""#, r#""package":"desktop""#);
    let later: Manifest = serde_json::from_str(&later).unwrap();
    assert_eq!(later.archives[1].package, Package::Later);
    assert_eq!(named(&later, Package::Backend), None);
}

#[test]
fn an_old_manifest_warns_for_a_long_time_before_it_counts_for_nothing() {
    let signed = key(1).seal_release(&Statement::Manifest(manifest()));
    let manifest = Manifest::open(&signed, &trusted()).unwrap();
    let second = Duration::from_secs(1);
    for (age, freshness) in [
        (Duration::ZERO, Freshness::Fresh),
        (limits::RELEASE_LIFETIME - second, Freshness::Fresh),
        (limits::RELEASE_LIFETIME, Freshness::Stale),
        (limits::RELEASE_LIFETIME + limits::RELEASE_GRACE - second, Freshness::Stale),
        (limits::RELEASE_LIFETIME + limits::RELEASE_GRACE, Freshness::Expired),
    ] {
        assert_eq!(manifest.freshness(manifest.released_at + age), freshness, "{age:?}");
    }
}

#[test]
fn a_lower_counter_is_a_downgrade_unless_the_version_is_the_same() {
    for (installed, offered, downgrade) in [
        (("1.3.0", 5), ("1.3.1", 6), false),
        (("1.3.0", 5), ("1.3.1", 5), false),
        (("1.3.1", 6), ("1.3.0", 5), true),
        (("1.3.0", 6), ("1.3.1", 5), true),
        (("1.3.0", 6), ("1.3.0", 5), false),
    ] {
        assert_eq!(is_downgrade(installed, offered), downgrade, "{installed:?} {offered:?}");
    }
}

#[test]
fn a_trusted_key_introduces_another_and_that_one_the_next() {
    let set = |signer, counter, introduced| {
        key(signer).seal_release(&Statement::Keys(key_set(counter, introduced)))
    };
    let kids = |chain: &[Signed]| {
        introduce(&trusted(), chain)
            .map(|keys| keys.into_iter().map(|key| key.kid).collect::<Vec<_>>())
    };
    let names = |seeds: &[u8]| Ok(seeds.iter().map(|&n| key(n).verifying().kid.clone()).collect());
    assert_eq!(kids(&[]), names(&[1]));
    assert_eq!(kids(&[set(1, 1, 2), set(2, 2, 3)]), names(&[1, 2, 3]));
    assert_eq!(kids(&[set(8, 1, 1), set(1, 2, 3)]), names(&[1, 3]), "a set from before our time");
    assert_eq!(kids(&[set(2, 2, 3), set(1, 1, 2)]), names(&[1, 2]), "introduced too late");
    assert_eq!(kids(&[set(1, 2, 2), set(2, 2, 3)]), Err(RefusedRelease::NotTheStatement));
    assert_eq!(kids(&[seal(&key(1), &contents())]), Err(RefusedRelease::NotTheStatement));
    let renamed = Signed { kid: key(1).verifying().kid.clone(), ..set(2, 1, 3) };
    assert_eq!(kids(&[renamed]), Err(Untrusted::BadSignature.into()));
}

proptest! {
    #[test]
    fn no_byte_of_signed_contents_can_be_changed(place: prop::sample::Index, change in 1u8..) {
        let mut bytes = serde_json::to_vec(&seal(&key(1), &contents())).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        let opened = serde_json::from_slice::<Signed>(&bytes)
            .map(|signed| Contents::open(&signed, &trusted()));
        prop_assert!(!matches!(opened, Ok(Ok(_))));
    }

    #[test]
    fn no_changed_byte_of_a_key_set_introduces_another_key(
        place: prop::sample::Index,
        change in 1u8..,
    ) {
        let introduced = key(1).seal_release(&Statement::Keys(key_set(1, 2)));
        let mut bytes = serde_json::to_vec(&introduced).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        if let Ok(signed) = serde_json::from_slice::<Signed>(&bytes)
            && let Ok(keys) = introduce(&trusted(), &[signed])
        {
            prop_assert_eq!(keys, trusted());
        }
    }
}

/// A change to the files in the unpacked archive.
type Change = fn(&mut Vec<FoundFile>);

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn trusted() -> Vec<VerifyingKey> {
    vec![key(1).verifying().clone()]
}

fn seal(key: &SigningKey, contents: &Contents) -> Signed {
    key.seal_release(&Statement::Contents(contents.clone()))
}

fn name(text: &str) -> FileName {
    text.parse().unwrap()
}

fn digest(byte: u8) -> Sha256Hex {
    Sha256Hex::from_digest(&[byte; 32])
}

fn contents() -> Contents {
    let file = |path, byte| ReleasedFile {
        path: name(path),
        size_bytes: u64::from(byte),
        sha256: digest(byte),
    };
    Contents {
        schema: SCHEMA,
        version: Version::new(1, 3, 0),
        channel: Channel::Stable,
        target: "x86_64-unknown-linux-gnu".into(),
        released_at: "2026-10-01T00:00:00Z".parse().unwrap(),
        counter: 5,
        files: vec![file("link", 1), file("link-agent", 2)],
    }
}

fn file(byte: u8) -> FoundFile {
    FoundFile { name: "link".into(), size_bytes: u64::from(byte), sha256: digest(byte) }
}

fn found() -> Vec<FoundFile> {
    vec![file(1), FoundFile { name: "link-agent".into(), ..file(2) }]
}

fn manifest() -> Manifest {
    let contents = contents();
    Manifest {
        schema: SCHEMA,
        version: contents.version,
        channel: contents.channel,
        released_at: contents.released_at,
        expires_at: contents.released_at + limits::RELEASE_LIFETIME,
        counter: contents.counter,
        archives: vec![Archive {
            target: contents.target,
            package: Package::Everything,
            name: name("link.tar.gz"),
            size_bytes: 3,
            sha256: digest(3),
        }],
    }
}

fn key_set(counter: u64, introduced: u8) -> KeySet {
    KeySet { schema: SCHEMA, counter, keys: vec![key(introduced).verifying().clone()] }
}

// Holds: S9-5
#[test]
fn the_label_of_a_channel_is_hidden_on_production_builds() {
    let version = Version::new(1, 0, 19);
    let shown = [Channel::Alpha, Channel::Beta, Channel::Stable].map(|one| one.beside(&version));
    assert_eq!(shown, ["1.0.19 · Alpha", "1.0.19 · Beta", "1.0.19"]);
}
