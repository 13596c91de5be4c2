//! The feed of an account: changes that wait to be published, and the newest event about each thing.
//!
//! An event has a position, and a reader knows the position up to which it has read. A newer event about a thing
//! replaces the older one, so a reader that applies all events after its position knows the newest state of every
//! published thing. The feed is bounded. A reader behind the dropped events cannot go on, and after a reset every
//! reader has to load anew: in both cases the feed says so, and never skips an event silently.

pub mod filter;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::{change::Subject, feed::filter::Filter};

/// The bounds of a feed.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Events that are kept.
    pub events: usize,
    /// Bytes of the events that are kept.
    pub bytes: usize,
    /// Things whose changes wait. Beyond it the feed is reset, because loading anew costs less.
    pub waiting: usize,
}

/// The feed of an account, with events of type `E`.
#[derive(Clone, Debug)]
pub struct Feed<E> {
    bounds: Bounds,
    waiting: BTreeSet<Subject>,
    events: BTreeMap<u64, Published<E>>,
    newest: HashMap<Subject, u64>,
    bytes: usize,
    /// The newest position.
    last: u64,
    /// The newest position of a dropped event that no newer event has replaced.
    dropped: u64,
    /// The position of the newest reset.
    reset: u64,
}

#[derive(Clone, Debug)]
struct Published<E> {
    subject: Subject,
    bytes: usize,
    event: E,
}

/// What a reader gets next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Next<E> {
    /// Events with their positions, possibly none, and the position up to which the reader has read.
    Events { events: Vec<(u64, Subject, E)>, read: u64 },
    /// Changes were lost. The reader loads anew and continues at this position.
    Reset { read: u64 },
    /// The reader is too slow: events that it has not read were dropped.
    Behind,
}

impl<E: Clone> Feed<E> {
    /// Creates a feed without events.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            waiting: BTreeSet::new(),
            events: BTreeMap::new(),
            newest: HashMap::new(),
            bytes: 0,
            last: 0,
            dropped: 0,
            reset: 0,
        }
    }

    /// Returns the position after all published events.
    #[must_use]
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// Tells whether a reader can continue after `position`.
    #[must_use]
    pub fn has(&self, position: u64) -> bool {
        (self.reset.max(self.dropped)..=self.last).contains(&position)
    }

    /// Tells whether changes wait to be published.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Adds a change, which waits to be published.
    pub fn note(&mut self, subject: Subject) {
        self.waiting.insert(subject);
        if self.waiting.len() > self.bounds.waiting {
            self.lose();
        }
    }

    /// Takes the waiting changes. Whoever takes them reads the state of each thing afterwards, and publishes it.
    pub fn take(&mut self) -> BTreeSet<Subject> {
        std::mem::take(&mut self.waiting)
    }

    /// Adds the event about the state of a thing, in place of an older one.
    pub fn publish(&mut self, subject: Subject, bytes: usize, event: E) {
        self.last += 1;
        if let Some(older) = self.newest.insert(subject, self.last)
            && let Some(gone) = self.events.remove(&older)
        {
            self.bytes -= gone.bytes;
        }
        self.bytes += bytes;
        self.events.insert(self.last, Published { subject, bytes, event });
        while self.events.len() > self.bounds.events || self.bytes > self.bounds.bytes {
            let Some((position, gone)) = self.events.pop_first() else { break };
            self.bytes -= gone.bytes;
            self.newest.remove(&gone.subject);
            self.dropped = position;
        }
    }

    /// Records that changes may have been lost.
    pub fn lose(&mut self) {
        self.waiting.clear();
        self.events.clear();
        self.newest.clear();
        self.bytes = 0;
        self.last += 1;
        self.reset = self.last;
    }

    /// Returns up to `most` events after the position `read` that pass `filter`.
    #[must_use]
    pub fn next(&self, read: u64, filter: &Filter, most: usize) -> Next<E> {
        if read < self.reset {
            return Next::Reset { read: self.reset };
        }
        if read < self.dropped {
            return Next::Behind;
        }
        let mut events = Vec::new();
        for (position, published) in self.events.range(read + 1..) {
            if !filter.wants(published.subject) {
                continue;
            }
            events.push((*position, published.subject, published.event.clone()));
            if events.len() == most {
                return Next::Events { events, read: *position };
            }
        }
        Next::Events { events, read: self.last }
    }
}

#[cfg(test)]
mod tests;
