//! Decides which connections have a place, and which connection is evicted when all places are taken. Pure.
//!
//! The number of taken places never exceeds the limit, and a busy connection is never evicted.

use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of evicted connections that are not closed yet.
const LEAVING: usize = 32;

/// The places, and the connections that have them.
#[derive(Debug)]
pub(super) struct Order {
    limit: usize,
    /// Counts events. The count orders them in time.
    turn: u64,
    taken: BTreeMap<u64, Standing>,
    /// Idle connections, by the time since which they are idle: the longest idle first.
    idle: BTreeSet<(u64, u64)>,
    /// The number of evicted connections that are not closed yet.
    leaving: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Standing {
    IdleSince(u64),
    Busy,
}

/// A place that was taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Taken {
    pub(super) number: u64,
    /// The connection that was evicted to free the place.
    pub(super) instead_of: Option<u64>,
}

impl Order {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, turn: 0, taken: BTreeMap::new(), idle: BTreeSet::new(), leaving: 0 }
    }

    /// Takes a place for a new, idle connection. None if all connections are busy, or if too many evicted ones are not
    /// closed yet.
    pub(super) fn take(&mut self) -> Option<Taken> {
        if self.leaving >= LEAVING {
            return None;
        }
        let instead_of = if self.taken.len() >= self.limit {
            let (_, oldest) = self.idle.pop_first()?;
            self.taken.remove(&oldest);
            self.leaving += 1;
            Some(oldest)
        } else {
            None
        };
        let number = self.count();
        self.enter(number, Standing::IdleSince(number));
        Some(Taken { number, instead_of })
    }

    /// Records the start of a request. Does nothing if the connection was evicted.
    pub(super) fn busy(&mut self, number: u64) {
        if self.remove(number) {
            self.enter(number, Standing::Busy);
        }
    }

    /// Records that a connection becomes idle, or that an idle connection was active again.
    pub(super) fn idle(&mut self, number: u64) {
        if self.remove(number) {
            let since = self.count();
            self.enter(number, Standing::IdleSince(since));
        }
    }

    /// Records that a connection was closed.
    pub(super) fn leave(&mut self, number: u64) {
        if !self.remove(number) {
            self.leaving -= 1;
        }
    }

    fn enter(&mut self, number: u64, standing: Standing) {
        if let Standing::IdleSince(since) = standing {
            self.idle.insert((since, number));
        }
        self.taken.insert(number, standing);
    }

    fn remove(&mut self, number: u64) -> bool {
        match self.taken.remove(&number) {
            Some(Standing::IdleSince(since)) => self.idle.remove(&(since, number)),
            Some(Standing::Busy) => true,
            None => false,
        }
    }

    const fn count(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_one_that_is_idle_for_the_longest_time_gives_way() {
        let mut order = Order::new(3);
        let [first, second, third] = [(); 3].map(|()| order.take().unwrap().number);
        // The first connection answers a request, and so becomes idle later than the others.
        order.busy(first);
        order.idle(first);
        order.busy(second);
        assert_eq!(order.take().unwrap().instead_of, Some(third));
        assert_eq!(order.take().unwrap().instead_of, Some(first));
        // Events of an evicted connection are ignored.
        order.busy(third);
        order.idle(third);
        order.leave(third);
        // All idle connections are new by now: even the newest is evicted before a busy one.
        assert!(order.take().unwrap().instead_of.is_some_and(|gone| gone != second));
    }

    #[test]
    fn while_all_are_busy_or_too_many_have_to_leave_there_is_no_place() {
        let mut order = Order::new(1);
        let first = order.take().unwrap().number;
        order.busy(first);
        assert_eq!(order.take(), None);
        order.idle(first);
        let gone: Vec<_> = std::iter::from_fn(|| order.take()?.instead_of).collect();
        assert_eq!(gone.len(), LEAVING);
        order.leave(gone[0]);
        assert!(order.take().is_some());
    }

    proptest! {
        #[test]
        fn no_sequence_takes_more_than_there_is_or_from_who_is_busy(
            limit in 0..6_usize,
            steps in proptest::collection::vec((0..4_u8, 0..8_usize), 0..200),
        ) {
            let mut order = Order::new(limit);
            let mut present: Vec<u64> = Vec::new();
            let mut busy: Vec<u64> = Vec::new();
            for (step, which) in steps {
                let chosen = present.get(which).copied();
                match (step, chosen) {
                    (0, _) => {
                        if let Some(taken) = order.take() {
                            let from_busy = taken.instead_of.is_some_and(|gone| busy.contains(&gone));
                            prop_assert!(!from_busy);
                            present.push(taken.number);
                        }
                    }
                    (1, Some(number)) => {
                        order.busy(number);
                        busy.push(number);
                    }
                    (2, Some(number)) => {
                        order.idle(number);
                        busy.retain(|other| *other != number);
                    }
                    (_, Some(number)) => {
                        order.leave(number);
                        present.retain(|other| *other != number);
                        busy.retain(|other| *other != number);
                    }
                    (_, None) => {}
                }
                prop_assert!(order.taken.len() <= limit);
                prop_assert_eq!(order.taken.len() + order.leaving, present.len());
                prop_assert!(order.idle.len() <= order.taken.len());
            }
        }
    }
}
