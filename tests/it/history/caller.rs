//! A caller that sends random requests about its devices, and the commands that were accepted from it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use link_client::{
    backend::{BackendClient, CallError, Tokens},
    http::{Failure, Http},
};
use link_load::{history::What, record::Record};
use link_protocol::{
    backend_api::{
        command::{CommandInfo, CommandState},
        deployment::{CreateDeployment, Deployment, ProxyWish},
    },
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    port::Port,
};
use link_tests::{
    backend::TestBackend,
    wait::{until, within},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

/// The longest time until a device has done what it was told. A router that was cut off waits up to a minute before it gives
/// the seat of a device away, and the device may have met a second cut meanwhile.
const SETTLES: Duration = Duration::from_secs(150);

/// The state of the caller.
pub(super) struct Caller {
    client: BackendClient,
    record: Arc<Record>,
    model: ModelId,
    devices: Vec<DeviceId>,
    pub(super) accepted: Vec<(DeviceId, CommandId)>,
    /// The number of commands that were accepted from all callers.
    pub(super) progress: Arc<AtomicUsize>,
    /// Deployments that the caller may cancel.
    deployments: Vec<(DeviceId, DeploymentId)>,
    pub(super) chance: StdRng,
}

impl Caller {
    /// Prepares requests about `devices` to `url`, with the login of `owner`.
    pub(super) fn new(
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
    pub(super) async fn deploy_everywhere(&mut self, backend: &TestBackend) {
        for device in self.devices.clone() {
            self.deploy(&backend.owner, device).await;
        }
        for (_, deployment) in self.deployments.clone() {
            within(SETTLES, "the first deployments to end", || async {
                let found = backend.owner.deployment(deployment).await.ok()?;
                found.state.is_final().then_some(())
            })
            .await;
        }
    }

    /// Sends random requests until the faults are `over`.
    pub(super) async fn ask_until(mut self, over: Arc<AtomicBool>) -> Self {
        while !over.load(Ordering::Relaxed) {
            self.ask().await;
            tokio::time::sleep(Duration::from_millis(self.chance.random_range(1..40))).await;
        }
        self
    }

    /// Sends a random request about a device.
    pub(super) async fn ask(&mut self) {
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
    pub(super) async fn settle(&self, owners: &[Arc<BackendClient>]) {
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
    pub(super) async fn observe(&self, owners: &[Arc<BackendClient>]) {
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
