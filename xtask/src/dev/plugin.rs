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
use crate::prepared;

/// The plugin whose engine every checkout gets. `install-plugin` installs the others.
pub(super) const FIRST: &str = "language_model";

/// A plugin of the checkout.
#[derive(Debug)]
pub(super) struct Plugin {
    name: String,
    script: PathBuf,
}

/// The fields of a manifest that are read here.
#[derive(Deserialize)]
struct Manifest {
    id: String,
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
    let Manifest { id } = toml::from_str(&text).with_context(failed)?;
    Ok(Plugin { name: id, script })
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
        let Some(source) = prepared::of(&self.name) else {
            let what = format!("`scripts/prepare` provides no engine of `{}`", self.name);
            let next = format!("run `{}` with a build of the engine", self.script.display());
            return Err(Trouble::new(what, next).into());
        };
        let folder = checkout.prepare(&[source.part])?.join(source.folder);
        let together = tempfile::tempdir().context("failed to create a temporary folder")?;
        let from = match source.program {
            None => folder,
            Some(program) => {
                prepared::join(&folder, &checkout.programs().join(program), together.path())?;
                together.path().to_owned()
            }
        };
        let what = format!("the engine of {} was not installed", self.name);
        let mut script = checkout.command(&self.script);
        script.arg(from).arg(source.build).arg(engines);
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
            assert!(prepared::of(&plugin.name).is_some(), "{plugin:?}");
        }
    }

    #[test]
    fn a_folder_is_a_plugin_by_its_manifest_and_its_script() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["two", "one", "none"] {
            let folder = dir.path().join("plugins").join(name);
            std::fs::create_dir_all(&folder).unwrap();
            let manifest = format!("id = \"{name}\"\n");
            std::fs::write(folder.join("plugin.toml"), manifest).unwrap();
            if name != "none" {
                std::fs::write(folder.join("install.sh"), "").unwrap();
            }
        }
        let unknown = find(dir.path(), "three").unwrap_err().to_string();
        assert!(unknown.ends_with("name one of these: one, two"), "{unknown}");
        assert_eq!(find(dir.path(), "two").unwrap().name, "two");
    }
}
