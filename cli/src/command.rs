//! One file per command; this one only tells them apart.

mod account;
mod agent;
mod allowlist;
mod device;
mod install_files;
mod key;
mod model;
mod outcome;
mod register;
mod release_check;
mod repair_serving;
mod status;
mod uninstall;
mod update;

use clap::CommandFactory as _;

use crate::{
    args::{Arguments, Command},
    context::Context,
    error::CliError,
    exit_code::ExitCode,
    output,
};

/// Runs one command.
///
/// # Errors
/// What it failed with.
pub(crate) async fn run(context: &Context, command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Status => return status::run(context).await,
        Command::Register(arguments) => register::run(context, &arguments).await?,
        Command::Start => agent::start(context).await?,
        Command::Stop => agent::stop(context).await?,
        Command::Restart => agent::restart(context).await?,
        Command::Update(arguments) => update::run(context, arguments).await?,
        Command::Uninstall(arguments) => return uninstall::run(context, arguments).await,
        Command::Login(arguments) => account::login(context, arguments).await?,
        Command::Logout => account::logout(context).await?,
        Command::Whoami => account::whoami(context).await?,
        Command::Account(command) => account::run(context, command).await?,
        Command::Key(command) => key::run(context, command).await?,
        Command::Device(command) => device::run(context, command).await?,
        Command::Model(command) => model::run(context, command).await?,
        Command::RepairServing(arguments) => repair_serving::run(context, &arguments).await?,
        Command::Allowlist(command) => allowlist::run(context, command).await?,
        Command::Completions { shell } => completions(shell)?,
        Command::SelfCheck => output::write_stdout("ok\n")?,
        Command::InstallFiles(arguments) => return install_files::run(context, &arguments).await,
    }
    Ok(ExitCode::Success)
}

fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "link", &mut script);
    output::write_stdout(&String::from_utf8_lossy(&script))
}
