//! The symbols of a release: the programs of each system as they were linked, in an archive beside the release. Devices
//! do not download it: it gives the addresses in a crash their names.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads build output")]

use std::{collections::BTreeSet, path::Path};

use anyhow::Context as _;

use crate::dist::{File, Profile, archive, strip::has_symbols, target::Target};

/// Packs the programs of `target` in `folder` that have symbols. None if none has.
///
/// # Errors
/// If a program cannot be read.
pub(super) fn of(
    folder: &Path,
    target: Target,
    profile: Profile,
    version: &semver::Version,
) -> anyhow::Result<Option<File>> {
    let programs: BTreeSet<_> =
        target.archives().iter().flat_map(|(product, _)| product.programs()).collect();
    let mut files = Vec::new();
    for program in programs {
        let name = target.file(program);
        let path = folder.join(&name);
        let linked =
            std::fs::read(&path).with_context(|| format!("failed to read `{}`", path.display()))?;
        if has_symbols(&linked) {
            files.push(File::executable(&name, linked));
        }
    }
    if files.is_empty() {
        return Ok(None);
    }
    let name = format!("link-{version}-{}.symbols.tar.gz", target.name());
    let packed = archive(&files, profile.compression());
    Ok(Some(File::data(&name, packed.with_context(|| format!("failed to pack `{name}`"))?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_symbols_are_kept_and_others_need_no_archive() {
        let folder = tempfile::tempdir().unwrap();
        for program in ["link", "link-agent", "link-guard", "link-backend"] {
            std::fs::write(folder.path().join(program), "stripped").unwrap();
        }
        let version = semver::Version::new(1, 4, 0);
        let kept = || of(folder.path(), Target::LinuxX86, Profile::Dist, &version).unwrap();
        assert!(kept().is_none());
        std::fs::copy(std::env::current_exe().unwrap(), folder.path().join("link-agent")).unwrap();
        let file = kept().unwrap();
        assert_eq!(file.name, "link-1.4.0-x86_64-unknown-linux-gnu.symbols.tar.gz");
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(file.contents.as_slice()));
        let mut entries = tar.entries().unwrap();
        let only = entries.next().unwrap().unwrap();
        assert_eq!(only.path().unwrap(), Path::new("link-agent"));
        assert!(entries.next().is_none());
    }
}
