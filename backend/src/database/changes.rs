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

/// Changes that are announced when the value is dropped: after the commit, or when the caller goes away while the database
/// commits. An announcement without a commit is harmless, because whoever hears it reads the stored state.
#[derive(Debug)]
pub(super) struct Announcement {
    pub(super) changes: Vec<Change>,
    pub(super) listeners: Option<Changes>,
}

impl Drop for Announcement {
    fn drop(&mut self) {
        if let Some(listeners) = &self.listeners {
            listeners.announce(std::mem::take(&mut self.changes));
        }
    }
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

    /// Announces the changes of a transaction that was committed.
    pub(crate) fn announce(&self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        if let Some(others) = &self.others {
            others.tell_changes(&changes);
        }
        if self.here.receiver_count() > 0 {
            self.pass_on(News::Changed(changes.into()));
        }
    }

    /// Passes on the news of another backend.
    pub(crate) fn pass_on(&self, news: News) {
        // An error means that nobody listens.
        drop(self.here.send(news));
    }
}
