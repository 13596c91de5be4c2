//! Places for connections: there are so many and no more, and when all are taken the connection that
//! has said nothing for the longest time gives way to the next one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The places; clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Seats(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    table: Mutex<Table>,
    changed: Notify,
}

#[derive(Debug)]
struct Table {
    limit: usize,
    next: u64,
    taken: BTreeMap<u64, Place>,
}

#[derive(Debug)]
struct Place {
    /// When it became idle, by the count of such moments; nothing while a request is answered.
    idle: Option<u64>,
    gives_way: CancellationToken,
}

/// A place that a connection has taken; given back when dropped.
#[derive(Debug)]
pub(super) struct Seat {
    number: u64,
    seats: Seats,
    gives_way: CancellationToken,
}

/// A request that is being answered on a connection.
#[derive(Debug)]
pub(super) struct Busy(Arc<Seat>);

impl Seats {
    pub(super) fn new(limit: usize) -> Self {
        let table = Table { limit, next: 0, taken: BTreeMap::new() };
        Self(Arc::new(Shared { table: Mutex::new(table), changed: Notify::new() }))
    }

    /// Takes a place; waits while requests are answered on all of them. May be cancelled.
    pub(super) async fn take(&self) -> Seat {
        loop {
            let changed = self.0.changed.notified();
            let taken = self.table().take();
            if let Some((number, gives_way)) = taken {
                return Seat { number, seats: self.clone(), gives_way };
            }
            changed.await;
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Table)) {
        change(&mut self.table());
        self.0.changed.notify_one();
    }
}

impl Seat {
    /// Says that a request is answered; until that value is dropped the connection keeps its place.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.seats.table().set_idle(self.number, false);
        Busy(Arc::clone(self))
    }

    /// Returns when another connection has taken this place.
    pub(super) async fn gives_way(&self) {
        self.gives_way.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.change(|table| drop(table.taken.remove(&self.number)));
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.seats.change(|table| table.set_idle(self.0.number, true));
    }
}

impl Table {
    fn take(&mut self) -> Option<(u64, CancellationToken)> {
        if self.taken.len() >= self.limit {
            let idle = self.taken.iter().filter_map(|(number, place)| Some((place.idle?, *number)));
            let (_, oldest) = idle.min()?;
            if let Some(place) = self.taken.remove(&oldest) {
                place.gives_way.cancel();
            }
        }
        let (number, gives_way) = (self.count(), CancellationToken::new());
        self.taken.insert(number, Place { idle: Some(number), gives_way: gives_way.clone() });
        Some((number, gives_way))
    }

    fn set_idle(&mut self, number: u64, idle: bool) {
        let since = idle.then(|| self.count());
        // One that has given way has no place any more.
        if let Some(place) = self.taken.get_mut(&number) {
            place.idle = since;
        }
    }

    const fn count(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_one_that_is_idle_for_the_longest_time_gives_way() {
        let seats = Seats::new(3);
        let taken: Vec<_> = [seats.take().await, seats.take().await, seats.take().await]
            .into_iter()
            .map(Arc::new)
            .collect();
        let gone = |taken: &[Arc<Seat>]| {
            let gone = taken.iter().map(|seat| seat.gives_way.is_cancelled());
            gone.collect::<Vec<_>>()
        };
        // The first is answered, and idle later than the others.
        drop(taken[0].busy());
        let kept = taken[1].busy();
        let _fourth = seats.take().await;
        assert_eq!(gone(&taken), [false, false, true]);
        let _fifth = seats.take().await;
        assert_eq!(gone(&taken), [true, false, true]);
        // Of those that are left none is old: the newest gives way before a request is cut off.
        let _sixth = seats.take().await;
        assert_eq!(gone(&taken), [true, false, true]);
        drop(kept);
    }

    #[tokio::test]
    async fn while_all_are_answered_the_next_one_waits() {
        let seats = Seats::new(2);
        let taken = [Arc::new(seats.take().await), Arc::new(seats.take().await)];
        let mut busy: Vec<_> = taken.iter().map(Seat::busy).collect();
        assert!(seats.take().now_or_never().is_none());
        busy.pop();
        assert!(seats.take().now_or_never().is_some());
        assert!(taken[1].gives_way.is_cancelled() && !taken[0].gives_way.is_cancelled());
        drop((taken, busy));
        assert!(seats.table().taken.is_empty());
    }
}
