//! Builds a release folder: for each target an archive for devices and, on Linux, one for backends, with a bill of
//! materials beside each; the installer script; the signed manifest of all archives and the checksum file (decisions
//! 0053 and 0086). The programs with their symbols are in archives of their own, which no device downloads.
//!
//! The shipped programs are built here. A program that needs more than its system has is not packed: on Linux, more than
//! the kernel. The programs trust the key that signs them, and this is verified before the folder is written. The output
//! depends only on the executables, the key and the options: the same build gives the same bytes, whoever packs it and
//! when.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: reads build output and writes the release folder"
)]

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use flate2::{Compression, GzBuilder};
use link_installer::{
    layout::{PLUGINS, Product},
    plugins,
};
use link_protocol::{
    command::Sha256Hex,
    install_script::{Releases, plain},
    release::{CONTENTS_FILE, Channel, KEYS_FILE, MANIFEST_FILE, manifest_of},
};
use sha2::{Digest as _, Sha256};

use crate::{
    dist::{
        executable::ensure_ships,
        proof::{prove, trusted},
        statements::{Statements, counter_of},
        strip::executable_of,
        target::{Target, chosen},
    },
    release_key, web,
};

mod bill;
mod build;
mod crates;
mod executable;
mod proof;
mod report;
mod statements;
mod strip;
mod symbols;
mod target;

/// The installer for Windows, beside `install.sh`.
const POWER_SHELL: &str = include_str!("../../scripts/install.ps1");
/// The environment variable with the release keys that a build trusts, as `link_installer::trust` reads it.
const RELEASE_KEYS: &str = "LINK_RELEASE_KEYS";
/// The modification time of every entry: 1 January 2026, in Unix seconds.
const MODIFIED: u64 = 1_767_225_600;

/// Which build to pack.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Profile {
    /// The output of `cargo build`: for tests, not static
    Dev,
    /// A static build that builds faster
    Release,
    /// The build for users
    Dist,
}

impl Profile {
    /// The Cargo profile of a static build.
    fn shipped(self) -> Option<&'static str> {
        match self {
            Self::Dev => None,
            Self::Release => Some("release"),
            Self::Dist => Some("dist"),
        }
    }

    /// Archives for tests are stored, because each is unpacked hundreds of times. Archives for users are compressed well.
    fn compression(self) -> Compression {
        match self {
            Self::Dev => Compression::none(),
            Self::Release | Self::Dist => Compression::best(),
        }
    }
}

/// What to build.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The build to pack
    #[arg(long, value_enum, default_value_t = Profile::Dist)]
    profile: Profile,
    /// System to build for; repeatable. All except the default need `scripts/prepare cross` [default:
    /// x86_64-unknown-linux-gnu]
    #[arg(long, value_enum, value_name = "TRIPLE", hide_default_value = true)]
    target: Vec<Target>,
    /// Only check that the programs compile for these systems without a warning; writes no release
    #[arg(long, requires = "target", conflicts_with_all = ["profile", "out", "sign_with", "repo_url", "executables"])]
    check: bool,
    /// Output folder [default: release-folder in the target folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Sign the release with this key, made by `cargo xtask release-key`; the programs trust it
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    /// Address below which the folders of the channels will be published, such as
    /// https://releases.example for https://releases.example/stable; the installers look there
    #[arg(long, value_name = "URL")]
    repo_url: Option<String>,
    /// Stability of the release: alpha, beta or stable
    #[arg(long, value_parser = channel, default_value = "stable", requires = "sign_with")]
    channel: Channel,
    /// Counter of the release, never lower than that of an earlier release [default: from the version]
    #[arg(long, value_name = "N", requires = "sign_with")]
    counter: Option<u64>,
    /// Folder with existing executables, or with one folder for each TRIPLE if there are several targets; skips the build
    /// [default: the output folder of the build]
    #[arg(long, value_name = "DIR")]
    executables: Option<PathBuf>,
    /// Version of the executables [default: the version of this checkout]
    #[arg(long, value_name = "VERSION", default_value = env!("CARGO_PKG_VERSION"))]
    release_version: semver::Version,
    /// Date of the release in Unix seconds [default: now]
    #[arg(long, env = "SOURCE_DATE_EPOCH", value_name = "SECONDS")]
    released_at: Option<u64>,
}

impl Options {
    /// Returns where the installers look for releases, if that is given.
    fn releases(&self) -> anyhow::Result<Option<Releases<'_>>> {
        let Some(repo_url) = &self.repo_url else { return Ok(None) };
        let is_address = |url: &&str| url.starts_with("https://") || url.starts_with("file://");
        let base = plain(repo_url).filter(is_address);
        let base =
            base.with_context(|| format!("`{repo_url}` is no https:// or file:// address"))?;
        Ok(Some(Releases::Below(base)))
    }
}

/// A file of a release.
struct File {
    name: String,
    mode: u32,
    contents: Vec<u8>,
}

impl File {
    fn executable(name: &str, contents: Vec<u8>) -> Self {
        Self { name: name.to_owned(), mode: 0o755, contents }
    }

    fn data(name: &str, contents: Vec<u8>) -> Self {
        Self { name: name.to_owned(), mode: 0o644, contents }
    }
}

/// An archive before its compression: the executables and the signed statements.
struct Packed {
    target: Target,
    product: Product,
    name: String,
    files: Vec<File>,
}

/// Creates the folder `out` unless it exists, and makes sure that files can be created in it.
fn ensure_writable(out: &Path) -> anyhow::Result<()> {
    let written = std::fs::create_dir_all(out).and_then(|()| tempfile::tempfile_in(out));
    written.map(drop).with_context(|| format!("failed to write to `{}`", out.display()))
}

/// Creates the release folder, and returns a description of its contents.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<String> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    if options.check {
        return build::check(root, &target, &options.target);
    }
    if options.executables.is_none() {
        web::ensure_built(root)?;
    }
    let out = options.out.clone().unwrap_or_else(|| target.join("release-folder"));
    let statements = statements(options)?;
    let targets = chosen(&options.target)?;
    let given = std::env::var(RELEASE_KEYS).ok();
    let signer = statements.as_ref().map(|statements| statements.key.key.verifying());
    let keys = trusted(given.as_deref(), signer);
    let releases = options.releases()?;
    // Before the build, which takes minutes.
    ensure_writable(&out)?;
    let mut archives = Vec::new();
    let mut kept = Vec::new();
    for target_of in &targets {
        let folder = match &options.executables {
            Some(folder) if targets.len() > 1 => folder.join(target_of.triple()),
            Some(folder) => folder.clone(),
            None => build::run(root, &target, *target_of, options.profile, &keys)?,
        };
        for (product, suffix) in target_of.archives() {
            let files = contents(root, &folder, *target_of, *product, options.profile)?;
            let version = &options.release_version;
            let name = format!("link-{version}-{}{suffix}.tar.gz", target_of.name());
            archives.push(packed(*target_of, *product, name, files, statements.as_ref())?);
        }
        if options.profile.shipped().is_some() {
            kept.extend(symbols::of(
                &folder,
                *target_of,
                options.profile,
                &options.release_version,
            )?);
        }
    }
    if statements.is_some() && options.profile.shipped().is_some() {
        for archive in &archives {
            prove(archive, &options.release_version, &keys, &target.join("release-proof"))?;
        }
    }
    let shell = script(root)?;
    let (shell, power_shell) = match releases {
        Some(releases) => (releases.shell(&shell), releases.power_shell(POWER_SHELL)),
        None => (shell, POWER_SHELL.to_owned()),
    };
    let mut beside = vec![
        File::executable("install.sh", shell.into_bytes()),
        File::data("install.ps1", power_shell.into_bytes()),
    ];
    if options.profile.shipped().is_some() {
        for archive in &archives {
            beside.push(bill::of(root, archive, &options.release_version)?);
        }
    }
    beside.append(&mut kept);
    let files = release(beside, &archives, statements.as_ref(), options)?;

    for leftover in [MANIFEST_FILE, KEYS_FILE] {
        link_platform::fs::remove_file(&out.join(leftover))?;
    }
    for file in &files {
        let path = out.join(&file.name);
        std::fs::write(&path, &file.contents)
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    let trusts = options.profile.shipped().is_some() || given.is_some();
    Ok(report::of(&out, &files, &archives, statements.as_ref(), trusts))
}

fn statements(options: &Options) -> anyhow::Result<Option<Statements>> {
    let Some(file) = &options.sign_with else { return Ok(None) };
    let version = options.release_version.clone();
    let released_at = match options.released_at {
        Some(seconds) => jiff::Timestamp::from_second(i64::try_from(seconds)?)?,
        None => jiff::Timestamp::from_second(jiff::Timestamp::now().as_second())?,
    };
    Ok(Some(Statements {
        key: release_key::read(file)?,
        channel: options.channel,
        counter: options.counter.unwrap_or_else(|| counter_of(&version)),
        version,
        released_at,
    }))
}

/// Returns the files of an archive except the signed statements.
fn contents(
    root: &Path,
    folder: &Path,
    target: Target,
    product: Product,
    profile: Profile,
) -> anyhow::Result<Vec<File>> {
    let mut files = executables(folder, target, profile, product.programs())?;
    if product == Product::Agent {
        let plugins = plugins::package(&root.join("plugins"));
        files.push(File::data(PLUGINS, plugins.context("failed to pack the plugins")?));
    }
    Ok(files)
}

fn executables(
    folder: &Path,
    target: Target,
    profile: Profile,
    names: &[&'static str],
) -> anyhow::Result<Vec<File>> {
    let read = |program: &&'static str| {
        let name = target.file(program);
        let path = folder.join(&name);
        let contents = executable_of(&path, profile, target.form());
        let contents = contents.with_context(|| {
            format!(
                "failed to read `{}`; build it with `cargo build -p link-cli -p link-agent -p link-backend -p link-installer`",
                path.display(),
            )
        })?;
        if profile.shipped().is_some() {
            ensure_ships(program, &contents, target.form())
                .with_context(|| format!("`{}` is not packed", path.display()))?;
        }
        Ok(File::executable(&name, contents))
    };
    names.iter().map(read).collect()
}

fn script(root: &Path) -> anyhow::Result<String> {
    let path = root.join("scripts/install.sh");
    std::fs::read_to_string(&path).with_context(|| format!("failed to read `{}`", path.display()))
}

/// Returns all files of an archive: `files` and the signed statements.
fn packed(
    target: Target,
    product: Product,
    name: String,
    mut files: Vec<File>,
    statements: Option<&Statements>,
) -> anyhow::Result<Packed> {
    if let Some(statements) = statements {
        let contents = statements.contents(target.name(), &files)?;
        files.push(File::data(CONTENTS_FILE, contents));
        files.extend(statements.keys()?.map(|keys| File::data(KEYS_FILE, keys)));
    }
    Ok(Packed { target, product, name, files })
}

/// Returns all files of the release folder: the script, the archives, what stands `beside` them, the signed statements,
/// and the checksums.
fn release(
    beside: Vec<File>,
    archives: &[Packed],
    statements: Option<&Statements>,
    options: &Options,
) -> anyhow::Result<Vec<File>> {
    let version = &options.release_version;
    let mut files = Vec::new();
    for packed in archives {
        let contents = archive(&packed.files, options.profile.compression())
            .with_context(|| format!("failed to pack `{}`", packed.name))?;
        files.push(File::data(&packed.name, contents));
    }
    let manifest = statements.map(|statements| {
        let described = archives.iter().map(|packed| (packed.target.name(), packed.product));
        statements.manifest(described.zip(&files))
    });
    files.splice(0..0, beside);
    if let (Some(statements), Some(manifest)) = (statements, manifest.transpose()?) {
        files.push(File::data(&manifest_of(version), manifest.clone()));
        files.push(File::data(MANIFEST_FILE, manifest));
        files.extend(statements.keys()?.map(|keys| File::data(KEYS_FILE, keys)));
    }
    files.push(File::data("SHA256SUMS", checksums(&files).into_bytes()));
    Ok(files)
}

fn channel(text: &str) -> Result<Channel, serde_json::Error> {
    serde_json::from_value(text.into())
}

/// Returns a compressed tar archive of `files`, sorted by name.
fn archive(files: &[File], compression: Compression) -> io::Result<Vec<u8>> {
    let mut sorted: Vec<_> = files.iter().collect();
    sorted.sort_by(|left, right| left.name.cmp(&right.name));
    let mut tar = tar::Builder::new(GzBuilder::new().mtime(0).write(Vec::new(), compression));
    for file in sorted {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(file.contents.len() as u64);
        header.set_mode(file.mode);
        header.set_mtime(MODIFIED);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, &file.name, file.contents.as_slice())?;
    }
    let mut compressed = tar.into_inner()?.finish()?;
    compressed.flush()?;
    Ok(compressed)
}

/// Returns one line for each file in the format of `sha256sum`, sorted by name.
fn checksums(files: &[File]) -> String {
    let line = |file: &File| {
        format!("{}  {}\n", Sha256Hex::from_digest(&Sha256::digest(&file.contents)), file.name)
    };
    let mut lines: Vec<String> = files.iter().map(line).collect();
    lines.sort_by(|left, right| left[64..].cmp(&right[64..]));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_release_without_the_pages_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let refused = run(root.path(), &options(None)).unwrap_err().to_string();
        let advice = "run `scripts/prepare web` and `cargo xtask web` first";
        assert!(refused.contains(advice), "{refused}");
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused_and_another_is_left_empty() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("releases/stable");
        ensure_writable(&out).unwrap();
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
        let file = out.join("file");
        std::fs::write(&file, "").unwrap();
        let refused = ensure_writable(&file.join("stable")).unwrap_err();
        assert!(refused.to_string().contains("failed to write to"), "{refused:#}");
        // Root may create a file in any folder but those of the kernel.
        assert!(ensure_writable(Path::new("/proc/self")).is_err());
    }

    #[test]
    fn the_archive_depends_on_the_executables_alone() {
        let [link, agent] = [
            || File::executable("link", vec![1; 5000]),
            || File::executable("link-agent", vec![2; 700]),
        ];
        assert_eq!(
            archive(&[link(), agent()], Compression::fast()).unwrap(),
            archive(&[agent(), link()], Compression::fast()).unwrap()
        );
    }

    #[test]
    fn the_archive_holds_executables_of_nobody_at_a_fixed_time() {
        let packed = archive(
            &[
                File::executable("link-agent", b"agent".to_vec()),
                File::executable("link", b"cli".to_vec()),
            ],
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

    fn options(sign_with: Option<PathBuf>) -> Options {
        Options {
            check: false,
            profile: Profile::Dev,
            out: None,
            sign_with,
            channel: Channel::Alpha,
            counter: None,
            executables: None,
            repo_url: None,
            target: Vec::new(),
            release_version: semver::Version::new(1, 4, 0),
            released_at: Some(MODIFIED),
        }
    }

    #[test]
    fn a_signed_release_holds_its_contents_and_its_manifest_and_an_unsigned_one_neither() {
        let names = |options: &Options| {
            let executable = |name| vec![File::executable(name, name.as_bytes().to_vec())];
            let statements = statements(options).unwrap();
            let signed = statements.as_ref();
            let archives = [(Product::Agent, "link"), (Product::Backend, "link-backend")];
            let archives = archives.map(|(product, name)| {
                packed(
                    Target::LinuxX86,
                    product,
                    format!("{name}.tar.gz"),
                    executable(name),
                    signed,
                )
                .unwrap()
            });
            let files = release(
                vec![File::executable("install.sh", Vec::new())],
                &archives,
                signed,
                options,
            )
            .unwrap();
            assert_eq!([&*files[1].name, &*files[2].name], ["link.tar.gz", "link-backend.tar.gz"]);
            let inside = files[1..3].iter().map(|file| entries(&file.contents));
            let sums = String::from_utf8(files.last().unwrap().contents.clone()).unwrap();
            let is_listed = |name: &str| sums.contains(&format!("  {name}\n"));
            assert!(is_listed("link.tar.gz") && is_listed("link-backend.tar.gz"), "{sums}");
            let lists = ["manifest.json", "link-1.4.0.manifest.json"].map(is_listed);
            (inside.collect::<Vec<_>>().join(", "), lists)
        };
        assert_eq!(names(&options(None)), ("link, link-backend".to_owned(), [false; 2]));
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("1"), dir.path().join("2"));
        release_key::run(&first, None).unwrap();
        release_key::run(&second, Some(&first)).unwrap();
        for (key, statements) in [(first, "contents.json"), (second, "contents.json keys.json")] {
            let inside = format!("{statements} link, {statements} link-backend");
            assert_eq!(names(&options(Some(key))), (inside, [true; 2]));
        }
    }

    #[test]
    fn an_installer_is_told_where_its_channels_are() {
        let of = |repo_url: Option<&str>| Options {
            repo_url: repo_url.map(str::to_owned),
            ..options(None)
        };
        let host = of(Some("https://host.example/"));
        assert_eq!(host.releases().unwrap(), Some(Releases::Below("https://host.example")));
        for bad in ["http://host.example", "https://host.example/$(id)", "host.example"] {
            assert!(of(Some(bad)).releases().is_err(), "{bad}");
        }
        assert_eq!(of(None).releases().unwrap(), None);
    }

    /// Returns the names of the files in a compressed archive.
    fn entries(archive: &[u8]) -> String {
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(archive));
        let names = tar.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            entry.path().unwrap().display().to_string()
        });
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_shipped_is_static_and_what_is_tested_need_not_be() {
        let dir = tempfile::tempdir().unwrap();
        let names = Product::Agent.programs();
        for name in names {
            std::fs::copy(std::env::current_exe().unwrap(), dir.path().join(name)).unwrap();
        }
        assert_eq!(
            executables(dir.path(), Target::LinuxX86, Profile::Dev, names).unwrap().len(),
            names.len()
        );
        for profile in [Profile::Release, Profile::Dist] {
            let refused = executables(dir.path(), Target::LinuxX86, profile, names).err().unwrap();
            let refused = format!("{refused:#}");
            assert!(
                refused.contains("link` is not packed: the executable needs the loader"),
                "{refused}"
            );
        }
    }

    #[test]
    fn checksums_are_what_sha256sum_reads() {
        let files = [File::data("b", b"abc".to_vec()), File::data("a", Vec::new())];
        assert_eq!(
            checksums(&files),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n"
        );
    }
}
