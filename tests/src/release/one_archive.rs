//! A release in the form from before there were two archives: one archive with every program, and a manifest without
//! the member `package`.

use std::{path::Path, process::Command};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use link_protocol::{
    command::Sha256Hex,
    limits,
    release::{
        Archive, CONTENTS_FILE, Channel, Contents, MANIFEST_FILE, Manifest, Package, ReleasedFile,
        SCHEMA, Statement, manifest_of,
    },
    signing::SigningKey,
};
use sha2::{Digest as _, Sha256};

use super::{Releases, programs};
use crate::program;

/// Publishes `version` in the folder of `releases`.
pub(super) fn publish(releases: &Releases, version: &str) {
    let key = key(&releases.shared.key());
    let programs = programs(version, &[]);
    let programs = programs.path();
    let folder = releases.folder();
    let target = program::target();
    let (number, released_at): (semver::Version, _) = (version.parse().unwrap(), Timestamp::now());
    let files = ["link", "link-agent", "link-backend", "link-guard"].map(|name| {
        let (size_bytes, sha256) = describe(&programs.join(name));
        ReleasedFile { path: name.parse().unwrap(), size_bytes, sha256 }
    });
    let contents = Contents {
        schema: SCHEMA,
        version: number.clone(),
        channel: Channel::Stable,
        target: target.clone(),
        released_at,
        counter: 1,
        files: files.to_vec(),
    };
    write(&programs.join(CONTENTS_FILE), &key, Statement::Contents(contents));
    let name = format!("link-{version}-{target}.tar.gz");
    let line = "tar -C \"$0\" -cf - link link-agent link-backend link-guard contents.json \
                | gzip -1 >\"$1/$2\"";
    let arguments = [programs.as_os_str(), folder.as_os_str(), name.as_ref()];
    // It may be the archive of all tests.
    drop(std::fs::remove_file(folder.join(&name)));
    let packed = Command::new("sh").args(["-c", line]).args(arguments).status();
    assert!(packed.unwrap().success());
    let (size_bytes, sha256) = describe(&folder.join(&name));
    let manifest = Manifest {
        schema: SCHEMA,
        version: number.clone(),
        channel: Channel::Stable,
        released_at,
        expires_at: released_at + limits::RELEASE_LIFETIME,
        counter: 1,
        archives: vec![Archive {
            target: target.clone(),
            package: Package::Everything,
            name: name.parse().unwrap(),
            size_bytes,
            sha256,
        }],
    };
    for file in [MANIFEST_FILE.to_owned(), manifest_of(&number)] {
        write(&folder.join(file), &key, Statement::Manifest(manifest.clone()));
    }
    let line = "cd \"$0\" && sha256sum *.gz >SHA256SUMS";
    let summed = Command::new("sh").args(["-c", line]).arg(&folder).status();
    assert!(summed.unwrap().success());
}

/// Reads the key that `cargo xtask release-key` has created.
fn key(file: &Path) -> SigningKey {
    let text = std::fs::read_to_string(file).unwrap();
    let seed = URL_SAFE_NO_PAD.decode(text.trim()).unwrap();
    SigningKey::from_seed(&seed.try_into().unwrap())
}

fn describe(file: &Path) -> (u64, Sha256Hex) {
    let bytes = std::fs::read(file).unwrap();
    (bytes.len() as u64, Sha256Hex::from_digest(&Sha256::digest(&bytes)))
}

fn write(file: &Path, key: &SigningKey, statement: Statement) {
    let signed = key.seal_release(&statement);
    std::fs::write(file, serde_json::to_vec(&signed).unwrap()).unwrap();
}
