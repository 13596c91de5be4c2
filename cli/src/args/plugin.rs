//! `link plugin`.

use std::path::PathBuf;

use clap::Subcommand;

/// `link plugin …`.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// List the plugins that this machine can serve models with
    #[command(after_help = "Example:\n  link plugin list")]
    List,
    /// Show what a plugin runs, serves, counts and offers
    #[command(after_help = "Example:\n  link plugin show language_model")]
    Show {
        /// Id of the plugin in `link plugin list`
        #[arg(value_name = "PLUGIN")]
        id: String,
    },
    /// Check a plugin's folder without installing it
    #[command(after_help = "Example:\n  link plugin check ./my_plugin")]
    Check {
        /// Folder with the plugin's `plugin.toml`
        folder: PathBuf,
    },
    /// Install a plugin from its folder
    #[command(after_help = INSTALL_EXAMPLES)]
    Install {
        /// Folder with the plugin's `plugin.toml`
        folder: PathBuf,
    },
    /// Remove a plugin that was installed from a folder
    #[command(after_help = "Example:\n  link plugin remove my_plugin")]
    Remove {
        /// Id of the plugin in `link plugin list`
        #[arg(value_name = "PLUGIN")]
        id: String,
    },
}

const INSTALL_EXAMPLES: &str = "\
Examples:
  link plugin install ./my_plugin

A plugin names the engine that it runs; `link engine install FILE --plugin my_plugin` installs a build of that
engine. Installing a plugin runs nothing. The agent uses the plugin for the next model that it starts.";
