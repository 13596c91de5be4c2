//! Reports: each device sends one after another over its own connection, as fast as the backend
//! accepts them.

#![expect(clippy::disallowed_methods, reason = "IO shell: a run takes its time")]

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context as _;
use bytes::Bytes;
use http::Method;
use link_load::{
    clock,
    transport::http::{Http, json},
};
use link_protocol::{
    agent_api::PREFIX,
    identity::Identity,
    limits,
    release::Channel,
    report::{LifecycleReport, LifecycleStatus, LogRecord, Severity},
    system::{MemoryUsage, ProcessUsage, SystemReport},
};
use serde::Serialize;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    args::{Kind, Reports},
    bench::{self, Quantiles, cpu_between, megabytes, per_second},
    machine::Usage,
    output,
};

#[derive(Debug, Serialize)]
struct Ingested {
    kind: String,
    senders: usize,
    taken: u64,
    /// Unsuccessful answers, by status.
    refused: BTreeMap<u16, u64>,
    elapsed_us: u64,
    taken_per_second: f64,
    taken_after: Quantiles,
    backend: Option<Usage>,
    cpu_ms: Option<u64>,
}

#[derive(Default)]
struct Sent {
    times: Vec<u64>,
    refused: BTreeMap<u16, u64>,
}

pub(crate) async fn run(options: Reports) -> anyhow::Result<()> {
    let devices = &options.devices;
    anyhow::ensure!(options.senders > 0, "at least one sender is required");
    let identities = bench::registered(devices).await?;
    let transport = Http::new(&devices.backend)?;
    let before = bench::usage(options.pid)?;
    let (start_us, end) = (clock::now_us(), Instant::now() + Duration::from_secs(options.seconds));
    let mut senders = JoinSet::new();
    for number in 0..options.senders {
        let mine: Vec<Identity> =
            identities.iter().skip(number).step_by(options.senders).cloned().collect();
        if !mine.is_empty() {
            senders.spawn(send(transport.clone(), mine, options.kind, end));
        }
    }
    let mut all = Sent::default();
    while let Some(sent) = senders.join_next().await {
        let sent = sent.context("a sender was aborted")??;
        all.times.extend(sent.times);
        for (status, count) in sent.refused {
            *all.refused.entry(status).or_default() += count;
        }
    }
    let elapsed_us = clock::now_us() - start_us;
    let backend = bench::usage(options.pid)?;
    let taken = all.times.len() as u64;
    let ingested = Ingested {
        kind: format!("{:?}", options.kind).to_lowercase(),
        senders: options.senders,
        taken,
        refused: all.refused,
        elapsed_us,
        taken_per_second: per_second(taken, elapsed_us),
        taken_after: Quantiles::of(all.times),
        backend,
        cpu_ms: cpu_between(before, backend),
    };
    let ms = |microseconds: u64| Duration::from_micros(microseconds).as_secs_f64() * 1e3;
    let text = format!(
        "{} {} reports taken, {:.0} per second by {} senders; each after {:.1} ms (p50), {:.1} ms \
         (p99); refused: {:?}{}",
        ingested.taken,
        ingested.kind,
        ingested.taken_per_second,
        ingested.senders,
        ms(ingested.taken_after.p50_us),
        ms(ingested.taken_after.p99_us),
        ingested.refused,
        backend.map(|u| format!("; backend {:.1} MB", megabytes(u.resident))).unwrap_or_default(),
    );
    output::finish(devices.json, &ingested, &text)
}

/// Sends reports for one device after another, each over its own persistent connection.
async fn send(
    transport: Http,
    devices: Vec<Identity>,
    kind: Kind,
    end: Instant,
) -> anyhow::Result<Sent> {
    let mut links = Vec::with_capacity(devices.len());
    for device in devices {
        links.push((transport.open(device.device_id, device.device_token.clone()).await?, device));
    }
    let mut sent = Sent::default();
    loop {
        for (link, device) in &links {
            if Instant::now() >= end {
                return Ok(sent);
            }
            let (method, path, body) = request(kind, device, sent.times.len())?;
            let start_us = clock::now_us();
            let (status, _) = link.send(method, &path, body, limits::HANDLER_TIMEOUT).await?;
            if status.is_success() {
                sent.times.push(clock::now_us() - start_us);
            } else {
                *sent.refused.entry(status.as_u16()).or_default() += 1;
            }
        }
    }
}

fn request(
    kind: Kind,
    device: &Identity,
    number: usize,
) -> anyhow::Result<(Method, String, Bytes)> {
    let id = device.device_id;
    Ok(match kind {
        Kind::Log => {
            let record = LogRecord {
                message: format!("the simulated device says something for the {number}th time"),
                severity: Severity::Info,
                category: "load".to_owned(),
            };
            (Method::POST, format!("{PREFIX}/logs"), json(&record)?)
        }
        Kind::Lifecycle => {
            let report = LifecycleReport {
                status: LifecycleStatus::Online,
                agent_version: semver::Version::new(1, 0, 0),
                uptime_s: number as u64,
                update: None,
            };
            (Method::PUT, format!("{PREFIX}/agent/{id}/status"), json(&report)?)
        }
        Kind::System => {
            let report = SystemReport {
                cpu_percent: 12.5,
                cpu_count: 4,
                load_1m: Some(0.5),
                memory: MemoryUsage { used_bytes: 1 << 30, total_bytes: 1 << 33 },
                disk: None,
                temperature_celsius: None,
                gpus: Vec::new(),
                builds: vec![],
                channel: Channel::Stable,
                transport: None,
                engines: Vec::new(),
                agent: ProcessUsage { cpu_percent: 0.1, memory_bytes: 14 << 20 },
            };
            (Method::POST, format!("{PREFIX}/agent/{id}/system"), json(&report)?)
        }
    })
}
