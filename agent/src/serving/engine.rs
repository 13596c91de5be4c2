//! Engine processes: each is started on a socket that no other user can reach, with its own secret.
//! The agent verifies that the listener is its own engine, checks its health, and stops the whole
//! process.
//!
//! One long-lived thread starts, watches and stops them all, because Linux kills a child when the
//! *thread* that started it ends.

mod bring;
mod health;
mod line;
mod ownership;
mod spawner;
mod upload;
mod watch;

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        mpsc::{self, TrySendError},
    },
    thread,
    time::Duration,
};

use anyhow::Context as _;
use link_agent_core::{event::Event, run::Run};
use link_client::{
    containment::{self, Starting},
    model_file,
};
use link_platform::{
    fs,
    paths::{ENGINE_KEY, Roots},
    private_socket,
    process::Program,
};
use link_protocol::{
    command::{Alias, Sha256Hex},
    config::{AgentConfig, ContainmentConfig, GenericConfig, Scalar},
    id::PipelineId,
    local_api::{Containment, EngineHealth},
    plugin::{self, ListensOn, Manifest, Metadata, RefusedSetting, Value, Values},
    port::Port,
    secret::Secret,
    task::Task,
};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use self::spawner::{Order, Reached, Start};
pub(crate) use self::{
    bring::EngineDownloads,
    line::{Address, Channel, Line},
    upload::Upload,
};
use crate::{
    args::Args,
    control::pipeline::Pipeline,
    inbox::{Inbox, PipelineView},
    serving::plugins::PluginFolder,
};

/// The timeout for stopping all engines; any that remain are killed with the agent.
const STOP_PATIENCE: Duration = Duration::from_secs(8);

/// The folder in an engine's own folder for its temporary files.
const WORK: &str = "tmp";

/// The capacity of the spawner's queue.
const QUEUE: usize = 64;

/// The engines of this device.
#[derive(Clone, Debug)]
pub(crate) struct Engines {
    plugins: PluginFolder,
    run_folder: PathBuf,
    logs: PathBuf,
    settings: Arc<Settings>,
    table: Table,
    orders: mpsc::SyncSender<Order>,
    inbox: Inbox,
    brought: EngineDownloads,
    containment: Containment,
    /// Starts that are being prepared.
    waiting: Arc<Mutex<HashMap<Run, CancellationToken>>>,
    _health: Arc<Pipeline>,
}

/// The started engines, by run.
type Table = Arc<RwLock<HashMap<Run, Running>>>;

/// A running engine.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) pipeline_id: PipelineId,
    pub(crate) address: Address,
    /// The plugin, as it was when the engine was started.
    pub(crate) manifest: Arc<Manifest>,
    /// What the model is for, if its file says so.
    pub(crate) task: Option<Task>,
    pub(crate) build: Option<Arc<str>>,
    pub(crate) healthy: bool,
}

/// The result of a health check of all engines.
pub(crate) type Health = HashMap<PipelineId, Engine>;

/// The process of one engine and its health.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    pub(crate) health: EngineHealth,
    pub(crate) pid: Option<u32>,
}

/// The settings that engines start with. A plugin's default applies to settings without a value.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The arguments of the agent, which apply to every plugin that has the setting.
    given: BTreeMap<&'static str, Scalar>,
    /// The configured settings of each plugin.
    configured: BTreeMap<String, GenericConfig>,
    /// What the engines of each plugin may do in addition.
    containment: BTreeMap<String, ContainmentConfig>,
}

impl Settings {
    /// Takes the settings from `args` and from the configuration.
    pub(crate) fn of(args: &Args, config: &AgentConfig) -> Self {
        let threads = args.engine_threads.map(u64::from);
        let context = args.engine_context.map(u64::from);
        let given = [("threads", threads), ("context", context)];
        let given = given.into_iter().filter_map(|(name, n)| Some((name, Scalar::Number(n?))));
        let (configured, containment) = (config.components.clone(), config.containment.clone());
        Self { given: given.collect(), configured, containment }
    }

    /// Returns the values with which an engine of `plugin` starts. The settings of the deployment take precedence over
    /// the arguments of the agent, and those over the configuration.
    fn settle(
        &self,
        plugin: &Manifest,
        deployed: &plugin::Settings,
    ) -> anyhow::Result<BTreeMap<String, Value>> {
        // A plugin that was replaced since the deployment may lack a setting.
        plugin.check_settings(deployed)?;
        let given = |name: &str| self.given.get(name).filter(|_| deployed.get(name).is_none());
        let configured = self.configured.get(&plugin.id);
        let wanted = |name: &str| {
            let here = || given(name).or_else(|| configured?.get(name));
            deployed.get(name).or_else(here)
        };
        plugin.settle(wanted).map_err(|refused| {
            let name = match &refused {
                RefusedSetting::Unknown { name, .. } | RefusedSetting::Value { name, .. } => name,
            };
            let by = match given(name) {
                Some(_) => format!("`--engine-{name}`"),
                None => format!("`components.{}.{name}` of the configuration", plugin.id),
            };
            anyhow::anyhow!("{refused}; correct {by} of this agent, or deploy with another value")
        })
    }
}

impl Engines {
    /// Starts the spawner and the health checks.
    pub(crate) fn start(
        settings: Settings,
        roots: &Roots,
        brought: EngineDownloads,
        inbox: Inbox,
    ) -> anyhow::Result<Self> {
        let table = Table::default();
        let started = Arc::new(Notify::new());
        let (orders, queue) = mpsc::sync_channel(QUEUE);
        let spawner = spawner::Spawner::new(table.clone(), started.clone(), inbox.clone());
        thread::Builder::new()
            .name("engines".to_owned())
            .spawn(move || spawner.run(&queue))
            .context("cannot start the thread of the engines")?;
        let health = {
            let (table, inbox) = (table.clone(), inbox.clone());
            Pipeline::spawn("health", move |_stop| watch::check(table, started, inbox))?
        };
        Ok(Self {
            plugins: PluginFolder::new(roots),
            run_folder: roots.state.join("run"),
            logs: roots.logs(),
            settings: Arc::new(settings),
            table,
            orders,
            inbox,
            brought,
            containment: containment::of_this_system(),
            waiting: Arc::default(),
            _health: Arc::new(health),
        })
    }

    /// Starts the engine of a pipeline; the outcome is an event.
    pub(crate) fn launch(&self, launch: Pending) {
        let run = launch.run;
        let stop = CancellationToken::new();
        self.waiting().insert(run, stop.clone());
        tokio::spawn(self.clone().launch_when_ready(launch, stop));
    }

    /// Stops an engine; `EngineStopped` follows.
    pub(crate) fn end(&self, pipeline_id: PipelineId, run: Run) {
        if let Some(stop) = self.waiting().remove(&run) {
            // The engine of this run was not started, and will not be.
            stop.cancel();
        }
        // A stop that was lost would leave the pipeline stopping for ever.
        if let Err(TrySendError::Full(order)) =
            self.orders.try_send(Order::Stop { pipeline_id, run })
        {
            let orders = self.orders.clone();
            tokio::task::spawn_blocking(move || orders.send(order));
        }
    }

    /// Kills an unresponsive engine; `EngineEnded` follows.
    pub(crate) fn kill(&self, run: Run, reason: String) {
        if self.orders.try_send(Order::Kill { run, reason }).is_err() {
            // The next health checks repeat this order.
            tracing::error!("the engine thread does not accept orders");
        }
    }

    /// Returns the engine of a run, while it runs.
    pub(crate) fn find(&self, run: Run) -> Option<Running> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).get(&run).cloned()
    }

    /// Returns what this system refuses to engines.
    pub(crate) const fn containment(&self) -> Containment {
        self.containment
    }

    /// Checks the health of the engines of `pipelines`.
    pub(crate) async fn health(&self, pipelines: &[PipelineView]) -> Health {
        let running = pipelines.iter().filter_map(|pipeline| {
            Some((pipeline.record.config.pipeline_id, self.find(pipeline.engine_run?)?))
        });
        let (ids, engines): (Vec<_>, Vec<_>) = running.unzip();
        let found = health::of_all(&engines).await;
        let of_engine =
            |(engine, health): (Running, _)| Engine { health, pid: Some(engine.address.pid) };
        ids.into_iter().zip(engines.into_iter().zip(found).map(of_engine)).collect()
    }

    /// Stops every engine and returns when none is left.
    pub(crate) async fn stop_all(&self) {
        self.waiting().drain().for_each(|(_run, stop)| stop.cancel());
        let (done, ended) = oneshot::channel();
        if self.orders.try_send(Order::StopAll { done }).is_ok() {
            let _all_gone = tokio::time::timeout(STOP_PATIENCE, ended).await;
        }
    }

    /// Prepares the start of an engine, and starts it unless the start was cancelled meanwhile.
    async fn launch_when_ready(self, launch: Pending, stop: CancellationToken) {
        let (pipeline_id, run) = (launch.pipeline_id, launch.run);
        let ready = tokio::select! {
            ready = self.prepare(&launch) => ready,
            () = stop.cancelled() => return,
        };
        // From here on, the spawner handles orders to end this run.
        if self.waiting().remove(&run).is_none() {
            return;
        }
        if let Err(error) = ready.and_then(|task| self.try_launch(&launch, task)) {
            tell_end(self.inbox, pipeline_id, run, error).await;
        }
    }

    /// Downloads the engine if it is missing, and reads what the model is for.
    async fn prepare(&self, launch: &Pending) -> anyhow::Result<Option<Task>> {
        let Pending { pipeline_id, run, ref plugin, ref model, .. } = *launch;
        if self.brought.is_missing(plugin) {
            self.brought.for_start(plugin, pipeline_id, run, &self.inbox).await?;
        }
        match self.plugins.manifest(plugin)?.adapter.model.metadata {
            // If a file has no readable metadata, the engine's error is the most precise one.
            Some(Metadata::Gguf) => {
                let facts = model_file::look(model).await.ok().and_then(Result::ok);
                Ok(facts.and_then(|facts| facts.task))
            }
            None => Ok(None),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Run, CancellationToken>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_launch(&self, launch: &Pending, task: Option<Task>) -> anyhow::Result<()> {
        let Pending { pipeline_id, run, ref plugin, ref settings, ref alias, ref model } = *launch;
        let manifest = self.plugins.manifest(plugin)?;
        let executable = self.brought.executable(&manifest)?;
        let folder = self.run_folder.join(pipeline_id.to_string());
        let work = folder.join(WORK);
        // What an engine has left must not be found by the next one.
        fs::remove_dir(&folder)?;
        fs::create_private_dir(&folder)?;
        fs::create_private_dir(&work)?;
        let channel = channel(&folder, manifest.adapter.launch.listens_on)?;
        let secret = Secret::new(random_secret());
        let api_key_file = folder.join(ENGINE_KEY);
        fs::write_private(&api_key_file, secret.expose().as_bytes())?;
        let log = self.logs.join(format!("{pipeline_id}.log"));
        fs::remove_file(&log)?;
        let adapter = &manifest.adapter;
        let mut values = Values {
            paths: [("model", model.clone()), ("secret_file", api_key_file)].into(),
            texts: [("alias", alias.to_string())].into(),
            settings: self.settings.settle(&manifest, settings)?,
            task,
        };
        let build = spawner::build_of(&executable);
        if let Some(folder) = executable.parent() {
            values.paths.insert("folder", folder.to_owned());
        }
        // The path is visible to other users of this machine, as the port is, but not to pages in a browser.
        let base_path = match adapter.launch.has_base_path() {
            true => format!("/{}", &random_secret()[..32]),
            false => String::new(),
        };
        values.texts.insert("base_path", base_path.clone());
        match &channel {
            Channel::Socket(path) => drop(values.paths.insert("socket", path.clone())),
            Channel::Port(port) => drop(values.texts.insert("port", port.to_string())),
        }
        let mut env = adapter.launch.environment(&values);
        env.extend(containment::environment(&work));
        let starting = Starting {
            executable: &executable,
            model,
            model_bytes: fs::size(model).unwrap_or_default(),
            folder: &folder,
            work: &work,
            port: channel.port().map(Port::get),
        };
        let rules = starting.rules(self.settings.containment.get(&manifest.id));
        let args = adapter.launch.arguments(&values);
        let program = Program { path: executable, args, env, log: Some(log) };
        let reached = Reached { channel, folder, base_path, secret, manifest, task, build };
        let order = Order::Start(Box::new(Start { pipeline_id, run, program, rules, reached }));
        self.orders
            .try_send(order)
            .map_err(|_| anyhow::anyhow!("too many engines are starting; try again later"))
    }
}

/// Chooses where an engine listens: on a socket in its private folder, or on a port if the engine or the length of the
/// path rules out a socket.
fn channel(folder: &Path, on: ListensOn) -> anyhow::Result<Channel> {
    let socket = folder.join("engine.sock");
    let takes_sockets = match on {
        ListensOn::Socket => private_socket::can_stand_at(&socket),
        ListensOn::Port => false,
    };
    if takes_sockets {
        return Ok(Channel::Socket(socket));
    }
    free_port().map(Channel::Port).context("no free loopback port for the engine")
}

/// A start of an engine.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) pipeline_id: PipelineId,
    pub(crate) run: Run,
    pub(crate) plugin: String,
    pub(crate) settings: plugin::Settings,
    pub(crate) alias: Alias,
    /// The model's file.
    pub(crate) model: PathBuf,
}

/// Sends the event that an engine could not be started.
async fn tell_end(inbox: Inbox, pipeline_id: PipelineId, run: Run, error: anyhow::Error) {
    let reason = format!("{error:#}");
    tracing::error!("{reason}");
    inbox.event(Event::EngineEnded { pipeline_id, run, reason }).await;
}

/// Returns a port that is free now. If another program takes it first, the engine fails to start,
/// and the agent never talks to that program.
fn free_port() -> anyhow::Result<Port> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    Ok(Port::try_from(listener.local_addr()?.port())?)
}

fn random_secret() -> String {
    Sha256Hex::from_digest(&rand::random::<[u8; 32]>()).to_string()
}
