//! One arm for each effect of the core.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for disk space")]

use std::{collections::VecDeque, time::Duration};

use anyhow::Context as _;
use link_agent_core::{
    effect::{Effect, Note},
    event::Event,
    record::Change,
};
use link_platform::checkpoint;

use crate::{
    download::Downloads, engine::Engines, journal::Journal, proxy::Frontends, report::Reporter,
};

/// How often a write to the journal is tried, a second apart, before the agent gives up; a full
/// disk may be emptied meanwhile, and what serves goes on serving.
const WRITE_TRIES: u32 = 60;

/// Everything that effects are carried out with.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) journal: Journal,
    pub(crate) reporter: Reporter,
    pub(crate) engines: Engines,
    pub(crate) frontends: Frontends,
    pub(crate) downloads: Downloads,
}

impl Shell {
    /// Carries out `effects` in order. An outcome that is known at once is added to `next`.
    pub(crate) async fn run_all(
        &mut self,
        effects: Vec<Effect>,
        next: &mut VecDeque<Event>,
    ) -> anyhow::Result<()> {
        for effect in effects {
            tracing::debug!(?effect, "effect");
            self.run(effect, next).await?;
        }
        Ok(())
    }

    /// Ends what must not outlive the agent.
    pub(crate) async fn stop(self) {
        self.engines.stop_all().await;
        self.frontends.close_all();
    }

    async fn run(&mut self, effect: Effect, next: &mut VecDeque<Event>) -> anyhow::Result<()> {
        match effect {
            Effect::Persist(changes) => self.persist(&changes).await?,
            Effect::SendReceipt(receipt) => {
                checkpoint::reach("receipt");
                self.reporter.receipt(receipt);
            }
            Effect::SendReport(entry) => {
                checkpoint::reach("report");
                self.reporter.report(entry);
            }
            Effect::Download { download, file } => {
                checkpoint::reach("download");
                self.downloads.start_one(download, file);
            }
            Effect::CancelDownload { download } => self.downloads.cancel(download),
            Effect::ReservePort { run, route } => {
                checkpoint::reach("reserve-port");
                let (pipeline_id, port) = (route.pipeline_id, route.port);
                let outcome = self.frontends.reserve(route).await;
                next.push_front(Event::PortReserved { pipeline_id, run, port, outcome });
            }
            Effect::ReplaceRoute(route) => {
                checkpoint::reach("replace-route");
                let engine = route.engine.and_then(|run| self.engines.address(run));
                self.frontends.replace(route, engine)?;
            }
            Effect::ReleasePort { pipeline_id, port } => self.frontends.release(pipeline_id, port),
            Effect::StartEngine { pipeline_id, run, plugin, alias, file } => {
                checkpoint::reach("start-engine");
                let model = self.downloads.path(&file);
                self.engines.launch(pipeline_id, run, &plugin, &alias, model);
            }
            Effect::StopEngine { pipeline_id, run } => self.engines.end(pipeline_id, run),
            Effect::PruneModel { keep } => self.downloads.prune(&keep),
            Effect::DiscardFile(file) => self.downloads.discard(&file),
            Effect::DeleteModel { pipeline_id, model_id } => {
                checkpoint::reach("delete-model");
                let outcome = self.downloads.delete_model(model_id);
                next.push_back(Event::ModelDeleted { pipeline_id, outcome });
            }
            Effect::Log(note) => log(&note),
        }
        Ok(())
    }

    async fn persist(&self, changes: &[Change]) -> anyhow::Result<()> {
        checkpoint::reach("before-persist");
        let mut tries = 0;
        while let Err(error) = self.journal.apply(changes).await {
            tries += 1;
            if tries >= WRITE_TRIES {
                return Err(error).context("the journal cannot be written");
            }
            tracing::error!("{error:#}; trying again");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        checkpoint::reach("after-persist");
        for change in changes {
            checkpoint::reach(name(change));
        }
        Ok(())
    }
}

/// The checkpoint after a kind of change is on disk.
fn name(change: &Change) -> &'static str {
    match change {
        Change::PutCommand(entry) if entry.result.is_some() => "command-done",
        Change::PutCommand(_) => "command-stored",
        Change::ForgetCommand(_) => "command-forgotten",
        Change::PutPipeline(_) => "pipeline-stored",
        Change::RemovePipeline(_) => "pipeline-removed",
        Change::PutReport(_) => "report-stored",
        Change::RemoveReport(_) => "report-removed",
        Change::BuryReport { .. } => "report-buried",
        Change::SetLastSeq(_) => "seq-stored",
    }
}

fn log(note: &Note) {
    match note {
        Note::Refused { reason } => tracing::warn!("a delivery had no effect: {reason}"),
        Note::Accepted { command } => tracing::info!(command, "accepted"),
        Note::Finished { command, result } => tracing::info!(command, result, "finished"),
    }
}
