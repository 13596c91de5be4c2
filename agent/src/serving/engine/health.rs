//! Health of engines. An engine is healthy if it answers on its line. A listener is the engine that
//! the agent started if it accepts the secret of this launch and refuses a wrong one.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between checks")]

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use link_agent_core::{event::Event, run::Run};
use link_protocol::{local_api::EngineHealth, plugin::Health};
use tokio::sync::Notify;

use super::{Address, Line, Running, Table};
use crate::inbox::Inbox;

/// How often to check a loading engine.
const LOADING: Duration = Duration::from_millis(50);

/// The timeout of one answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Returns the health of each of `engines`. All are asked at once, so that those that do not answer are waited for together.
pub(super) async fn of_all(engines: &[Running]) -> Vec<EngineHealth> {
    join_all(engines.iter().map(of)).await
}

async fn of(engine: &Running) -> EngineHealth {
    if !engine.healthy {
        return EngineHealth::Starting;
    }
    let line = Line::new(engine.address.clone());
    match status(&line, &engine.manifest.adapter.health.path, None).await {
        Some(200) => EngineHealth::Healthy,
        Some(_) | None => EngineHealth::Unhealthy,
    }
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
        let checks = loading.iter().map(async |(run, engine)| {
            if is_ours(&engine.address, &engine.manifest.adapter.health).await {
                mark_healthy(&table, *run);
                ready.notify_one();
                let (pipeline_id, run) = (engine.pipeline_id, *run);
                inbox.event(Event::EngineReady { pipeline_id, run }).await;
            }
        });
        join_all(checks).await;
        tokio::time::sleep(LOADING).await;
    }
}

fn mark_healthy(table: &Table, run: Run) {
    let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = table.get_mut(&run) {
        running.healthy = true;
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, path::Path};

    use link_protocol::{
        id::{ModelId, PipelineId},
        port::Port,
        secret::Secret,
    };

    use super::*;
    use crate::serving::engine::Channel;

    #[tokio::test]
    async fn engines_that_do_not_answer_are_waited_for_together() {
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/language_model");
        let manifest = Arc::new(link_installer::plugins::read(&plugin).unwrap());
        let silent: Vec<_> = (0..4).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let engine = |(at, listener): (u128, &TcpListener)| Running {
            pipeline_id: PipelineId::of(ModelId::from_uuid(uuid::Uuid::from_u128(at))),
            address: Address {
                channel: Channel::Port(
                    Port::try_from(listener.local_addr().unwrap().port()).unwrap(),
                ),
                base_path: String::new(),
                secret: Secret::new("secret"),
                pid: std::process::id(),
            },
            manifest: Arc::clone(&manifest),
            task: None,
            build: None,
            healthy: true,
        };
        let engines: Vec<_> = (0..).zip(&silent).map(engine).collect();
        // One after another they would take four times the time of an answer.
        let found = tokio::time::timeout(ANSWER * 3, of_all(&engines)).await;
        assert_eq!(found.unwrap(), [EngineHealth::Unhealthy; 4]);
    }
}
