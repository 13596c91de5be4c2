//! The `link` command: registers devices, deploys models, repairs deployments.
//!
//! `args` defines the arguments, `command` has one file per command, and `error_code` lists the
//! errors. The exit codes are shared with the backend. This crate calls the backend and the agent
//! through `link_client`, and shares only the wire contract with them.

#![forbid(unsafe_code)]

pub mod args;
pub mod document;
pub mod shared_files;

mod agent_config;
mod agent_process;
mod backend_login;
mod backend_place;
mod called;
mod chat;
mod command;
mod complete;
mod context;
mod credentials;
mod doctor;
mod error;
mod error_code;
mod local_backend;
mod local_logs;
mod misuse;
mod names;
mod output;
mod owner_login;
mod path_setup;
mod progress;
mod prompt;
mod redaction;
mod resolve;
mod secret_input;
mod service;
mod version_label;
mod wait;

use std::path::Path;

use clap::{CommandFactory as _, FromArgMatches as _, error::ErrorKind};
use link_protocol::exit_code::ExitCode;

use crate::{
    args::{Arguments, Global},
    context::Context,
    document::Document,
    error::{CliError, ErrorDocument},
    error_code::ErrorCode,
    output::{Output, Prompt},
};

/// Returns the definition of the command, for man pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    args::flowing(Arguments::command())
}

/// Returns the documents that commands print on stdout with `--json`, one for each command.
#[must_use]
pub fn documents() -> Vec<Document> {
    command::documents::all()
}

/// Returns the documents that commands print on stderr with `--json`.
#[must_use]
pub fn documents_on_stderr() -> Vec<Document> {
    vec![Document::of::<ErrorDocument<'_>>("error"), Document::of::<Prompt>("prompt")]
}

/// Runs the command with the arguments of this process.
#[must_use]
pub fn run() -> std::process::ExitCode {
    link_platform::user_manager::complete_environment();
    let arguments: Vec<_> = std::env::args_os().collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let output = Output::new(Global { json, ..Global::default() });
    let ended =
        misuse::check(&arguments, &command(), |name| Path::new(name).is_file()).and_then(|()| {
            let command = args::with_placeholders(command());
            let matches = command.try_get_matches_from(&arguments);
            match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
                Ok(arguments) => act(arguments),
                Err(error) if error.kind() == ErrorKind::DisplayVersion => {
                    let version = version_label::of_this_program();
                    Output::new(Global::default()).data(&(), |&()| format!("link {version}"))?;
                    Ok(ExitCode::Success)
                }
                Err(error) if json && error.use_stderr() => Err(misuse::of_clap(&error)),
                Err(error) => {
                    // If the stream is closed, nobody can read the message.
                    let _closed = error.print();
                    Ok(if error.use_stderr() { ExitCode::Usage } else { ExitCode::Success })
                }
            }
        });
    let code = ended.unwrap_or_else(|error| {
        output.error(&error);
        error.exit
    });
    code.number().into()
}

fn act(arguments: Arguments) -> Result<ExitCode, CliError> {
    let context = Context::read(arguments.global)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        CliError::new(
            ExitCode::Failed,
            ErrorCode::Runtime,
            format!("cannot start the runtime: {error}"),
        )
    })?;
    let ended = runtime.block_on(command::run(&context, arguments.command));
    runtime.shutdown_background();
    ended
}
