//! The entry point for developers who work in a source checkout: `cargo xtask setup`, `install`,
//! `run`, `stop`, `reset`, `install-plugin`.
//!
//! Everything that `run` starts uses the checkout's own home (`home`), so it never interferes with
//! this user's installation. The steps are in `scripts/prepare`, `install.sh`, the plugins' install
//! scripts and `link`. This module only calls them.

mod checkout;
mod home;
mod install;
mod plugin;
mod reset;
mod run;
mod secrets;
mod setup;
mod stop;
mod trouble;
mod words;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

pub(crate) use checkout::Checkout;
pub(crate) use trouble::exit_code;
pub(crate) use words::check as check_words;

/// The commands for a checkout.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Check the tools, build the programs, and install the engine for text in the checkout's home
    #[command(after_help = SETUP_EXAMPLES)]
    Setup(setup::Options),
    /// Install this checkout's build for this user; replaces a running agent but starts none
    #[command(after_help = INSTALL_EXAMPLES)]
    Install(install::Options),
    /// Run this checkout's agent in the foreground; with a key or a login, register it first
    #[command(after_help = RUN_EXAMPLES)]
    Run(run::Options),
    /// Stop the checkout's agent, the installed agent, and a router (zenohd)
    #[command(after_help = "Example:\n  cargo xtask stop")]
    Stop(HomeOption),
    /// Stop the agent, and delete the identity, the journal and the login in the checkout's home
    #[command(after_help = RESET_EXAMPLES)]
    Reset(reset::Options),
    /// Install a plugin and its engine in the checkout's home
    #[command(after_help = "Example:\n  cargo xtask install-plugin language_model")]
    InstallPlugin {
        /// Name of the plugin, as in its manifest
        name: String,
        #[command(flatten)]
        home: HomeOption,
    },
}

/// Selects the home of the checkout's agent.
#[derive(Args)]
pub(crate) struct HomeOption {
    /// Home of the checkout's agent [default: link-home in the target folder]
    #[arg(long, env = "LINK_DEV_HOME", value_name = "DIR")]
    home: Option<PathBuf>,
}

/// Whether to build first.
#[derive(Args)]
pub(crate) struct BuildOption {
    /// Use the programs that are already built
    #[arg(long)]
    no_build: bool,
}

/// Runs a command.
///
/// # Errors
/// The error and the next step.
pub(crate) fn run(root: &Path, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Setup(options) => setup::run(&Checkout::find(root, &options.home)?, &options),
        Command::Install(options) => install::run(&Checkout::of_user(root)?, &options),
        Command::Run(options) => run::run(&Checkout::find(root, &options.home)?, options),
        Command::Stop(home) => stop::run(&Checkout::find(root, &home)?),
        Command::Reset(options) => reset::run(&Checkout::find(root, &options.home)?, &options),
        Command::InstallPlugin { name, home } => {
            let checkout = Checkout::find(root, &home)?;
            let plugin = plugin::find(root, &name)?;
            checkout.home.prepare()?;
            plugin.install(&checkout, &checkout.home.roots())
        }
    }
}

const SETUP_EXAMPLES: &str = "\
Examples:
  cargo xtask setup
  cargo xtask setup --dev          also what the tests need

A checkout is updated with `git pull`, and `cargo xtask setup` again.";

const INSTALL_EXAMPLES: &str = "\
Examples:
  cargo xtask install
  LINK_HOME=/tmp/scratch cargo xtask install    below one folder

`link uninstall` takes it away again.";

const RUN_EXAMPLES: &str = "\
Examples:
  cargo xtask run
  cargo xtask run --backend http://127.0.0.1:8000 --email you@example.com
  cargo xtask run --registration-key - < key.txt
  LINK_LOCAL_PORT=20605 cargo xtask run -- --log debug
  cargo xtask run --prod           install it, and have the system's service manager run it

A password that is needed is asked for. Ctrl-C, or `cargo xtask stop` elsewhere, ends it.";

const RESET_EXAMPLES: &str = "\
Examples:
  cargo xtask reset
  cargo xtask reset --hard --yes   the models and the engines too, without a question";
