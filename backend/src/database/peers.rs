//! Which other backends are on the database. A backend that is killed tells nobody of the changes that it has just made, so the
//! others notice that it is gone, and load anew.
//!
//! The connection on which a backend hears the others bears its name, and the database lists the connections. A backend
//! tells its name as soon as it listens, so that one which is killed a moment later is missed too.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between looks")]

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sqlx::PgPool;

/// How often the list of connections is read.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// What the name of such a connection begins with. PostgreSQL keeps 63 bytes of a name.
const MARK: &str = "link-backend ";
const PRESENT: &str = "SELECT application_name FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name LIKE 'link-backend %'";

/// The backends that were seen or heard.
#[derive(Debug, Default)]
pub(super) struct Peers(Mutex<HashSet<String>>);

impl Peers {
    /// Notes that the backend `name` is there.
    pub(super) fn heard_of(&self, name: &str) {
        self.lock().insert(connection_of(name));
    }

    /// Reads who is there every two seconds, and calls `gone` if somebody is not there any more. Ends with the pool.
    pub(super) async fn watch(&self, pool: &PgPool, gone: impl Fn()) {
        while !pool.is_closed() {
            tokio::time::sleep(LOOK_EVERY).await;
            // Whoever is heard of meanwhile is not compared with this list, which may be older.
            let before = self.lock().clone();
            let Ok(now) = sqlx::query_scalar::<_, String>(PRESENT).fetch_all(pool).await else {
                continue;
            };
            if self.replace(&before, now.into_iter().collect()) {
                tracing::warn!("another backend is gone; what it has changed last is loaded anew");
                gone();
            }
        }
    }

    /// Replaces the backends of `before` by those of `now`. Returns whether one is gone.
    fn replace(&self, before: &HashSet<String>, now: HashSet<String>) -> bool {
        let is_gone = before.iter().any(|name| !now.contains(name));
        let mut known = self.lock();
        known.retain(|name| !before.contains(name));
        known.extend(now);
        is_gone
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of the connection on which the backend `name` hears the others.
pub(super) fn connection_of(name: &str) -> String {
    format!("{MARK}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_missing_from_a_later_list_is_gone_once() {
        let peers = Peers::default();
        let names = |names: &[&str]| names.iter().map(|name| connection_of(name)).collect();
        let look = |now: &[&str]| {
            let before = peers.lock().clone();
            peers.replace(&before, names(now))
        };
        assert!(!look(&["a", "b"]));
        assert!(look(&["a"]));
        assert!(!look(&["a"]));
        // A backend that says its name and is killed before the next look.
        peers.heard_of("c");
        assert!(look(&["a"]));
        assert!(!look(&["a"]));
    }

    #[test]
    fn whoever_says_its_name_during_a_look_is_not_gone() {
        let peers = Peers::default();
        let before = peers.lock().clone();
        peers.heard_of("late");
        assert!(!peers.replace(&before, HashSet::new()));
        assert!(peers.lock().contains(&connection_of("late")));
    }

    #[test]
    fn the_name_of_a_connection_is_kept_whole() {
        let name = connection_of(&"f".repeat(32));
        assert!(name.len() < 64 && PRESENT.contains(MARK), "{name}");
    }
}
