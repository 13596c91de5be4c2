//! The plugins that this device can serve models with. A plugin is read when it is needed, so a plugin that a person has
//! just installed serves the next model without a restart.

use std::sync::Arc;

use link_agent_core::components;
use link_installer::plugins::Plugins;
use link_platform::paths::Roots;
use link_protocol::{error_chain::chain, plugin::Manifest};

/// Finds plugins. Clones read the same folders.
#[derive(Clone, Debug)]
pub(crate) struct PluginFolder {
    roots: Roots,
}

impl PluginFolder {
    pub(crate) fn new(roots: &Roots) -> Self {
        Self { roots: roots.clone() }
    }

    /// Returns the manifest of the plugin called `id`.
    ///
    /// # Errors
    /// If no usable plugin has this id, with the next step.
    pub(crate) fn manifest(&self, id: &str) -> anyhow::Result<Arc<Manifest>> {
        let plugins = Plugins::find(&self.roots);
        match plugins.by_id(id) {
            Some(plugin) => Ok(Arc::new(plugin.manifest.clone())),
            None => anyhow::bail!(
                "the plugin `{id}` is not installed on this device; `link plugin list` shows the \
                 installed ones"
            ),
        }
    }
}

/// Finishes or undoes a change of the plugins that was interrupted.
pub(crate) fn tidy(roots: &Roots) {
    if let Err(error) = Plugins::tidy(roots) {
        tracing::warn!(
            "failed to delete what an interrupted change of the plugins left: {}",
            chain(&error)
        );
    }
}

/// Returns the settings that the plugins of this device offer, and logs the folders that are no usable plugin.
pub(crate) fn settings(roots: &Roots) -> components::Plugins {
    let plugins = Plugins::find(roots);
    for unusable in &plugins.unusable {
        tracing::warn!("the plugin in `{}` is not used: {}", unusable.folder, unusable.why);
    }
    let settings = plugins.usable().map(|plugin| {
        let Manifest { id, adapter, .. } = &plugin.manifest;
        (id.clone(), adapter.settings.clone())
    });
    settings.collect()
}

/// Returns the plugin for text generation.
#[cfg(test)]
pub(crate) fn language_model() -> Arc<Manifest> {
    let folder = tempfile::tempdir().unwrap();
    PluginFolder::new(&Roots::below(folder.path())).manifest("language_model").unwrap()
}
