//! `link engine`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use link_protocol::{backend_api::model::LANGUAGE_MODEL, command::Sha256Hex};

use super::trust::TrustArguments;

/// `link engine …`.
#[derive(Debug, Subcommand)]
pub enum EngineCommand {
    /// List the installed builds of the inference engine, and why each was chosen
    #[command(after_help = "Example:\n  link engine list")]
    List {
        #[command(flatten)]
        of: OfPlugin,
    },
    /// Install a build of the inference engine and switch to it
    #[command(after_help = INSTALL_EXAMPLES)]
    Install {
        /// Archive (.tar.gz) or folder that holds the program of the engine, such as `llama-server`
        /// [default: the best build in the engine index]
        #[arg(value_name = "FILE")]
        from: Option<PathBuf>,
        /// Expected SHA-256 of the archive
        #[arg(long, value_name = "HEX", requires = "from")]
        sha256: Option<Sha256Hex>,
        /// Name of the build [default: the version that the engine reports, or the best build in the
        /// engine index]
        #[arg(long, value_name = "BUILD")]
        build: Option<String>,
        /// Folder with an engine index, on a web server (https) or on this machine (file://)
        #[arg(long, value_name = "URL", conflicts_with = "from")]
        source: Option<String>,
        #[command(flatten)]
        of: OfPlugin,
    },
    /// Switch to another installed build of the inference engine
    #[command(after_help = USE_EXAMPLES)]
    Use {
        /// Name of the build in `link engine list`
        build: String,
        #[command(flatten)]
        of: OfPlugin,
    },
    /// Remove a build of the inference engine
    #[command(after_help = "Example:\n  link engine remove b8808")]
    Remove {
        /// Name of the build in `link engine list`
        build: String,
        #[command(flatten)]
        of: OfPlugin,
    },
    /// Trust a key that signs engine indexes, in addition to the release keys
    #[command(after_help = TRUST_EXAMPLES)]
    Trust(TrustArguments),
}

/// The plugin whose engine a command concerns.
#[derive(Args, Clone, Debug)]
pub struct OfPlugin {
    /// Plugin that runs the engine
    #[arg(long, value_name = "PLUGIN", default_value = LANGUAGE_MODEL)]
    pub plugin: String,
}

const INSTALL_EXAMPLES: &str = "\
Examples:
  link engine install
  link engine install --build b9789
  link engine install ./llama-b9789-bin-ubuntu-x64.tar.gz --sha256 2c26…b0d4
  link engine install ./llama.cpp/build/bin

Without FILE, the best build comes from the engine index, at the release source or at the backend of this
device. A release key must have signed the index, or a key that `link engine trust` has added.
Engines are programs: install them only from a source that you trust. A new build runs once to report its
version. Served models keep their engine until they are restarted. The build stays in use until you install or
choose another one.";

const USE_EXAMPLES: &str = "\
Examples:
  link engine use b8808
  link engine use v1.8.4 --plugin audio_transcriber

Served models keep their engine until they are restarted. The build stays in use until you install or choose
another one.";

const TRUST_EXAMPLES: &str = "\
Examples:
  link engine trust ./engines.pub
  link engine trust --list
  link engine trust --remove 3f2a90c1d4e5b678

Whoever has the private half of such a key can run programs as this user.";
