//! A release folder: the archive of the executables, the installer script and the checksum file of the release.
//!
//! The archive depends on the executables alone: the same build gives the same bytes, whoever packs it and when.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: reads build output and writes the release folder"
)]

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

const TARGET: &str = "x86_64-unknown-linux-gnu";
const EXECUTABLES: &[&str] = &["link", "link-agent", "link-guard"];
/// The modification time of every entry: 1 January 2026, in seconds of the epoch.
const MODIFIED: u64 = 1_767_225_600;

/// Which build to pack.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Profile {
    /// What `cargo build` makes
    Dev,
    /// What `cargo build --release` makes
    Release,
    /// What `cargo build --profile dist` makes
    Dist,
}

impl Profile {
    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }

    fn build_command(self) -> &'static str {
        match self {
            Self::Dev => "cargo build -p link-cli -p link-agent -p link-installer",
            Self::Release => "cargo build --release -p link-cli -p link-agent -p link-installer",
            Self::Dist => "cargo build --profile dist -p link-cli -p link-agent -p link-installer",
        }
    }

    /// An archive for a test run is made quickly, one for users is made small.
    fn compression(self) -> Compression {
        match self {
            Self::Dev => Compression::fast(),
            Self::Release | Self::Dist => Compression::best(),
        }
    }
}

/// Makes the release folder and says what is in it.
pub(crate) fn run(root: &Path, profile: Profile, out: Option<PathBuf>) -> anyhow::Result<String> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let out = out.unwrap_or_else(|| target.join("release-folder"));
    let mut executables = Vec::new();
    for &name in EXECUTABLES {
        let path = target.join(profile.folder()).join(name);
        let contents = std::fs::read(&path).with_context(|| {
            format!(
                "failed to read `{}`; build it with `{}`",
                path.display(),
                profile.build_command()
            )
        })?;
        executables.push((name, contents));
    }
    let script = root.join("scripts/install.sh");
    let script =
        std::fs::read(&script).with_context(|| format!("failed to read `{}`", script.display()))?;

    let archive =
        archive(&executables, profile.compression()).context("failed to pack the archive")?;
    let name = format!("link-{}-{TARGET}.tar.gz", env!("CARGO_PKG_VERSION"));
    let mut files = vec![("install.sh".to_owned(), script), (name, archive)];
    files.push(("SHA256SUMS".to_owned(), checksums(&files).into_bytes()));

    std::fs::create_dir_all(&out)
        .with_context(|| format!("failed to create `{}`", out.display()))?;
    let mut report = format!("dist: {}", out.display());
    for (name, contents) in &files {
        let path = out.join(name);
        std::fs::write(&path, contents)
            .with_context(|| format!("failed to write `{}`", path.display()))?;
        report.push_str(&format!("\n  {name} ({} bytes)", contents.len()));
    }
    Ok(report)
}

/// A compressed tar of executables, in the order of their names.
fn archive(executables: &[(&str, Vec<u8>)], compression: Compression) -> io::Result<Vec<u8>> {
    let mut sorted: Vec<_> = executables.iter().collect();
    sorted.sort();
    let mut tar = tar::Builder::new(GzBuilder::new().mtime(0).write(Vec::new(), compression));
    for (name, contents) in sorted {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(contents.len() as u64);
        header.set_mode(0o755);
        header.set_mtime(MODIFIED);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, name, contents.as_slice())?;
    }
    let mut compressed = tar.into_inner()?.finish()?;
    compressed.flush()?;
    Ok(compressed)
}

/// One line for each file as `sha256sum` writes it, in the order of their names.
fn checksums(files: &[(String, Vec<u8>)]) -> String {
    let mut lines: Vec<String> = files
        .iter()
        .map(|(name, contents)| format!("{}  {name}\n", hexadecimal(&Sha256::digest(contents))))
        .collect();
    lines.sort_by(|left, right| left[64..].cmp(&right[64..]));
    lines.concat()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_archive_depends_on_the_executables_alone() {
        let one = [("link", vec![1; 5000]), ("link-agent", vec![2; 700])];
        let other = [one[1].clone(), one[0].clone()];
        assert_eq!(
            archive(&one, Compression::fast()).unwrap(),
            archive(&other, Compression::fast()).unwrap()
        );
    }

    #[test]
    fn the_archive_holds_executables_of_nobody_at_a_fixed_time() {
        let packed = archive(
            &[("link-agent", b"agent".to_vec()), ("link", b"cli".to_vec())],
            Compression::best(),
        )
        .unwrap();
        assert_eq!(packed[4..8], [0; 4], "the time in the gzip header");
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let mut read = Vec::new();
        for entry in tar.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            assert_eq!((header.mode().unwrap(), header.mtime().unwrap()), (0o755, MODIFIED));
            read.push((entry.path().unwrap().display().to_string(), text));
        }
        assert_eq!(
            read,
            [("link".to_owned(), "cli".to_owned()), ("link-agent".to_owned(), "agent".to_owned())]
        );
    }

    #[test]
    fn checksums_are_what_sha256sum_reads() {
        let files = [("b".to_owned(), b"abc".to_vec()), ("a".to_owned(), Vec::new())];
        assert_eq!(
            checksums(&files),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n"
        );
    }
}
