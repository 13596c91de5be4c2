//! The plugins of this checkout, and installing their engines.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the plugins' manifests")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use super::{
    checkout::{Checkout, done, say},
    trouble::Trouble,
};

/// The engines that `scripts/prepare engine` provides: name, folder, and actual build.
const PREPARED: [(&str, &str, &str); 1] = [("llama-server", "llama", "b10068")];

/// A plugin of the checkout.
#[derive(Debug)]
pub(super) struct Plugin {
    name: String,
    engine: String,
    script: PathBuf,
}

/// The parts of a manifest that are read.
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
/// If there is none; the error lists the existing plugins.
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
/// If they cannot be read.
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
    /// Fetches the engine unless it is cached, and installs it into the folder `engines`.
    ///
    /// # Errors
    /// If it is not available or does not run on this machine.
    pub(super) fn install(&self, checkout: &Checkout, engines: &Path) -> anyhow::Result<()> {
        say(&format!("installing the engine of {}", self.name));
        let prepared = PREPARED.iter().find(|(engine, ..)| *engine == self.engine);
        let Some((_, folder, build)) = prepared else {
            let what = format!("`scripts/prepare` does not provide `{}`", self.engine);
            let next = format!("run `{}` with a build of the engine", self.script.display());
            return Err(Trouble::new(what, next).into());
        };
        let from = checkout.prepare(&["engine"])?.join(folder);
        let what = format!("the engine of {} was not installed", self.name);
        let mut script = checkout.command(&self.script);
        script.arg(from).arg(build).arg(engines);
        done(&mut script, &what, "do what the script says above, and run it again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plugin_of_this_checkout_has_an_engine_that_can_be_brought() {
        let plugins = all(crate::repository()).unwrap();
        assert!(!plugins.is_empty());
        for plugin in plugins {
            assert!(PREPARED.iter().any(|(engine, ..)| *engine == plugin.engine), "{plugin:?}");
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
