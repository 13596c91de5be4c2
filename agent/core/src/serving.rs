//! Serving: the public port, the engine, and the route that joins them.
//!
//! The port is reserved before the engine starts. A start that fails frees the port. Once the
//! engine has answered, the port stays reserved until the model should no longer be served there,
//! even if the engine crashes: no other program can take the port, and clients get an explanation.
//! A repair replaces only the route; the engine process, its weights and the requests in flight are
//! untouched. At most one command waits for a pipeline.

mod deadlines;
mod machine;
mod pipeline;
mod repair;
mod watch;

use std::collections::BTreeMap;

use link_protocol::{
    command::{DeployModel, ModelFile, RepairServing, ServingConfig, StartServing, UpdatePipeline},
    counter::Generation,
    id::{CommandId, PipelineId},
    report::{CommandResult, ModelReport, ModelState},
};

pub use self::watch::Sign;
use self::{pipeline::Pipeline, watch::Watch};
use crate::{
    clock::Now,
    effect::{Effect, Turn},
    record::{Change, PipelineRecord, Report},
    run::Run,
};

/// All pipelines of this device.
#[derive(Debug, Default)]
pub struct Pipelines {
    all: BTreeMap<PipelineId, Pipeline>,
    runs: Run,
    watch: Watch,
}

/// The visible state of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct PipelineView<'a> {
    pub record: &'a PipelineRecord,
    pub state: ModelState,
    /// The run of the engine, if there is one.
    pub engine_run: Option<Run>,
    pub detail: Option<&'a str>,
}

impl Pipelines {
    /// Restores the pipelines from disk and restarts those that served.
    pub(crate) fn restore(records: Vec<PipelineRecord>, turn: &mut Turn) -> Self {
        let mut pipelines = Self::default();
        for record in records {
            let id = record.config.pipeline_id;
            let (serve, removing) = (record.serve, record.removing);
            let mut pipeline = Pipeline::idle(record);
            if removing {
                pipeline.remove(turn);
            }
            pipelines.all.insert(id, pipeline);
            if serve && !removing {
                pipelines.start(id, turn);
            }
        }
        pipelines
    }

    /// Returns all pipelines, for the local API and the hello.
    pub fn views(&self) -> impl Iterator<Item = PipelineView<'_>> {
        self.all.values().map(Pipeline::view)
    }

    /// Returns whether a pipeline serves, or could serve, from `file`.
    pub(crate) fn use_file(&self, file: &ModelFile) -> bool {
        let same = |other: &ModelFile| {
            (other.model_id, &other.sha256, &other.file_name)
                == (file.model_id, &file.sha256, &file.file_name)
        };
        self.all.values().any(|pipeline| same(&pipeline.record.file))
    }

    /// Returns the state of every pipeline, as reports.
    #[must_use]
    pub fn reports(&self) -> Vec<ModelReport> {
        self.all.values().map(Pipeline::report).collect()
    }

    /// Returns the next time at which a loading engine times out or a crashed engine restarts.
    #[must_use]
    pub fn deadline(&self) -> Option<Now> {
        self.all.values().filter_map(Pipeline::deadline).min()
    }

    /// Sets up the pipeline of a model whose file is on disk, and serves the model if `deploy`
    /// requests it or the model served before. `completed` is reported once the pipeline is as
    /// `deploy` requests; the backend takes it for final. If the model is being removed, the
    /// command fails alone.
    ///
    /// A new pipeline starts with `generation`.
    pub(crate) fn configure(
        &mut self,
        command: CommandId,
        deploy: DeployModel,
        generation: Generation,
        completed: Report,
        turn: &mut Turn,
    ) {
        let id = deploy.pipeline_id;
        let done = deployed(deploy.serve, &deploy.config);
        let Some(pipeline) = self.all.get_mut(&id) else {
            let record = PipelineRecord {
                config: deploy.config,
                file: deploy.model,
                serve: deploy.serve,
                explicit: false,
                generation,
                removing: false,
            };
            turn.changes.push(Change::PutPipeline(record.clone()));
            let serve = record.serve;
            let mut pipeline = Pipeline::idle(record);
            if serve {
                pipeline.wait(command, done);
            } else {
                turn.report_command(command, CommandResult::Succeeded, done);
            }
            pipeline.report_model(turn);
            self.all.insert(id, pipeline);
            if serve {
                self.start(id, turn);
            }
            turn.reports.push(completed);
            return;
        };
        let stays = !pipeline.is_being_removed();
        let serve = deploy.serve || pipeline.record.serve;
        pipeline.wait(command, done);
        let wanted = PipelineRecord {
            config: deploy.config,
            file: deploy.model,
            serve,
            explicit: pipeline.record.explicit,
            generation: pipeline.record.generation.next(),
            removing: false,
        };
        self.become_record(id, wanted, turn);
        if stays && let Some(pipeline) = self.all.get_mut(&id) {
            pipeline.complete(completed, turn);
        }
    }

    /// Carries out START_SERVING.
    pub(crate) fn serve(&mut self, command: CommandId, start: &StartServing, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&start.pipeline_id) else {
            return not_deployed(command, turn);
        };
        let mut wanted = pipeline.record.clone();
        wanted.config.port = start.port.unwrap_or(wanted.config.port);
        wanted.serve = true;
        wanted.explicit = true;
        let changed = wanted != pipeline.record;
        if changed {
            wanted.advance();
        }
        pipeline.wait(command, format!("serving on port {}", wanted.config.port));
        self.become_record(start.pipeline_id, wanted, turn);
    }

    /// Carries out REPAIR_SERVING: replaces the allowlist, and the port if the command names one;
    /// the engine stays.
    pub(crate) fn repair(&mut self, command: CommandId, repair: &RepairServing, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&repair.pipeline_id) else {
            return not_deployed(command, turn);
        };
        let mut wanted = pipeline.record.clone();
        wanted.config.allowlist = repair.allowlist.clone();
        wanted.config.port = repair.port.unwrap_or(wanted.config.port);
        wanted.advance();
        let origins = match wanted.config.allowlist.origins().len() {
            1 => "1 origin".to_owned(),
            count => format!("{count} origins"),
        };
        let done = if pipeline.record.serve {
            let (alias, port) = (&wanted.config.alias, wanted.config.port);
            format!("repaired: {origins} may call `{alias}` on port {port}")
        } else {
            format!("stored an allowlist of {origins}; the model is not serving")
        };
        self.runs = self.runs.next();
        pipeline.repair((command, done), wanted, self.runs, turn);
    }

    /// Carries out UPDATE_PIPELINE: applies only the difference.
    pub(crate) fn update(&mut self, command: CommandId, update: UpdatePipeline, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&update.pipeline_id) else {
            return not_deployed(command, turn);
        };
        if update.config.model_id != pipeline.record.config.model_id {
            let reason = "the configuration names another model than the pipeline serves";
            return turn.report_command(command, CommandResult::Rejected, reason);
        }
        let mut wanted = pipeline.record.clone();
        wanted.config = update.config;
        wanted.advance();
        pipeline.wait(command, "configuration replaced".to_owned());
        self.become_record(update.pipeline_id, wanted, turn);
    }

    /// Carries out STOP_SERVING.
    pub(crate) fn stop(&mut self, command: CommandId, id: PipelineId, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&id) else {
            return not_deployed(command, turn);
        };
        pipeline.wait(command, "stopped".to_owned());
        pipeline.stop(turn);
    }

    /// Carries out UNINSTALL_MODEL: stops the model, then removes it.
    pub(crate) fn uninstall(&mut self, command: CommandId, id: PipelineId, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&id) else {
            let output = "the model is not on this device";
            return turn.report_command(command, CommandResult::Succeeded, output);
        };
        pipeline.wait(command, "removed from this device".to_owned());
        pipeline.remove(turn);
    }

    /// Aborts a start in progress because a newer request wants the model stopped.
    pub(crate) fn abort_start(&mut self, id: PipelineId, reason: &str, turn: &mut Turn) {
        if let Some(pipeline) = self.all.get_mut(&id) {
            pipeline.abort_start(CommandResult::Cancelled, reason, turn);
        }
    }

    /// Serves a model at the request of a person at this machine.
    pub(crate) fn wish_serve(&mut self, id: PipelineId, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&id) else { return };
        if pipeline.is_awaited() || pipeline.is_being_removed() {
            return;
        }
        let mut wanted = pipeline.record.clone();
        if !wanted.serve {
            wanted.advance();
        }
        wanted.serve = true;
        pipeline.wait_for_person();
        self.become_record(id, wanted, turn);
    }

    /// Stops a model at the request of a person at this machine.
    pub(crate) fn wish_stop(&mut self, id: PipelineId, reason: &str, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&id) else { return };
        pipeline.abort_start(CommandResult::Cancelled, reason, turn);
        if !pipeline.is_being_removed() {
            pipeline.stop(turn);
        }
    }

    /// Removes a model at the request of a person at this machine.
    pub(crate) fn wish_remove(&mut self, id: PipelineId, reason: &str, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&id) else { return };
        pipeline.abort_start(CommandResult::Cancelled, reason, turn);
        if !pipeline.is_being_removed() {
            pipeline.remove(turn);
        }
    }

    /// Aborts the work that the timed-out `command` waits for.
    pub(crate) fn time_out(&mut self, command: CommandId, turn: &mut Turn) {
        let waiting = self.all.values_mut().find(|pipeline| pipeline.is_awaited_by(command));
        if let Some(pipeline) = waiting {
            pipeline.time_out("the command timed out", turn);
        }
    }

    fn start(&mut self, id: PipelineId, turn: &mut Turn) {
        self.runs = self.runs.next();
        if let Some(pipeline) = self.all.get_mut(&id) {
            pipeline.reserve(self.runs, turn);
        }
    }

    /// Brings a pipeline to `wanted` by the smallest sufficient step.
    fn become_record(&mut self, id: PipelineId, wanted: PipelineRecord, turn: &mut Turn) {
        self.runs = self.runs.next();
        if let Some(pipeline) = self.all.get_mut(&id) {
            pipeline.become_record(wanted, self.runs, turn);
        }
    }
}

impl Pipelines {
    fn finish_removal(&mut self, id: PipelineId, turn: &mut Turn) {
        if let Some(mut pipeline) = self.all.remove(&id) {
            pipeline.record.advance();
            let report =
                ModelReport { state: ModelState::Removed, is_serving: false, ..pipeline.report() };
            turn.reports.push(Report::Model(report));
            turn.changes.push(Change::RemovePipeline(id));
            pipeline.succeed(turn);
        }
    }

    fn delete_files(pipeline: &Pipeline, turn: &mut Turn) {
        turn.effects.push(Effect::DeleteModel {
            pipeline_id: pipeline.record.config.pipeline_id,
            model_id: pipeline.record.config.model_id,
        });
    }
}

fn deployed(serve: bool, config: &ServingConfig) -> String {
    if serve {
        format!("deployed and serving as `{}` on port {}", config.alias, config.port)
    } else {
        format!("deployed as `{}`", config.alias)
    }
}

fn not_deployed(command: CommandId, turn: &mut Turn) {
    turn.report_command(command, CommandResult::Failed, "the model is not deployed on this device");
}

#[cfg(test)]
mod tests;
