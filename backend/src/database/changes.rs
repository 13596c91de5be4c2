//! Announces committed changes to the tasks of this process that listen, and to the other backends on the database.
//!
//! A transaction collects its changes, and the commit announces them, so nothing is announced that was not stored.
//! Every path is bounded. What does not fit is replaced by [`News::Lost`], or by an error of the receiver that means
//! the same.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::{
    database::{Store, neighbours::Neighbours},
    domain::change::{Change, News},
};

/// The transactions whose changes a listener may leave unread.
const MOST_UNHEARD: usize = 4096;

/// The listeners to changes.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    here: broadcast::Sender<News>,
    /// The other backends on the database, if it can be shared.
    others: Option<Arc<Neighbours>>,
}

impl Store {
    /// Listens to the changes that are announced from now on.
    #[must_use]
    pub fn listen_to_changes(&self) -> broadcast::Receiver<News> {
        self.changes.here.subscribe()
    }

    /// Announces a change that the database does not hold.
    pub fn announce(&self, change: Change) {
        self.changes.announce(vec![change]);
    }
}

impl Changes {
    pub(crate) fn new(others: Option<Arc<Neighbours>>) -> Self {
        Self { here: broadcast::Sender::new(MOST_UNHEARD), others }
    }

    /// Tells whether anybody hears changes, so that a transaction needs to collect them.
    pub(crate) fn are_heard(&self) -> bool {
        self.others.is_some() || self.here.receiver_count() > 0
    }

    /// Announces the changes of a transaction that was committed.
    pub(crate) fn announce(&self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        if let Some(others) = &self.others {
            others.tell_changes(&changes);
        }
        self.pass_on(News::Changed(changes.into()));
    }

    /// Passes on the news of another backend.
    pub(crate) fn pass_on(&self, news: News) {
        // An error means that nobody listens.
        drop(self.here.send(news));
    }
}
