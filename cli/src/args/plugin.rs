//! `link plugin`.

use std::{path::PathBuf, time::Duration};

use clap::{Subcommand, ValueEnum};

use super::trust::TrustArguments;
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
    /// Install a plugin by its id, from its folder, or from a signed archive
    #[command(after_help = INSTALL_EXAMPLES)]
    Install {
        /// Folder with the plugin's `plugin.toml`, archive that `link plugin pack` made, or id of a
        /// published plugin
        #[arg(value_name = "FOLDER|ARCHIVE|ID")]
        from: PathBuf,
        /// Folder with published plugins, on a web server (https) or on this machine (file://), for
        /// an id
        #[arg(long, value_name = "URL")]
        source: Option<String>,
    },
    /// Trust a key that signs the archives of plugins, in addition to the release keys
    #[command(after_help = TRUST_EXAMPLES)]
    Trust(TrustArguments),
    /// Make a key that signs the archives of your plugins, and print its public half
    #[command(after_help = KEY_EXAMPLES)]
    Key {
        /// File for the key, which must not exist
        file: PathBuf,
    },
    /// Pack a plugin's folder into an archive that other people can verify and install
    #[command(after_help = PACK_EXAMPLES)]
    Pack {
        /// Folder with the plugin's `plugin.toml`
        folder: PathBuf,
        /// File of the key that signs the archive, made by `link plugin key`
        #[arg(long, value_name = "FILE")]
        sign_with: PathBuf,
        /// Folder for the archive and its signature
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Serial number, higher than that of an earlier archive of the plugin [default: the Unix time]
        #[arg(long, value_name = "N")]
        serial: Option<u64>,
    },
    /// Remove a plugin that was installed on this machine
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
  link plugin install ./my_plugin-1.0.0.tar.gz
  link plugin install my_plugin --source https://plugins.example/site

A plugin names the engine that it runs; `link engine install FILE --plugin my_plugin` installs a build of that
engine. Installing a plugin runs nothing. The agent uses the plugin for the next model that it starts.

An archive needs its signature beside it, `ARCHIVE.signature.json`, by a release key or by a key that
`link plugin trust` has added. It replaces no plugin of another publisher, and no newer one. A folder needs no
signature, and replaces any plugin of its id: install only a folder whose files you trust.

An id that is no file or folder here is looked up where releases come from, or in --source: the newest archive there
that its publisher signed.";

const TRUST_EXAMPLES: &str = "\
Examples:
  link plugin trust ./publisher.pub
  link plugin trust hCwvQH6Jt3LUkGw9pfq8xD1zA7VnS0mEo2RiBy5KcXs
  link plugin trust --list
  link plugin trust --remove 3f2a90c1d4e5b678

Get the key from the publisher, and not from where the archive comes from. Whoever has the private half of such a
key can make this user run programs: a plugin names the engine that serves a model.";

const KEY_EXAMPLES: &str = "\
Examples:
  link plugin key ./publisher.key > publisher.pub

Only you can read the file. Keep it off devices and out of repositories: whoever has it can sign plugins in your
name, and a lost key cannot be made again. Give people the public half.";

const PACK_EXAMPLES: &str = "\
Examples:
  link plugin pack ./my_plugin --sign-with ./publisher.key
  link plugin pack ./my_plugin --sign-with ./publisher.key --out ./site

Writes `ID-VERSION.tar.gz`, its signature `ID-VERSION.tar.gz.signature.json`, and `ID.signature.json`, by which people
find the newest archive. Publish all of them in one folder, under these names.";
