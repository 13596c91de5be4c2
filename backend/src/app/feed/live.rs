//! The feed of one account that somebody watches: who watches what, and since when nobody does.

use std::{collections::HashMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use link_protocol::{id::DeviceId, limits};
use tokio::{sync::watch, time::Instant};

use crate::{
    domain::{
        change::Subject,
        feed::{Bounds, Feed, filter::Filter},
    },
    host::random,
};

/// How long a feed outlives its last stream.
const GRACE: Duration = Duration::from_secs(60);
const BOUNDS: Bounds = Bounds { events: 2048, bytes: 4 * 1024 * 1024, waiting: 1024 };
/// The part of the time that the computation of summaries may take.
const SUMMARY_SHARE: u32 = 20;

/// The feed of an account.
#[derive(Debug)]
pub(super) struct Live {
    /// Distinguishes the positions of this feed from those of others.
    pub(super) name: String,
    pub(super) feed: Feed<Arc<str>>,
    pub(super) news: watch::Sender<()>,
    pub(super) streams: Watched,
    /// The devices whose log records somebody watches.
    pub(super) logs: HashMap<DeviceId, Watched>,
    pub(super) summary: SummaryState,
    /// The time of the last search for devices that went silent.
    pub(super) searched_at: Timestamp,
}

/// How many streams watch, and since when none does.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) streams: usize,
    pub(super) idle_since: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct SummaryState {
    pub(super) streams: usize,
    pub(super) is_old: bool,
    pub(super) next: Option<Instant>,
}

/// Whether a new stream continues an earlier one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::app) enum Resumption {
    /// The reader did not ask for it.
    New,
    Resumed,
    /// The reader named an event that the feed does not know, or not any more.
    Unknown,
}

impl Live {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            name: random::uuid().simple().to_string(),
            feed: Feed::new(BOUNDS),
            news: watch::Sender::new(()),
            streams: Watched::default(),
            logs: HashMap::new(),
            summary: SummaryState::default(),
            searched_at: now,
        }
    }

    /// Decides where a new stream begins.
    pub(super) fn resume(&self, last: Option<&str>, filter: &Filter) -> (Resumption, u64) {
        let Some(last) = last else { return (Resumption::New, self.feed.last()) };
        let position =
            last.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
        let position = position.and_then(|position| position.parse::<u64>().ok());
        // The log records of a device that nobody watched are not in the feed.
        let has_log = filter.log().is_none_or(|device| self.logs.contains_key(&device));
        match position.filter(|position| has_log && self.feed.has(*position)) {
            Some(position) => (Resumption::Resumed, position),
            None => (Resumption::Unknown, self.feed.last()),
        }
    }

    pub(super) fn add(&mut self, filter: &Filter) {
        self.streams.add();
        if let Some(device) = filter.log() {
            self.logs.entry(device).or_default().add();
        }
        if filter.wants(Subject::Summary) {
            self.summary.streams += 1;
        }
    }

    pub(super) fn remove(&mut self, filter: &Filter, now: Instant) {
        self.streams.remove(now);
        if let Some(watched) = filter.log().and_then(|device| self.logs.get_mut(&device)) {
            watched.remove(now);
        }
        if filter.wants(Subject::Summary) {
            self.summary.streams -= 1;
        }
    }

    /// Adds a change. Returns whether an event is due.
    pub(super) fn note(&mut self, subject: Subject) -> bool {
        self.summary.is_old |= subject.counts();
        match subject {
            Subject::Allowlist => self.lose(),
            Subject::Log(device, _) if !self.logs.contains_key(&device) => return false,
            Subject::Serving(..) | Subject::Usage(_) | Subject::Disk(_) | Subject::Summary => {
                return false;
            }
            Subject::Device(_)
            | Subject::System(_)
            | Subject::Deployment(..)
            | Subject::Command(..)
            | Subject::Model(_)
            | Subject::Key(_)
            | Subject::Member(_)
            | Subject::Operation(_)
            | Subject::Log(..) => self.feed.note(subject),
        }
        self.news.send_replace(());
        self.streams.streams > 0
    }

    /// Publishes an event about a thing.
    pub(super) fn publish(&mut self, subject: Subject, data: Arc<str>) {
        self.feed.publish(subject, data.len(), data);
        self.news.send_replace(());
    }

    /// Publishes a summary whose computation took `cost`, if it succeeded.
    pub(super) fn publish_summary(&mut self, data: Option<Arc<str>>, cost: Duration, now: Instant) {
        self.summary.next = Some(now + (cost * SUMMARY_SHARE).max(limits::SUMMARY_INTERVAL));
        // A summary like the last one is published too: a reader may have loaded another one in between.
        match data {
            Some(data) => self.publish(Subject::Summary, data),
            None => self.summary.is_old = true,
        }
    }

    /// Records that changes may have been lost.
    pub(super) fn lose(&mut self) {
        self.feed.lose();
        self.summary.is_old = true;
        self.news.send_replace(());
    }
}

impl Watched {
    pub(super) fn add(&mut self) {
        self.streams += 1;
        self.idle_since = None;
    }

    pub(super) fn remove(&mut self, now: Instant) {
        self.streams -= 1;
        self.idle_since = (self.streams == 0).then_some(now);
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.idle_since.is_some_and(|since| now.duration_since(since) >= GRACE)
    }
}
