//! Health of engines. An engine is healthy if it answers on its line. A listener is the engine that
//! the agent started if it accepts the secret of this launch and refuses a wrong one.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between checks")]

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use link_agent_core::{event::Event, run::Run};
use link_protocol::plugin::Health;
use tokio::sync::Notify;

use super::{Address, Line, Running, Table};
use crate::inbox::Inbox;

/// How often to check a loading engine.
const LOADING: Duration = Duration::from_millis(50);

/// The timeout of one answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Returns whether an engine answers that it is healthy.
pub(super) async fn answers(address: &Address, health: &Health) -> bool {
    let line = Line::new(address.clone());
    status(&line, &health.path, None).await == Some(200)
}

/// Returns whether an engine answers at all, whatever the status. Has no timeout.
pub(super) async fn answers_at_all(address: &Address, health: &Health) -> bool {
    let line = Line::new(address.clone());
    line.status(&health.path, None).await.is_some()
}

/// Returns whether the listener is the engine that the agent started, and is ready. An engine without a proof path is
/// identified by its private socket, or by the process that listens on its port.
async fn is_ours(address: &Address, health: &Health) -> bool {
    let line = Line::new(address.clone());
    let secret = Some(line.secret().expose());
    if status(&line, &health.path, None).await != Some(200) {
        return false;
    }
    let Some(proof) = &health.proof_path else { return true };
    status(&line, proof, Some("not the secret")).await == Some(401)
        && status(&line, proof, secret).await == Some(200)
}

async fn status(line: &Line, path: &str, secret: Option<&str>) -> Option<u16> {
    tokio::time::timeout(ANSWER, line.status(path, secret)).await.ok().flatten()
}

/// Checks loading engines until the pipeline is stopped, and reports each one that becomes ready to `ready` and the core.
pub(super) async fn watch(table: Table, started: Arc<Notify>, ready: Arc<Notify>, inbox: Inbox) {
    loop {
        let loading: Vec<_> = table
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|(_, running)| !running.healthy)
            .map(|(run, running)| (*run, running.clone()))
            .collect();
        if loading.is_empty() {
            started.notified().await;
            continue;
        }
        for (run, Running { pipeline_id, address, manifest, .. }) in loading {
            if is_ours(&address, &manifest.adapter.health).await {
                mark_healthy(&table, run);
                ready.notify_one();
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
