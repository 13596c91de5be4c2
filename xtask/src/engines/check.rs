//! Runs a packed build with a sample model, as `link plugin check` tests a plugin.

#![expect(clippy::disallowed_methods, reason = "IO shell: unpacks a build and runs the check")]

use std::{
    fs::read,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::Context as _;
use link_protocol::plugin::SAMPLE_FILE;

use super::described::Described;
use crate::dev::Checkout;

/// Files, each with its name.
type Files = Vec<(&'static str, Vec<u8>)>;

/// The sample of a plugin of this checkout: its `check.toml`, and the files that it names.
struct Sample {
    plugin: &'static str,
    check: &'static str,
    /// The part of `scripts/prepare` that provides what the files are made from.
    part: &'static str,
    /// Reads the files from the engines' folder, each with its name.
    files: fn(&Path) -> std::io::Result<Files>,
}

const SAMPLES: [Sample; 4] = [
    Sample {
        plugin: "language_model",
        check: include_str!("samples/language_model.toml"),
        part: "tiny",
        files: |engines| Ok(vec![("sample.gguf", read(engines.join("models/tiny.gguf"))?)]),
    },
    Sample {
        plugin: "audio_transcriber",
        check: include_str!("samples/audio_transcriber.toml"),
        part: "whisper",
        files: |engines| {
            let model = read(engines.join("models/ggml-empty.bin"))?;
            let recording = read(engines.join("audio/jfk.wav"))?;
            Ok(vec![("sample.bin", model), ("sample.form", form(&recording))])
        },
    },
    Sample {
        plugin: "image_classifier",
        check: include_str!("samples/image_classifier.toml"),
        part: "classifiers",
        files: |engines| {
            let picture = include_bytes!("../../../engines/image_classifier/tests/it/page.png");
            let model = read(engines.join("onnx/orientation.tar"))?;
            Ok(vec![("sample.tar", model), ("sample.png", picture.to_vec())])
        },
    },
    Sample {
        plugin: "audio_classifier",
        check: include_str!("samples/audio_classifier.toml"),
        part: "classifiers",
        files: |engines| {
            let model = read(engines.join("onnx/voice.tar"))?;
            Ok(vec![("sample.tar", model), ("sample.wav", read(engines.join("onnx/jfk.wav"))?)])
        },
    },
];

/// The program that tests builds.
#[derive(Debug)]
pub(super) struct Checker<'a> {
    checkout: &'a Checkout,
    link: PathBuf,
}

impl<'a> Checker<'a> {
    /// Finds the program.
    ///
    /// # Errors
    /// If it is not built.
    pub(super) fn new(checkout: &'a Checkout) -> anyhow::Result<Self> {
        Ok(Self { checkout, link: checkout.program("link")? })
    }

    /// Tests the build in `archive`, and returns whether it ran. A build for another machine does not run, and neither
    /// does one of a plugin without a sample.
    ///
    /// # Errors
    /// If the build breaks the contract.
    pub(super) fn check(
        &self,
        described: &Described,
        plugin: &Path,
        archive: &Path,
    ) -> anyhow::Result<bool> {
        if !described.is_for_this_machine() {
            return Ok(false);
        }
        let dir = tempfile::tempdir().context("failed to create a temporary folder")?;
        let folder = dir.path().join("plugin");
        unpack(archive, &folder)?;
        copy_files(plugin, &folder)?;
        if !folder.join(SAMPLE_FILE).is_file() && !self.add_sample(plugin, &folder)? {
            return Ok(false);
        }
        println!("==> testing build {} of {}", described.build, plugin.display());
        let mut check = self.checkout.command(&self.link);
        check
            .args(["--quiet", "plugin", "check"])
            .arg(&folder)
            .env("LINK_HOME", dir.path().join("home"));
        let ended = check.stdin(Stdio::null()).output().context("failed to start `link`")?;
        anyhow::ensure!(
            ended.status.success(),
            "it breaks the contract of engines:\n{}{}",
            String::from_utf8_lossy(&ended.stdout),
            String::from_utf8_lossy(&ended.stderr)
        );
        Ok(true)
    }

    /// Adds the sample of a plugin of this checkout to `folder`, and returns whether there is one.
    fn add_sample(&self, plugin: &Path, folder: &Path) -> anyhow::Result<bool> {
        let name = plugin.file_name().unwrap_or_default();
        let Some(sample) = SAMPLES.iter().find(|sample| name == sample.plugin) else {
            return Ok(false);
        };
        let engines = self.checkout.prepare(&[sample.part])?;
        let files = (sample.files)(&engines);
        let files = files.with_context(|| format!("failed to read `{}`", engines.display()))?;
        for (name, content) in files {
            std::fs::write(folder.join(name), content)?;
        }
        std::fs::write(folder.join(SAMPLE_FILE), sample.check)?;
        Ok(true)
    }
}

/// Returns a form with a recording, as clients of OpenAI's API send it.
fn form(recording: &[u8]) -> Vec<u8> {
    let before = "--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"sample.wav\"\r\n\
                  Content-Type: audio/wav\r\n\r\n";
    [before.as_bytes(), recording, b"\r\n--sample--\r\n"].concat()
}

fn unpack(archive: &Path, to: &Path) -> anyhow::Result<()> {
    let packed = std::fs::read(archive)?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&packed[..]));
    archive.unpack(to).with_context(|| format!("failed to unpack into `{}`", to.display()))
}

/// Copies the regular files of a plugin.
fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}
