//! Creates an index of engines: packs, runs, describes and signs each build.
//!
//! Tests and checkouts use the index to install an engine in the same way as any device does.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: reads the folders of builds and writes the index"
)]

mod check;
mod described;
mod pack;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use link_platform::fs;
use link_protocol::{
    command::Sha256Hex,
    engine_index::{EngineBuild, EngineIndex, INDEX_FILE},
    signed_document::Issue,
};
use sha2::{Digest as _, Sha256};

use self::{
    check::Checker,
    described::{Described, Shorthand, read},
};
use crate::{dev::Checkout, prepared, release_key};

/// The packages of the engines that are programs of this checkout.
const CLASSIFIERS: [&str; 2] = ["link-image-classifier", "link-audio-classifier"];

/// What to create.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Folder to write the archives and the index to
    out: PathBuf,
    /// Release key that signs the index, made by `cargo xtask release-key`
    #[arg(long, value_name = "FILE")]
    sign_with: PathBuf,
    /// File that describes the builds [default: the engine of each plugin, which `scripts/prepare`
    /// provides]
    #[arg(long, value_name = "FILE", conflicts_with = "build")]
    builds: Option<PathBuf>,
    /// Prepared engine to publish, by its plugin [default: all]
    #[arg(long, value_name = "PLUGIN", conflicts_with_all = ["builds", "build"])]
    plugin: Vec<String>,
    #[command(flatten)]
    shorthand: Shorthand,
    /// Serial number, never lower than that of an earlier index [default: the Unix time]
    #[arg(long, value_name = "N")]
    serial: Option<u64>,
    /// Use the programs that are already built, beside this one
    #[arg(long)]
    no_build: bool,
    /// Publish the builds without running them first
    #[arg(long)]
    unchecked: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask engines /srv/releases/stable --sign-with ~/release-key
  cargo xtask engines /srv/releases/stable --sign-with ~/release-key --plugin audio_transcriber
  cargo xtask engines /srv/releases/stable --sign-with ~/release-key --builds ./builds.toml
  cargo xtask engines /srv/releases/stable --sign-with ~/release-key --build b9789=./llama-b9789

A file of builds has a table for each:
  [[build]]
  plugin = \"language_model\"           # a plugin of this checkout, or the path of its folder
  build = \"b9789\"
  folder = \"./llama-b9789\"            # relative to the file
  system = \"linux\"                    # and processor: this machine's unless they are given
  processor = \"aarch64\"
  accelerators = [\"cpu\", \"vulkan\"]    # cpu unless it is given
  needs = [\"avx2\"]                    # features of the processor; none unless they are given
  licence = \"MIT\"
  obtained = \"archive of llama.cpp b9789, SHA-256 2c26…b0d4\"

Each build for this machine is tested with a sample model, as `link plugin check` tests a plugin. A build that
breaks the contract is not published. The index says which builds have not run.";

/// Packs and checks the builds, and returns a description of the index.
pub(crate) fn run(options: &Options, root: &Path) -> anyhow::Result<String> {
    let key = release_key::read(&options.sign_with)?;
    let checkout = Checkout::of_user(root)?;
    let together = tempfile::tempdir().context("failed to create a temporary folder")?;
    let described = match (&options.builds, options.shorthand.builds()?) {
        (Some(file), _) => read(file)?,
        (None, builds) if !builds.is_empty() => builds,
        (None, _) => prepare(options, &checkout, together.path())?,
    };
    std::fs::create_dir_all(&options.out)
        .with_context(|| format!("failed to create `{}`", options.out.display()))?;
    let checker = if options.unchecked { None } else { Some(Checker::new(&checkout)?) };
    let mut builds = Vec::new();
    for one in &described {
        let mut build = build(one, root, &options.out)?;
        let checked = checker.as_ref().map(|checker| {
            checker.check(one, &one.plugin_folder(root), &options.out.join(build.file.as_str()))
        });
        let checked = checked.transpose();
        let checked = checked.with_context(|| format!("`{}` is not published", one.build))?;
        build.ran = checked.unwrap_or_default();
        builds.push(build);
    }
    let now = jiff::Timestamp::now();
    let serial = match options.serial {
        Some(serial) => serial,
        None => u64::try_from(now.as_second())?,
    };
    let mut said = format!("engines: {}, serial number {serial}", options.out.display());
    for build in &builds {
        said.push_str(&in_words(build));
    }
    let signed = Issue::new(serial, now, EngineIndex { builds }).seal(&key.key)?;
    fs::write_atomic(&options.out.join(INDEX_FILE), &serde_json::to_vec(&signed)?)?;
    let public = key.key.verifying();
    said.push_str(&format!("\nsigned with {} (key {})", public.public_key, public.kid));
    Ok(said)
}

/// Obtains the prepared engines that `options` name. Engines of several parts are put together in a folder below
/// `together`.
fn prepare(
    options: &Options,
    checkout: &Checkout,
    together: &Path,
) -> anyhow::Result<Vec<Described>> {
    let wanted: Vec<_> = if options.plugin.is_empty() {
        prepared::ALL.iter().collect()
    } else {
        let of = |plugin: &String| {
            let known = || {
                let names: Vec<_> = prepared::ALL.iter().map(|one| one.plugin).collect();
                format!("no engine of `{plugin}` is prepared; name one of {}", names.join(", "))
            };
            prepared::of(plugin).with_context(known)
        };
        options.plugin.iter().map(of).collect::<anyhow::Result<_>>()?
    };
    let programs = match wanted.iter().any(|one| one.program.is_some()) && !options.no_build {
        true => checkout.build_shipped(&CLASSIFIERS)?,
        false => checkout.programs().to_owned(),
    };
    let mut prepared_parts = BTreeMap::new();
    let mut described = Vec::new();
    for one in wanted {
        if !prepared_parts.contains_key(one.part) {
            prepared_parts.insert(one.part, checkout.prepare(&[one.part])?);
        }
        let mut folder = prepared_parts[one.part].join(one.folder);
        if let Some(program) = one.program {
            let whole = together.join(one.plugin);
            std::fs::create_dir(&whole)
                .with_context(|| format!("failed to create `{}`", whole.display()))?;
            prepared::join(&folder, &programs.join(program), &whole)?;
            folder = whole;
        }
        described.push(Described::of(one, folder));
    }
    Ok(described)
}

fn build(described: &Described, root: &Path, out: &Path) -> anyhow::Result<EngineBuild> {
    let Described { build, folder, system, processor, .. } = described;
    let plugin = described.plugin_folder(root);
    let engine = link_installer::plugins::read(&plugin)
        .with_context(|| format!("`{}` is no plugin", plugin.display()))?
        .engine;
    anyhow::ensure!(
        engine.accepted_builds.contains(build) || engine.default_build == *build,
        "the plugin accepts no build `{build}` of `{}`: it accepts {}",
        engine.name,
        engine.accepted_builds.join(", ")
    );
    anyhow::ensure!(
        folder.join(&engine.executable).is_file(),
        "`{}` holds no `{}`",
        folder.display(),
        engine.executable
    );
    let file = format!("{}-{build}-{system}-{processor}{}.tar.gz", engine.name, described.suffix());
    let path = out.join(&file);
    let unpacked_bytes = pack::pack(folder, &path)
        .with_context(|| format!("failed to pack `{}`", folder.display()))?;
    let archive = std::fs::read(&path).with_context(|| format!("failed to read `{file}`"))?;
    Ok(EngineBuild {
        engine: engine.name,
        build: build.clone(),
        system: system.clone(),
        processor: processor.clone(),
        accelerators: described.accelerators.clone(),
        needs: described.needs.clone(),
        file: file.parse().with_context(|| format!("`{file}` is not a safe name"))?,
        url: None,
        size_bytes: archive.len() as u64,
        unpacked_bytes,
        sha256: Sha256Hex::from_digest(&Sha256::digest(&archive)),
        licence: described.licence.clone(),
        obtained: described.obtained.clone(),
        ran: false,
    })
}

fn in_words(build: &EngineBuild) -> String {
    let ran = if build.ran { "ran with a sample model" } else { "not run" };
    let obtained = build.obtained.as_deref().map(|obtained| format!("; {obtained}"));
    format!(
        "\n  {} ({} bytes; {}; {ran}{})",
        build.file.as_str(),
        build.size_bytes,
        build.licence,
        obtained.unwrap_or_default()
    )
}
