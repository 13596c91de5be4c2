//! A limited number of places for connections. When all are taken, the connection that has been idle longest is closed
//! for the next one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::order::Order;

/// The places. Clones share them.
#[derive(Clone, Debug)]
pub struct Seats(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    table: Mutex<Table>,
    changed: Notify,
}

#[derive(Debug)]
struct Table {
    order: Order,
    give_way: HashMap<u64, CancellationToken>,
}

/// The place of a connection. Dropping the value frees the place.
#[derive(Debug)]
pub struct Seat {
    number: u64,
    seats: Seats,
    gives_way: CancellationToken,
}

/// A request that is being answered on a connection.
#[derive(Debug)]
pub struct Busy(Arc<Seat>);

impl Seats {
    /// Creates `limit` places.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let table = Table { order: Order::new(limit), give_way: HashMap::new() };
        Self(Arc::new(Shared { table: Mutex::new(table), changed: Notify::new() }))
    }

    /// Takes a place. Waits while every connection is busy. Cancel safe.
    pub async fn take(&self) -> Seat {
        loop {
            // Register before the table is read, so that no change is missed.
            let mut changed = std::pin::pin!(self.0.changed.notified());
            changed.as_mut().enable();
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
        // Several listeners may wait, and each checks the table itself.
        self.0.changed.notify_waiters();
    }
}

impl Seat {
    /// Records the start of a request. The connection keeps its place until the returned value is dropped.
    #[must_use]
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.seats.table().order.busy(self.number);
        Busy(Arc::clone(self))
    }

    /// Waits until this connection is evicted from its place.
    pub async fn gives_way(&self) {
        self.gives_way.cancelled().await;
    }
}

impl Busy {
    /// Records that the server waits for the client. The connection counts as idle from now on.
    pub fn waits(&self) {
        self.0.seats.change(|table| table.order.idle(self.0.number));
    }

    /// Records that the client has sent data. The connection counts as busy again.
    pub fn goes_on(&self) {
        self.0.seats.table().order.busy(self.0.number);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.change(|table| {
            table.give_way.remove(&self.number);
            table.order.leave(self.number);
        });
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.seats.change(|table| table.order.idle(self.0.number));
    }
}

impl Table {
    fn take(&mut self) -> Option<(u64, CancellationToken)> {
        let taken = self.order.take()?;
        if let Some(gone) = taken.instead_of.and_then(|gone| self.give_way.remove(&gone)) {
            gone.cancel();
        }
        let gives_way = CancellationToken::new();
        self.give_way.insert(taken.number, gives_way.clone());
        Some((taken.number, gives_way))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn while_all_are_answered_the_next_one_waits_for_the_first_that_is_idle() {
        let seats = Seats::new(2);
        let taken = [Arc::new(seats.take().await), Arc::new(seats.take().await)];
        let mut busy: Vec<_> = taken.iter().map(Seat::busy).collect();
        assert!(seats.take().now_or_never().is_none());
        let next = tokio::spawn({
            let seats = seats.clone();
            async move { seats.take().await }
        });
        tokio::task::yield_now().await;
        busy.pop();
        let next = next.await.unwrap();
        taken[1].gives_way().await;
        assert!(taken[0].gives_way().now_or_never().is_none());
        assert!(next.gives_way().now_or_never().is_none());
        drop((taken, busy, next));
        assert!(seats.table().give_way.is_empty());
        assert!(seats.take().now_or_never().is_some());
    }
}
