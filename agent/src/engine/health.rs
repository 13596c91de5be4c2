//! Health of engines: one is healthy when it answers, and it is ours when it knows the secret of
//! this launch and refuses who does not.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between looks")]

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use link_agent_core::event::Event;
use link_platform::port_owner;
use link_plugin_language_model::Manifest;
use reqwest::{Client, StatusCode};
use tokio::sync::Notify;

use super::{Address, Table};
use crate::run::Inbox;

/// How often an engine that loads is looked at.
const LOADING: Duration = Duration::from_millis(50);

/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(2);

/// Asks engines.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    client: Client,
    manifest: Arc<Manifest>,
}

impl Probe {
    pub(super) fn new(manifest: Arc<Manifest>) -> reqwest::Result<Self> {
        let client = Client::builder().timeout(ANSWER).no_proxy().tls_certs_only([]).build()?;
        Ok(Self { client, manifest })
    }

    /// Tells whether an engine answers that it is well.
    pub(super) async fn answers(&self, address: &Address) -> bool {
        let path = &self.manifest.engine.health_path;
        self.status(address, path, None).await == Some(StatusCode::OK)
    }

    /// Tells whether it is the engine that we started, and is ready.
    async fn is_ours(&self, address: &Address, pid: u32) -> bool {
        // Asked first: the secret must not be shown to a program that took the port before ours.
        let owner = port_owner::find(address.port.get());
        if owner.is_some_and(|owner| owner.pid != pid) {
            return false;
        }
        let proof = &self.manifest.engine.proof_path;
        let secret = Some(address.secret.expose());
        self.answers(address).await
            && self.status(address, proof, Some("not the secret")).await
                == Some(StatusCode::UNAUTHORIZED)
            && self.status(address, proof, secret).await == Some(StatusCode::OK)
    }

    async fn status(
        &self,
        address: &Address,
        path: &str,
        secret: Option<&str>,
    ) -> Option<StatusCode> {
        let mut request = self.client.get(format!("http://127.0.0.1:{}{path}", address.port));
        if let Some(secret) = secret {
            request = request.bearer_auth(secret);
        }
        request.send().await.ok().map(|response| response.status())
    }
}

/// Looks at engines until the pipeline is stopped, and tells when one is ready.
pub(super) async fn watch(table: Table, started: Arc<Notify>, probe: Probe, inbox: Inbox) {
    loop {
        let loading: Vec<_> = table
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|(_, running)| !running.healthy)
            .map(|(run, running)| (*run, running.pipeline_id, running.pid, running.address.clone()))
            .collect();
        if loading.is_empty() {
            started.notified().await;
            continue;
        }
        for (run, pipeline_id, pid, address) in loading {
            if probe.is_ours(&address, pid).await {
                mark_healthy(&table, run);
                inbox.event(Event::EngineReady { pipeline_id, run }).await;
            }
        }
        tokio::time::sleep(LOADING).await;
    }
}

fn mark_healthy(table: &Table, run: u64) {
    let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = table.get_mut(&run) {
        running.healthy = true;
    }
}
