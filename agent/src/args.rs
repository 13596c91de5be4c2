//! The agent's arguments. The service manager starts it with none; tests and scratch homes use them.

use std::path::PathBuf;

use clap::Parser;
use link_protocol::limits::LOCAL_API_PORT;

/// The Link device agent: takes commands from the backend and serves models on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "link-agent",
    version,
    after_help = "Examples:\n  \
    link-agent                        run for this user's registered device\n  \
    LINK_HOME=/tmp/scratch link-agent run with every file below one folder"
)]
pub(crate) struct Args {
    /// One folder for all of Link's files, instead of the user's usual ones.
    #[arg(long, env = "LINK_HOME", value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// The port of the local API on 127.0.0.1.
    #[arg(long, env = "LINK_LOCAL_PORT", default_value_t = LOCAL_API_PORT, value_name = "PORT")]
    pub(crate) local_port: u16,

    /// Threads an engine computes with; its own choice by default.
    #[arg(long, env = "LINK_ENGINE_THREADS", value_name = "N")]
    pub(crate) engine_threads: Option<u16>,

    /// Tokens of context an engine is started with.
    #[arg(long, env = "LINK_ENGINE_CONTEXT", default_value_t = 4096, value_name = "TOKENS")]
    pub(crate) engine_context: u32,

    /// What to log: error, warn, info, debug, or a filter such as `link_agent=debug`.
    #[arg(long, env = "LINK_LOG", default_value = "info", value_name = "FILTER")]
    pub(crate) log: String,

    /// Look whether this build works here, change nothing, and say so.
    #[arg(long)]
    pub(crate) self_check: bool,

    /// With `--self-check`: the backend must answer.
    #[arg(long, requires = "self_check")]
    pub(crate) connected: bool,

    /// Keys whose releases a development build installs, beside its own.
    #[arg(long, env = "LINK_DEV_RELEASE_KEYS", hide = true)]
    pub(crate) development_release_keys: Option<String>,
}
