//! The invariants that must hold after every event, and the conditions that must hold at the end.

use std::collections::{BTreeMap, BTreeSet};

use link_agent_core::{
    effect::Effect,
    record::{Change, LedgerEntry},
    run::Run,
};
use link_backend::domain::command::State;
use link_protocol::{
    allowlist::Allowlist,
    command::Command,
    id::{CommandId, PipelineId},
    report::{CommandResult, LifecycleStatus, ModelState},
};

use super::{backend::Backend, device::Device, mutants::Mutant};

impl Device {
    /// Checks that the core, its disk and its world agree.
    pub(super) fn check(&self) -> Result<(), String> {
        // A mutant must be caught by its consequences, and not by differing from the real core.
        if self.mutant == Mutant::None {
            self.check_disk()?;
        }
        self.check_ports()?;
        self.check_engines()
    }

    /// The state of the core is on disk.
    fn check_disk(&self) -> Result<(), String> {
        let Some(agent) = &self.agent else { return Ok(()) };
        let pipelines: Vec<_> = agent.pipelines().map(|view| view.record).collect();
        if !self.disk.pipelines.values().eq(pipelines.iter().copied()) {
            let disk = &self.disk.pipelines;
            return Err(format!("the disk has {disk:?}, and the core {pipelines:?}"));
        }
        let hello = agent.hello();
        let known: BTreeSet<_> = hello.inflight.iter().map(|entry| entry.command_id).collect();
        let open = self.disk.commands.values().filter(|entry| entry.result.is_none());
        let open: BTreeSet<_> = open.map(|entry| entry.command_id).collect();
        if known != open || hello.last_seq != self.disk.last_seq {
            return Err(format!("the disk has {open:?}, and the core {hello:?}"));
        }
        Ok(())
    }

    /// A port is reserved exactly by the pipelines that serve or load on it, and by those that have served on it and
    /// are still to serve there.
    fn check_ports(&self) -> Result<(), String> {
        let expected = self.expected_ports();
        let held: BTreeSet<_> = self
            .frontends
            .iter()
            .flat_map(|(port, routes)| routes.keys().map(|pipeline| (*port, *pipeline)))
            .collect();
        let answered = self.answered.iter().map(|(pipeline, port)| (*port, *pipeline));
        let wanted: BTreeSet<_> = expected.keys().copied().chain(answered).collect();
        if held != wanted {
            return Err(format!("ports are held by {held:?}, and needed by {wanted:?}"));
        }
        Ok(())
    }

    /// A pipeline has at most one engine, which its state names, and its route leads to this engine.
    fn check_engines(&self) -> Result<(), String> {
        let Some(agent) = &self.agent else { return Ok(()) };
        let views: BTreeMap<_, _> =
            agent.pipelines().map(|view| (view.record.config.pipeline_id, view)).collect();
        for (pipeline, run) in self.engines.keys() {
            if views.get(pipeline).and_then(|view| view.engine_run) != Some(*run) {
                return Err(format!("engine {run} of {pipeline} runs, and the core forgot it"));
            }
        }
        for ((port, pipeline), run) in self.expected_ports() {
            let (view, route) = (&views[&pipeline], &self.frontends[&port][&pipeline]);
            let engine = (view.state == ModelState::Serving).then_some(run);
            let config = &view.record.config;
            if route.engine != engine || route.alias != config.alias {
                return Err(format!("{pipeline} is {:?}, its route is {route:?}", view.state));
            }
            let current =
                route.allowlist == config.allowlist && route.generation == view.record.generation;
            if !current && engine.is_some() {
                return Err(format!("{pipeline} is {:?}, its route is {route:?}", view.record));
            }
        }
        Ok(())
    }

    /// A repair that keeps the port does not touch the serving engine, and gives it a new route.
    pub(super) fn check_repairs(&self, effects: &[Effect]) -> Result<(), String> {
        let changes = effects.iter().filter_map(|effect| {
            if let Effect::Persist(changes) = effect { Some(changes) } else { None }
        });
        let entries: Vec<&LedgerEntry> = changes
            .flatten()
            .filter_map(
                |change| {
                    if let Change::PutCommand(entry) = change { Some(entry) } else { None }
                },
            )
            .collect();
        for entry in &entries {
            if let Some(Command::RepairServing(repair)) = &entry.command
                && repair.port.is_none()
                && succeeded(entry)
                && let Some(run) = self.serving_run(repair.pipeline_id)
                && !self.others_run(repair.pipeline_id, entry.command_id, &entries)
            {
                let pipeline = repair.pipeline_id;
                let stops = effects.iter().any(|effect| {
                    matches!(effect, Effect::StopEngine { pipeline_id, .. }
                        | Effect::StartEngine { pipeline_id, .. }
                        | Effect::ReleasePort { pipeline_id, .. } if *pipeline_id == pipeline)
                });
                let replaced = effects.iter().any(|effect| {
                    matches!(effect, Effect::ReplaceRoute(route) if route.pipeline_id == pipeline
                        && route.engine == Some(run) && route.allowlist == repair.allowlist)
                });
                if stops || !replaced {
                    return Err(format!("a repair does not leave engine {run} alone: {effects:?}"));
                }
            }
        }
        Ok(())
    }

    fn serving_run(&self, pipeline: PipelineId) -> Option<Run> {
        let routes = self.frontends.values().find_map(|routes| routes.get(&pipeline));
        routes.and_then(|route| route.engine)
    }

    fn others_run(&self, pipeline: PipelineId, repair: CommandId, now: &[&LedgerEntry]) -> bool {
        let concerns = |entry: &LedgerEntry| {
            entry.command_id != repair
                && entry.command.as_ref().and_then(pipeline_of) == Some(pipeline)
        };
        let running = self.agent.iter().flat_map(|agent| agent.hello().inflight);
        let mut running = running.filter(|entry| entry.running);
        now.iter().any(|entry| concerns(entry))
            || running.any(|entry| self.disk.commands.get(&entry.command_id).is_some_and(concerns))
    }
}

/// Returns whether no work is left.
pub(super) fn is_at_rest(device: &Device, backend: &Backend) -> bool {
    let Some(agent) = &device.agent else { return false };
    let resting = |state: ModelState| match state {
        ModelState::Serving | ModelState::NotServing => true,
        ModelState::Starting | ModelState::Stopping | ModelState::Removed => false,
    };
    device.disk.outbox.is_empty()
        && agent.hello().inflight.is_empty()
        && agent.status() == LifecycleStatus::Online
        && agent.pipelines().all(|view| resting(view.state))
        && backend.commands.iter().all(link_backend::domain::command::CommandRecord::is_told)
        && backend.deployments.iter().all(|one| one.state.is_final())
}

/// Checks the conditions that must hold at the end.
pub(super) fn at_the_end(device: &Device, backend: &Backend) -> Result<(), String> {
    device.check()?;
    commands(device, backend)?;
    for deployment in &backend.deployments {
        if !deployment.state.is_final() {
            return Err(format!("a deployment is never final: {deployment:?}"));
        }
    }
    let Some(agent) = &device.agent else { return Err("the device is down".to_owned()) };
    if !device.disk.outbox.is_empty() {
        return Err(format!("reports are left: {:?}", device.disk.outbox));
    }
    let inflight = agent.hello().inflight;
    if !inflight.is_empty() {
        return Err(format!("commands are left: {inflight:?}"));
    }
    if backend.status != Some(LifecycleStatus::Online) {
        return Err(format!("the device is {:?} for the backend", backend.status));
    }
    states(device, backend)?;
    allowlists(device)
}

/// Every command has ended, with the same result on both sides, and no forged command was obeyed.
fn commands(device: &Device, backend: &Backend) -> Result<(), String> {
    for record in &backend.commands {
        if !record.is_told() {
            return Err(format!("a command is lost: {record:?}"));
        }
        let done = device.disk.done.get(&record.id);
        let told = record.result.as_ref().map(|outcome| &outcome.report);
        if record.state == State::Acknowledged && told != done {
            return Err(format!("the backend knows {told:?} of {record:?}, the device {done:?}"));
        }
        let spoiled = backend.spoiled.contains_key(&record.id);
        let mismatched = !record.command.identifiers_match();
        if let Some(report) = done
            && (spoiled || mismatched)
            && (!matches!(report.status, CommandResult::Failed | CommandResult::Rejected)
                || report.output != "Invalid command payload")
        {
            return Err(format!("a command that is not valid ended with {report:?}"));
        }
    }
    let known: BTreeSet<_> = backend.commands.iter().map(|record| record.id).collect();
    for entry in device.disk.commands.values() {
        if !known.contains(&entry.command_id) {
            return Err(format!("a forged command was obeyed: {entry:?}"));
        }
        if entry.result.is_none() {
            return Err(format!("an accepted command has no end: {entry:?}"));
        }
        if let Some(Command::CancelDeploy(cancel)) = &entry.command
            && succeeded(entry)
            && let Some(deploy) = device.disk.commands.values().find(|other| {
                matches!(&other.command, Some(Command::DeployModel(deploy) | Command::UpdateModel(deploy))
                    if deploy.deployment_id == cancel.deployment_id)
            })
            && succeeded(deploy)
        {
            return Err(format!("a deployment is cancelled and succeeds: {entry:?}, {deploy:?}"));
        }
    }
    Ok(())
}

/// The backend knows the last state of every pipeline.
fn states(device: &Device, backend: &Backend) -> Result<(), String> {
    let Some(agent) = &device.agent else { return Ok(()) };
    let reports: BTreeMap<_, _> =
        agent.hello().serving.into_iter().map(|report| (report.pipeline_id, report)).collect();
    for (pipeline, report) in &reports {
        let known = backend.states.get(pipeline).map(|(_, known)| known);
        if known != Some(report) {
            return Err(format!("the backend believes {known:?}, the device is {report:?}"));
        }
    }
    for (pipeline, (_, known)) in &backend.states {
        if known.state != ModelState::Removed && !reports.contains_key(pipeline) {
            return Err(format!("the backend believes {known:?}, the device has no such pipeline"));
        }
    }
    Ok(())
}

/// A pipeline has the allowlist of the newest successful command that set one. A later failed command may have set its
/// own before it failed.
fn allowlists(device: &Device) -> Result<(), String> {
    for (pipeline, record) in &device.disk.pipelines {
        let removals = device.disk.commands.values().filter(|entry| {
            matches!(&entry.command, Some(Command::UninstallModel(uninstall))
                if uninstall.pipeline_id == *pipeline && succeeded(entry))
        });
        let removed = removals.map(|entry| entry.seq).max().unwrap_or_default();
        let mut carriers: Vec<(&LedgerEntry, &Allowlist)> = device
            .disk
            .commands
            .values()
            .filter(|entry| entry.seq > removed)
            .filter_map(|entry| Some((entry, carried(entry.command.as_ref()?, *pipeline)?)))
            .collect();
        carriers.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.seq));
        let newest = carriers.iter().position(|(entry, _)| succeeded(entry));
        let possible = &carriers[..newest.map_or(carriers.len(), |place| place + 1)];
        let actual = &record.config.allowlist;
        if !possible.iter().any(|(_, allowlist)| *allowlist == actual) {
            return Err(format!("{pipeline} has {actual:?}, and should have one of {possible:?}"));
        }
    }
    Ok(())
}

fn succeeded(entry: &LedgerEntry) -> bool {
    entry.result.as_ref().is_some_and(|result| result.status == CommandResult::Succeeded)
}

fn carried(command: &Command, pipeline: PipelineId) -> Option<&Allowlist> {
    if pipeline_of(command) != Some(pipeline) {
        return None;
    }
    match command {
        Command::DeployModel(deploy) | Command::UpdateModel(deploy) => {
            Some(&deploy.config.allowlist)
        }
        Command::RepairServing(repair) => Some(&repair.allowlist),
        Command::UpdatePipeline(update) => Some(&update.config.allowlist),
        Command::CancelDeploy(_)
        | Command::StartServing(_)
        | Command::StopServing(_)
        | Command::UninstallModel(_)
        | Command::UpdateAgent(_) => None,
    }
}

fn pipeline_of(command: &Command) -> Option<PipelineId> {
    match command {
        Command::DeployModel(deploy) | Command::UpdateModel(deploy) => Some(deploy.pipeline_id),
        Command::StartServing(start) => Some(start.pipeline_id),
        Command::StopServing(stop) => Some(stop.pipeline_id),
        Command::RepairServing(repair) => Some(repair.pipeline_id),
        Command::UpdatePipeline(update) => Some(update.pipeline_id),
        Command::UninstallModel(uninstall) => Some(uninstall.pipeline_id),
        Command::CancelDeploy(_) | Command::UpdateAgent(_) => None,
    }
}
