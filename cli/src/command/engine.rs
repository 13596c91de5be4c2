//! `link engine`: the builds of the inference engine on this machine.

mod download;

pub(super) use self::download::Installed;

use std::path::Path;

use link_installer::engines::{EngineError, Engines};
use link_protocol::{
    backend_api::model::LANGUAGE_MODEL, command::Sha256Hex, exit_code::ExitCode, plugin::Engine,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    plugin,
    trust::{self, Purpose},
};
use crate::{
    args::EngineCommand,
    context::Context,
    document::Removed,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// A build of the inference engine on this machine.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Build<'a> {
    /// The name of the build.
    build: &'a str,
    /// Whether future model processes use the build.
    used: bool,
    /// Why the build was installed, as text for a person.
    why: Option<&'a str>,
}

pub(super) async fn run(context: &Context, command: EngineCommand) -> Result<(), CliError> {
    match command {
        EngineCommand::List { of } => list(context, &of.plugin, &of_plugin(context, &of.plugin)?),
        EngineCommand::Install { from, sha256, build, source, of } => {
            let engine = plugin::find(context, &of.plugin)?.manifest.engine;
            let Some(from) = from else {
                return download::run(context, &engine, source.as_deref(), build.as_deref()).await;
            };
            let engines = builds_of(context, &engine);
            install(context, &engines, &from, sha256.as_ref(), build.as_deref())
        }
        EngineCommand::Use { build, of } => {
            let engines = of_plugin(context, &of.plugin)?;
            engines.switch(&build).map_err(explain)?;
            context.output.say(&format!("models use the build {build} from their next start"));
            context.output.data(&Installed { build: &build, why: None }, |_| String::new())
        }
        EngineCommand::Trust(arguments) => trust::run(context, Purpose::EngineIndexes, &arguments),
        EngineCommand::Remove { build, of } => {
            let engines = of_plugin(context, &of.plugin)?;
            engines.remove(&build).map_err(explain)?;
            context.output.say(&format!("removed the build {build}"));
            context.output.data(&Removed { removed: build }, |_| String::new())
        }
    }
}

fn of_plugin(context: &Context, plugin: &str) -> Result<Engines, CliError> {
    Ok(builds_of(context, &plugin::find(context, plugin)?.manifest.engine))
}

fn builds_of(context: &Context, engine: &Engine) -> Engines {
    Engines::of(&context.roots.engines(), &engine.name, &engine.executable)
}

fn list(context: &Context, plugin: &str, engines: &Engines) -> Result<(), CliError> {
    let builds = engines.list().map_err(explain)?;
    let entries = builds.iter().map(|build| {
        let why = build.origin.as_ref().map(|origin| &origin.why);
        Build { build: &build.name, used: build.current, why: why.map(String::as_str) }
    });
    context.output.data(&entries.collect::<Vec<_>>(), |_| {
        if builds.is_empty() {
            let install = match plugin {
                LANGUAGE_MODEL => "link engine install".to_owned(),
                id => format!("link engine install --plugin {id}"),
            };
            return format!(
                "no inference engine is installed; install one with `{install}`, or from a file \
                 with `{install} FILE`"
            );
        }
        context.view().table(
            ["BUILD", "", "WHY"],
            builds.iter().map(|build| {
                let why = build.origin.as_ref().map(|origin| origin.why.clone());
                let used = if build.current { "used" } else { "" };
                [build.name.clone().into(), used.into(), why.unwrap_or_default().into()]
            }),
        )
    })
}

fn install(
    context: &Context,
    engines: &Engines,
    from: &Path,
    sha256: Option<&Sha256Hex>,
    build: Option<&str>,
) -> Result<(), CliError> {
    if sha256.is_some() && from.is_dir() {
        return Err(CliError::usage("--sha256 applies to an archive, but this is a folder"));
    }
    let sha256 = sha256.map(Sha256Hex::as_str);
    let installed = engines.install(from, sha256, build).map_err(explain)?;
    context
        .output
        .say(&format!("installed the build {installed}; models use it from their next start"));
    let document = Installed { build: &installed, why: None };
    context.output.data(&document, |_| String::new())
}

fn explain(error: EngineError) -> CliError {
    let (exit, code, hint) = match &error {
        EngineError::Busy => (ExitCode::Busy, ErrorCode::Busy, "retry in a moment"),
        EngineError::NoExecutable { .. } | EngineError::NotPlain(_) | EngineError::TooLarge => (
            ExitCode::Usage,
            ErrorCode::NoEngine,
            "give the archive or the folder of a release of the engine",
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
