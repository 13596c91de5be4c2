//! The place of a connection among all, and the state that decides which connection is closed first.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::task::{AbortHandle, JoinHandle};

use crate::domain::{
    connections::{ConnectionId, Connections, Party},
    network::Network,
};

/// Sockets of closed connections that may still be open while new connections are accepted.
const ENDING: usize = 32;

/// All connections of a listener.
#[derive(Debug)]
pub(super) struct Room {
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    connections: Connections,
    tasks: HashMap<ConnectionId, AbortHandle>,
    /// Closed connections whose sockets are still open.
    ending: usize,
}

/// The place of a connection. Dropping the last clone means that the connection has ended.
#[derive(Clone, Debug)]
pub struct Seat(Arc<Place>);

struct Place {
    room: Arc<Room>,
    id: ConnectionId,
}

/// A running request. Dropping the value means that the request has ended.
#[derive(Debug)]
pub(super) struct Asking(Seat);

impl Room {
    pub(super) fn new(connections: Connections) -> Self {
        Self { inside: Mutex::new(Inside { connections, tasks: HashMap::new(), ending: 0 }) }
    }

    /// Admits a connection from `origin`, and closes another one if necessary. Returns `None` if no place is free.
    pub(super) fn admit(
        self: &Arc<Self>,
        origin: Option<Network>,
        begin: impl FnOnce(Seat) -> JoinHandle<()>,
    ) {
        let mut inside = self.lock();
        let Some((id, gone)) = inside.connections.admit(origin) else { return };
        inside.end(gone);
        // The first step of the new task waits for this lock.
        let task = begin(Seat(Arc::new(Place { room: Arc::clone(self), id })));
        inside.tasks.insert(id, task.abort_handle());
    }

    /// Waits until all but a few closed connections have closed their sockets.
    pub(super) async fn settle(&self) {
        while self.lock().ending > ENDING {
            tokio::task::yield_now().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn end(&mut self, gone: Option<ConnectionId>) {
        if let Some(task) = gone.and_then(|id| self.tasks.remove(&id)) {
            self.ending += 1;
            task.abort();
        }
    }
}

impl Seat {
    /// Records that the client is authenticated.
    pub fn know(&self, party: Party) {
        self.0.room.lock().connections.know(self.0.id, party);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inside = self.room.lock();
        inside.connections.end(self.id);
        if inside.tasks.remove(&self.id).is_none() {
            inside.ending -= 1;
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.id).finish()
    }
}

impl Asking {
    pub(super) fn begin(seat: &Seat, network: Option<Network>) -> Self {
        let mut inside = seat.0.room.lock();
        let gone = inside.connections.ask(seat.0.id, network);
        inside.end(gone);
        drop(inside);
        Self(seat.clone())
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let Seat(place) = &self.0;
        let mut inside = place.room.lock();
        let gone = inside.connections.rest(place.id);
        inside.end(gone);
    }
}
