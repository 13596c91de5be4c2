//! The loop: an event, the core, its effects; the outcome of an effect is the next event.
//!
//! The core and the journal belong to this loop alone. Everything else talks to it through a
//! bounded inbox.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock and the loop's waits")]

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use jiff::Timestamp;
use link_agent_core::{
    agent::Agent,
    event::Event,
    record::{self, Report, Snapshot},
};
use link_client::agent::AgentClient;
use link_installer::{layout::Layout, versions};
use link_platform::{fs, paths::Roots};
use link_protocol::{
    config::AgentConfig,
    id::DeviceId,
    identity::Identity,
    local_api::TransportState,
    registration::TransportType,
    report::{LifecycleReport, LifecycleStatus},
};
use tokio::{
    signal,
    sync::{mpsc, watch},
};

use crate::{
    args::Args,
    components::{self, Control, Latest, Parts, Running},
    download::Downloads,
    effects::Shell,
    engine::{self, Engines},
    guard_line::GuardLine,
    handover, identity,
    inbox::{Inbox, Input, PipelineView, View},
    journal::Journal,
    local_api::{self, LocalApi, Tokens, WantedPort, metrics::Measured},
    log::Records,
    proxy::Frontends,
    report::{self, Reporter},
    session::{self, SessionFile},
    transport::{
        Ways,
        zenoh::{self, Link},
    },
    update::Updates,
};

/// How long the last report may take when the agent stops.
const FAREWELL: Duration = Duration::from_secs(2);

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Stopped,
    RegisteredAnew,
    /// The device has come to another account.
    HandedOver,
    /// Another version is pointed to and takes over this process.
    MakesWay,
}

/// What the agent was started with.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) args: &'a Args,
    pub(crate) roots: &'a Roots,
    pub(crate) config: &'a AgentConfig,
    pub(crate) records: &'a Records,
}

/// Runs the agent until it is told to stop or the device is registered anew.
pub(crate) async fn run(setup: &Setup<'_>, guard: &GuardLine) -> anyhow::Result<Outcome> {
    let Setup { args, roots, config, records } = *setup;
    let mut stop = StopSignal::listen()?;
    let path = roots.identity();
    let identity = tokio::select! {
        identity = identity::settle(&config.identity, roots) => identity?,
        () = stop.received() => return Ok(Outcome::Stopped),
    };
    for folder in [roots.models(), roots.logs(), roots.run()] {
        fs::create_private_dir(&folder)?;
    }
    let started = Instant::now();
    let journal = journal_of(identity.device_id, roots).await?;
    let found = session::find(roots, Some(identity.device_id))?;
    let doubtful = found.doubtful;
    let session = tokio::select! {
        session = SessionFile::begin(roots, found, identity.clone(), Timestamp::now()) => session?,
        () = stop.received() => return Ok(Outcome::Stopped),
    };
    let snapshot = Snapshot { pipelines: session.pipelines(), ..journal.load().await? };
    let client =
        AgentClient::new(&identity.backend_url, identity.device_id, identity.device_token.clone())?;
    let (inbox, mut inputs) = Inbox::open();
    let (ways, control) = transport_of(config, &client, &identity)?;
    let _logs = records.deliver(&ways)?;
    let (reporter, _reports) = Reporter::start(&config.reporting, ways.clone(), inbox.clone())?;
    let engines = Engines::start(engine::Settings::of(args, config), roots, inbox.clone())?;
    let frontends = Frontends::start(reporter.clone())?;
    let downloads = Downloads::start(roots.models(), &identity, inbox.clone())?;
    if doubtful {
        tracing::warn!("a session cannot be read, so no model file is deleted that none names");
    } else {
        downloads.sweep(&snapshot.files());
    }
    let layout = Layout::new(roots.clone());
    let last_update = versions::state(&layout).last;
    let updates = Updates::new(layout.clone(), args.development_release_keys.clone());
    let parts = Parts {
        control,
        inbox: inbox.clone(),
        reporter: reporter.clone(),
        engines: engines.clone(),
        models: roots.models(),
        sampled_every: components::sampled_every(config),
        latest: Latest::default(),
    };
    let pipelines = Running::start(config, &parts)?;
    let measured = Measured {
        started,
        latest: parts.latest,
        restarts: pipelines.restarts(),
        reporter: reporter.clone(),
        records: records.clone(),
    };
    let (changed, changes) = watch::channel(());
    let api = LocalApi {
        device_id: identity.device_id,
        tokens: Tokens::write(roots),
        inbox: inbox.clone(),
        engines: engines.clone(),
        updates: updates.clone(),
        changes,
        measured,
    };
    let wanted = WantedPort::of(args.local_port, config.local_api.port);
    let local = local_api::start(api, wanted, &frontends, roots).await?;
    guard.set_local_api(Some(local.door.clone()));
    let mut shell = Shell {
        session,
        journal,
        reporter,
        engines,
        frontends,
        downloads,
        updates,
        inbox: inbox.clone(),
        makes_way: false,
        hands_over: None,
    };

    let me = record::Identity {
        device_id: identity.device_id,
        epoch: identity.epoch,
        boot_id: uuid::Uuid::now_v7().simple().to_string(),
        agent_version: env!("CARGO_PKG_VERSION").parse().context("the version of this program")?,
        last_update,
    };
    let (mut agent, effects) =
        Agent::restore(me.clone(), identity.backend_keys.clone(), snapshot, started.elapsed());
    let mut next = VecDeque::new();
    let transport = config.transport.as_ref().map_or(TransportType::Http, |one| one.r#type);
    drop(inbox);

    let mut anew = std::pin::pin!(identity::changed(&path, &identity));
    let mut effects = Some(effects);
    let outcome = 'run: loop {
        while let Some(effects) = effects
            .take()
            .or_else(|| next.pop_front().map(|event| agent.handle(event, started.elapsed())))
        {
            // A journal that cannot be written holds the loop up, and must not hold up a stop.
            tokio::select! {
                ran = shell.run_all(effects, &mut next) => ran?,
                () = stop.received() => break 'run Outcome::Stopped,
            }
            changed.send_replace(());
        }
        if shell.hands_over.is_some() {
            break Outcome::HandedOver;
        }
        if shell.makes_way {
            break Outcome::MakesWay;
        }
        let deadline = agent.deadline().and_then(|at| started.checked_add(at));
        let deadline = deadline.map(tokio::time::Instant::from_std);
        let input = tokio::select! {
            input = inputs.recv() => input,
            () = until(deadline) => Some(Input::Event(Event::DeadlineReached)),
            () = stop.received() => break Outcome::Stopped,
            () = &mut anew => break Outcome::RegisteredAnew,
            () = guard.settled() => {
                shell.updates.refresh_files();
                versions::state(&layout).last.map(|last| Input::Event(Event::UpdateSettled(last)))
            }
        };
        match input {
            Some(Input::Event(event)) => next.push_back(event),
            Some(Input::Hello(answer)) => drop(answer.send(agent.say_hello())),
            Some(Input::View(answer)) => drop(answer.send(view(&agent, transport))),
            // The inbox cannot close: the shell holds an end of it.
            None => {}
        }
    };
    tracing::info!("stopping");
    guard.set_local_api(None);
    drop((inputs, changed));
    local.close().await;
    let hands_over = shell.hands_over;
    let journal = shell.stop().await;
    if matches!(outcome, Outcome::Stopped) {
        let report = Report::Lifecycle(LifecycleReport {
            status: LifecycleStatus::Stopping,
            agent_version: me.agent_version.clone(),
            uptime_s: started.elapsed().as_secs(),
            update: None,
        });
        let farewell = report::say_farewell(&config.reporting, &ways, report);
        if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
            tracing::debug!("the backend did not hear in time that we stop");
        }
    }
    drop(pipelines);
    if let Some(to_epoch) = hands_over {
        journal.close().await;
        let (roots, identity) = (roots.clone(), identity.clone());
        let carry_out = move || handover::carry_out(&roots, &identity, to_epoch);
        tokio::task::spawn_blocking(carry_out).await??;
        records.forget();
    }
    Ok(outcome)
}

/// Prepares the transport that is configured; HTTP unless it says otherwise.
fn transport_of(
    config: &AgentConfig,
    client: &AgentClient,
    identity: &Identity,
) -> anyhow::Result<(Ways, Control)> {
    match config.transport.as_ref().filter(|one| one.r#type == TransportType::Zenoh) {
        None => Ok((Ways::new(client.clone(), None), Control::Http(client.clone()))),
        Some(transport) => {
            let (link, messages) = Link::new(client, transport.fallback);
            let settings = zenoh::Settings::read(transport, client.clone(), identity)?;
            let control =
                Control::Zenoh { settings: Box::new(settings), link: link.clone(), messages };
            Ok((Ways::new(client.clone(), Some(link)), control))
        }
    }
}

/// Opens the journal of `device`. What an earlier registration of this machine left is another
/// device's: its journal is set aside, and its models are deleted.
async fn journal_of(device: DeviceId, roots: &Roots) -> anyhow::Result<Journal> {
    let journal = Journal::open(&roots.journal()).await?;
    let owner = journal.owner(device).await?;
    if owner == device.to_string() {
        return Ok(journal);
    }
    tracing::warn!("this machine was {owner} before; what that device had is set aside");
    journal.close().await;
    session::set_former_aside(roots, device)?;
    let models = roots.models();
    tokio::task::spawn_blocking(move || {
        fs::remove_dir(&models).and_then(|()| fs::create_private_dir(&models))
    })
    .await??;
    // Last: until then the next start sees that something is left to do.
    fs::rename(&roots.journal(), &roots.journal().with_extension(format!("{owner}.db")))?;
    let journal = Journal::open(&roots.journal()).await?;
    journal.owner(device).await?;
    Ok(journal)
}

fn view(agent: &Agent, transport: TransportType) -> View {
    View {
        status: agent.status(),
        transport: TransportState { r#type: transport, state: agent.connection() },
        pipelines: agent
            .pipelines()
            .map(|view| PipelineView {
                record: view.record.clone(),
                state: view.state,
                engine_run: view.engine_run,
                detail: view.detail.map(str::to_owned),
            })
            .collect(),
        deployments: agent.deployments(),
    }
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// What asks the agent to stop: an interrupt or a termination.
struct StopSignal {
    stop: mpsc::Receiver<()>,
}

impl StopSignal {
    fn listen() -> anyhow::Result<Self> {
        let (sender, stop) = mpsc::channel(1);
        let mut terminate = link_platform::signal::Termination::listen()
            .context("cannot listen for the termination signal")?;
        tokio::spawn(async move {
            tokio::select! {
                _interrupted = signal::ctrl_c() => {}
                () = terminate.received() => {}
            }
            let _stopping = sender.send(()).await;
        });
        Ok(Self { stop })
    }

    async fn received(&mut self) {
        let _signalled = self.stop.recv().await;
    }
}
