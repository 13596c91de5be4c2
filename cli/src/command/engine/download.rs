//! `link engine install` without a file: the best build of the signed index.

use link_installer::{
    engine::Wanted,
    engine_download::{Download, DownloadError, Progress},
};
use link_protocol::{exit_code::ExitCode, plugin::Engine};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

use crate::{
    command::{published, release_check},
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
    progress,
};

/// The build of the inference engine that models use from their next start.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct Installed<'a> {
    /// The name of the build.
    pub(super) build: &'a str,
    /// Why this build was chosen, as text for a person. Absent for a build from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<&'a str>,
}

pub(super) async fn run(
    context: &Context,
    engine: &Engine,
    source: Option<&str>,
    build: Option<&str>,
) -> Result<(), CliError> {
    let wanted = wanted(engine, build)?;
    let trust = release_check::trust(context)?;
    let sources = published::sources(context, source)?;
    let (sender, mut seen) = watch::channel(Progress::default());
    let download = Download {
        roots: &context.roots,
        trust: &trust,
        wanted: &wanted,
        sources: &sources,
        again: true,
    };
    let bar = progress::Progress::start(context.output);
    let mut download = std::pin::pin!(download.run(&sender));
    let brought = loop {
        tokio::select! {
            brought = &mut download => break brought,
            Ok(()) = seen.changed() => {
                let Progress { build, bytes_done, bytes_total } = seen.borrow_and_update().clone();
                bar.show(&format!("downloading build {build}"), bytes_done, bytes_total);
            }
        }
    };
    drop(bar);
    let brought = brought.map_err(|error| explain(&error, &engine.default_build))?;
    let build = &brought.build;
    context.output.say(&format!(
        "installed the build {build} ({}); models use it from their next start",
        brought.why
    ));
    context.output.data(&Installed { build, why: Some(&brought.why) }, |_| String::new())
}

/// Returns the builds to try: the one called `build`, or all builds that the plugin accepts.
fn wanted(engine: &Engine, build: Option<&str>) -> Result<Wanted, CliError> {
    let all = Wanted::of(engine);
    let Some(build) = build else { return Ok(all) };
    if !all.builds.iter().any(|accepted| accepted == build) {
        let message = format!("the plugin accepts no build `{build}` of `{}`", all.engine);
        return Err(CliError::usage(message)
            .hint(format!("choose one of these: {}", all.builds.join(", "))));
    }
    Ok(Wanted { builds: vec![build.to_owned()], ..all })
}

fn explain(error: &DownloadError, build: &str) -> CliError {
    let named = [
        (ExitCode::Busy, ErrorCode::Busy),
        (ExitCode::NoSpace, ErrorCode::NoSpace),
        (ExitCode::ChecksumMismatch, ErrorCode::ChecksumMismatch),
        (ExitCode::UnsupportedPlatform, ErrorCode::NoBuild),
        (ExitCode::SelfCheckFailed, ErrorCode::EngineDoesNotRun),
        (ExitCode::SignatureInvalid, ErrorCode::SignatureInvalid),
    ];
    let code = named.iter().find(|(exit, _)| *exit == error.exit_code());
    let code = code.map_or(ErrorCode::NoEngine, |(_, code)| *code);
    let hint = if error.exit_code() == ExitCode::NoSpace {
        "nothing was changed; free disk space, then run `link engine install` again".to_owned()
    } else {
        format!(
            "nothing was changed; to install a build from a file, use `link engine install FILE`, \
             such as build {build} of llama.cpp"
        )
    };
    CliError::new(error.exit_code(), code, chain(error)).hint(hint)
}
