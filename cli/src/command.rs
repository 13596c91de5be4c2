//! One file per command. This module only dispatches.

mod account;
mod agent;
mod allowlist;
mod audit;
mod backend;
mod bulk;
mod chat;
mod commands;
mod device;
mod device_login;
mod doctor;
pub(crate) mod documents;
mod down;
mod engine;
mod fleet;
pub(crate) mod install_files;
mod key;
mod logs;
mod member;
mod model;
mod open_browser;
mod operation;
mod other_use;
mod outcome;
mod plugin;
mod published;
mod register;
mod release_check;
mod repair_serving;
mod run;
mod staging;
mod status;
mod support;
mod token;
mod trust;
mod uninstall;
mod up;
mod update;
mod usage;

use std::path::PathBuf;

use link_platform::paths::Roots;

use link_protocol::exit_code::ExitCode;

use crate::{
    args::Command, called, complete, context::Context, error::CliError, output, shared_files,
};

/// Runs one command.
///
/// # Errors
/// The error of the command.
pub(crate) async fn run(context: &Context, command: Command) -> Result<ExitCode, CliError> {
    context.ensure_own(written_by(context, &command).as_deref())?;
    match command {
        Command::Status(arguments) => return status::run(context, &arguments).await,
        Command::Register(arguments) => register::run(context, &arguments).await?,
        Command::Up(arguments) => up::run(context, arguments).await?,
        Command::Down(arguments) => return down::run(context, arguments).await,
        Command::Open(arguments) => open_browser::run(context, arguments).await?,
        Command::Doctor(arguments) => return doctor::run(context, &arguments).await,
        Command::Start => agent::start(context).await?,
        Command::Stop => agent::stop(context).await?,
        Command::Restart => agent::restart(context).await?,
        Command::Update(arguments) => update::run(context, arguments).await?,
        Command::Uninstall(arguments) => return uninstall::run(context, arguments).await,
        Command::Login(arguments) => account::login(context, arguments).await?,
        Command::Logout => account::logout(context).await?,
        Command::Whoami => account::whoami(context).await?,
        Command::Account(command) => account::run(context, command).await?,
        Command::Member(command) => member::run(context, command).await?,
        Command::Token(command) => token::run(context, command).await?,
        Command::Audit(arguments) => audit::run(context, arguments).await?,
        Command::Usage(arguments) => usage::run(context, arguments).await?,
        Command::Fleet(command) => fleet::run(context, command).await?,
        Command::Commands(command) => commands::run(context, command).await?,
        Command::Operation(command) => operation::run(context, command).await?,
        Command::Key(command) => key::run(context, command).await?,
        Command::Device(command) => device::run(context, command).await?,
        Command::Logs(arguments) => return logs::run(context, arguments).await,
        Command::Support(arguments) => return support::run(context, arguments).await,
        Command::Model(command) => model::run(context, command).await?,
        Command::Engine(command) => engine::run(context, command).await?,
        Command::Plugin(command) => plugin::run(context, command).await?,
        Command::Run(arguments) => return run::run(context, arguments).await,
        Command::Chat(arguments) => return chat::run(context, arguments).await,
        Command::RepairServing(arguments) => repair_serving::run(context, &arguments).await?,
        Command::Allowlist(command) => allowlist::run(context, command).await?,
        Command::Completions { shell } => completions(shell)?,
        Command::Complete { words } => complete::run(context, &words).await?,
        Command::Reach(arguments) => doctor::reach(&arguments).await?,
        Command::SelfCheck => output::write_stdout("ok\n")?,
        Command::VerifyFiles(arguments) => release_check::run(context, &arguments)?,
        Command::InstallFiles(arguments) => return install_files::run(context, &arguments).await,
        Command::InstallBackend(arguments) => return backend::install(context, &arguments),
        Command::UninstallBackend(arguments) => return backend::uninstall(context, arguments),
        Command::RefreshFiles => install_files::refresh(context)?,
    }
    Ok(ExitCode::Success)
}

/// Returns the folder that a command writes to, which must belong to this user. None for commands
/// that only read. For an uninstallation it is the data folder: root may uninstall what root
/// installed in another user's home.
fn written_by(context: &Context, command: &Command) -> Option<PathBuf> {
    match command {
        Command::Status(_)
        | Command::Logs(_)
        | Command::Support(_)
        | Command::Completions { .. }
        | Command::Complete { .. }
        | Command::Reach(_)
        | Command::SelfCheck
        | Command::VerifyFiles(_)
        | Command::InstallBackend(_)
        | Command::UninstallBackend(_) => None,
        Command::Uninstall(_) => Some(context.roots.data.clone()),
        Command::Doctor(arguments) if !arguments.fix => None,
        Command::Doctor(_)
        | Command::Register(_)
        | Command::Up(_)
        | Command::Down(_)
        | Command::Open(_)
        | Command::Start
        | Command::Stop
        | Command::Restart
        | Command::Update(_)
        | Command::Login(_)
        | Command::Logout
        | Command::Whoami
        | Command::Account(_)
        | Command::Member(_)
        | Command::Token(_)
        | Command::Audit(_)
        | Command::Usage(_)
        | Command::Fleet(_)
        | Command::Commands(_)
        | Command::Operation(_)
        | Command::Key(_)
        | Command::Device(_)
        | Command::Model(_)
        | Command::Engine(_)
        | Command::Plugin(_)
        | Command::Run(_)
        | Command::Chat(_)
        | Command::RepairServing(_)
        | Command::Allowlist(_)
        | Command::InstallFiles(_)
        | Command::RefreshFiles => Roots::of_user().ok().map(|(home, _)| home),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    let script = shared_files::completions(&crate::command(), shell, called::own_name());
    output::write_stdout(&String::from_utf8_lossy(&script))
}
