//! Builds a running agent: determines the identity of this device, opens the stored state, and
//! starts the parts in order of their dependencies.
//!
//! This module makes no decisions. The main loop in `run` drives and ends the parts.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock and the state folder")]

use std::time::Instant;

use anyhow::Context as _;
use jiff::Timestamp;
use link_agent_core::{
    agent::Agent,
    effect::Effect,
    record::{self, Snapshot},
};
use link_client::agent::AgentClient;
use link_installer::{layout::Layout, receipt::Receipt, versions};
use link_platform::{fs, paths::Roots};
use link_protocol::{
    config::AgentConfig, id::DeviceId, identity::Identity, registration::TransportType,
};
use semver::Version;
use tokio::sync::{mpsc, watch};

use crate::{
    args::Args,
    components::{self, Control, Latest, Parts, Running},
    control::{
        handler::Handler,
        log::Records,
        report::{Handlers, Reporter},
        transport::{
            Ways,
            zenoh::{self, Link},
        },
    },
    device::update::Updates,
    effects::Shell,
    identity,
    inbox::{Inbox, Input},
    local_api::{self, Listening, LocalApi, Tokens, WantedPort, metrics::Measured},
    serving::{
        download::Downloads,
        engine::{self, EngineDownloads, Engines},
        plugins::{self, PluginFolder},
        proxy::Frontends,
    },
    state::{
        journal::Journal,
        session::{self, SessionFile},
    },
    stop_signal::StopSignal,
};

/// The agent's start parameters.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) args: &'a Args,
    pub(crate) roots: &'a Roots,
    pub(crate) config: &'a AgentConfig,
    pub(crate) records: &'a Records,
}

/// An agent whose parts are running.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) started: Instant,
    pub(crate) identity: Identity,
    pub(crate) agent_version: Version,
    /// The link over zenoh, if the configuration asks for it.
    pub(crate) zenoh: Option<Link>,
    pub(crate) agent: Agent,
    /// The effects to carry out before the first event.
    pub(crate) first: Vec<Effect>,
    pub(crate) shell: Shell,
    pub(crate) inputs: mpsc::Receiver<Input>,
    /// Notified after each handled event.
    pub(crate) changed: watch::Sender<()>,
    pub(crate) local_api: Listening,
    pub(crate) ways: Ways,
    pub(crate) pipelines: Running,
    pub(crate) reports: Handlers,
    pub(crate) logs: Vec<Handler>,
}

/// The identity of this device and its stored state.
struct Memory {
    started: Instant,
    identity: Identity,
    journal: Journal,
    session: SessionFile,
    snapshot: Snapshot,
    /// Whether a session could not be read.
    doubtful: bool,
}

/// The shell, and the parts that start after it.
struct Started {
    shell: Shell,
    pipelines: Running,
    measured: Measured,
}

impl Assembly {
    /// Builds the agent. Returns `None` if the agent is asked to stop before the identity is known.
    pub(crate) async fn build(
        setup: &Setup<'_>,
        stop: &mut StopSignal,
    ) -> anyhow::Result<Option<Self>> {
        let Setup { args, roots, config, records } = *setup;
        let Some(memory) = remember(setup, stop).await? else { return Ok(None) };
        let (identity, started) = (memory.identity.clone(), memory.started);
        let snapshot = memory.snapshot.clone();
        let client = AgentClient::new(
            &identity.backend_url,
            identity.device_id,
            identity.device_token.clone(),
        )?;
        let (inbox, inputs) = Inbox::open();
        let (ways, control) = transport_of(config, &client, &identity)?;
        let zenoh = match &control {
            Control::Zenoh { link, .. } => Some(link.clone()),
            Control::Http(_) => None,
        };
        let logs = records.deliver(&ways)?;
        let (reporter, reports) = Reporter::start(&config.reporting, ways.clone(), inbox.clone())?;
        let last_update = versions::state(&Layout::new(roots.clone())).last;
        let Started { shell, pipelines, measured } =
            start(setup, memory, control, &inbox, reporter)?;
        let (changed, changes) = watch::channel(());
        let api = LocalApi {
            device_id: identity.device_id,
            tokens: Tokens::write(roots),
            inbox,
            engines: shell.engines.clone(),
            updates: shell.updates.clone(),
            changes,
            measured,
        };
        let wanted = WantedPort::of(args.local_port, config.local_api.port);
        let local_api = local_api::start(api, wanted, &shell.frontends, roots).await?;
        let me = record::Identity {
            device_id: identity.device_id,
            epoch: identity.epoch,
            boot_id: uuid::Uuid::now_v7().simple().to_string(),
            agent_version: env!("CARGO_PKG_VERSION")
                .parse()
                .context("the version of this program")?,
            last_update,
        };
        let agent_version = me.agent_version.clone();
        let keys = identity.backend_keys.clone();
        let (agent, first) = Agent::restore(me, keys, snapshot, started.elapsed());
        Ok(Some(Self {
            started,
            identity,
            agent_version,
            zenoh,
            agent,
            first,
            shell,
            inputs,
            changed,
            local_api,
            ways,
            pipelines,
            reports,
            logs,
        }))
    }
}

/// Determines the identity of this device and loads its state. Returns `None` if the agent is asked
/// to stop meanwhile.
async fn remember(setup: &Setup<'_>, stop: &mut StopSignal) -> anyhow::Result<Option<Memory>> {
    let roots = setup.roots;
    let wanted = WantedPort::of(setup.args.local_port, setup.config.local_api.port);
    let mut waiting = None;
    let identity = tokio::select! {
        identity = identity::settle(&setup.config.identity, roots, wanted, &mut waiting) => {
            Some(identity?)
        }
        () = stop.received() => None,
    };
    if let Some(listening) = waiting {
        listening.close().await;
    }
    let Some(identity) = identity else { return Ok(None) };
    for folder in [roots.models(), roots.logs(), roots.run()] {
        fs::create_private_dir(&folder)?;
    }
    let started = Instant::now();
    let journal = journal_of(identity.device_id, roots).await?;
    let found = session::find(roots, Some(identity.device_id))?;
    let doubtful = found.doubtful;
    let session = tokio::select! {
        session = SessionFile::begin(roots, found, identity.clone(), Timestamp::now()) => session?,
        () = stop.received() => return Ok(None),
    };
    let snapshot = Snapshot { pipelines: session.pipelines(), ..journal.load().await? };
    Ok(Some(Memory { started, identity, journal, session, snapshot, doubtful }))
}

/// Starts the shell and the configured pipelines.
fn start(
    setup: &Setup<'_>,
    memory: Memory,
    control: Control,
    inbox: &Inbox,
    reporter: Reporter,
) -> anyhow::Result<Started> {
    let Setup { args, roots, config, records } = *setup;
    let keys = args.development_release_keys.clone();
    let brought = EngineDownloads::new(roots, &memory.identity.backend_url, keys);
    let settings = engine::Settings::of(args, config);
    let engines = Engines::start(settings, roots, brought.clone(), inbox.clone())?;
    plugins::tidy(roots);
    let device = memory.identity.device_id;
    let frontends = Frontends::start(device, PluginFolder::new(roots), reporter.clone())?;
    let downloads = Downloads::start(roots.models(), &memory.identity, brought, inbox.clone())?;
    if memory.doubtful {
        tracing::warn!("a session cannot be read, so unreferenced model files are kept");
    } else {
        downloads.sweep(&memory.snapshot.files());
    }
    let layout = Layout::new(roots.clone());
    let updates = Updates::new(layout, args.development_release_keys.clone());
    let receipt = Receipt::read(&updates.layout().receipt()).unwrap_or_default();
    let parts = Parts {
        control,
        inbox: inbox.clone(),
        reporter: reporter.clone(),
        engines: engines.clone(),
        models: roots.models(),
        builds: roots.engines(),
        channel: receipt.channel(env!("CARGO_PKG_VERSION")),
        sampled_every: components::sampled_every(config),
        latest: Latest::default(),
    };
    let pipelines = Running::start(config, &parts)?;
    let measured = Measured {
        started: memory.started,
        latest: parts.latest,
        restarts: pipelines.restarts(),
        reporter: reporter.clone(),
        records: records.clone(),
    };
    let shell = Shell {
        session: memory.session,
        journal: memory.journal,
        reporter,
        engines,
        frontends,
        downloads,
        updates,
        inbox: inbox.clone(),
        makes_way: false,
        hands_over: None,
    };
    Ok(Started { shell, pipelines, measured })
}

/// Prepares the configured transport, HTTP by default.
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

/// Opens the journal of `device`. A journal of an earlier registration of this machine is renamed,
/// and that device's models are deleted.
async fn journal_of(device: DeviceId, roots: &Roots) -> anyhow::Result<Journal> {
    let journal = Journal::open(&roots.journal()).await?;
    let owner = journal.owner(device).await?;
    if owner == device.to_string() {
        return Ok(journal);
    }
    tracing::warn!(
        "this machine was registered as {owner} before; the journal of that device is set aside"
    );
    journal.close().await;
    session::set_former_aside(roots, device)?;
    let models = roots.models();
    tokio::task::spawn_blocking(move || {
        fs::remove_dir(&models).and_then(|()| fs::create_private_dir(&models))
    })
    .await??;
    // Rename last: until then, the next start sees that this work is unfinished.
    fs::rename(&roots.journal(), &roots.journal().with_extension(format!("{owner}.db")))?;
    let journal = Journal::open(&roots.journal()).await?;
    journal.owner(device).await?;
    Ok(journal)
}
