//! Parts of the device's shell: the control line, the ports, the engines and the downloads.

use std::{collections::BTreeMap, time::Duration};

use link_agent_core::{
    clock::Now,
    effect::Route,
    event::{DownloadFailure, Event},
    record::DownloadId,
    run::Run,
};
use link_protocol::{
    command::{Command, ModelFile},
    id::PipelineId,
    port::Port,
};

use super::{
    device::{Around, Device, Engine, Transfer},
    network::{Input, Item, Message, Ms, SECOND},
    user,
};

impl Device {
    /// Returns the time on the process's clock.
    pub(super) fn clock(&self, now: Ms) -> Now {
        Duration::from_millis(now.saturating_sub(self.booted_at).saturating_sub(self.lag))
    }

    pub(super) fn next_request(&mut self) -> u64 {
        self.request += 1;
        self.request
    }

    /// Sends a request on the control line, and aborts it after `patience` without an answer.
    pub(super) fn ask(&self, message: Message, patience: Ms, around: &mut Around<'_>) {
        if let Some(delay) = around.network.delay(around.agenda.now, around.faults, around.random) {
            around.agenda.after(delay, Item::ToBackend(message));
        }
        let given_up = Input::GivenUp { request: self.request };
        around.agenda.input(patience, self.boot, given_up);
    }

    /// Polls for commands. Everything that arrived before is on disk.
    pub(super) fn poll(&mut self, around: &mut Around<'_>) {
        let Some(after) = self.agent.as_ref().map(|agent| agent.hello().last_seq) else { return };
        let (boot, request) = (self.boot, self.next_request());
        self.ask(Message::Poll { boot, request, after }, 65 * SECOND, around);
    }

    pub(super) fn watch_deadline(&self, around: &mut Around<'_>) {
        let deadline = self.agent.as_ref().and_then(link_agent_core::agent::Agent::deadline);
        if let Some(deadline) = deadline {
            let wait = deadline.saturating_sub(self.clock(around.agenda.now));
            let wait = u64::try_from(wait.as_millis()).expect("a deadline is not far") + 1;
            around.agenda.input(wait, self.boot, Input::Deadline);
        }
    }

    /// Updates the model of the world when an event arrives.
    pub(super) fn arrives(&mut self, event: &Event) {
        if let Event::EngineEnded { pipeline_id, run, .. } = event {
            // A run that was asked to stop meanwhile will send another event.
            let key = (*pipeline_id, *run);
            if self.engines.get(&key).is_some_and(|engine| !engine.stopping) {
                self.engines.remove(&key);
            }
        }
        if let Event::ReportSent { id }
        | Event::ReportDeferred { id, .. }
        | Event::ReportUnauthorized { id, .. }
        | Event::ReportRefused { id, .. } = event
            && self.sending == Some(*id)
        {
            self.sending = None;
        }
    }

    /// Reserves a port for a route, as the shell does. The route has no engine yet.
    pub(super) fn reserve(&mut self, route: Route) -> Result<(), String> {
        let port = route.port;
        if !self.frontends.contains_key(&port) && self.foreign.contains(&port) {
            return Err(format!("port {port} is in use by another program"));
        }
        let route = Route { engine: None, ..route };
        self.frontends.entry(port).or_default().insert(route.pipeline_id, route);
        Ok(())
    }

    pub(super) fn replace(&mut self, route: Route) -> Result<(), String> {
        let key = route.pipeline_id;
        if let Some(run) = route.engine {
            let engine = self.engines.get(&(key, run)).ok_or("a route leads to no engine")?;
            if !engine.ready || engine.stopping {
                return Err("a route leads to an engine that does not serve".to_owned());
            }
        }
        // The state must be on disk before an effect that mentions it.
        let record = self.disk.pipelines.get(&key);
        if record.is_none_or(|record| record.generation < route.generation) {
            return Err("a route is ahead of what is on disk".to_owned());
        }
        let routes = self.frontends.get_mut(&route.port);
        if route.engine.is_some() && self.disk.wants(key, route.port) {
            self.answered.insert(key, route.port);
        }
        let before = routes.and_then(|routes| routes.get_mut(&key));
        *before.ok_or("a route is replaced on a port that the pipeline does not have")? = route;
        Ok(())
    }

    pub(super) fn start(
        &mut self,
        pipeline: PipelineId,
        run: Run,
        plugin: &str,
        file: &ModelFile,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        around.tally.engines += 1;
        if self.engines.keys().any(|(other, _)| *other == pipeline) {
            return Err("the pipeline has an engine already".to_owned());
        }
        if !self.frontends.values().any(|routes| routes.contains_key(&pipeline)) {
            return Err("an engine is started before its port is ours".to_owned());
        }
        if !self.disk.has(file) {
            return Err("an engine is started without its model file".to_owned());
        }
        let engine = Engine { ready: false, stopping: false, ended: false };
        self.engines.insert((pipeline, run), engine);
        let (random, agenda, boot) = (&mut *around.random, &mut *around.agenda, self.boot);
        if plugin != user::PLUGIN {
            agenda.input(10, boot, Input::EngineDies { pipeline, run });
            return Ok(());
        }
        let ready = Input::EngineReady { pipeline, run };
        let dies = Input::EngineDies { pipeline, run };
        if !random.happens(around.faults.engine) {
            agenda.input(random.between(SECOND / 2, 30 * SECOND), boot, ready);
            return Ok(());
        }
        match random.between(0, 4) {
            // The engine dies while it loads.
            0 => agenda.input(random.between(10, 20 * SECOND), boot, dies),
            // The engine never answers.
            1 => {}
            // The engine answers late, possibly too late.
            2 => agenda.input(random.between(90 * SECOND, 150 * SECOND), boot, ready),
            // The engine serves for a while, then hangs.
            3 => {
                let loads = random.between(SECOND / 2, 20 * SECOND);
                agenda.input(loads, boot, ready);
                let hangs = Input::EngineHangs { pipeline, run };
                agenda.input(loads + random.between(10, 60 * SECOND), boot, hangs);
            }
            // The engine serves for a while, then dies.
            _ => {
                let loads = random.between(SECOND / 2, 20 * SECOND);
                agenda.input(loads, boot, ready);
                agenda.input(loads + random.between(10, 400 * SECOND), boot, dies);
            }
        }
        Ok(())
    }

    pub(super) fn stop(
        &mut self,
        pipeline: PipelineId,
        run: Run,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        let slow = around.random.happens(around.faults.slow);
        let engine = self.engines.get_mut(&(pipeline, run));
        let engine = engine.ok_or("an engine is stopped that does not run")?;
        if std::mem::replace(&mut engine.stopping, true) {
            return Err("an engine is stopped twice".to_owned());
        }
        let longest = if slow { 30 * SECOND } else { 3 * SECOND };
        let wait = if engine.ended { 1 } else { around.random.between(1, longest) };
        around.agenda.input(wait, self.boot, Input::EngineStops { pipeline, run });
        Ok(())
    }

    /// Starts a download. Nothing may be downloaded for a command that is done.
    pub(super) fn download(
        &mut self,
        download: DownloadId,
        file: ModelFile,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        around.tally.downloads += 1;
        let deployment = download.deployment_id;
        for entry in self.disk.commands.values() {
            if let Some(Command::DeployModel(deploy) | Command::UpdateModel(deploy)) =
                &entry.command
                && deploy.deployment_id == deployment
                && self.disk.done.contains_key(&entry.command_id)
            {
                return Err(format!("{deployment} is downloaded and its command is done"));
            }
        }
        if self.downloads.keys().any(|other| other.deployment_id == deployment) {
            return Err(format!("{deployment} is downloaded twice at a time"));
        }
        let there = self.disk.has(&file);
        let length = if there { 900 } else { around.random.between(SECOND, 200 * SECOND) };
        let whole = there || !around.random.happens(around.faults.download);
        for part in 1..5 {
            let input = Input::Progress { download, bytes: file.size_bytes * part / 5 };
            around.agenda.input(length * part / 5, self.boot, input);
        }
        around.agenda.input(length, self.boot, Input::Transferred { download, whole });
        self.downloads.insert(download, Transfer { file, cancelled: false });
        Ok(())
    }

    /// Ends a download.
    pub(super) fn transferred(&mut self, download: DownloadId, whole: bool) -> Option<Event> {
        let transfer = self.downloads.remove(&download)?;
        let outcome = if whole {
            self.disk.files.insert((transfer.file.model_id, transfer.file.sha256));
            Ok(())
        } else if transfer.cancelled {
            Err(DownloadFailure::Cancelled)
        } else {
            Err(DownloadFailure::Failed("the file is shorter than announced".to_owned()))
        };
        Some(Event::DownloadEnded { download, outcome })
    }

    /// Returns the ports that pipelines should have, by the state of the core.
    pub(super) fn expected_ports(&self) -> BTreeMap<(Port, PipelineId), Run> {
        let mut expected = BTreeMap::new();
        let Some(agent) = &self.agent else { return expected };
        for view in agent.pipelines() {
            let id = view.record.config.pipeline_id;
            let Some(run) = view.engine_run else { continue };
            let stopping = self.engines.get(&(id, run)).is_none_or(|engine| engine.stopping);
            if !stopping {
                expected.insert((view.record.config.port, id), run);
            }
        }
        expected
    }
}
