//! Health of engines. An engine is healthy if it answers on its line. It is the one we started if
//! it accepts the secret of this launch and refuses a wrong one.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between checks")]

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use link_agent_core::{event::Event, run::Run};
use link_plugin_language_model::Manifest;
use tokio::sync::Notify;

use super::{Address, Line, Table};
use crate::inbox::Inbox;

/// How often to check a loading engine.
const LOADING: Duration = Duration::from_millis(50);

/// The timeout of one answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Performs health checks.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    manifest: Arc<Manifest>,
}

impl Probe {
    pub(super) fn new(manifest: Arc<Manifest>) -> Self {
        Self { manifest }
    }

    /// Returns whether an engine answers that it is healthy.
    pub(super) async fn answers(&self, address: &Address) -> bool {
        let line = Line::new(address.clone());
        self.status(&line, &self.manifest.engine.health_path, None).await == Some(200)
    }

    /// Returns whether an engine answers at all, whatever the status. Has no timeout.
    pub(super) async fn answers_at_all(&self, address: &Address) -> bool {
        let line = Line::new(address.clone());
        line.status(&self.manifest.engine.health_path, None).await.is_some()
    }

    /// Returns whether the engine is the one we started, and is ready.
    async fn is_ours(&self, address: &Address) -> bool {
        let line = Line::new(address.clone());
        let proof = &self.manifest.engine.proof_path;
        let secret = Some(line.secret().expose());
        self.status(&line, &self.manifest.engine.health_path, None).await == Some(200)
            && self.status(&line, proof, Some("not the secret")).await == Some(401)
            && self.status(&line, proof, secret).await == Some(200)
    }

    async fn status(&self, line: &Line, path: &str, secret: Option<&str>) -> Option<u16> {
        tokio::time::timeout(ANSWER, line.status(path, secret)).await.ok().flatten()
    }
}

/// Checks loading engines until the pipeline is stopped, and reports each one that becomes ready.
pub(super) async fn watch(table: Table, started: Arc<Notify>, probe: Probe, inbox: Inbox) {
    loop {
        let loading: Vec<_> = table
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|(_, running)| !running.healthy)
            .map(|(run, running)| (*run, running.pipeline_id, running.address.clone()))
            .collect();
        if loading.is_empty() {
            started.notified().await;
            continue;
        }
        for (run, pipeline_id, address) in loading {
            if probe.is_ours(&address).await {
                mark_healthy(&table, run);
                inbox.event(Event::EngineReady { pipeline_id, run }).await;
            }
        }
        tokio::time::sleep(LOADING).await;
    }
}

fn mark_healthy(table: &Table, run: Run) {
    let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = table.get_mut(&run) {
        running.healthy = true;
    }
}
