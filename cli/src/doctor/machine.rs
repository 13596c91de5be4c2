//! The disk, the descriptors and the memory of this machine.

use std::path::PathBuf;

use link_protocol::exit_code::ExitCode;

use super::{Area, Finding};
use crate::output::bytes;

/// Free space below which models and updates will soon find no room, in bytes.
const SPACE_WANTED: u64 = 2_000_000_000;
/// Free space below which the agent itself is at risk, in bytes.
const SPACE_NEEDED: u64 = 200_000_000;
/// Descriptors below which a busy model refuses connections: those of 256 connections, and of the agent's own files.
const DESCRIPTORS_WANTED: u64 = 1024;

/// What was seen of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Free bytes for this user at each place, one entry for each file system. None where the system does not tell.
    pub(crate) free: Vec<(PathBuf, Option<u64>)>,
    /// The limit of the running agent, or of a process that this user starts.
    pub(crate) descriptors: Option<u64>,
    /// Bytes.
    pub(crate) memory: Option<u64>,
    /// The memory that each served model needs, in bytes.
    pub(crate) models: Vec<(String, u64)>,
}

pub(crate) fn findings(facts: &Machine) -> Vec<Finding> {
    let mut findings: Vec<_> = facts.free.iter().map(|(place, free)| disk(place, *free)).collect();
    findings.extend(descriptors(facts.descriptors));
    findings.extend(memory(facts));
    findings
}

fn disk(place: &std::path::Path, free: Option<u64>) -> Finding {
    let place = place.display();
    let Some(free) = free else {
        return Finding::skipped(
            Area::Disk,
            format!("this system does not tell the space of `{place}`"),
        );
    };
    let found = format!("{} free for `{place}`", bytes(free));
    let cure =
        "make room, for example with `link model remove MODEL` or `link engine remove BUILD`";
    if free < SPACE_NEEDED {
        Finding::error(Area::Disk, found, cure).exits(ExitCode::NoSpace)
    } else if free < SPACE_WANTED {
        Finding::warning(Area::Disk, found, cure)
    } else {
        Finding::ok(Area::Disk, found)
    }
}

fn descriptors(limit: Option<u64>) -> Option<Finding> {
    let limit = limit?;
    let found = format!("up to {limit} files and connections at once");
    Some(if limit < DESCRIPTORS_WANTED {
        let cure = "raise the hard limit of this user (`nofile` in /etc/security/limits.conf), then run `link restart`";
        Finding::warning(Area::Descriptors, found, cure)
    } else {
        Finding::ok(Area::Descriptors, found)
    })
}

fn memory(facts: &Machine) -> Option<Finding> {
    let total = facts.memory?;
    let needed: u64 = facts.models.iter().map(|(_, bytes)| bytes).sum();
    if facts.models.is_empty() {
        return None;
    }
    let found = format!(
        "the served models need about {}, and this machine has {}",
        bytes(needed),
        bytes(total)
    );
    if needed <= total {
        return Some(Finding::ok(Area::Memory, found));
    }
    let largest = facts.models.iter().max_by_key(|(_, bytes)| *bytes);
    let cure =
        largest.map_or_else(String::new, |(alias, _)| format!("run `link model stop {alias}`"));
    Some(Finding::warning(Area::Memory, found, cure))
}
