//! Bells wake the tasks of this process that wait for news of a device or a command.
//!
//! A ring between two waits of a listener is not lost. Each bell knows its newest listener, so that an older poll of the
//! same device can end.
//!
//! When rings of other backends may have been lost, every listener has to query the database. Each waits for a random part
//! of [`SPREAD`] first, so that thousands of queries do not coincide.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits before a listener looks")]

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

use crate::host::random;

/// The time over which listeners spread their queries after rings may have been lost.
const SPREAD: Duration = Duration::from_secs(5);

/// The reason why a listener wakes up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rung {
    /// The bell rang.
    Surely,
    /// Rings may have been lost.
    Perhaps,
}

/// Bells, by the key that they ring for.
#[derive(Debug)]
pub struct Bells<K> {
    bells: Mutex<HashMap<K, Bell>>,
}

#[derive(Debug)]
struct Bell {
    /// The number of rings. A change notification without an increment means that rings may have been lost.
    rings: watch::Sender<u64>,
    listeners: usize,
    newest: u64,
}

/// A task that waits for a bell.
#[derive(Debug)]
pub struct Listener<K: Eq + Hash + Copy> {
    bells: Arc<Bells<K>>,
    key: K,
    number: u64,
    rings: watch::Receiver<u64>,
    heard: u64,
}

impl<K> Default for Bells<K> {
    fn default() -> Self {
        Self { bells: Mutex::default() }
    }
}

impl<K: Eq + Hash + Copy> Bells<K> {
    /// Wakes all listeners of `key`.
    pub fn ring(&self, key: K) {
        if let Some(bell) = self.lock().get(&key) {
            bell.rings.send_modify(|rings| *rings += 1);
        }
    }

    /// Wakes every listener within [`SPREAD`], because rings may have been lost.
    pub fn stir_all(&self) {
        for bell in self.lock().values() {
            bell.rings.send_modify(|_rings| {});
        }
    }

    /// Tells whether `key` has a listener.
    pub fn is_heard(&self, key: K) -> bool {
        self.lock().contains_key(&key)
    }

    /// Returns the number of listeners of all keys.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.lock().values().map(|bell| bell.listeners).sum()
    }

    /// Adds a listener for `key`, now the newest one, and wakes the older ones.
    #[must_use]
    pub fn listen(self: &Arc<Self>, key: K) -> Listener<K> {
        let mut bells = self.lock();
        let bell = bells.entry(key).or_insert_with(|| Bell {
            rings: watch::Sender::new(0),
            listeners: 0,
            newest: 0,
        });
        bell.listeners += 1;
        bell.newest += 1;
        bell.rings.send_modify(|rings| *rings += 1);
        let (number, rings) = (bell.newest, bell.rings.subscribe());
        let heard = *rings.borrow();
        Listener { bells: Arc::clone(self), key, number, rings, heard }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Bell>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Copy> Listener<K> {
    /// Waits for the next ring. A ring since the last call counts. A caller that drops this future queries the database
    /// anyway, so the loss of rings need not be reported to it again.
    pub async fn rung(&mut self) -> Rung {
        let mut rung = self.change().await;
        if rung == Rung::Perhaps {
            let spread = tokio::time::sleep(SPREAD.mul_f64(random::part()));
            tokio::pin!(spread);
            while rung == Rung::Perhaps {
                tokio::select! {
                    () = &mut spread => break,
                    next = self.change() => rung = next,
                }
            }
        }
        rung
    }

    async fn change(&mut self) -> Rung {
        // The sender lives as long as there is a listener.
        self.rings.changed().await.unwrap_or(());
        let before = std::mem::replace(&mut self.heard, *self.rings.borrow_and_update());
        if before == self.heard { Rung::Perhaps } else { Rung::Surely }
    }

    /// Tells whether this is the newest listener of its key.
    #[must_use]
    pub fn is_newest(&self) -> bool {
        self.bells.lock().get(&self.key).is_some_and(|bell| bell.newest == self.number)
    }
}

impl<K: Eq + Hash + Copy> Drop for Listener<K> {
    fn drop(&mut self) {
        let mut bells = self.bells.lock();
        if let Some(bell) = bells.get_mut(&self.key) {
            bell.listeners -= 1;
            if bell.listeners == 0 {
                bells.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_ring_between_two_looks_is_not_lost() {
        let bells = Arc::new(Bells::default());
        let mut listener = bells.listen(7);
        bells.ring(8);
        bells.ring(7);
        listener.rung().await;
        assert!(bells.is_heard(7) && !bells.is_heard(8));
        drop(listener);
        assert!(!bells.is_heard(7));
    }

    #[tokio::test]
    async fn a_newer_listener_wakes_the_older() {
        let bells = Arc::new(Bells::default());
        let mut older = bells.listen(7);
        assert!(older.is_newest());
        let newer = bells.listen(7);
        older.rung().await;
        assert!(!older.is_newest() && newer.is_newest());
    }

    #[tokio::test(start_paused = true)]
    async fn listeners_look_one_after_the_other_when_rings_may_be_lost() {
        let bells = Arc::new(Bells::default());
        let mut listeners: Vec<_> = (0..200).map(|key| bells.listen(key)).collect();
        bells.stir_all();
        let begun = tokio::time::Instant::now();
        let looks = listeners.iter_mut().map(|listener| async {
            assert_eq!(listener.rung().await, Rung::Perhaps);
            begun.elapsed()
        });
        let looks = futures_util::future::join_all(looks).await;
        assert!(looks.iter().all(|look| *look <= SPREAD), "{looks:?}");
        let early = looks.iter().filter(|look| **look < SPREAD / 2).count();
        assert!((50..150).contains(&early), "{early} of 200 looked in the first half");
    }

    #[tokio::test(start_paused = true)]
    async fn a_ring_ends_the_wait_for_a_look() {
        let bells = Arc::new(Bells::default());
        let mut listener = bells.listen(7);
        bells.stir_all();
        let rung = tokio::join!(listener.rung(), async {
            tokio::task::yield_now().await;
            bells.ring(7);
        });
        assert_eq!(rung.0, Rung::Surely);
    }
}
