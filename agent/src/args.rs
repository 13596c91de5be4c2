//! The agent's arguments. The service manager starts it with none; tests and scratch homes use them.

use std::path::PathBuf;

use clap::Parser;

/// The Link device agent: takes commands from the backend and serves models on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "link-agent",
    version,
    after_help = "Examples:\n  \
    link-agent                        run for this user's registered device\n  \
    LINK_HOME=/tmp/scratch link-agent run with every file below one folder\n  \
    link-agent --check-config         say what is wrong with the configuration\n  \
    link-agent --config-schema        print what an editor checks the configuration with"
)]
pub(crate) struct Args {
    /// One folder for all of Link's files, instead of the user's usual ones.
    #[arg(long, env = "LINK_HOME", value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// The port of the local API on 127.0.0.1, in place of the configuration's (20505).
    #[arg(long, env = "LINK_LOCAL_PORT", value_name = "PORT")]
    pub(crate) local_port: Option<u16>,

    /// Threads an engine computes with, in place of the configuration's (its own choice).
    #[arg(long, env = "LINK_ENGINE_THREADS", value_name = "N")]
    pub(crate) engine_threads: Option<u16>,

    /// Tokens of context an engine is started with, in place of the configuration's (4096).
    #[arg(long, env = "LINK_ENGINE_CONTEXT", value_name = "TOKENS")]
    pub(crate) engine_context: Option<u32>,

    /// What to log on the console, in place of the configuration's level (info): error, warn, info,
    /// debug, or a filter such as `link_agent=debug`.
    #[arg(long, env = "LINK_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,

    /// Look whether this build works here, change nothing, and say so.
    #[arg(long)]
    pub(crate) self_check: bool,

    /// With `--self-check`: the backend must answer.
    #[arg(long, requires = "self_check")]
    pub(crate) connected: bool,

    /// Look whether the configuration (`agent.json`) can be used, and say every fault of it.
    #[arg(long)]
    pub(crate) check_config: bool,

    /// Print the JSON Schema of the configuration.
    #[arg(long)]
    pub(crate) config_schema: bool,

    /// Keys whose releases a development build installs, beside its own.
    #[arg(long, env = "LINK_DEV_RELEASE_KEYS", hide = true)]
    pub(crate) development_release_keys: Option<String>,
}
