//! `link engine`: the builds of the inference engine on this machine.

mod download;
mod trust;

use std::path::Path;

use link_installer::engines::{EngineError, Engines};
use link_protocol::{command::Sha256Hex, exit_code::ExitCode};
use serde_json::json;

use crate::{
    args::EngineCommand,
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
    output,
};

pub(super) async fn run(context: &Context, command: EngineCommand) -> Result<(), CliError> {
    let engines = Engines::of_language_models(&context.roots.engines());
    match command {
        EngineCommand::List => list(context, &engines),
        EngineCommand::Install { from, sha256, build, source } => {
            let (build, source) = (build.as_deref(), source.as_deref());
            install(context, &engines, from.as_deref(), sha256.as_ref(), build, source).await
        }
        EngineCommand::Trust { key, list: _, remove } => {
            trust::run(context, key.as_deref(), remove.as_deref())
        }
        EngineCommand::Remove { build } => {
            engines.remove(&build).map_err(explain)?;
            context.output.say(&format!("removed the build {build}"));
            context.output.data(&json!({"removed": build}), |_| String::new())
        }
    }
}

fn list(context: &Context, engines: &Engines) -> Result<(), CliError> {
    let builds = engines.list().map_err(explain)?;
    let entries = builds.iter().map(|build| {
        let why = build.origin.as_ref().map(|origin| &origin.why);
        json!({"build": build.name, "used": build.current, "why": why})
    });
    context.output.data(&entries.collect::<Vec<_>>(), |_| {
        if builds.is_empty() {
            return "no inference engine is installed; install one with `link engine install`, or \
                    from a file with `link engine install FILE`"
                .to_owned();
        }
        let used = |current| if current { "used" } else { "" }.to_owned();
        output::table(
            ["BUILD", "", "WHY"],
            builds.iter().map(|build| {
                let why = build.origin.as_ref().map(|origin| origin.why.clone());
                [build.name.clone(), used(build.current), why.unwrap_or_default()]
            }),
        )
    })
}

async fn install(
    context: &Context,
    engines: &Engines,
    from: Option<&Path>,
    sha256: Option<&Sha256Hex>,
    build: Option<&str>,
    source: Option<&str>,
) -> Result<(), CliError> {
    let Some(from) = from else { return download::run(context, source).await };
    if sha256.is_some() && from.is_dir() {
        return Err(CliError::usage("--sha256 applies to an archive, but this is a folder"));
    }
    let sha256 = sha256.map(Sha256Hex::as_str);
    let installed = engines.install(from, sha256, build).map_err(explain)?;
    context
        .output
        .say(&format!("installed the build {installed}; models use it from their next start"));
    context.output.data(&json!({"build": installed}), |_| String::new())
}

fn explain(error: EngineError) -> CliError {
    let (exit, code, hint) = match &error {
        EngineError::Busy => (ExitCode::Busy, ErrorCode::Busy, "retry in a moment"),
        EngineError::NoExecutable { .. } | EngineError::NotPlain(_) | EngineError::TooLarge => (
            ExitCode::Usage,
            ErrorCode::NoEngine,
            "give the archive or the folder of a llama.cpp release",
        ),
        EngineError::Altered { .. } => (
            ExitCode::ChecksumMismatch,
            ErrorCode::ChecksumMismatch,
            "nothing was installed; download the archive again from its publisher",
        ),
        EngineError::DoesNotRun(_) => (
            ExitCode::SelfCheckFailed,
            ErrorCode::EngineDoesNotRun,
            "use a build for this system and processor",
        ),
        EngineError::Nameless | EngineError::BadName(_) => (
            ExitCode::Usage,
            ErrorCode::BuildName,
            "name the build with --build, such as `--build b9789`",
        ),
        EngineError::Unknown(_) => {
            (ExitCode::Failed, ErrorCode::UnknownName, "`link engine list` shows what is installed")
        }
        EngineError::Io { .. } | EngineError::File(_) => (
            ExitCode::CannotWrite,
            ErrorCode::File,
            "nothing was installed; correct this and retry",
        ),
    };
    CliError::new(exit, code, chain(&error)).hint(hint)
}
