//! `link plugin`.

use std::{path::PathBuf, time::Duration};

use clap::{Subcommand, ValueEnum};

use crate::args::parse_duration;

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
    /// Write the folder of a new plugin, which works as it is
    #[command(after_help = NEW_EXAMPLES)]
    New {
        /// Folder to write; its name becomes the id of the plugin
        #[arg(value_name = "NAME")]
        place: PathBuf,
        /// Language of the engine
        #[arg(long, value_name = "LANGUAGE", default_value = "python")]
        language: PluginLanguage,
    },
    /// Check a plugin's folder, and test its engine, without installing the plugin
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// Folder with the plugin's `plugin.toml`
        folder: PathBuf,
        /// How long the engine may take until it is healthy
        #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse_duration)]
        timeout: Duration,
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

/// The language of a new plugin's engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum PluginLanguage {
    /// One file, for Python 3.9 or later without packages
    Python,
    /// A package that Cargo builds
    Rust,
}

const NEW_EXAMPLES: &str = "\
Examples:
  link plugin new echo
  link plugin new echo --language rust

The new plugin answers a conversation with its last message. Its README.md names the next commands.";

const CHECK_EXAMPLES: &str = "\
Examples:
  link plugin check ./my_plugin
  link plugin check ./my_plugin --timeout 10s

If the folder has a `check.toml` with a sample model and requests, the command starts the engine and tests what
the agent relies on: health, proof, refused secrets, answers, usage, bad requests, many clients, clients that
leave, the end within five seconds, and that no file is left. It names each clause that fails.";

const INSTALL_EXAMPLES: &str = "\
Examples:
  link plugin install ./my_plugin

A plugin names the engine that it runs; `link engine install FILE --plugin my_plugin` installs a build of that
engine. Installing a plugin runs nothing. The agent uses the plugin for the next model that it starts.";
