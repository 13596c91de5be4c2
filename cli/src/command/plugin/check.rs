//! `link plugin check`: reads a plugin, starts its engine with a sample model, and tests the contract.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the sample requests")]

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use link_client::{local::proof, model_file};
use link_installer::{engines::Engines, plugins};
use link_platform::{fs, program};
use link_protocol::{
    exit_code::ExitCode,
    plugin::{Manifest, Metadata, SAMPLE_FILE, SIZE_LIMIT, Samples},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Shown,
    contract::{self, Bench, Outcome, Sample, Setup, Tested},
    invalid, shown,
};
use crate::{context::Context, error::CliError, error_code::ErrorCode, local_backend};

/// What a checked plugin runs, serves, counts and offers, and which clauses of the contract hold.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct Checked {
    #[serde(flatten)]
    plugin: Shown,
    /// The clauses of the contract. Empty if the engine was not started.
    contract: Vec<Tested>,
}

pub(super) async fn run(
    context: &Context,
    folder: &Path,
    patience: Duration,
) -> Result<(), CliError> {
    let manifest = plugins::read(folder).map_err(|error| invalid(&error))?;
    context.output.say(&format!("`{}` is a usable plugin", manifest.id));
    let tested = match setup(context, folder, &manifest, patience).await? {
        Ok(setup) => {
            context.output.say("testing the engine with the sample model");
            test(setup).await?
        }
        Err(why) => {
            context.output.say(&format!("the engine was not tested: {why}"));
            Vec::new()
        }
    };
    let failed: Vec<&str> =
        tested.iter().filter(|one| one.outcome == Outcome::Failed).map(|one| one.clause).collect();
    let (count, names) = (failed.len(), failed.join(", "));
    let checked = Checked { plugin: shown(&manifest, None), contract: tested };
    context.output.data(&checked, Checked::in_words)?;
    if count == 0 {
        return Ok(());
    }
    let clauses = if count == 1 { "1 clause" } else { &format!("{count} clauses") };
    let message = format!("the engine breaks {clauses} of the contract: {names}");
    Err(CliError::new(ExitCode::Failed, ErrorCode::InvalidPlugin, message)
        .hint("correct the engine or the adapter, then check the plugin again"))
}

async fn test(setup: Setup<'_>) -> Result<Vec<Tested>, CliError> {
    // A random free port: concurrent tests that start at the default port would take it from each other.
    let port = local_backend::free_port(Some(0))?;
    let bench = Bench::new(setup, port).map_err(|error| CliError::file(&error))?;
    contract::test(bench).await.map_err(|error| CliError::file(&error))
}

/// Returns what is tested, or why nothing can be tested.
async fn setup<'a>(
    context: &Context,
    folder: &'a Path,
    manifest: &'a Manifest,
    patience: Duration,
) -> Result<Result<Setup<'a>, String>, CliError> {
    let samples = match fs::read_plain(&folder.join(SAMPLE_FILE), SIZE_LIMIT) {
        Err(error) if error.is_not_found() => {
            let why = format!("the folder has no `{SAMPLE_FILE}` with a model and requests");
            return Ok(Err(why));
        }
        text => text.map_err(|error| CliError::file(&error))?,
    };
    let samples = Samples::read(&samples, manifest).map_err(|error| invalid(&error))?;
    let Some(program) = program_of(context, folder, manifest) else {
        let executable = program::file_of(&manifest.engine.executable);
        let why = format!(
            "the folder has no program `{executable}`, and no build of the engine is installed"
        );
        return Ok(Err(why));
    };
    let absolute = |file: &str| {
        let path = folder.join(file);
        path.canonicalize().map_err(|error| {
            let message = format!("`{}` cannot be read: {error}", path.display());
            CliError::new(ExitCode::Usage, ErrorCode::InvalidPlugin, message)
        })
    };
    let model = absolute(&samples.model)?;
    let task = match manifest.adapter.model.metadata {
        Some(Metadata::Gguf) => {
            model_file::look(&model).await.ok().and_then(Result::ok).and_then(|facts| facts.task)
        }
        None => None,
    };
    let settings = manifest.settle(|_name| None).unwrap_or_default();
    let mut samples_read = Vec::new();
    for request in samples.requests {
        let body = match (&request.body, &request.file) {
            (Some(body), _) => body.clone().into_bytes(),
            (None, Some(file)) => std::fs::read(absolute(file)?).map_err(|error| {
                let message = format!("`{file}` cannot be read: {error}");
                CliError::new(ExitCode::Usage, ErrorCode::InvalidPlugin, message)
            })?,
            (None, None) => Vec::new(),
        };
        let Some(served) = manifest.adapter.served(&request.path) else { continue };
        samples_read.push(Sample {
            method: served.method,
            target: served.target().to_owned(),
            path: request.path,
            content_type: request.content_type,
            body,
            metered: served.metered,
        });
    }
    let work = context.roots.state.join("check").join(&proof::nonce()[..8]);
    let samples = samples_read;
    Ok(Ok(Setup { manifest, folder, program, model, task, settings, samples, work, patience }))
}

/// Returns the engine's program: that in the plugin's folder, or that of the installed build.
fn program_of(context: &Context, folder: &Path, manifest: &Manifest) -> Option<PathBuf> {
    let engine = &manifest.engine;
    let file = program::file_of(&engine.executable);
    let own = folder.join(&file);
    if own.is_file() {
        return own.canonicalize().ok();
    }
    let all = context.roots.engines();
    let builds = Engines::of(&all, &engine.name, &engine.executable).list().ok()?;
    let build = builds.into_iter().find(|build| build.current)?;
    Some(all.join(&engine.name).join(build.name).join(file))
}

impl Checked {
    fn in_words(&self) -> String {
        let mut lines = vec![self.plugin.in_words()];
        for Tested { clause, outcome, detail } in &self.contract {
            let word = match outcome {
                Outcome::Passed => "ok",
                Outcome::Failed => "FAILED",
                Outcome::Skipped => "not tested",
            };
            let detail = detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
            lines.push(format!("contract     {clause:<15}{word}{detail}"));
        }
        lines.join("\n")
    }
}
