//! Measures this machine: the limit of open files, and the memory and CPU time of a process.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads /proc")]

use anyhow::Context as _;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;

/// The maximum number of devices of one process.
pub(crate) const DEVICES_PER_PROCESS: usize = 8_000;
/// The number of open files of a process in addition to its device connections. Includes the
/// connections for results.
const OTHER_FILES: usize = 500;

/// The resource use of a process.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Usage {
    /// Resident memory, in bytes.
    pub(crate) resident: u64,
    /// Peak resident memory, in bytes.
    pub(crate) peak: u64,
    /// Memory not backed by files (heap, stacks, variables), in bytes.
    pub(crate) anonymous: u64,
    /// CPU time since the start, in milliseconds.
    pub(crate) cpu_ms: u64,
}

/// Checks that each of `processes` may open enough files for its share of `devices`.
pub(crate) fn check_files(devices: usize, processes: usize) -> anyhow::Result<()> {
    anyhow::ensure!(
        processes > 0 && devices > 0,
        "at least one device and one process are required"
    );
    let each = devices.div_ceil(processes);
    anyhow::ensure!(
        each <= DEVICES_PER_PROCESS,
        "{each} devices are too many for one process; use `--processes {}`",
        devices.div_ceil(DEVICES_PER_PROCESS)
    );
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    anyhow::ensure!(
        limit >= (each + OTHER_FILES) as u64,
        "a process may open {limit} files, and {each} devices need {}; use `ulimit -n {}` or more \
         processes",
        each + OTHER_FILES,
        each + OTHER_FILES
    );
    Ok(())
}

/// Measures the resource use of the process `pid`.
pub(crate) fn usage(pid: u32) -> anyhow::Result<Usage> {
    let read = |file: &str| {
        std::fs::read_to_string(format!("/proc/{pid}/{file}"))
            .with_context(|| format!("there is no process {pid} on this machine"))
    };
    let status = read("status")?;
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    };
    let schedule = read("schedstat").unwrap_or_default();
    let stat = read("stat")?;
    let cpu_ms = ticks(&stat).unwrap_or_else(|| {
        let first = schedule.split_whitespace().next().and_then(|text| text.parse::<u64>().ok());
        first.unwrap_or(0) / 1_000_000
    });
    Ok(Usage {
        resident: bytes("VmRSS:"),
        peak: bytes("VmHWM:"),
        anonymous: bytes("RssAnon:"),
        cpu_ms,
    })
}

/// Counts the open files of the process `pid`.
pub(crate) fn descriptors(pid: u32) -> anyhow::Result<u64> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .with_context(|| format!("cannot count the open files of process {pid}"))?;
    Ok(folder.count() as u64)
}

/// Returns the CPU time of a process, user and system, in milliseconds.
fn ticks(stat: &str) -> Option<u64> {
    // The name in parentheses may contain anything. Fields 14 and 15 are counted from the process
    // id.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let (user, system) =
        (fields.get(11)?.parse::<u64>().ok()?, fields.get(12)?.parse::<u64>().ok()?);
    Some((user + system) * 1000 / rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_devices_for_a_process_are_refused_with_what_to_do() {
        let error = check_files(10_000, 1).unwrap_err().to_string();
        assert!(error.ends_with("use `--processes 2`"), "{error}");
        assert!(check_files(0, 1).is_err());
        assert!(check_files(1, 0).is_err());
    }

    #[test]
    fn a_process_has_memory_and_time() {
        let usage = usage(std::process::id()).unwrap();
        assert!(usage.resident > 0 && usage.peak >= usage.resident && usage.anonymous > 0);
        assert_eq!(ticks("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 100 50 0 0"), Some(1500));
    }
}
