//! Counts what happened in the schedules, so that a simulation that tests nothing is noticed.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use link_agent_core::record::LedgerEntry;

/// The number of trace lines that a failure shows.
const SHOWN: usize = 80;

/// The last events, recorded only for a schedule that is known to fail.
#[derive(Debug)]
pub(super) struct Trace {
    on: bool,
    lines: VecDeque<String>,
}

impl Trace {
    /// Creates a trace that records lines if `on` is set.
    pub(super) const fn new(on: bool) -> Self {
        Self { on, lines: VecDeque::new() }
    }

    /// Adds a line.
    pub(super) fn note(&mut self, line: impl FnOnce() -> String) {
        if self.on {
            self.lines.push_back(line().chars().take(400).collect());
            if self.lines.len() > SHOWN {
                self.lines.pop_front();
            }
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Counts over one or several schedules.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) schedules: u64,
    pub(super) events: u64,
    pub(super) writes: u64,
    pub(super) boots: u64,
    pub(super) crashes: u64,
    pub(super) downloads: u64,
    pub(super) engines: u64,
    pub(super) ports_taken: u64,
    pub(super) forged: u64,
    /// The number of ended commands, by kind and result.
    pub(super) results: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts the end of a command.
    pub(super) fn command(&mut self, entry: &LedgerEntry) {
        if let Some(result) = &entry.result {
            let kind = entry.command.as_ref().map(link_protocol::command::Command::kind);
            let kind = kind.map_or("invalid".to_owned(), |kind| format!("{kind:?}"));
            *self.results.entry(format!("{kind} {}", result.status)).or_default() += 1;
        }
    }

    /// Counts a command that never reached a journal.
    pub(super) fn end(&mut self, how: &str) {
        *self.results.entry(how.to_owned()).or_default() += 1;
    }

    /// Adds the counts of another tally.
    pub(super) fn add(&mut self, other: &Self) {
        self.schedules += other.schedules;
        self.events += other.events;
        self.writes += other.writes;
        self.boots += other.boots;
        self.crashes += other.crashes;
        self.downloads += other.downloads;
        self.engines += other.engines;
        self.ports_taken += other.ports_taken;
        self.forged += other.forged;
        for (how, count) in &other.results {
            *self.results.entry(how.clone()).or_default() += count;
        }
    }

    /// Returns how many commands ended in this way.
    pub(super) fn count(&self, how: &str) -> u64 {
        self.results.get(how).copied().unwrap_or(0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} schedules: {} events, {} writes, {} starts, {} crashes, {} downloads, {} engines, \
             {} ports taken by others, {} forged deliveries",
            self.schedules,
            self.events,
            self.writes,
            self.boots,
            self.crashes,
            self.downloads,
            self.engines,
            self.ports_taken,
            self.forged
        )?;
        self.results.iter().try_for_each(|(how, count)| write!(f, "\n  {count:>7} {how}"))
    }
}
