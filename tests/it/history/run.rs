//! One run: devices, a caller, and faults, all by one seed; then calm, until nothing is open.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

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
        deployment::{CreateDeployment, Deployment},
    },
    command::ProxyFeatures,
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    key::KeyKind,
    port::Port,
};
use link_tests::{backend::TestBackend, device::free_port, wait::within};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use super::proxy::FaultProxy;

const DEVICES: usize = 4;
/// Failed deliveries are repeated at growing intervals, and a router takes its time to come back.
const SETTLED_WITHIN: Duration = Duration::from_secs(150);
/// How long things break.
const BREAKS_FOR: Duration = Duration::from_secs(4);
const FAULTS: Faults =
    Faults { duplicate: 0.4, lose_receipt: 0.15, lose_answer: 0.15, restart: 0.1 };

/// How the devices reach the backend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Over {
    Http,
    Zenoh,
}

/// What breaks: the way to the API, and the one to the router where there is one.
struct Ways {
    api: FaultProxy,
    router: Option<FaultProxy>,
}

/// What a run has of the caller's side.
struct Caller {
    client: BackendClient,
    record: Arc<Record>,
    model: ModelId,
    devices: Vec<DeviceId>,
    accepted: Vec<(DeviceId, CommandId)>,
    /// What may be cancelled.
    deployments: Vec<(DeviceId, DeploymentId)>,
    chance: StdRng,
}

/// Returns everything that was seen.
pub(super) async fn run(over: Over, seed: u64, flaw: Option<Flaw>) -> Vec<Event> {
    let (mut backend, ways) = start(over, seed).await;
    let key = backend.key(KeyKind::Fleet).await;
    let direct = Http::new(&backend.url).unwrap();
    let identities = identities::register(&direct, &key, 0, DEVICES).await.unwrap();
    let devices: Vec<DeviceId> = identities.iter().map(|identity| identity.device_id).collect();
    let model = backend.model_at("simulated", "http://127.0.0.1:9/model", b"model").await.model_id;

    let record = Arc::new(Record::in_memory());
    let behaviour = Behaviour {
        work: Duration::from_millis(40),
        faults: FAULTS,
        seed,
        flaw,
        keeps_acknowledgements: false,
    };
    let url = format!("http://{}", ways.api.address);
    let http = transport::http::Http::new(&url).unwrap();
    let kept = Arc::clone(&record);
    let fleet = match over {
        Over::Http => Fleet::start(identities, &http, behaviour, kept),
        Over::Zenoh => Fleet::start(identities, &Zenoh::new(http), behaviour, kept),
    };
    let tokens = Tokens { access: backend.owner.access_token(), refresh: None };
    let mut caller = Caller {
        client: BackendClient::new(Http::new(&url).unwrap(), tokens, None),
        record: Arc::clone(&record),
        model,
        devices,
        accepted: Vec::new(),
        deployments: Vec::new(),
        chance: StdRng::seed_from_u64(seed),
    };
    for device in caller.devices.clone() {
        caller.deploy(&backend.owner, device).await;
    }
    for (_, deployment) in caller.deployments.clone() {
        backend.ended(deployment).await;
    }

    let end = Instant::now() + BREAKS_FOR;
    let mut kills = [end - BREAKS_FOR * 2 / 3, end - BREAKS_FOR / 4].into_iter().peekable();
    // A busy machine accepts little in that time.
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
    caller.settle(&backend).await;
    drop(fleet);
    caller.observe(&backend).await;
    record.events()
}

/// Starts a backend, and what breaks the ways to it.
async fn start(over: Over, seed: u64) -> (TestBackend, Ways) {
    let (backend, router) = match over {
        Over::Http => (TestBackend::start().await, None),
        Over::Zenoh => {
            let listens = SocketAddr::from(([127, 0, 0, 1], free_port().get()));
            let router = FaultProxy::start(listens, seed + 1).await;
            let (listen, endpoint) = (format!("tcp/{listens}"), format!("tcp/{}", router.address));
            let arguments = ["--zenoh-listen", &listen, "--zenoh-endpoint", &endpoint];
            (TestBackend::start_with(&arguments).await, Some(router))
        }
    };
    let api = backend.url.trim_start_matches("http://").parse().unwrap();
    let api = FaultProxy::start(api, seed).await;
    (backend, Ways { api, router })
}

impl Ways {
    /// Cuts every connection.
    fn cut(&self) {
        self.each(FaultProxy::cut);
    }

    /// Cuts every connection, and breaks none from now on.
    fn calm(&self) {
        self.each(FaultProxy::calm);
    }

    fn each(&self, act: impl Fn(&FaultProxy)) {
        [Some(&self.api), self.router.as_ref()].into_iter().flatten().for_each(act);
    }
}

impl Caller {
    /// Asks something of a device.
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
        let answer = owner.deploy(&wish(self.model, device), &key).await;
        self.deployed(device, answer);
    }

    async fn cancel(&mut self) {
        let Some((device, deployment)) = self.deployments.last().copied() else { return };
        // The answer is the deployment; the command that cancels it is not named.
        self.record.note(device, What::Unanswered);
        drop(self.client.cancel_deployment(deployment).await);
    }

    fn deployed(&mut self, device: DeviceId, answer: Result<Deployment, CallError>) {
        // The deployment before is cancelled by a command of its own.
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
                self.record.note(device, What::Accepted { command });
            }
            Err(CallError::Backend(Failure::Unavailable { .. })) => {
                self.record.note(device, What::Unanswered);
            }
            // Refused, for one because the device was offline at that moment.
            Err(CallError::Backend(Failure::Refused(_)) | CallError::Store(_)) => {}
        }
    }

    /// Waits until nothing can happen any more to what was accepted.
    async fn settle(&self, backend: &TestBackend) {
        for (_, command) in &self.accepted {
            within(SETTLED_WITHIN, "every command to end", || async {
                let info = backend.owner.command(*command).await;
                let Ok(info) = info else {
                    // What is lost is for the check to tell.
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

    /// Asks the API what became of each command.
    async fn observe(&self, backend: &TestBackend) {
        for (device, command) in self.accepted.iter().copied() {
            let what = match backend.owner.command(command).await {
                Ok(info) => What::Observed {
                    command,
                    state: info.state,
                    // What the backend alone says of a command is no result of the device.
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
        proxy: ProxyFeatures::default(),
    }
}
