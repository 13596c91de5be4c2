//! Cuts all connections at once and measures the time until every device has said hello and polls
//! again. The devices reconnect with the agent's waits, of which the first is a second, varied at
//! random by up to a fifth.

use std::time::Duration;

use link_load::clock;
use serde::Serialize;

use crate::{
    args::Storm,
    bench::{self, cpu_between, megabytes},
    machine::Usage,
    output,
    worker::{Order, Workers},
};

#[derive(Debug, Serialize)]
struct Stormed {
    devices: usize,
    storms: Vec<Settled>,
}

#[derive(Debug, Serialize)]
struct Settled {
    /// The time from the cut until the last device polled again.
    settled_ms: u64,
    /// The number of broken connections, including the cut ones.
    failures: u64,
    backend: Option<Usage>,
    cpu_ms: Option<u64>,
}

pub(crate) async fn run(options: Storm) -> anyhow::Result<()> {
    let devices = &options.devices;
    bench::registered(devices).await?;
    let mut workers = Workers::start(devices, false)?;
    let mut start = bench::settled(&mut workers, devices).await?;
    let mut storms = Vec::new();
    for _ in 0..options.times {
        let before = bench::usage(options.pid)?;
        let (all, cut_us) = (devices.devices as u64, clock::now_us());
        workers.order(Order::Cut).await?;
        let patience = Duration::from_secs(devices.patience);
        let tally = workers
            .until("all devices are back", patience, |tally| {
                tally.at_us > cut_us && tally.settled == all && tally.settled_us > cut_us
            })
            .await?;
        let backend = bench::usage(options.pid)?;
        storms.push(Settled {
            settled_ms: (tally.settled_us - cut_us) / 1_000,
            failures: tally.failures - start.failures,
            backend,
            cpu_ms: cpu_between(before, backend),
        });
        start = bench::settled(&mut workers, devices).await?;
    }
    workers.stop().await?;
    let result = Stormed { devices: devices.devices, storms };
    let lines: Vec<String> = result.storms.iter().map(|storm| line(&result, storm)).collect();
    output::finish(devices.json, &result, &lines.join("\n"))
}

fn line(result: &Stormed, storm: &Settled) -> String {
    let cost = match (storm.backend, storm.cpu_ms) {
        (Some(usage), Some(cpu)) => format!(
            "; backend {:.1} MB, at most {:.1} MB, {cpu} ms of CPU time",
            megabytes(usage.resident),
            megabytes(usage.peak)
        ),
        (Some(_) | None, Some(_) | None) => String::new(),
    };
    let seconds = Duration::from_millis(storm.settled_ms).as_secs_f64();
    format!("{} devices settled {seconds:.2} s after the cut{cost}", result.devices)
}
