//! Converts the core's state into the form of the local API. Pure.

use link_protocol::{
    id::DeviceId,
    local_api::{Containment, EngineHealth, Healthz, ModelHealth, PipelineEntry},
    report::{LifecycleStatus, ModelState},
    update::{UpdateOutcome, UpdatePhase, UpdateProgress},
};

use crate::{
    inbox::{PipelineView, View},
    serving::engine::Health,
};

/// The known state of updates.
#[derive(Debug)]
pub(super) struct Updating {
    pub(super) channel: String,
    pub(super) progress: UpdateProgress,
    pub(super) last: Option<UpdateOutcome>,
}

/// Returns the complete state of the agent.
pub(super) fn healthz(
    device_id: DeviceId,
    view: View,
    health: &Health,
    updates: Updating,
    containment: Containment,
) -> Healthz {
    let explicit = view
        .pipelines
        .iter()
        .find(|pipeline| pipeline.record.explicit && pipeline.state == ModelState::Serving);
    Healthz {
        status: view.status,
        agent_version: agent_version(),
        channel: updates.channel,
        device_id,
        transport: view.transport.clone(),
        currently_serving: explicit.is_some(),
        model_id: explicit.map(|pipeline| pipeline.record.config.model_id),
        models: view.pipelines.iter().map(|pipeline| model(pipeline, health)).collect(),
        deployments: view.deployments,
        update: Some(updates.progress).filter(|progress| {
            view.status == LifecycleStatus::Updating || progress.phase != UpdatePhase::Finding
        }),
        last_update: updates.last,
        containment: Some(containment),
    }
}

/// Returns an entry for each configured pipeline, serving or not.
pub(super) fn models(view: &View) -> Vec<PipelineEntry> {
    view.pipelines
        .iter()
        .map(|pipeline| PipelineEntry {
            pipeline_id: pipeline.record.config.pipeline_id,
            alias: pipeline.record.config.alias.clone(),
            port: pipeline.record.config.port,
            host: "127.0.0.1".to_owned(),
            is_serving: pipeline.state == ModelState::Serving,
        })
        .collect()
}

fn model(pipeline: &PipelineView, health: &Health) -> ModelHealth {
    let config = &pipeline.record.config;
    let engine = health.get(&config.pipeline_id);
    ModelHealth {
        model_id: config.model_id,
        pipeline_id: config.pipeline_id,
        alias: config.alias.clone(),
        plugin: Some(config.plugin.clone()),
        state: pipeline.state,
        // An engine without a process cannot be healthy.
        health: engine.map_or(EngineHealth::Unhealthy, |engine| engine.health),
        detail: pipeline.detail.clone(),
        engine_pid: engine.and_then(|engine| engine.pid),
    }
}

fn agent_version() -> semver::Version {
    env!("CARGO_PKG_VERSION").parse().expect("the package's version is one")
}
