//! Creates an index of engines from local builds: packs, describes and signs each build.
//!
//! Tests and checkouts use the index to install an engine in the same way as any device does.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: reads the folder of a build and writes the index"
)]

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use flate2::{Compression, GzBuilder};
use link_platform::{facts, fs};
use link_protocol::{
    command::Sha256Hex,
    engine_index::{Accelerator, EngineBuild, EngineIndex, INDEX_FILE},
    signed_document::Issue,
};
use sha2::{Digest as _, Sha256};

use crate::release_key;

/// The engine that `scripts/prepare engine` provides: its folder, its build, and the processor
/// features that it needs.
const PREPARED: (&str, &str, &[&str]) = ("llama", "b10068", &["avx2", "f16c", "fma"]);

/// What to create.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder to write the archives and the index to
    out: PathBuf,
    /// Release key that signs the index, made by `cargo xtask release-key`
    #[arg(long, value_name = "FILE")]
    sign_with: PathBuf,
    /// Build on this machine, the default build first; its folder holds `llama-server` [default:
    /// the build from `scripts/prepare engine`]
    #[arg(long = "build", value_name = "NAME=FOLDER", value_parser = named)]
    builds: Vec<(String, PathBuf)>,
    /// Serial number, never lower than that of an earlier index [default: the Unix time]
    #[arg(long, value_name = "N")]
    serial: Option<u64>,
    /// Accelerators that the builds use
    #[arg(long, value_name = "WORDS", value_delimiter = ',', default_value = "cpu")]
    accelerators: Vec<String>,
    /// Processor features that the builds need, such as avx2
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    needs: Vec<String>,
    /// Licence of the builds, as an SPDX expression
    #[arg(long, value_name = "SPDX", default_value = "MIT")]
    licence: String,
}

/// Packs the builds, and returns a description of the index.
pub(crate) fn run(
    options: &Options,
    prepared: impl FnOnce() -> anyhow::Result<PathBuf>,
) -> anyhow::Result<String> {
    let key = release_key::read(&options.sign_with)?;
    let (mut named, mut needs) = (options.builds.clone(), options.needs.clone());
    if named.is_empty() {
        let (folder, build, its_needs) = PREPARED;
        named.push((build.to_owned(), prepared()?.join(folder)));
        needs.extend(its_needs.iter().map(ToString::to_string));
    }
    std::fs::create_dir_all(&options.out)
        .with_context(|| format!("failed to create `{}`", options.out.display()))?;
    let builds = named.iter().map(|(name, folder)| build(options, name, folder, &needs));
    let builds = builds.collect::<anyhow::Result<Vec<_>>>()?;
    let now = jiff::Timestamp::now();
    let serial = match options.serial {
        Some(serial) => serial,
        None => u64::try_from(now.as_second())?,
    };
    let mut said = format!("engines: {}, serial number {serial}", options.out.display());
    for build in &builds {
        said.push_str(&format!("\n  {} ({} bytes)", build.file.as_str(), build.size_bytes));
    }
    let signed = Issue::new(serial, now, EngineIndex { builds }).seal(&key.key)?;
    fs::write_atomic(&options.out.join(INDEX_FILE), &serde_json::to_vec(&signed)?)?;
    let public = key.key.verifying();
    said.push_str(&format!("\nsigned with {} (key {})", public.public_key, public.kid));
    Ok(said)
}

fn build(
    options: &Options,
    name: &str,
    folder: &Path,
    needs: &[String],
) -> anyhow::Result<EngineBuild> {
    let (system, processor) = (facts::os(), facts::arch());
    let file = format!("llama-server-{name}-{system}-{processor}.tar.gz");
    let path = options.out.join(&file);
    let unpacked_bytes =
        pack(folder, &path).with_context(|| format!("failed to pack `{}`", folder.display()))?;
    let archive = std::fs::read(&path).with_context(|| format!("failed to read `{file}`"))?;
    let accelerators = options.accelerators.iter().map(|word| accelerator(word));
    Ok(EngineBuild {
        engine: "llama-server".to_owned(),
        build: name.to_owned(),
        system: system.to_owned(),
        processor: processor.to_owned(),
        accelerators: accelerators.collect::<anyhow::Result<_>>()?,
        needs: needs.to_vec(),
        file: file.parse().with_context(|| format!("`{file}` is not a safe name"))?,
        url: None,
        size_bytes: archive.len() as u64,
        unpacked_bytes,
        sha256: Sha256Hex::from_digest(&Sha256::digest(&archive)),
        licence: options.licence.clone(),
    })
}

/// Packs the files and links of a folder, and returns their size in bytes.
fn pack(folder: &Path, to: &Path) -> anyhow::Result<u64> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    entries.sort();
    let file = tempfile_beside(to);
    let writer = std::fs::File::create(&file)?;
    let mut tar = tar::Builder::new(GzBuilder::new().mtime(0).write(writer, Compression::fast()));
    tar.follow_symlinks(false);
    let mut bytes = 0;
    for path in entries {
        let metadata = std::fs::symlink_metadata(&path)?;
        if metadata.is_file() || metadata.is_symlink() {
            bytes += metadata.len();
            let name = path.file_name().context("an entry of a folder has a name")?;
            tar.append_path_with_name(&path, name)?;
        }
    }
    let mut compressed = tar.into_inner()?.finish()?;
    compressed.flush()?;
    fs::rename(&file, to)?;
    Ok(bytes)
}

fn tempfile_beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn named(text: &str) -> Result<(String, PathBuf), String> {
    let (name, folder) = text.split_once('=').ok_or("write it as NAME=FOLDER")?;
    Ok((name.to_owned(), folder.into()))
}

fn accelerator(word: &str) -> anyhow::Result<Accelerator> {
    let accelerator = serde_json::from_value(word.into())?;
    anyhow::ensure!(accelerator != Accelerator::Other, "`{word}` is not an accelerator");
    Ok(accelerator)
}
