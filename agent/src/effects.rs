//! Carries out the core's effects, one match arm each.

use link_protocol::counter::Epoch;
use std::collections::VecDeque;

use link_agent_core::{
    effect::{Effect, Note},
    event::{Event, Staged},
    record::{Change, Steps},
};
use link_platform::checkpoint;

use crate::{
    control::{
        log::{LOCAL, SECURITY},
        report::Reporter,
    },
    device::update::Updates,
    inbox::Inbox,
    serving::{
        download::Downloads,
        engine::{Engines, Pending},
        proxy::Frontends,
    },
    state::{disk_space::Patience, journal::Journal, session::SessionFile},
};

/// Everything needed to carry out effects.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) session: SessionFile,
    pub(crate) journal: Journal,
    pub(crate) reporter: Reporter,
    pub(crate) engines: Engines,
    pub(crate) frontends: Frontends,
    pub(crate) downloads: Downloads,
    pub(crate) updates: Updates,
    pub(crate) inbox: Inbox,
    /// Whether another version is ready to replace this process.
    pub(crate) makes_way: bool,
    /// The next epoch, if the device was transferred to another account.
    pub(crate) hands_over: Option<Epoch>,
}

impl Shell {
    /// Carries out `effects` in order. Outcomes known at once are added to `next`.
    pub(crate) async fn run_all(
        &mut self,
        effects: Vec<Effect>,
        next: &mut VecDeque<Event>,
    ) -> anyhow::Result<()> {
        for effect in effects {
            tracing::debug!(effect = label(&effect), "effect");
            self.run(effect, next).await?;
        }
        Ok(())
    }

    /// Stops everything that must not outlive the agent and returns the journal.
    pub(crate) async fn stop(self) -> Journal {
        self.updates.stop();
        self.engines.stop_all().await;
        self.frontends.close_all().await;
        self.journal
    }

    async fn run(&mut self, effect: Effect, next: &mut VecDeque<Event>) -> anyhow::Result<()> {
        match effect {
            Effect::Persist(changes) => self.persist(changes).await,
            Effect::SendReceipt(receipt) => {
                checkpoint::reach("receipt");
                self.reporter.receipt(receipt);
            }
            Effect::SendReport(entry) => {
                checkpoint::reach("report");
                self.reporter.report(entry);
            }
            Effect::Download { download, plugin, settings, file } => {
                checkpoint::reach("download");
                self.downloads.start_one(download, (plugin, settings), file);
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
                let engine = route.engine.and_then(|run| self.engines.find(run));
                self.frontends.replace(route, engine)?;
            }
            Effect::ReleasePort { pipeline_id, port } => {
                self.frontends.release(pipeline_id, port).await;
            }
            Effect::StartEngine { pipeline_id, run, plugin, settings, alias, file } => {
                checkpoint::reach("start-engine");
                let model = self.downloads.path(&file);
                let pending = Pending { pipeline_id, run, plugin, settings, alias, model };
                self.engines.launch(pending);
            }
            Effect::StopEngine { pipeline_id, run } => self.engines.end(pipeline_id, run),
            Effect::KillEngine { run, reason, .. } => self.engines.kill(run, reason),
            Effect::PruneModel { keep } => self.downloads.prune(&keep),
            Effect::DiscardFile(file) => self.downloads.discard(&file),
            Effect::DeleteModel { pipeline_id, model_id } => {
                checkpoint::reach("delete-model");
                self.downloads.delete_model(pipeline_id, model_id);
            }
            Effect::StageUpdate { request, connected } => {
                checkpoint::reach("stage-update");
                if let Err(error) = self.updates.stage(request, connected, self.inbox.clone()) {
                    next.push_back(Event::UpdateStaged(Staged::Failed(format!("{error:#}"))));
                }
            }
            Effect::ReplaceAgent { version } => {
                tracing::info!(%version, "this version is replaced");
                self.makes_way = true;
            }
            Effect::HandOver { to_epoch } => self.hands_over = Some(to_epoch),
            Effect::Log(note) => log(&note),
        }
        Ok(())
    }

    async fn persist(&mut self, changes: Vec<Change>) {
        checkpoint::reach("before-persist");
        let names: Vec<_> = changes.iter().map(name).collect();
        let steps = Steps::of(changes);
        self.write_journal(&steps.intake).await;
        self.write_session(&steps.put).await;
        self.write_journal(&steps.journal).await;
        self.write_session(&steps.removed).await;
        checkpoint::reach("after-persist");
        names.into_iter().for_each(checkpoint::reach);
    }

    async fn write_journal(&self, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let mut patience = Patience::default();
        while let Err(error) = self.journal.apply(changes).await {
            patience.after(&error).await;
        }
        checkpoint::reach("journal-written");
    }

    async fn write_session(&mut self, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let mut patience = Patience::default();
        while let Err(error) = self.session.apply(changes).await {
            patience.after(&error).await;
        }
        checkpoint::reach("session-written");
    }
}

/// Returns the name of an effect, without its data, which may be secret.
fn label(effect: &Effect) -> &'static str {
    match effect {
        Effect::Persist(_) => "persist",
        Effect::SendReceipt(_) => "send receipt",
        Effect::SendReport(_) => "send report",
        Effect::Download { .. } => "download",
        Effect::CancelDownload { .. } => "cancel download",
        Effect::ReservePort { .. } => "reserve port",
        Effect::ReplaceRoute(_) => "replace route",
        Effect::ReleasePort { .. } => "release port",
        Effect::StartEngine { .. } => "start engine",
        Effect::StopEngine { .. } => "stop engine",
        Effect::KillEngine { .. } => "kill engine",
        Effect::PruneModel { .. } => "prune model",
        Effect::DiscardFile(_) => "discard file",
        Effect::DeleteModel { .. } => "delete model",
        Effect::StageUpdate { .. } => "stage update",
        Effect::ReplaceAgent { .. } => "replace agent",
        Effect::HandOver { .. } => "hand over",
        Effect::Log(_) => "log",
    }
}

/// Returns the name of the checkpoint after a kind of change is on disk.
fn name(change: &Change) -> &'static str {
    match change {
        Change::PutCommand(entry) if entry.result.is_some() => "command-done",
        Change::PutCommand(_) => "command-stored",
        Change::ForgetCommand(_) => "command-forgotten",
        Change::PutPipeline(_) => "pipeline-stored",
        Change::RemovePipeline(_) => "pipeline-removed",
        Change::PutReport(_) => "report-stored",
        Change::RemoveReport(_) => "report-removed",
        Change::HoldReport(_) => "report-held",
        Change::BuryReport { .. } => "report-buried",
        Change::SetLastSeq(_) => "seq-stored",
    }
}

fn log(note: &Note) {
    match note {
        Note::Refused { reason } => tracing::warn!("ignored a delivery: {reason}"),
        Note::Untrusted { reason } => {
            tracing::warn!(category = SECURITY, "ignored a delivery: {reason}");
        }
        Note::Invalid { command, fault } => tracing::warn!(
            target: LOCAL,
            command,
            r#type = fault.kind,
            "the command is not valid: {}",
            fault.field
        ),
        Note::Accepted { command } => tracing::info!(command, "accepted"),
        Note::Finished { command, result } => tracing::info!(command, result, "finished"),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex, PoisonError},
    };

    use link_protocol::{config::Level, envelope::Envelope};
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;
    use crate::control::log::Records;

    /// The captured log.
    #[derive(Clone, Default)]
    struct Said(Arc<Mutex<Vec<u8>>>);

    impl Said {
        fn text(&self) -> String {
            let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            String::from_utf8_lossy(&said).into_owned()
        }
    }

    impl io::Write for Said {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_refused_signature_is_a_record_of_security_and_a_late_command_is_not() {
        let said = Said::default();
        let writer = said.clone();
        let log_to = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
        tracing::subscriber::with_default(log_to.finish(), || {
            log(&Note::Refused { reason: "the command is for another epoch".to_owned() });
            log(&Note::Untrusted { reason: "the signature is not valid".to_owned() });
        });
        let text = said.text();
        let lines: Vec<_> = text.lines().collect();
        assert!(!lines[0].contains(SECURITY), "{text}");
        assert!(lines[1].contains("category=\"security\""), "{text}");
        assert!(lines[1].contains("the signature is not valid"), "{text}");
    }

    // Holds: S6-2b, S7-7
    #[tokio::test]
    async fn the_fault_of_a_command_stays_in_the_log_of_this_machine() {
        let envelope = r#"{
            "v": 1, "command_id": "cmd_00000000000000000000000000000001",
            "device_id": "dev_00000000000000000000000000000001", "epoch": 1, "seq": 1,
            "type": "STOP_SERVING", "lane": "control", "idempotency_key": "1", "attempt": 1,
            "issued_at": "2026-08-07T12:00:00Z", "expires_at": "2026-08-07T12:10:00Z",
            "ttl_ms": 1000, "exec_deadline_s": 60, "payload": { "pipeline_id": "canary" }
        }"#;
        let envelope: Envelope = serde_json::from_str(envelope).unwrap();
        assert!(envelope.command().is_err());
        let command = envelope.command_id.to_string();
        let (said, records) = (Said::default(), Records::taking(Level::Debug));
        let writer = said.clone();
        let lines = tracing_subscriber::fmt::layer().with_ansi(false);
        let log_to = tracing_subscriber::registry()
            .with(lines.with_writer(move || writer.clone()))
            .with(records.clone());
        tracing::subscriber::with_default(log_to, || {
            log(&Note::Invalid { command: command.clone(), fault: envelope.fault() });
            log(&Note::Accepted { command: "the next".to_owned() });
        });
        let first = records.next().await;
        assert!(first.contains("the next"), "the backend reads of no fault: {first}");
        let text = said.text();
        let line = text.lines().next().unwrap();
        for word in [command.as_str(), "STOP_SERVING", "payload.pipeline_id"] {
            assert!(line.contains(word), "no `{word}` in {line}");
        }
        assert!(!text.contains("canary"), "{text}");
    }
}
