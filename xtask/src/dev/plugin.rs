//! The plugins of this checkout, and the installation of their engines.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the plugins' manifests")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use link_installer::plugins::Plugins;
use link_platform::paths::Roots;
use serde::Deserialize;

use super::{
    checkout::{Checkout, done, say},
    trouble::Trouble,
};

/// The plugin whose engine every checkout gets. `install-plugin` installs the others.
pub(super) const FIRST: &str = "language_model";

/// The engines that a checkout can provide.
const ENGINES: [Source; 4] = [
    Source {
        engine: "llama-server",
        build: "b10068",
        target: "engine",
        folder: "llama",
        program: None,
    },
    Source {
        engine: "whisper-server",
        build: "v1.8.5",
        target: "whisper",
        folder: "whisper",
        program: None,
    },
    Source {
        engine: "image-classifier",
        build: env!("CARGO_PKG_VERSION"),
        target: "classifiers",
        folder: "onnx",
        program: Some("link-image-classifier"),
    },
    Source {
        engine: "audio-classifier",
        build: env!("CARGO_PKG_VERSION"),
        target: "classifiers",
        folder: "onnx",
        program: Some("link-audio-classifier"),
    },
];

/// How a checkout provides an engine.
struct Source {
    engine: &'static str,
    /// The name of the build.
    build: &'static str,
    /// The part of `scripts/prepare` that provides the engine or its libraries, and their folder.
    target: &'static str,
    folder: &'static str,
    /// The program of this checkout that is the engine, if `scripts/prepare` provides only its libraries.
    program: Option<&'static str>,
}

/// A plugin of the checkout.
#[derive(Debug)]
pub(super) struct Plugin {
    name: String,
    engine: String,
    script: PathBuf,
}

/// The fields of a manifest that are read here.
#[derive(Deserialize)]
struct Manifest {
    id: String,
    engine: Engine,
}

#[derive(Deserialize)]
struct Engine {
    name: String,
}

/// Returns the plugin called `name`.
///
/// # Errors
/// If no such plugin exists. The error lists the existing plugins.
pub(super) fn find(root: &Path, name: &str) -> anyhow::Result<Plugin> {
    let mut plugins = all(root)?;
    match plugins.iter().position(|plugin| plugin.name == name) {
        Some(index) => Ok(plugins.swap_remove(index)),
        None => {
            let names: Vec<_> = plugins.iter().map(|plugin| plugin.name.as_str()).collect();
            let next = format!("name one of these: {}", names.join(", "));
            Err(Trouble::misuse(format!("there is no plugin `{name}`"), next).into())
        }
    }
}

/// Returns the plugins, sorted by name.
///
/// # Errors
/// If the plugins cannot be read.
pub(super) fn all(root: &Path) -> anyhow::Result<Vec<Plugin>> {
    let folder = root.join("plugins");
    let entries = std::fs::read_dir(&folder)
        .with_context(|| format!("failed to read `{}`", folder.display()))?;
    let mut plugins = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let (manifest, script) = (path.join("plugin.toml"), path.join("install.sh"));
        if manifest.is_file() && script.is_file() {
            plugins.push(read(&manifest, script)?);
        }
    }
    plugins.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(plugins)
}

fn read(manifest: &Path, script: PathBuf) -> anyhow::Result<Plugin> {
    let failed = || format!("failed to read `{}`", manifest.display());
    let text = std::fs::read_to_string(manifest).with_context(failed)?;
    let Manifest { id, engine } = toml::from_str(&text).with_context(failed)?;
    Ok(Plugin { name: id, engine: engine.name, script })
}

impl Plugin {
    /// Installs the plugin below `roots` as `link plugin install` does, and its engine.
    ///
    /// # Errors
    /// If the plugin is not usable, or as [`Plugin::install_engine`].
    pub(super) fn install(&self, checkout: &Checkout, roots: &Roots) -> anyhow::Result<()> {
        let folder = self.script.parent().unwrap_or(&self.script);
        Plugins::install(roots, folder)
            .with_context(|| format!("the plugin {} was not installed", self.name))?;
        self.install_engine(checkout, &roots.engines())
    }

    /// Fetches the engine unless it is cached, and installs it into the folder `engines`.
    ///
    /// # Errors
    /// If the engine is not available or does not run on this machine.
    pub(super) fn install_engine(&self, checkout: &Checkout, engines: &Path) -> anyhow::Result<()> {
        say(&format!("installing the engine of {}", self.name));
        let Some(source) = ENGINES.iter().find(|source| source.engine == self.engine) else {
            let what = format!("`scripts/prepare` does not provide `{}`", self.engine);
            let next = format!("run `{}` with a build of the engine", self.script.display());
            return Err(Trouble::new(what, next).into());
        };
        let prepared = checkout.prepare(&[source.target])?.join(source.folder);
        let together = tempfile::tempdir().context("failed to create a temporary folder")?;
        let from = match source.program {
            None => prepared,
            Some(program) => {
                join(&prepared, &checkout.programs().join(program), together.path())?;
                together.path().to_owned()
            }
        };
        let what = format!("the engine of {} was not installed", self.name);
        let mut script = checkout.command(&self.script);
        script.arg(from).arg(source.build).arg(engines);
        done(&mut script, &what, "do what the script says above, and run it again")
    }
}

/// Copies the libraries of `prepared` and a program of the checkout into the folder `to`.
fn join(prepared: &Path, program: &Path, to: &Path) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(prepared)
        .with_context(|| format!("failed to read `{}`", prepared.display()))?;
    let libraries = entries.flatten().map(|entry| entry.path());
    let libraries = libraries
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so")));
    for file in libraries.chain([program.to_owned()]) {
        let target = to.join(file.file_name().unwrap_or_default());
        std::fs::copy(&file, target)
            .with_context(|| format!("failed to copy `{}`; build it first", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plugin_of_this_checkout_has_an_engine_that_can_be_brought() {
        let plugins = all(crate::repository()).unwrap();
        assert!(!plugins.is_empty());
        for plugin in plugins {
            assert!(ENGINES.iter().any(|source| source.engine == plugin.engine), "{plugin:?}");
        }
    }

    #[test]
    fn a_folder_is_a_plugin_by_its_manifest_and_its_script() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["two", "one", "none"] {
            let folder = dir.path().join("plugins").join(name);
            std::fs::create_dir_all(&folder).unwrap();
            let manifest = format!("id = \"{name}\"\n[engine]\nname = \"e\"\n");
            std::fs::write(folder.join("plugin.toml"), manifest).unwrap();
            if name != "none" {
                std::fs::write(folder.join("install.sh"), "").unwrap();
            }
        }
        let unknown = find(dir.path(), "three").unwrap_err().to_string();
        assert!(unknown.ends_with("name one of these: one, two"), "{unknown}");
        assert_eq!(find(dir.path(), "two").unwrap().engine, "e");
    }
}
