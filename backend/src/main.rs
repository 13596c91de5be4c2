//! `link-backend`: parses the command line, then serves until a signal arrives, or runs one
//! maintenance command.

#![forbid(unsafe_code)]

mod command;
mod serve;

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use clap::Parser as _;
use link_backend::{
    args::{self, Action, Arguments},
    config::{
        file::{LogFormat, LogSection},
        load::Loaded,
    },
};
use link_platform::{
    log::{Counted, Repeats},
    memory, names, router_threads,
};
use tracing_subscriber::{
    EnvFilter, Layer as _,
    fmt::{format, layer},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::command::outcome::{Ended, Refused};

fn main() -> ExitCode {
    names::keep_to_what_is_built_in();
    router_threads::keep_to_one();
    memory::keep_heap_together();
    let arguments = Arguments::parse();
    let json = arguments.global.json;
    let code = run(arguments).unwrap_or_else(|refused| refused.tell(json));
    code.number().into()
}

#[tokio::main]
async fn run(arguments: Arguments) -> Ended {
    let mut flags = arguments.global.flags();
    if let Action::Serve(options) = &arguments.action {
        flags.extend(options.flags());
    }
    if let Action::Config(args::Config::Schema) = arguments.action {
        return command::config::schema();
    }
    let json = arguments.global.json;
    let loaded = Loaded::read(arguments.global.config, flags).map_err(Refused::from)?;
    log(&loaded.values.log)?;
    match arguments.action {
        Action::Serve(_) => serve::run(&loaded).await,
        Action::Migrate(options) => command::migrate::run(&loaded, options, json).await,
        Action::Backup(options) => command::backup::run(&loaded, &options, json).await,
        Action::Restore(options) => command::restore::run(&loaded, &options, json).await,
        Action::Doctor => command::doctor::run(&loaded, json).await,
        Action::Releases(action) => command::releases::run(&action, &loaded, json).await,
        Action::Config(action) => command::config::run(action, &loaded, json),
        Action::CreateAccount(person) => command::account::create(&loaded, &person, json).await,
        Action::ResetPassword(person) => {
            command::account::reset_password(&loaded, &person, json).await
        }
    }
}

fn log(section: &LogSection) -> Result<(), Refused> {
    let filter = EnvFilter::try_new(&section.filter).map_err(Refused::failed)?;
    let lines = layer().with_writer(io::stderr);
    let lines = match section.format {
        LogFormat::Text => {
            let colours = io::stderr().is_terminal();
            let text = Counted::text(format().with_ansi(colours));
            lines.with_ansi(colours).event_format(text).boxed()
        }
        LogFormat::Json => {
            let json = format().json().with_current_span(true).with_span_list(false);
            lines.json().event_format(Counted::json(json)).boxed()
        }
    };
    tracing_subscriber::registry().with(lines).with(filter).with(Repeats::new()).init();
    Ok(())
}
