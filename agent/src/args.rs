//! The agent's arguments. The service manager passes none; tests and scratch homes use them.

use std::path::PathBuf;

use clap::Parser;

/// The Link device agent: carries out commands of the backend and serves models on this machine
#[derive(Debug, Parser)]
#[command(
    name = "link-agent",
    version,
    after_help = "Examples:\n  \
    link-agent                         run for this user's registered device\n  \
    LINK_HOME=/tmp/scratch link-agent  keep all files in one folder\n  \
    link-agent --check-config          list the faults of the configuration\n  \
    link-agent --config-schema         print the JSON Schema of the configuration"
)]
pub(crate) struct Args {
    /// Folder for all of Link's files
    #[arg(long, env = "LINK_HOME", value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// Port of the local API on 127.0.0.1 [default: from the configuration, or 20505]
    #[arg(long, env = "LINK_LOCAL_PORT", value_name = "PORT")]
    pub(crate) local_port: Option<u16>,

    /// Compute threads of an engine [default: from the configuration, or chosen by the engine]
    #[arg(long, env = "LINK_ENGINE_THREADS", value_name = "N")]
    pub(crate) engine_threads: Option<u16>,

    /// Context of an engine, in tokens [default: from the configuration, or 4096]
    #[arg(long, env = "LINK_ENGINE_CONTEXT", value_name = "TOKENS")]
    pub(crate) engine_context: Option<u32>,

    /// Log filter of the console: error, warn, info, debug, or a filter such as `link_agent=debug`
    /// [default: from the configuration, or info]
    #[arg(long, env = "LINK_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,

    /// Check whether this build works on this machine, without changing anything
    #[arg(long)]
    pub(crate) self_check: bool,

    /// With `--self-check`: also require that the backend answers
    #[arg(long, requires = "self_check")]
    pub(crate) connected: bool,

    /// Check the configuration (`agent.json`) and list all its faults
    #[arg(long)]
    pub(crate) check_config: bool,

    /// Print the JSON Schema of the configuration
    #[arg(long)]
    pub(crate) config_schema: bool,

    /// Additional release keys that a development build trusts
    #[arg(long, env = "LINK_DEV_RELEASE_KEYS", hide = true)]
    pub(crate) development_release_keys: Option<String>,
}
