//! `link engine`.

use std::path::PathBuf;

use clap::Subcommand;
use link_protocol::command::Sha256Hex;

/// `link engine …`.
#[derive(Debug, Subcommand)]
pub enum EngineCommand {
    /// List the builds of the inference engine that are installed here
    #[command(after_help = "Example:\n  link engine list")]
    List,
    /// Install a build of the inference engine from an archive or an unpacked folder, and use it
    #[command(after_help = INSTALL_EXAMPLES)]
    Install {
        /// Archive (.tar.gz) or folder that holds `llama-server`
        #[arg(value_name = "FILE")]
        from: PathBuf,
        /// SHA-256 that the archive must have
        #[arg(long, value_name = "HEX")]
        sha256: Option<Sha256Hex>,
        /// Name of the build [default: what the engine says of itself]
        #[arg(long, value_name = "BUILD")]
        build: Option<String>,
    },
    /// Remove a build
    #[command(after_help = "Example:\n  link engine remove b8808")]
    Remove {
        /// Build, as `link engine list` shows it
        build: String,
    },
}

const INSTALL_EXAMPLES: &str = "\
Examples:
  link engine install ./llama-b9789-bin-ubuntu-x64.tar.gz --sha256 2c26…b0d4
  link engine install ./llama.cpp/build/bin

Engines are programs: install one only from a place that you trust. It runs once, for its version,
before it is used; models that are served go on with theirs until they are started again.";
