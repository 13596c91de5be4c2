//! Notifications between backends on one PostgreSQL database, which wake tasks that wait for a device or a command.
//!
//! A task sends the rings of this process right after their transactions, all collected rings in one statement. A
//! NOTIFY inside the transactions would make all commits of the database wait for each other, and would cost a round
//! trip on the critical path. A ring can be lost, if the process dies first or if a pooler in front of the database
//! drops notifications; the waiting tasks then find the change at their next check. Each process listens on a
//! connection of its own. When that connection is lost, any ring may have been lost.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: connects, and waits before it does so again"
)]

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use link_protocol::id::{CommandId, DeviceId};
use serde::{Deserialize, Serialize};
use sqlx::{
    PgPool,
    postgres::{PgListener, PgPoolOptions},
};
use tokio::{sync::Notify, time::timeout};

use crate::{
    database::{
        Store,
        peers::{Peers, connection_of},
    },
    domain::change::{Change, News},
    host::random,
};

const CHANNEL: &str = "link_rings";
/// The channel of changes. A backend of an earlier version does not listen to it.
const CHANGES: &str = "link_changes";
/// Sends notifications without waiting for the disk, because the transaction has nothing that must not be lost.
const TELL: &str = "SELECT set_config('synchronous_commit', 'off', true), \
     pg_notify('link_rings', payload) FROM unnest($1::TEXT[]) AS payload";
/// As [`TELL`], for changes.
const TELL_CHANGES: &str = "SELECT set_config('synchronous_commit', 'off', true), \
     pg_notify('link_changes', payload) FROM unnest($1::TEXT[]) AS payload";
/// The maximum number of changes in one notification. Each has up to 180 bytes.
const CHANGES_AT_ONCE: usize = 40;
/// How long changes are collected for one statement.
const COLLECT: Duration = Duration::from_millis(50);
/// The maximum number of rings in one notification, for which PostgreSQL allows 8000 bytes.
const RINGS_AT_ONCE: usize = 128;
/// The maximum number of unsent rings. Beyond it they are replaced by one [`Ring::All`].
const MOST_UNTOLD: usize = 4096;
/// The wait before the first reconnection attempt. The wait doubles after each attempt.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long a connection may be silent before it is tested.
const ASK_AFTER: Duration = Duration::from_secs(15);
/// The timeout of this test, after which the connection counts as lost.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The wait that may have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ring {
    Device(DeviceId),
    Command(CommandId),
    /// Any wait.
    All,
}

/// The other backends on the database.
#[derive(Debug)]
pub(crate) struct Neighbours {
    pool: PgPool,
    /// The name of this process, by which it ignores its own notifications.
    name: String,
    untold: Mutex<HashSet<Ring>>,
    news: Notify,
    /// Changes that the other backends do not know yet. `None` stands for more than [`MOST_UNTOLD`].
    changes: Mutex<Option<HashSet<Change>>>,
    changed: Notify,
    peers: Peers,
}

/// A notification about changes.
#[derive(Debug, Deserialize, Serialize)]
struct Told {
    /// The name of the sender.
    from: String,
    /// The changes, or nothing if there were too many.
    changes: Option<Vec<Change>>,
}

impl Store {
    /// Queues a ring for the other backends on the database, if it can be shared. Does not block.
    pub fn tell_neighbours(&self, ring: Ring) {
        if let Some(neighbours) = &self.neighbours {
            neighbours.add([ring]);
            neighbours.news.notify_one();
        }
    }

    /// Sends the rings of this process to other backends, and calls `heard` with theirs, until the store is closed.
    /// Returns at once if the database cannot be shared.
    pub async fn heed_neighbours(&self, heard: impl Fn(Ring)) {
        if let Some(neighbours) = &self.neighbours {
            let told = tokio::join!(
                neighbours.tell(),
                neighbours.tell_of_changes(),
                neighbours.hear(heard, |news| self.changes.pass_on(news)),
                neighbours.peers.watch(&neighbours.pool, || self.changes.pass_on(News::Lost)),
            );
            let ((), (), (), ()) = told;
        }
    }
}

impl Neighbours {
    pub(crate) fn new(pool: PgPool) -> Self {
        let name = random::uuid().simple().to_string();
        Self {
            pool,
            name,
            untold: Mutex::default(),
            news: Notify::new(),
            changes: Mutex::new(Some(HashSet::new())),
            changed: Notify::new(),
            peers: Peers::default(),
        }
    }

    fn add(&self, rings: impl IntoIterator<Item = Ring>) {
        let mut untold = self.lock();
        untold.extend(rings);
        if untold.len() > MOST_UNTOLD || untold.contains(&Ring::All) {
            untold.clear();
            untold.insert(Ring::All);
        }
    }

    async fn tell(&self) {
        let mut wait = FIRST_WAIT;
        while !self.pool.is_closed() {
            self.news.notified().await;
            let rings: Vec<Ring> = self.lock().drain().collect();
            let told = sqlx::query(TELL).bind(written(&self.name, &rings));
            match told.execute(&self.pool).await {
                Ok(_) => wait = FIRST_WAIT,
                Err(error) => {
                    tracing::debug!(%error, "other backends could not be told");
                    self.add(rings);
                    self.news.notify_one();
                    wait = pause(wait).await;
                }
            }
        }
    }

    /// Queues changes for the other backends. Does not block.
    pub(super) fn tell_changes(&self, changes: &[Change]) {
        let mut untold = self.changes();
        if let Some(some) = untold.as_mut() {
            some.extend(changes);
            if some.len() > MOST_UNTOLD {
                *untold = None;
            }
        }
        drop(untold);
        self.changed.notify_one();
    }

    async fn tell_of_changes(&self) {
        while !self.pool.is_closed() {
            self.changed.notified().await;
            tokio::time::sleep(COLLECT).await;
            if let Err(error) = self.tell_queued_changes().await {
                tracing::debug!(%error, "other backends could not be told of changes");
                // The others load anew.
                *self.changes() = None;
                self.changed.notify_one();
                pause(FIRST_WAIT * 10).await;
            }
        }
    }

    async fn tell_queued_changes(&self) -> Result<(), sqlx::Error> {
        let changes = self.changes().replace(HashSet::new());
        if changes.as_ref().is_some_and(HashSet::is_empty) {
            return Ok(());
        }
        let told = sqlx::query(TELL_CHANGES).bind(written_changes(&self.name, changes));
        told.execute(&self.pool).await.map(drop)
    }

    /// Tells the other backends of the changes that still wait, before this one ends.
    pub(super) async fn tell_the_last_changes(&self) {
        match timeout(ANSWER_WITHIN, self.tell_queued_changes()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "other backends miss the last changes"),
            Err(_late) => tracing::warn!("other backends miss the last changes"),
        }
    }

    async fn hear(&self, heard: impl Fn(Ring), changed: impl Fn(News)) {
        let mut wait = FIRST_WAIT;
        while !self.pool.is_closed() {
            match self.listen().await {
                Ok(mut listener) => {
                    let since = Instant::now();
                    tracing::debug!("other backends on the database are heard");
                    // Earlier notifications are lost.
                    heard(Ring::All);
                    changed(News::Lost);
                    self.introduce().await;
                    let error = self.hear_from(&mut listener, &heard, &changed).await;
                    tracing::warn!(%error, "the connection that hears other backends was lost");
                    if since.elapsed() > LONGEST_WAIT {
                        wait = FIRST_WAIT;
                    }
                }
                Err(error) => tracing::warn!(%error, "other backends cannot be heard"),
            }
            wait = pause(wait).await;
        }
    }

    /// Tells the other backends the name of this one, with a notification that names no change.
    async fn introduce(&self) {
        let told = sqlx::query(TELL_CHANGES).bind(vec![written_told(&self.name, Some(vec![]))]);
        if let Err(error) = told.execute(&self.pool).await {
            tracing::debug!(%error, "other backends could not be told the name of this one");
        }
    }

    async fn listen(&self) -> Result<PgListener, sqlx::Error> {
        let options = (*self.pool.connect_options()).clone();
        let options = options.application_name(&connection_of(&self.name));
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(ANSWER_WITHIN)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_lazy_with(options);
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        let both = listener.listen_all([CHANNEL, CHANGES]);
        timeout(ANSWER_WITHIN, both).await.map_err(late)??;
        Ok(listener)
    }

    /// Receives notifications until the connection fails. Returns the error.
    async fn hear_from(
        &self,
        listener: &mut PgListener,
        heard: &impl Fn(Ring),
        changed: &impl Fn(News),
    ) -> sqlx::Error {
        loop {
            match timeout(ASK_AFTER, listener.try_recv()).await {
                Ok(Ok(Some(told))) if told.channel() == CHANGES => {
                    if let Some((from, news)) = read_changes(&self.name, told.payload()) {
                        from.iter().for_each(|from| self.peers.heard_of(from));
                        changed(news);
                    }
                }
                Ok(Ok(Some(told))) => {
                    read(&self.name, told.payload()).into_iter().for_each(heard);
                }
                Ok(Ok(None)) => {
                    return std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into();
                }
                Ok(Err(error)) => return error,
                Err(_silence) => {
                    let asked = sqlx::query("SELECT 1").execute(&mut *listener);
                    if let Err(error) = timeout(ANSWER_WITHIN, asked).await.map_err(late).flatten()
                    {
                        return error;
                    }
                }
            }
        }
    }

    fn changes(&self) -> MutexGuard<'_, Option<HashSet<Change>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Ring>> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits, and returns the duration of the next wait.
async fn pause(wait: Duration) -> Duration {
    tokio::time::sleep(wait).await;
    (wait * 2).min(LONGEST_WAIT)
}

fn late(_elapsed: tokio::time::error::Elapsed) -> sqlx::Error {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

/// Returns the notifications for `rings`: the name of the sender, then the rings.
fn written(name: &str, rings: &[Ring]) -> Vec<String> {
    let one = |rings: &[Ring]| {
        rings.iter().fold(name.to_owned(), |text, ring| match ring {
            Ring::Device(id) => format!("{text} {id}"),
            Ring::Command(id) => format!("{text} {id}"),
            Ring::All => format!("{text} *"),
        })
    };
    rings.chunks(RINGS_AT_ONCE).map(one).collect()
}

/// Returns the notifications for `changes`.
fn written_changes(name: &str, changes: Option<HashSet<Change>>) -> Vec<String> {
    let Some(changes) = changes else { return vec![written_told(name, None)] };
    let changes: Vec<Change> = changes.into_iter().collect();
    let some = changes.chunks(CHANGES_AT_ONCE);
    some.map(|some| written_told(name, Some(some.to_vec()))).collect()
}

fn written_told(name: &str, changes: Option<Vec<Change>>) -> String {
    let told = Told { from: name.to_owned(), changes };
    serde_json::to_string(&told).expect("a notification has only string keys")
}

/// Parses a notification about changes: who sends it, if that can be read, and the news. Returns nothing for a notification of
/// the process `name` itself. What cannot be parsed, perhaps of a newer version, counts as lost.
fn read_changes(name: &str, payload: &str) -> Option<(Option<String>, News)> {
    match serde_json::from_str::<Told>(payload) {
        Ok(told) if told.from == name => None,
        Ok(Told { from, changes: Some(changes) }) => {
            Some((Some(from), News::Changed(changes.into())))
        }
        Ok(Told { from, changes: None }) => Some((Some(from), News::Lost)),
        Err(_) => Some((None, News::Lost)),
    }
}

/// Parses a notification. Returns nothing for a notification of the process `name` itself. An unknown word, perhaps of
/// a newer version, counts as [`Ring::All`].
fn read(name: &str, payload: &str) -> Vec<Ring> {
    let mut words = payload.split(' ');
    if words.next() == Some(name) {
        return Vec::new();
    }
    let ring = |word: &str| {
        let device = word.parse().map(Ring::Device).ok();
        device.or_else(|| word.parse().map(Ring::Command).ok()).unwrap_or(Ring::All)
    };
    words.map(ring).collect()
}

#[cfg(test)]
mod tests {
    use link_protocol::id::{AccountId, DeploymentId};
    use uuid::Uuid;

    use super::*;
    use crate::domain::change::Subject;

    fn devices(count: u128) -> Vec<Ring> {
        let device = |number| Ring::Device(DeviceId::from_uuid(Uuid::from_u128(number)));
        (0..count).map(device).collect()
    }

    #[test]
    fn everybody_else_reads_what_one_wrote() {
        let mut rings = devices(300);
        rings.push(Ring::Command(CommandId::from_uuid(Uuid::from_u128(1))));
        rings.push(Ring::All);
        let payloads = written("a", &rings);
        assert!(payloads.len() == 3 && payloads.iter().all(|payload| payload.len() < 8000));
        let heard: Vec<Ring> = payloads.iter().flat_map(|payload| read("b", payload)).collect();
        assert_eq!(heard, rings);
        assert!(payloads.iter().all(|payload| read("a", payload).is_empty()));
        assert_eq!(read("b", "a what-is-this"), [Ring::All]);
    }

    #[test]
    fn everybody_else_reads_the_changes_that_one_wrote() {
        let changes: HashSet<Change> = (0..100).map(change).collect();
        let payloads = written_changes("a", Some(changes.clone()));
        assert!(payloads.len() == 3 && payloads.iter().all(|payload| payload.len() < 8000));
        let heard = payloads.iter().filter_map(|payload| match read_changes("b", payload) {
            Some((_, News::Changed(changes))) => Some(changes.to_vec()),
            Some((_, News::Lost)) | None => None,
        });
        assert_eq!(heard.flatten().collect::<HashSet<Change>>(), changes);
        assert!(read_changes("a", &payloads[0]).is_none());
        let too_many = written_changes("a", None);
        for payload in [too_many[0].as_str(), "what is this"] {
            assert!(matches!(read_changes("b", payload), Some((_, News::Lost))), "{payload}");
        }
    }

    #[tokio::test]
    async fn changes_that_wait_to_be_told_are_bounded_and_their_loss_is_told() {
        let pool = PgPoolOptions::new().connect_lazy("postgres://nobody@localhost/none").unwrap();
        let neighbours = Neighbours::new(pool);
        for number in 0..4096 {
            neighbours.tell_changes(&[change(number), change(number)]);
        }
        assert_eq!(neighbours.changes().as_ref().map(HashSet::len), Some(4096));
        neighbours.tell_changes(&[change(4096)]);
        assert_eq!(*neighbours.changes(), None);
    }

    fn change(number: u128) -> Change {
        let uuid = Uuid::from_u128(number);
        let subject = Subject::Deployment(DeploymentId::from_uuid(uuid), DeviceId::from_uuid(uuid));
        Change { account: Some(AccountId::from_uuid(uuid)), subject }
    }

    #[tokio::test]
    async fn what_waits_to_be_told_is_bounded_and_nothing_of_it_is_lost() {
        let pool = PgPoolOptions::new().connect_lazy("postgres://nobody@localhost/none").unwrap();
        let neighbours = Neighbours::new(pool);
        neighbours.add(devices(4096));
        neighbours.add(devices(10));
        assert_eq!(neighbours.lock().len(), 4096);
        neighbours.add(devices(5000));
        neighbours.add(devices(10));
        assert_eq!(*neighbours.lock(), HashSet::from([Ring::All]));
    }
}
