//! Publishes changes: a task that runs while somebody watches an account. It collects the changes of a moment, reads the
//! newest state of each changed thing once, and adds one event to the feed of the account.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits until events are due")]

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use jiff::SignedDuration;
use link_protocol::{id::AccountId, limits};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, MissedTickBehavior},
};

use crate::{
    app::App,
    domain::change::{Change, News, Subject},
    failure::AppError,
};

/// The interval at which work is done that no change causes.
const TICK: Duration = Duration::from_millis(500);
/// The interval between two searches for devices that went silent.
const SEARCH_EVERY: SignedDuration = SignedDuration::from_secs(5);
/// The wait after a failure of the database.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The documents that are read at once.
const AT_ONCE: usize = 4;

/// Gives up all feeds when the task ends in any other way than [`crate::app::feed::Hub::retire`]: their streams end, and
/// the next stream starts another task.
struct Publisher {
    app: Arc<App>,
    is_retired: bool,
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if !self.is_retired {
            self.app.feed.give_up();
        }
    }
}

/// Publishes changes until no account has a feed.
pub(super) async fn run(app: Arc<App>, mut news: Receiver<News>) {
    let mut publisher = Publisher { app: Arc::clone(&app), is_retired: false };
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut due: Option<Instant> = None;
    loop {
        let until_due = tokio::time::sleep_until(due.unwrap_or_else(Instant::now));
        tokio::select! {
            heard = news.recv() => match heard {
                Ok(News::Changed(changes)) => {
                    if app.take_in(&changes).await {
                        due.get_or_insert_with(|| Instant::now() + limits::EVENT_WINDOW);
                    }
                }
                Ok(News::Lost) | Err(RecvError::Lagged(_)) => app.feed.lose_all(),
                Err(RecvError::Closed) => return,
            },
            () = until_due, if due.is_some() => {
                let is_complete = app.publish().await;
                due = (!is_complete).then(|| Instant::now() + RETRY_AFTER);
                app.publish_summaries().await;
            }
            _ = ticks.tick() => {
                if app.feed.retire(Instant::now()) {
                    publisher.is_retired = true;
                    return;
                }
                app.search_silent_devices().await;
                app.publish_summaries().await;
                if app.feed.is_waiting() {
                    due.get_or_insert_with(|| Instant::now() + limits::EVENT_WINDOW);
                }
            }
        }
    }
}

impl App {
    /// Adds the changes of a transaction to the feeds. Returns whether an event is due.
    async fn take_in(&self, changes: &[Change]) -> bool {
        let mut is_due = false;
        for change in changes {
            match self.note_change(*change).await {
                Ok(due) => is_due |= due,
                Err(error) => {
                    tracing::warn!(%error, "a change cannot be published");
                    self.feed.lose_all();
                }
            }
        }
        is_due
    }

    async fn note_change(&self, Change { account, subject }: Change) -> Result<bool, AppError> {
        if let Subject::Device(device) = subject {
            // The device may have moved.
            self.feed.set_owner(device, None);
        }
        if let (None, Subject::Model(_)) = (account, subject) {
            return Ok(self.feed.note_everywhere(subject));
        }
        let account = match account {
            Some(account) => Some(account),
            None => self.account_of(subject).await?,
        };
        let Some(account) = account.filter(|account| self.feed.is_watched(*account)) else {
            return Ok(false);
        };
        let mut is_due = self.feed.note(account, subject);
        if let Subject::Serving(device, model) = subject
            && let Some(deployment) = self.store.newest_deployment(device, model).await?
        {
            is_due |= self.feed.note(account, Subject::Deployment(deployment, device));
        }
        Ok(is_due)
    }

    async fn account_of(&self, subject: Subject) -> Result<Option<AccountId>, AppError> {
        if let Subject::Operation(id) = subject {
            return Ok(self.store.operation(id).await?.map(|record| record.account));
        }
        let Some(device) = subject.device() else { return Ok(None) };
        if let Some(account) = self.feed.owner(device) {
            return Ok(Some(account));
        }
        let account = self.store.account_of_device(device).await?;
        self.feed.set_owner(device, account);
        Ok(account)
    }

    /// Publishes the waiting changes. Returns whether all of them could be read.
    async fn publish(&self) -> bool {
        let mut is_complete = true;
        for (account, subjects) in self.feed.take() {
            let read = async |subject| (subject, self.event_of(account, subject).await);
            let mut events = std::pin::pin!(stream::iter(subjects).map(read).buffered(AT_ONCE));
            while let Some((subject, event)) = events.next().await {
                match event {
                    Ok(Some(data)) => self.feed.publish(account, subject, data.into()),
                    Ok(None) => {}
                    Err(error) => {
                        tracing::warn!(%error, "a changed thing cannot be read");
                        self.feed.note(account, subject);
                        is_complete = false;
                    }
                }
            }
        }
        is_complete
    }

    async fn publish_summaries(&self) {
        for account in self.feed.due_summaries(Instant::now()) {
            let begun = Instant::now();
            let event = self.event_of(account, Subject::Summary).await;
            let data = event.unwrap_or_else(|error| {
                tracing::warn!(%error, "a summary cannot be read");
                None
            });
            self.feed.publish_summary(account, data.map(Arc::from), begun, Instant::now());
        }
    }

    /// Notes the devices that went offline because they sent nothing for too long. No transaction tells of them.
    async fn search_silent_devices(&self) {
        let longest = SignedDuration::try_from(limits::OFFLINE_AFTER).unwrap_or_default();
        let now = self.now();
        for (account, last) in self.feed.due_searches(now, SEARCH_EVERY) {
            let (after, until) = (last.checked_sub(longest), now.checked_sub(longest));
            let (Ok(after), Ok(until)) = (after, until) else { continue };
            match self.store.devices_last_seen(account, after, until).await {
                Ok(devices) => {
                    for device in devices {
                        self.feed.note(account, Subject::Device(device));
                    }
                    self.feed.searched(account, now);
                }
                Err(error) => tracing::warn!(%error, "silent devices cannot be found"),
            }
        }
    }
}
