//! The feeds of the accounts that somebody watches, and the number of event streams.
//!
//! An account has a feed while it has a stream, and for a minute after the last one, so that a stream that was cut can
//! resume. Changes of other accounts are dropped. Every stream reads from the feed at its own pace and holds nothing but
//! its position, so a slow reader costs no memory.

mod live;

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    id::{AccountId, DeviceId, UserId},
    limits,
};
use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};

pub(super) use self::live::Resumption;
use crate::{
    app::feed::live::Live,
    domain::{
        change::{News, Subject},
        feed::{Next, filter::Filter},
        refusal::Refusal,
    },
};

/// Events that a stream takes at once.
const AT_ONCE: usize = 32;
/// The devices whose accounts are remembered.
const MOST_KNOWN: usize = 65_536;

/// The feeds.
#[derive(Debug, Default)]
pub(super) struct Hub {
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    feeds: HashMap<AccountId, Live>,
    streams: usize,
    people: HashMap<UserId, usize>,
    accounts: HashMap<AccountId, usize>,
    /// Whether a task publishes changes.
    is_published: bool,
    owners: HashMap<DeviceId, AccountId>,
}

/// A stream that has joined a feed.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) place: Place,
    pub(super) resumption: Resumption,
    pub(super) news: watch::Receiver<()>,
    /// The changes that a new task has to publish, if none does.
    pub(super) publish: Option<broadcast::Receiver<News>>,
}

/// The place of a stream in a feed.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) account: AccountId,
    pub(super) user: UserId,
    pub(super) filter: Filter,
    /// The name of the feed.
    pub(super) feed: String,
    /// The position up to which the stream has read.
    pub(super) read: u64,
}

impl Hub {
    /// Adds a stream of `user`, which continues after the event `last` if it can. `listen` subscribes to changes if no
    /// task publishes them.
    ///
    /// # Errors
    /// [`Refusal::TooManyStreams`].
    pub(super) fn join(
        &self,
        (account, user, now): (AccountId, UserId, Timestamp),
        filter: Filter,
        last: Option<&str>,
        listen: impl FnOnce() -> broadcast::Receiver<News>,
    ) -> Result<Joined, Refusal> {
        let mut inside = self.lock();
        let own = inside.people.get(&user).copied().unwrap_or_default();
        let of_account = inside.accounts.get(&account).copied().unwrap_or_default();
        if own >= limits::EVENT_STREAMS
            || of_account >= limits::EVENT_STREAMS_OF_ACCOUNT
            || inside.streams >= limits::EVENT_STREAMS_OF_BACKEND
        {
            return Err(Refusal::TooManyStreams);
        }
        inside.streams += 1;
        *inside.people.entry(user).or_default() += 1;
        *inside.accounts.entry(account).or_default() += 1;
        let publish = (!std::mem::replace(&mut inside.is_published, true)).then(listen);
        let live = inside.feeds.entry(account).or_insert_with(|| Live::new(now));
        let (resumption, read) = live.resume(last, &filter);
        live.add(&filter);
        let news = live.news.subscribe();
        let place = Place { account, user, filter, feed: live.name.clone(), read };
        drop(inside);
        Ok(Joined { place, resumption, news, publish })
    }

    /// Removes a stream.
    pub(super) fn leave(&self, place: &Place, now: Instant) {
        let mut inside = self.lock();
        inside.streams = inside.streams.saturating_sub(1);
        one_less(&mut inside.people, place.user);
        one_less(&mut inside.accounts, place.account);
        let live = inside.feeds.get_mut(&place.account);
        if let Some(live) = live.filter(|live| live.name == place.feed) {
            live.remove(&place.filter, now);
        }
    }

    /// Returns what a stream gets next.
    pub(super) fn next(&self, place: &Place) -> Next<Arc<str>> {
        let inside = self.lock();
        let live = inside.feeds.get(&place.account).filter(|live| live.name == place.feed);
        live.map_or(Next::Behind, |live| live.feed.next(place.read, &place.filter, AT_ONCE))
    }

    /// Tells whether somebody watches an account, or may resume.
    pub(super) fn is_watched(&self, account: AccountId) -> bool {
        self.lock().feeds.contains_key(&account)
    }

    /// Adds a change of an account, if somebody watches it. Returns whether an event is due.
    pub(super) fn note(&self, account: AccountId, subject: Subject) -> bool {
        self.lock().feeds.get_mut(&account).is_some_and(|live| live.note(subject))
    }

    /// Adds a change that every account may see.
    pub(super) fn note_everywhere(&self, subject: Subject) -> bool {
        let mut is_due = false;
        for live in self.lock().feeds.values_mut() {
            is_due |= live.note(subject);
        }
        is_due
    }

    /// Records that changes of every account may have been lost.
    pub(super) fn lose_all(&self) {
        let mut inside = self.lock();
        inside.owners.clear();
        inside.feeds.values_mut().for_each(Live::lose);
    }

    /// Tells whether changes wait that somebody watches.
    pub(super) fn is_waiting(&self) -> bool {
        self.lock().feeds.values().any(|live| live.streams.streams > 0 && live.feed.is_waiting())
    }

    /// Takes the changes that wait, of the accounts that somebody watches.
    pub(super) fn take(&self) -> Vec<(AccountId, BTreeSet<Subject>)> {
        let mut inside = self.lock();
        let watched = inside.feeds.iter_mut().filter(|(_, live)| live.streams.streams > 0);
        let taken = watched.map(|(account, live)| (*account, live.feed.take()));
        taken.filter(|(_, subjects)| !subjects.is_empty()).collect()
    }

    /// Publishes an event about a thing.
    pub(super) fn publish(&self, account: AccountId, subject: Subject, data: Arc<str>) {
        if let Some(live) = self.lock().feeds.get_mut(&account) {
            live.publish(subject, data);
        }
    }

    /// Returns the accounts whose summary may have changed, and is due.
    pub(super) fn due_summaries(&self, now: Instant) -> Vec<AccountId> {
        let mut inside = self.lock();
        let due = inside.feeds.iter_mut().filter_map(|(account, live)| {
            let summary = &mut live.summary;
            let may = summary.streams > 0 && summary.next.is_none_or(|next| next <= now);
            (may && std::mem::take(&mut summary.is_old)).then_some(*account)
        });
        due.collect()
    }

    /// Publishes a summary whose computation began at `begun`, if it succeeded. The next
    /// one waits at least a second, and longer if the computation took long.
    pub(super) fn publish_summary(
        &self,
        account: AccountId,
        data: Option<Arc<str>>,
        begun: Instant,
        now: Instant,
    ) {
        if let Some(live) = self.lock().feeds.get_mut(&account) {
            live.publish_summary(data, now.duration_since(begun), now);
        }
    }

    /// Returns the watched accounts in which devices may have gone silent since the last search, with its time.
    pub(super) fn due_searches(
        &self,
        now: Timestamp,
        every: SignedDuration,
    ) -> Vec<(AccountId, Timestamp)> {
        let inside = self.lock();
        let due = inside.feeds.iter().filter_map(|(account, live)| {
            let last = live.searched_at;
            let is_due = live.streams.streams > 0 && now.duration_since(last) >= every;
            is_due.then_some((*account, last))
        });
        due.collect()
    }

    /// Records that the search at `now` is complete.
    pub(super) fn searched(&self, account: AccountId, now: Timestamp) {
        if let Some(live) = self.lock().feeds.get_mut(&account) {
            live.searched_at = now;
        }
    }

    /// Removes the feeds that nobody has watched for long. Returns whether none is left; then the task that publishes
    /// changes ends.
    pub(super) fn retire(&self, now: Instant) -> bool {
        let mut inside = self.lock();
        inside.feeds.retain(|_, live| {
            live.logs.retain(|_, watched| !watched.is_over(now));
            !live.streams.is_over(now)
        });
        if inside.feeds.is_empty() {
            inside.is_published = false;
            inside.owners.clear();
        }
        inside.feeds.is_empty()
    }

    /// Drops all feeds, whose streams end then, because nobody publishes changes any more.
    pub(super) fn give_up(&self) {
        let mut inside = self.lock();
        inside.feeds.clear();
        inside.owners.clear();
        inside.is_published = false;
    }

    /// Returns the account of a device, if it is remembered.
    pub(super) fn owner(&self, device: DeviceId) -> Option<AccountId> {
        self.lock().owners.get(&device).copied()
    }

    /// Remembers the account of a device, or forgets it.
    pub(super) fn set_owner(&self, device: DeviceId, account: Option<AccountId>) {
        let mut inside = self.lock();
        let Some(account) = account else {
            inside.owners.remove(&device);
            return;
        };
        if inside.owners.len() >= MOST_KNOWN {
            inside.owners.clear();
        }
        inside.owners.insert(device, account);
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one thing less of `key`.
fn one_less<Key: Eq + Hash>(counts: &mut HashMap<Key, usize>, key: Key) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}
