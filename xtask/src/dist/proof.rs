//! Verifies a release with its own `link` before it is published: the packed `link` must report that a trusted key
//! signed the files. A `link` without trusted keys would install anything.
//!
//! A `link` that this machine cannot run must at least contain each key that it was built to trust.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: writes the files of a release and runs its `link`"
)]

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use link_installer::layout::Product;
use link_protocol::signing::VerifyingKey;
use semver::Version;

use crate::dist::{Packed, target::Target};

/// The program that runs those for arm64, from `scripts/prepare cross`.
const ARM: &str = "qemu-aarch64-static";

/// Returns the keys that the programs will trust: those `given` for the build, and the signing key.
pub(super) fn trusted(given: Option<&str>, signer: Option<&VerifyingKey>) -> String {
    let given = given.unwrap_or_default().split(',').map(str::trim).filter(|key| !key.is_empty());
    let mut keys: Vec<_> = given.collect();
    if let Some(signer) = signer.map(|key| key.public_key.as_str())
        && !keys.contains(&signer)
    {
        keys.push(signer);
    }
    keys.join(",")
}

/// Verifies the files of an archive with the `link` in it, which trusts `keys`, in the temporary folder `scratch`.
pub(super) fn prove(
    packed: &Packed,
    version: &Version,
    keys: &str,
    scratch: &Path,
) -> anyhow::Result<()> {
    let runner = match packed.target {
        Target::LinuxX86 | Target::MuslX86 => None,
        Target::MuslArm => Some(ARM),
        Target::WindowsX86 | Target::MacX86 | Target::MacArm => return contains_keys(packed, keys),
    };
    link_platform::fs::remove_dir(scratch)?;
    let proved = verify(packed, version, runner, scratch);
    link_platform::fs::remove_dir(scratch)?;
    proved
}

/// Checks that the `link` of an archive contains each of the `keys`.
fn contains_keys(packed: &Packed, keys: &str) -> anyhow::Result<()> {
    let name = packed.target.file("link");
    let link = packed.files.iter().find(|file| file.name == name);
    let link = link.with_context(|| format!("{} has no `{name}`", packed.name))?;
    for key in keys.split(',').filter(|key| !key.is_empty()) {
        let is_in = link.contents.windows(key.len()).any(|bytes| bytes == key.as_bytes());
        ensure!(
            is_in,
            "the `{name}` of {} does not trust the key {key}, so nothing was written",
            packed.name
        );
    }
    Ok(())
}

fn verify(
    packed: &Packed,
    version: &Version,
    runner: Option<&str>,
    scratch: &Path,
) -> anyhow::Result<()> {
    let folder = scratch.join("release");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("failed to create `{}`", folder.display()))?;
    for file in &packed.files {
        let path = folder.join(&file.name);
        std::fs::write(&path, &file.contents)
            .and_then(|()| {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(file.mode))
            })
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    // A key from the environment must not replace the built-in keys.
    let link = folder.join("link");
    let mut verify = Command::new(runner.map_or(link.as_path(), Path::new));
    verify.args(runner.map(|_| &link));
    verify.args(["verify-files", "--release", &version.to_string(), "--from"]).arg(&folder);
    if packed.product == Product::Backend {
        verify.arg("--backend");
    }
    let answer = verify
        .env_clear()
        .env("LINK_HOME", scratch.join("home"))
        .stdin(Stdio::null())
        .output()
        .with_context(|| match runner {
            Some(runner) => format!("`{runner}` is missing: run `scripts/prepare cross`"),
            None => "failed to run the packed `link`".to_owned(),
        })?;
    let said = String::from_utf8_lossy(&answer.stderr);
    let expected = format!("signature of release {version} verified");
    ensure!(
        answer.status.success() && said.contains(&expected),
        "the `link` of {} does not verify its own release, so nothing was written: {}",
        packed.name,
        said.trim()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use link_protocol::signing::SigningKey;

    use super::*;
    use crate::dist::File;

    #[test]
    fn the_key_that_signs_is_trusted_by_what_it_signs() {
        let key = SigningKey::from_seed(&[1; 32]);
        let own = key.verifying().public_key.as_str();
        assert_eq!(trusted(None, None), "");
        assert_eq!(trusted(None, Some(key.verifying())), own);
        assert_eq!(trusted(Some(" other, "), Some(key.verifying())), format!("other,{own}"));
        assert_eq!(trusted(Some(own), Some(key.verifying())), own);
    }

    #[test]
    fn a_release_whose_link_checks_nothing_or_refuses_it_is_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = dir.path().join("proof");
        let says = |script: &str| {
            let link = File::executable("link", format!("#!/bin/sh\n{script}\n").into_bytes());
            let (product, name) = (Product::Agent, "link.tar.gz".to_owned());
            let packed = Packed { target: Target::LinuxX86, product, name, files: vec![link] };
            prove(&packed, &Version::new(1, 4, 0), "", &scratch).map_err(|error| error.to_string())
        };
        let verified = "echo signature of release 1.4.0 verified >&2";
        assert_eq!(says(verified), Ok(()));
        for script in [
            "echo the signature of the release was NOT checked >&2",
            "echo signature of release 1.3.0 verified >&2",
            "echo signature of release 1.4.0 verified >&2; exit 24",
        ] {
            let refused = says(script).unwrap_err();
            assert!(refused.contains("does not verify its own release"), "{refused}");
        }
        let asked = "[ \"$1 $2 $3 $4\" = 'verify-files --release 1.4.0 --from' ] && [ -x $5/link ] \
                     && [ -z \"${LINK_DEV_RELEASE_KEYS:-}\" ] && ";
        assert_eq!(says(&format!("{asked} {verified}")), Ok(()));
        assert!(!scratch.exists());
    }

    #[test]
    fn a_link_that_does_not_run_here_contains_the_keys_that_it_trusts() {
        let packed = |contents: &str| Packed {
            target: Target::WindowsX86,
            product: Product::Agent,
            name: "link.tar.gz".to_owned(),
            files: vec![File::executable("link.exe", contents.as_bytes().to_vec())],
        };
        let proved = |contents, keys| {
            let version = Version::new(1, 4, 0);
            prove(&packed(contents), &version, keys, Path::new("/none"))
                .map_err(|error| error.to_string())
        };
        assert_eq!(proved("..own..other..", "own,other"), Ok(()));
        let refused = proved("..own..", "own,other").unwrap_err();
        assert!(refused.contains("does not trust the key other"), "{refused}");
    }
}
