//! The measurements, one file for each subcommand.

pub(crate) mod check;
pub(crate) mod commands;
pub(crate) mod hold;
mod owner;
pub(crate) mod reports;
pub(crate) mod siege;
pub(crate) mod storm;

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use link_load::{fleet::Tally, identities};
use link_platform::fs;
use link_protocol::{identity::Identity, key::EnrolmentKey};
use serde::Serialize;

use crate::{
    args::Devices,
    machine::{self, Usage},
    output,
    worker::Workers,
};

/// Ensures that the devices of a run are registered.
async fn registered(devices: &Devices) -> anyhow::Result<Vec<Identity>> {
    machine::check_files(devices.devices, devices.processes)?;
    let key = match &devices.fleet_key_file {
        Some(file) => {
            let text = first_line(file)?;
            let key = EnrolmentKey::parse(&text);
            Some(key.with_context(|| format!("`{}` holds no key", file.display()))?)
        }
        None => None,
    };
    identities::ensure(&devices.identities, &devices.backend, devices.devices, key.as_ref()).await
}

/// Waits until every device is online and is polling.
async fn settled(workers: &mut Workers, devices: &Devices) -> anyhow::Result<Tally> {
    let all = devices.devices as u64;
    let patience = Duration::from_secs(devices.patience);
    let tally = workers
        .until("all devices are online", patience, |tally| {
            tally.settled == all && tally.online == all
        })
        .await?;
    output::say(&format!("{all} devices are online"));
    Ok(tally)
}

fn first_line(file: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().next().unwrap_or_default().trim();
    anyhow::ensure!(!line.is_empty(), "`{}` is empty", file.display());
    Ok(line.to_owned())
}

fn usage(pid: Option<u32>) -> anyhow::Result<Option<Usage>> {
    pid.map(machine::usage).transpose()
}

/// The CPU time between two measurements of a process, in milliseconds.
fn cpu_between(before: Option<Usage>, after: Option<Usage>) -> Option<u64> {
    Some(after?.cpu_ms.saturating_sub(before?.cpu_ms))
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people")]
fn per_second(count: u64, microseconds: u64) -> f64 {
    count as f64 * 1e6 / microseconds.max(1) as f64
}

/// Times in microseconds, in ascending order.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Quantiles {
    count: usize,
    p50_us: u64,
    p90_us: u64,
    p99_us: u64,
    most_us: u64,
}

impl Quantiles {
    fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let place = (times.len() * share).div_ceil(100).saturating_sub(1);
            times.get(place).copied().unwrap_or(0)
        };
        Self {
            count: times.len(),
            p50_us: at(50),
            p90_us: at(90),
            p99_us: at(99),
            most_us: times.last().copied().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_time_that_was_measured() {
        let quantiles = Quantiles::of((1..=100).rev().collect());
        assert_eq!((quantiles.p50_us, quantiles.p99_us, quantiles.most_us), (50, 99, 100));
        assert_eq!(Quantiles::of(vec![7]).p99_us, 7);
        assert_eq!(Quantiles::of(Vec::new()).count, 0);
    }
}
