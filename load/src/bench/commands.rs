//! Durable commands: callers request repairs of random devices through the API. Each request is
//! timed until the backend has recorded the device's receipt. A device with an open repair is
//! skipped, because the backend would return the same command.

#![expect(clippy::disallowed_methods, reason = "IO shell: a run takes its time")]

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::Context as _;
use link_client::backend::BackendClient;
use link_load::clock;
use link_protocol::id::{CommandId, DeviceId, ModelId};
use serde::Serialize;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};

use crate::{
    args::Commands,
    bench::{self, Quantiles, cpu_between, megabytes, owner, per_second},
    machine::Usage,
    output,
    worker::Workers,
};

/// How long to wait for outstanding acknowledgements after the last request.
const TAIL: Duration = Duration::from_secs(15);

#[derive(Debug, Serialize)]
struct Measured {
    devices: usize,
    targets: usize,
    callers: usize,
    rate: Option<u32>,
    accepted: u64,
    refused: u64,
    acknowledged: u64,
    /// The time from the first request to the last acknowledgement.
    elapsed_us: u64,
    acknowledged_per_second: f64,
    /// The times from a request to the answer of the API.
    accepted_after: Quantiles,
    /// The times from a request to the recorded receipt of the device.
    acknowledged_after: Quantiles,
    backend: Option<Usage>,
    cpu_ms: Option<u64>,
}

/// An answered request.
struct Asked {
    device: DeviceId,
    start_us: u64,
    end_us: u64,
    command: Option<CommandId>,
}

pub(crate) async fn run(options: Commands) -> anyhow::Result<()> {
    let devices = &options.devices;
    anyhow::ensure!(options.callers > 0, "at least one caller is required");
    let identities = bench::registered(devices).await?;
    let targets = options.targets.unwrap_or(devices.devices).clamp(1, devices.devices);
    let targets: Vec<DeviceId> = identities.iter().take(targets).map(|one| one.device_id).collect();
    let mut workers = Workers::start(devices, true)?;
    bench::settled(&mut workers, devices).await?;
    let owner = owner::login(&devices.backend, &options.login).await?;
    let model = owner::model(&owner).await?;
    let before = workers.tally().results;
    let made = owner::deploy(&owner, model, &targets).await? as u64;
    let patience = Duration::from_secs(devices.patience);
    workers
        .until("the model is deployed", patience, |tally| tally.results >= before + made)
        .await?;
    output::say(&format!("the model is deployed to {} devices", targets.len()));
    let before = bench::usage(options.pid)?;
    let mut run = Run::new(&options, owner, model, &targets);
    run.measure(&mut workers, &options).await?;
    let after = bench::usage(options.pid)?;
    workers.stop().await?;
    let measured = Measured {
        devices: devices.devices,
        targets: targets.len(),
        callers: options.callers,
        rate: options.rate,
        accepted: run.accepted,
        refused: run.refused,
        acknowledged: run.acknowledged_after.len() as u64,
        elapsed_us: run.last_us.saturating_sub(run.first_us),
        acknowledged_per_second: per_second(
            run.acknowledged_after.len() as u64,
            run.last_us.saturating_sub(run.first_us),
        ),
        accepted_after: Quantiles::of(run.accepted_after),
        acknowledged_after: Quantiles::of(run.acknowledged_after),
        backend: after,
        cpu_ms: cpu_between(before, after),
    };
    output::finish(devices.json, &measured, &describe(&measured))
}

/// A measurement in progress.
struct Run {
    free: Vec<DeviceId>,
    ask: Option<mpsc::Sender<DeviceId>>,
    asked: mpsc::Receiver<Asked>,
    _callers: JoinSet<()>,
    /// The unacknowledged commands, each with its device and the time of its request.
    open: HashMap<CommandId, (DeviceId, u64)>,
    /// The commands acknowledged before the API answered, each with its time.
    early: HashMap<CommandId, u64>,
    accepted_after: Vec<u64>,
    acknowledged_after: Vec<u64>,
    accepted: u64,
    refused: u64,
    first_us: u64,
    last_us: u64,
}

impl Run {
    fn new(
        options: &Commands,
        owner: Arc<BackendClient>,
        model: ModelId,
        targets: &[DeviceId],
    ) -> Self {
        let (ask, wishes) = mpsc::channel::<DeviceId>(options.callers);
        let wishes = Arc::new(tokio::sync::Mutex::new(wishes));
        let (answer, asked) = mpsc::channel(targets.len().max(1));
        let mut callers = JoinSet::new();
        for _ in 0..options.callers {
            let (owner, wishes, answer) = (Arc::clone(&owner), Arc::clone(&wishes), answer.clone());
            callers.spawn(async move {
                loop {
                    let next = wishes.lock().await.recv().await;
                    let Some(device) = next else { return };
                    let asked = call(&owner, model, device).await;
                    if answer.send(asked).await.is_err() {
                        return;
                    }
                }
            });
        }
        Self {
            free: targets.to_vec(),
            ask: Some(ask),
            asked,
            _callers: callers,
            open: HashMap::new(),
            early: HashMap::new(),
            accepted_after: Vec::new(),
            acknowledged_after: Vec::new(),
            accepted: 0,
            refused: 0,
            first_us: clock::now_us(),
            last_us: 0,
        }
    }

    async fn measure(&mut self, workers: &mut Workers, options: &Commands) -> anyhow::Result<()> {
        let end = Instant::now() + Duration::from_secs(options.seconds);
        let mut pace =
            options.rate.map(|rate| tokio::time::interval(Duration::from_secs(1) / rate.max(1)));
        loop {
            if self.ask.is_some() && Instant::now() >= end {
                self.ask = None;
            }
            let is_done = self.ask.is_none() && self.asked.is_closed() && self.asked.is_empty();
            if (is_done && self.open.is_empty()) || Instant::now() >= end + TAIL {
                return Ok(());
            }
            let ask = self.ask.clone();
            let asks = ask.is_some() && !self.free.is_empty();
            tokio::select! {
                told = workers.next() => {
                    for (command, at_us) in told? {
                        self.acknowledged(command, at_us);
                    }
                }
                Some(asked) = self.asked.recv() => self.answered(asked),
                place = ready(ask.as_ref(), &mut pace), if asks => {
                    let device = self.free.swap_remove(rand::random_range(0..self.free.len()));
                    place.context("every caller has ended")?.send(device);
                }
                () = tokio::time::sleep_until(end), if ask.is_some() => {}
            }
        }
    }

    fn answered(&mut self, asked: Asked) {
        let Some(command) = asked.command else {
            self.refused += 1;
            self.free.push(asked.device);
            return;
        };
        self.accepted += 1;
        self.accepted_after.push(asked.end_us - asked.start_us);
        self.open.insert(command, (asked.device, asked.start_us));
        if let Some(at_us) = self.early.remove(&command) {
            self.acknowledged(command, at_us);
        }
    }

    fn acknowledged(&mut self, command: CommandId, at_us: u64) {
        let Some((device, start_us)) = self.open.remove(&command) else {
            self.early.insert(command, at_us);
            return;
        };
        self.last_us = self.last_us.max(at_us);
        self.acknowledged_after.push(at_us.saturating_sub(start_us));
        self.free.push(device);
    }
}

/// Waits until a caller is free and the rate limit allows the next request.
async fn ready<'a>(
    ask: Option<&'a mpsc::Sender<DeviceId>>,
    pace: &mut Option<tokio::time::Interval>,
) -> Option<mpsc::Permit<'a, DeviceId>> {
    let place = ask?.reserve().await.ok()?;
    if let Some(pace) = pace {
        pace.tick().await;
    }
    Some(place)
}

async fn call(owner: &BackendClient, model: ModelId, device: DeviceId) -> Asked {
    let key = uuid::Uuid::from_u128(rand::random()).to_string();
    let start_us = clock::now_us();
    let answer = owner.repair_serving(model, device, None, &key).await;
    let end_us = clock::now_us();
    let command = answer.map(|command| command.command_id);
    if let Err(error) = &command {
        output::say(&format!("a repair was refused: {error}"));
    }
    Asked { device, start_us, end_us, command: command.ok() }
}

fn describe(measured: &Measured) -> String {
    let ms = |microseconds: u64| Duration::from_micros(microseconds).as_secs_f64() * 1e3;
    let mut text = format!(
        "{} devices online, {} asked by {} callers: {} accepted, {} refused, {} acknowledged, \
         {:.0} per second; acknowledged after {:.1} ms (p50), {:.1} ms (p99), {:.1} ms at most; \
         accepted after {:.1} ms (p50), {:.1} ms (p99)",
        measured.devices,
        measured.targets,
        measured.callers,
        measured.accepted,
        measured.refused,
        measured.acknowledged,
        measured.acknowledged_per_second,
        ms(measured.acknowledged_after.p50_us),
        ms(measured.acknowledged_after.p99_us),
        ms(measured.acknowledged_after.most_us),
        ms(measured.accepted_after.p50_us),
        ms(measured.accepted_after.p99_us),
    );
    if let (Some(usage), Some(cpu)) = (measured.backend, measured.cpu_ms) {
        let memory = megabytes(usage.resident);
        text.push_str(&format!("; backend {memory:.1} MB, {cpu} ms of CPU time"));
    }
    text
}
