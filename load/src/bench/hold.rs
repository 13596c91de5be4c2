//! Keeps devices online and measures the backend's resource use.

#![expect(clippy::disallowed_methods, reason = "IO shell: a run takes its time")]

use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use crate::{
    args::Hold,
    bench::{self, cpu_between, megabytes},
    machine::Usage,
    output,
    worker::Workers,
};

/// The interval of progress messages.
const TELL_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug, Serialize)]
struct Held {
    devices: usize,
    /// The lowest number of online devices during the run.
    least_online: u64,
    seconds: u64,
    polls: u64,
    failures: u64,
    backend: Option<Usage>,
    cpu_ms: Option<u64>,
}

pub(crate) async fn run(options: Hold) -> anyhow::Result<()> {
    let devices = &options.devices;
    bench::registered(devices).await?;
    let mut workers = Workers::start(devices, false)?;
    let start = bench::settled(&mut workers, devices).await?;
    let before = bench::usage(options.pid)?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let (mut least_online, mut tell_at) = (start.online, Instant::now() + TELL_EVERY);
    while let Ok(told) = tokio::time::timeout_at(end, workers.next()).await {
        told?;
        let tally = workers.tally();
        least_online = least_online.min(tally.online);
        if Instant::now() >= tell_at {
            tell_at += TELL_EVERY;
            let memory = bench::usage(options.pid)?.map(|usage| megabytes(usage.resident));
            let memory = memory.map(|mb| format!(", backend {mb:.1} MB")).unwrap_or_default();
            output::say(&format!("{} online{memory}", tally.online));
        }
    }
    let (tally, backend) = (workers.tally(), bench::usage(options.pid)?);
    let held = Held {
        devices: devices.devices,
        least_online,
        seconds: options.seconds,
        polls: tally.polls - start.polls,
        failures: tally.failures - start.failures,
        backend,
        cpu_ms: cpu_between(before, backend),
    };
    workers.stop().await?;
    let mut text = format!(
        "{} devices held for {} s: never fewer than {least_online} online, {} polls, {} failures",
        held.devices, held.seconds, held.polls, held.failures
    );
    if let (Some(usage), Some(cpu)) = (held.backend, held.cpu_ms) {
        text.push_str(&format!(
            "; backend {:.1} MB ({:.1} MB anonymous), {cpu} ms of CPU time",
            megabytes(usage.resident),
            megabytes(usage.anonymous)
        ));
    }
    output::finish(devices.json, &held, &text)
}
