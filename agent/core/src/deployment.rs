//! Deployments in progress: download the file, then hand it over for configuration.
//!
//! Every deployment ends with exactly one result: completed by its pipeline, failed with a reason,
//! or cancelled (specification, section 3.1).

use std::collections::BTreeMap;

use link_protocol::{
    command::{DeployModel, ModelFile},
    deployment::DeploymentState,
    id::{CommandId, DeploymentId, ModelId},
    local_api::{DeploymentProgress, Progress},
    report::{CommandResult, ProgressEvent, ProgressReport},
};

use crate::{
    effect::{Effect, Turn},
    event::DownloadFailure,
    record::{DownloadId, Report},
    throttle::Throttle,
};

/// The deployments whose command is running.
#[derive(Debug, Default)]
pub struct Deployments {
    active: BTreeMap<CommandId, Active>,
    attempts: u64,
}

#[derive(Debug)]
struct Active {
    deploy: DeployModel,
    download: DownloadId,
    phase: Phase,
    bytes_done: u64,
    /// The engine that is downloaded before the model file, if the device does not have the engine.
    engine: Option<EnginePart>,
    throttle: Throttle,
    /// The cancel commands to finish when this deployment ends.
    cancels: Vec<CommandId>,
}

/// The progress of an engine's download.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct EnginePart {
    pub(crate) build: String,
    pub(crate) bytes_done: u64,
    pub(crate) bytes_total: u64,
}

#[derive(Debug)]
enum Phase {
    Downloading,
    /// The download was asked to stop. Once it has stopped, the deployment ends with this result.
    Stopping {
        status: CommandResult,
        reason: String,
    },
    Configuring,
}

impl Deployments {
    /// Starts a download.
    pub(crate) fn begin(&mut self, command: CommandId, deploy: DeployModel, turn: &mut Turn) {
        self.attempts += 1;
        let download = DownloadId { deployment_id: deploy.deployment_id, attempt: self.attempts };
        let total = deploy.model.size_bytes;
        turn.reports.push(progress(&deploy, ProgressEvent::Downloading, 0, total));
        turn.effects.push(Effect::Download {
            download,
            plugin: deploy.config.plugin.clone(),
            settings: deploy.config.settings.clone(),
            file: deploy.model.clone(),
        });
        let active = Active {
            deploy,
            download,
            phase: Phase::Downloading,
            bytes_done: 0,
            engine: None,
            throttle: Throttle::default(),
            cancels: Vec::new(),
        };
        self.active.insert(command, active);
    }

    /// Records progress and reports it in steps.
    pub(crate) fn progressed(&mut self, download: DownloadId, bytes_done: u64, turn: &mut Turn) {
        let Some(active) = self.active.values_mut().find(|active| active.download == download)
        else {
            return;
        };
        active.bytes_done = bytes_done.min(active.deploy.model.size_bytes);
        // An incomplete engine does not count towards the remaining bytes.
        active.engine.take_if(|engine| engine.bytes_done < engine.bytes_total);
        active.tell(turn);
    }

    /// Records progress of the engine's download, which is part of the deployment, and reports it
    /// in steps.
    pub(crate) fn engine_progressed(
        &mut self,
        download: DownloadId,
        engine: EnginePart,
        turn: &mut Turn,
    ) {
        let found = self.active.values_mut().find(|active| active.download == download);
        if let Some(active) = found {
            let bytes_done = engine.bytes_done.min(engine.bytes_total);
            active.engine = Some(EnginePart { bytes_done, ..engine });
            active.tell(turn);
        }
    }

    /// Ends a download. If the deployment is ready for configuration, returns it, and what was downloaded for it.
    ///
    /// If the deployment was already stopped, the finished file is deleted, unless it is `in_use`:
    /// a redeployment may use the same file.
    pub(crate) fn download_ended(
        &mut self,
        download: DownloadId,
        outcome: Result<(), DownloadFailure>,
        in_use: impl Fn(&ModelFile) -> bool,
        turn: &mut Turn,
    ) -> Option<(CommandId, DeployModel, Progress)> {
        let (&command, active) =
            self.active.iter_mut().find(|(_, active)| active.download == download)?;
        let ended = match (&active.phase, outcome) {
            (Phase::Stopping { status, reason }, Ok(())) => {
                if !in_use(&active.deploy.model) {
                    turn.effects.push(Effect::DiscardFile(active.deploy.model.clone()));
                }
                (*status, reason.clone())
            }
            (Phase::Stopping { status, reason }, Err(_)) => (*status, reason.clone()),
            (Phase::Downloading | Phase::Configuring, Err(DownloadFailure::Cancelled)) => {
                (CommandResult::Cancelled, "the download was cancelled".to_owned())
            }
            (Phase::Downloading | Phase::Configuring, Err(DownloadFailure::Failed(reason))) => {
                (CommandResult::Failed, reason)
            }
            (Phase::Downloading | Phase::Configuring, Ok(())) => {
                active.phase = Phase::Configuring;
                active.bytes_done = active.deploy.model.size_bytes;
                active.engine.take_if(|engine| engine.bytes_done < engine.bytes_total);
                let all = active.progress();
                let event = ProgressEvent::Configuring;
                turn.reports.push(progress(&active.deploy, event, all.bytes_done, all.bytes_total));
                return Some((command, active.deploy.clone(), all));
            }
        };
        turn.report_command(command, ended.0, ended.1);
        None
    }

    /// Stops a deployment that is still downloading; returns false if there is none.
    pub(crate) fn stop(
        &mut self,
        wanted: impl Fn(CommandId, &DeployModel) -> bool,
        status: CommandResult,
        reason: &str,
        turn: &mut Turn,
    ) -> bool {
        let found = self.active.iter_mut().find(|(id, active)| wanted(**id, &active.deploy));
        let Some((_, active)) = found else { return false };
        match active.phase {
            Phase::Downloading => {
                active.phase = Phase::Stopping { status, reason: reason.to_owned() };
                turn.effects.push(Effect::CancelDownload { download: active.download });
                true
            }
            Phase::Stopping { .. } => true,
            Phase::Configuring => false,
        }
    }

    /// Stops a deployment for the command `cancel`; returns false if there is nothing to stop.
    ///
    /// The cancel ends together with the deployment. A restart in between finds both in the
    /// journal, so it cannot resume a deployment whose cancel is forgotten.
    pub(crate) fn cancel(
        &mut self,
        cancel: CommandId,
        deployment: DeploymentId,
        reason: &str,
        turn: &mut Turn,
    ) -> bool {
        let stopped = self.stop(
            |_, deploy| deploy.deployment_id == deployment,
            CommandResult::Cancelled,
            reason,
            turn,
        );
        let mut all = self.active.values_mut();
        if stopped && let Some(active) = all.find(|one| one.deploy.deployment_id == deployment) {
            active.cancels.push(cancel);
        }
        stopped
    }

    /// Removes a deployment whose command has its result. Returns the cancel commands that waited
    /// for it.
    pub(crate) fn forget(&mut self, command: CommandId) -> Vec<CommandId> {
        self.active.remove(&command).map(|active| active.cancels).unwrap_or_default()
    }

    /// Returns the deployments in progress, for the local API.
    #[must_use]
    pub fn progress(&self) -> Vec<DeploymentProgress> {
        self.active
            .values()
            .map(|active| DeploymentProgress {
                model_id: active.deploy.model.model_id,
                pipeline_id: Some(active.deploy.pipeline_id),
                state: match active.phase {
                    Phase::Downloading | Phase::Stopping { .. } => DeploymentState::Downloading,
                    Phase::Configuring => DeploymentState::Configuring,
                },
                progress: active.progress(),
                engine: active.coming_engine(),
            })
            .collect()
    }
}

impl Active {
    /// Returns how much of the model file and of its engine is downloaded.
    fn progress(&self) -> Progress {
        let (done, total) = match &self.engine {
            Some(engine) => (engine.bytes_done, engine.bytes_total),
            None => (0, 0),
        };
        Progress {
            bytes_done: self.bytes_done.saturating_add(done),
            bytes_total: self.deploy.model.size_bytes.saturating_add(total),
        }
    }

    /// Returns the build of the engine that is being downloaded.
    fn coming_engine(&self) -> Option<String> {
        let engine = self.engine.as_ref()?;
        (engine.bytes_done < engine.bytes_total).then(|| engine.build.clone())
    }

    /// Reports progress if it has reached a new step.
    fn tell(&mut self, turn: &mut Turn) {
        let Progress { bytes_done, bytes_total } = self.progress();
        if self.throttle.passes(bytes_done, bytes_total) {
            let event = ProgressEvent::Downloading;
            turn.reports.push(progress(&self.deploy, event, bytes_done, bytes_total));
        }
    }
}

/// Returns a filter for deployments of `model`.
pub(crate) fn deploys(model: ModelId) -> impl Fn(CommandId, &DeployModel) -> bool {
    move |_, deploy| deploy.model.model_id == model
}

/// Returns the state of a deployment that has not started.
pub(crate) fn queued(deploy: &DeployModel) -> DeploymentProgress {
    DeploymentProgress {
        model_id: deploy.model.model_id,
        pipeline_id: Some(deploy.pipeline_id),
        state: DeploymentState::Queued,
        progress: Progress { bytes_done: 0, bytes_total: deploy.model.size_bytes },
        engine: None,
    }
}

/// Returns the report that `deploy` is complete. The engine counts as it did while it was `downloaded`.
pub(crate) fn completed(deploy: &DeployModel, downloaded: Progress) -> Report {
    let all = downloaded.bytes_total;
    progress(deploy, ProgressEvent::Completed, all, all)
}

/// Returns the report that `deploy` has reached `event`.
fn progress(
    deploy: &DeployModel,
    event: ProgressEvent,
    bytes_done: u64,
    bytes_total: u64,
) -> Report {
    Report::Progress {
        model_id: deploy.model.model_id,
        progress: ProgressReport {
            deployment_id: Some(deploy.deployment_id),
            event,
            bytes_done,
            bytes_total,
        },
    }
}

#[cfg(test)]
mod tests;
