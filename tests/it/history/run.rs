//! One run: devices, a caller and faults, all from one seed, then a quiet phase until no command is
//! open.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use link_client::{
    backend::{BackendClient, CallError, Tokens},
    http::{Failure, Http},
};
use link_load::{
    device::Flaw,
    fleet::{Behaviour, Fleet},
    history::{Event, What},
    identities,
    record::Record,
    shared::Faults,
    transport::{self, zenoh::Zenoh},
};
use link_protocol::{
    backend_api::{
        command::{CommandInfo, CommandState},
        deployment::{CreateDeployment, Deployment, ProxyWish},
    },
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    key::KeyKind,
    port::Port,
};
use link_tests::{
    backend::TestBackend,
    device::free_port,
    wait::{until, within},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::task::JoinSet;

use super::replicas::{Replicas, Size};
use crate::{cluster::Cluster, fault_proxy::FaultProxy};

const DEVICES: usize = 4;
/// The longest wait of a device before a reconnection. With an agent's 60 s, a device whose connection was cut six times
/// would come back only after the timeout of the quiet phase.
const LONGEST_WAIT: Duration = Duration::from_secs(4);
/// The longest quiet phase. A router that was cut off waits up to a minute before it gives the seat of a device away, and
/// the device may have met a second cut meanwhile.
const SETTLES: Duration = Duration::from_secs(150);
/// How long faults occur.
const BREAKS_FOR: Duration = Duration::from_secs(4);
/// The share of connections that the proxy breaks.
const BREAKS: f64 = 0.5;
const FAULTS: Faults =
    Faults { duplicate: 0.4, lose_receipt: 0.15, lose_answer: 0.15, restart: 0.1 };

/// How the devices reach the backend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Over {
    Http,
    Zenoh,
}

/// The connections that break: to the API, and to the router if there is one.
struct Ways {
    api: FaultProxy,
    router: Option<FaultProxy>,
}

/// The state of the caller.
struct Caller {
    client: BackendClient,
    record: Arc<Record>,
    model: ModelId,
    devices: Vec<DeviceId>,
    accepted: Vec<(DeviceId, CommandId)>,
    /// The number of commands that were accepted from all callers.
    progress: Arc<AtomicUsize>,
    /// Deployments that the caller may cancel.
    deployments: Vec<(DeviceId, DeploymentId)>,
    chance: StdRng,
}

/// Runs a seed against one backend, and returns the recorded events.
pub(super) async fn run(over: Over, seed: u64, flaw: Option<Flaw>) -> Vec<Event> {
    let (mut backend, ways) = start(over, seed).await;
    let key = backend.key(KeyKind::Fleet).await;
    let direct = Http::new(&backend.url).unwrap();
    let identities = identities::register(&direct, &key, 0, DEVICES).await.unwrap();
    let devices: Vec<DeviceId> = identities.iter().map(|identity| identity.device_id).collect();
    let model = backend.model_at("simulated", "http://127.0.0.1:9/model", b"model").await.model_id;

    let record = Arc::new(Record::in_memory());
    let behaviour = behaviour(seed, flaw);
    let url = format!("http://{}", ways.api.address);
    let http = transport::http::Http::new(&url).unwrap();
    let kept = Arc::clone(&record);
    let fleet = match over {
        Over::Http => Fleet::start(identities, &http, behaviour, kept),
        Over::Zenoh => Fleet::start(identities, &Zenoh::new(http), behaviour, kept),
    };
    let mut caller = Caller::new(&url, &backend.owner, &record, model, devices, seed);
    caller.deploy_everywhere(&backend).await;

    let end = Instant::now() + BREAKS_FOR;
    let mut kills = [end - BREAKS_FOR * 2 / 3, end - BREAKS_FOR / 4].into_iter().peekable();
    // A busy machine accepts few commands in the given time.
    let latest = end + BREAKS_FOR * 5;
    while Instant::now() < end || (caller.accepted.len() < 20 && Instant::now() < latest) {
        if kills.next_if(|time| Instant::now() >= *time).is_some() {
            backend.kill();
            backend.restart().await;
        }
        if caller.chance.random_bool(0.03) {
            ways.cut();
        }
        caller.ask().await;
        tokio::time::sleep(Duration::from_millis(caller.chance.random_range(1..40))).await;
    }
    ways.calm();
    let owners = [Arc::clone(&backend.owner)];
    caller.settle(&owners).await;
    drop(fleet);
    caller.observe(&owners).await;
    record.events()
}

/// Runs a seed against two backends on one database of the server, and returns the recorded events. If it `loses`, an
/// accepted command is deleted from the database at the end.
pub(super) async fn run_replicas(
    cluster: &mut Cluster,
    size: Size,
    seed: u64,
    flaw: Option<Flaw>,
    loses: bool,
) -> Vec<Event> {
    let mut replicas = Replicas::start(cluster, seed, size).await;
    let identities = replicas.register(seed).await;
    let devices: Vec<DeviceId> = identities.iter().map(|identity| identity.device_id).collect();
    let first = replicas.first();
    let model = first.model_at("simulated", "http://127.0.0.1:9/model", b"model").await.model_id;

    let record = Arc::new(Record::in_memory());
    let proxy = FaultProxy::start(replicas.addresses(), size.breaks, seed).await;
    let url = format!("http://{}", proxy.address);
    let http = transport::http::Http::new(&url).unwrap();
    let fleet = Fleet::start(identities, &http, behaviour(seed, flaw), Arc::clone(&record));
    let share = size.devices.div_ceil(size.callers);
    let progress = Arc::new(AtomicUsize::new(0));
    let mut callers: Vec<Caller> = devices
        .chunks(share)
        .zip(seed * 1_000..)
        .map(|(devices, seed)| Caller {
            progress: Arc::clone(&progress),
            ..Caller::new(&url, &first.owner, &record, model, devices.to_vec(), seed)
        })
        .collect();
    join_all(callers.iter_mut().map(|caller| caller.deploy_everywhere(first))).await;

    let end = Instant::now() + size.breaks_for;
    let over = Arc::new(AtomicBool::new(false));
    let asking: JoinSet<Caller> =
        callers.into_iter().map(|caller| caller.ask_until(Arc::clone(&over))).collect();
    let faults = replicas.breaks(end, &proxy, &progress).await;
    over.store(true, Ordering::Relaxed);
    let callers = asking.join_all().await;
    proxy.calm();
    replicas.recovered().await;
    let owners = replicas.owners();
    join_all(callers.iter().map(|caller| caller.settle(&owners))).await;
    let tally = fleet.tally();
    eprintln!("{faults} faults, {} connections, {} hellos", tally.connects, tally.hellos);
    drop(fleet);
    if loses {
        replicas.lose(callers[0].accepted[0].1).await;
    }
    join_all(callers.iter().map(|caller| caller.observe(&owners))).await;
    record.events()
}

const fn behaviour(seed: u64, flaw: Option<Flaw>) -> Behaviour {
    Behaviour {
        work: Duration::from_millis(40),
        faults: FAULTS,
        seed,
        flaw,
        longest_wait: LONGEST_WAIT,
        keeps_acknowledgements: false,
    }
}

/// Starts a backend, and the proxies that break its connections.
async fn start(over: Over, seed: u64) -> (TestBackend, Ways) {
    let (backend, router) = match over {
        Over::Http => (TestBackend::start().await, None),
        Over::Zenoh => {
            let listens = SocketAddr::from(([127, 0, 0, 1], free_port().get()));
            let router = FaultProxy::start(vec![listens], BREAKS, seed + 1).await;
            let (listen, endpoint) = (format!("tcp/{listens}"), format!("tcp/{}", router.address));
            let arguments = ["--zenoh-listen", &listen, "--zenoh-endpoint", &endpoint];
            (TestBackend::start_with(&arguments).await, Some(router))
        }
    };
    let api = backend.url.trim_start_matches("http://").parse().unwrap();
    let api = FaultProxy::start(vec![api], BREAKS, seed).await;
    (backend, Ways { api, router })
}

impl Ways {
    /// Cuts every connection.
    fn cut(&self) {
        self.each(FaultProxy::cut);
    }

    /// Cuts every connection, and breaks none afterwards.
    fn calm(&self) {
        self.each(FaultProxy::calm);
    }

    fn each(&self, act: impl Fn(&FaultProxy)) {
        [Some(&self.api), self.router.as_ref()].into_iter().flatten().for_each(act);
    }
}

impl Caller {
    /// Prepares requests about `devices` to `url`, with the login of `owner`.
    fn new(
        url: &str,
        owner: &BackendClient,
        record: &Arc<Record>,
        model: ModelId,
        devices: Vec<DeviceId>,
        seed: u64,
    ) -> Self {
        let tokens = Tokens { access: owner.access_token(), refresh: None };
        Self {
            client: BackendClient::new(Http::new(url).unwrap(), tokens, None),
            record: Arc::clone(record),
            model,
            devices,
            accepted: Vec::new(),
            progress: Arc::default(),
            deployments: Vec::new(),
            chance: StdRng::seed_from_u64(seed),
        }
    }

    /// Deploys the model on each device.
    async fn deploy_everywhere(&mut self, backend: &TestBackend) {
        for device in self.devices.clone() {
            self.deploy(&backend.owner, device).await;
        }
        for (_, deployment) in self.deployments.clone() {
            backend.ended(deployment).await;
        }
    }

    /// Sends random requests until the faults are `over`.
    async fn ask_until(mut self, over: Arc<AtomicBool>) -> Self {
        while !over.load(Ordering::Relaxed) {
            self.ask().await;
            tokio::time::sleep(Duration::from_millis(self.chance.random_range(1..40))).await;
        }
        self
    }

    /// Sends a random request about a device.
    async fn ask(&mut self) {
        let device = self.devices[self.chance.random_range(0..self.devices.len())];
        let model = self.model;
        let port = Port::try_from(self.chance.random_range(9_000_u16..9_004)).ok();
        let answer = match self.chance.random_range(0..10) {
            0..4 => {
                let key = self.chance.random::<u64>().to_string();
                self.client.repair_serving(model, device, port, &key).await
            }
            4..6 => self.client.serve(model, device, port).await,
            6..8 => self.client.stop(model, device).await,
            8 => {
                let key = self.chance.random::<u64>().to_string();
                let answer = self.client.deploy(&wish(model, device), &key).await;
                return self.deployed(device, answer);
            }
            _ => return self.cancel().await,
        };
        self.answered(device, answer);
    }

    async fn deploy(&mut self, owner: &BackendClient, device: DeviceId) {
        let key = self.chance.random::<u64>().to_string();
        let wish = wish(self.model, device);
        let answer = until("a deployment to be accepted", || async {
            // A backend that many devices greet at once may be late. The key makes a retry safe.
            let answer = owner.deploy(&wish, &key).await;
            let is_late = matches!(answer, Err(CallError::Backend(Failure::Unavailable { .. })));
            (!is_late).then_some(answer)
        });
        let answer = answer.await;
        self.deployed(device, answer);
    }

    async fn cancel(&mut self) {
        let Some((device, deployment)) = self.deployments.last().copied() else { return };
        // The answer contains the deployment, but not the command that cancels it.
        self.record.note(device, What::Unanswered);
        drop(self.client.cancel_deployment(deployment).await);
    }

    fn deployed(&mut self, device: DeviceId, answer: Result<Deployment, CallError>) {
        // A separate command cancels the previous deployment.
        self.record.note(device, What::Unanswered);
        if let Ok(deployment) = &answer {
            self.deployments.push((device, deployment.deployment_id));
        }
        self.noted(device, answer.map(|deployment| deployment.command_id));
    }

    fn answered(&mut self, device: DeviceId, answer: Result<CommandInfo, CallError>) {
        self.noted(device, answer.map(|command| command.command_id));
    }

    fn noted(&mut self, device: DeviceId, answer: Result<CommandId, CallError>) {
        match answer {
            Ok(command) => {
                self.accepted.push((device, command));
                self.progress.fetch_add(1, Ordering::Relaxed);
                self.record.note(device, What::Accepted { command });
            }
            Err(CallError::Backend(Failure::Unavailable { .. })) => {
                self.record.note(device, What::Unanswered);
            }
            // Refused, for example because the device was offline.
            Err(CallError::Backend(Failure::Refused(_)) | CallError::Store(_)) => {}
        }
    }

    /// Waits until no accepted command can change any more.
    async fn settle(&self, owners: &[Arc<BackendClient>]) {
        for ((_, command), owner) in self.accepted.iter().zip(owners.iter().cycle()) {
            within(SETTLES, "every command to end", || async {
                let info = owner.command(*command).await;
                let Ok(info) = info else {
                    // Lost commands are reported by the later check.
                    return matches!(info, Err(CallError::Backend(Failure::Refused(_))))
                        .then_some(());
                };
                let ended = match info.state {
                    CommandState::Sent | CommandState::Processed => info.result.is_some(),
                    CommandState::Expired => true,
                };
                ended.then_some(())
            })
            .await;
        }
    }

    /// Reads the state of each command from the API, in turn from each owner's backend.
    async fn observe(&self, owners: &[Arc<BackendClient>]) {
        let last_first = owners.iter().rev().cycle();
        for ((device, command), owner) in self.accepted.iter().copied().zip(last_first) {
            let what = match owner.command(command).await {
                Ok(info) => What::Observed {
                    command,
                    state: info.state,
                    // A result that only the backend has set is not a result of the device.
                    result: info
                        .result
                        .filter(|_| info.state == CommandState::Processed)
                        .and_then(|result| result.status.reported()),
                },
                Err(CallError::Backend(Failure::Refused(error))) if error.status == 404 => {
                    What::Missing { command }
                }
                Err(error) => panic!("{command} could not be looked for: {error}"),
            };
            self.record.note(device, what);
        }
    }
}

fn wish(model: ModelId, device: DeviceId) -> CreateDeployment {
    CreateDeployment {
        model_id: model,
        device_id: device,
        port: None,
        alias: None,
        serve: false,
        proxy: ProxyWish::default(),
        settings: None,
    }
}
