//! `link engine install` without a file: the best build of the signed index.

use link_installer::{
    engine::Wanted,
    engine_download::{self, Download, DownloadError, Progress},
    source::Source,
};
use link_protocol::exit_code::ExitCode;
use serde_json::json;
use tokio::sync::watch;

use crate::{
    command::release_check,
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
    progress, resolve,
};

pub(super) async fn run(context: &Context, source: Option<&str>) -> Result<(), CliError> {
    let manifest = link_plugin_language_model::manifest().engine;
    let wanted = Wanted::new(&manifest.name, &manifest.default_build, &manifest.accepted_builds);
    let trust = release_check::trust(context)?;
    let sources = match source {
        Some(source) => {
            vec![Source::parse(source).map_err(|error| CliError::usage(error.to_string()))?]
        }
        None => {
            let identity = resolve::identity(context)?;
            let backend = identity.as_ref().map(|identity| identity.backend_url.as_str());
            engine_download::sources(&context.roots, backend)
        }
    };
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
    let brought = brought.map_err(|error| explain(&error, &manifest.default_build))?;
    let build = &brought.build;
    context.output.say(&format!(
        "installed the build {build} ({}); models use it from their next start",
        brought.why
    ));
    context.output.data(&json!({"build": build, "why": brought.why}), |_| String::new())
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
    CliError::new(error.exit_code(), code, chain(error)).hint(format!(
        "nothing was changed; to install a build from a file, use `link engine install FILE`, \
         such as build {build} of llama.cpp"
    ))
}
