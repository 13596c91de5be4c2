//! Limits running uploads by number and size for each account, and to one at a time for each model.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use link_protocol::id::{AccountId, ModelId};
use tokio::sync::{Mutex as Turns, OwnedMutexGuard, watch};

use crate::{
    app::lock,
    domain::{quota::Quota, refusal::Refusal},
};

/// The maximum number of concurrent uploads of one account. A bucket accepts four from all accounts together.
const OF_AN_ACCOUNT: usize = 3;

/// How long an upload waits for the previous upload to release the file.
const TURN_WAIT: Duration = Duration::from_secs(15);

/// The running uploads.
#[derive(Debug, Default)]
pub(super) struct Uploads {
    running: Mutex<HashMap<AccountId, Running>>,
    files: Mutex<HashMap<ModelId, Arc<Queue>>>,
}

/// The uploads of one file. The newest upload writes the file, and the earlier ones end.
#[derive(Debug, Default)]
struct Queue {
    turn: Arc<Turns<()>>,
    /// The number of uploads that have started.
    newest: watch::Sender<u64>,
}

/// The upload that writes a file.
#[derive(Debug)]
pub(super) struct Turn {
    uploads: Arc<Uploads>,
    model: ModelId,
    newest: watch::Receiver<u64>,
    number: u64,
    held: Option<OwnedMutexGuard<()>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Running {
    number: usize,
    bytes: u64,
}

/// The space that an upload has reserved. Dropping the value releases it.
#[derive(Debug)]
pub(super) struct Place {
    uploads: Arc<Uploads>,
    account: AccountId,
    /// The maximum size of the file.
    pub(super) most: u64,
}

impl Uploads {
    /// Reserves space for a file of `size`, or all remaining space if the size is unknown. `stored` is the total size
    /// of the account's files.
    ///
    /// # Errors
    /// [`Refusal::TooManyUploads`], [`Refusal::QuotaReached`].
    pub(super) fn begin(
        self: &Arc<Self>,
        account: AccountId,
        quota: &Quota,
        stored: u64,
        size: Option<u64>,
    ) -> Result<Place, Refusal> {
        let mut all = lock(&self.running);
        let running = all.get(&account).copied().unwrap_or_default();
        if running.number >= OF_AN_ACCOUNT {
            return Err(Refusal::TooManyUploads);
        }
        let most = quota.room_for(stored.saturating_add(running.bytes), size)?;
        let (number, bytes) = (running.number + 1, running.bytes.saturating_add(most));
        all.insert(account, Running { number, bytes });
        Ok(Place { uploads: Arc::clone(self), account, most })
    }

    /// Reserves an upload whose size is counted elsewhere.
    ///
    /// # Errors
    /// [`Refusal::TooManyUploads`].
    pub(super) fn count(self: &Arc<Self>, account: AccountId) -> Result<Place, Refusal> {
        let mut all = lock(&self.running);
        let running = all.entry(account).or_default();
        if running.number >= OF_AN_ACCOUNT {
            return Err(Refusal::TooManyUploads);
        }
        running.number += 1;
        Ok(Place { uploads: Arc::clone(self), account, most: 0 })
    }

    /// Returns the number of bytes that are reserved for the uploads of an account.
    pub(super) fn running_bytes(&self, account: AccountId) -> u64 {
        lock(&self.running).get(&account).map_or(0, |running| running.bytes)
    }
}

impl Uploads {
    /// Waits for the turn to write the file of `model`. The upload that has the turn is ended.
    ///
    /// # Errors
    /// [`Refusal::TooManyUploads`] if that upload does not release the file in time.
    pub(super) async fn turn(self: &Arc<Self>, model: ModelId) -> Result<Turn, Refusal> {
        let queue = Arc::clone(lock(&self.files).entry(model).or_default());
        let mut number = 0;
        queue.newest.send_modify(|newest| {
            *newest += 1;
            number = *newest;
        });
        let newest = queue.newest.subscribe();
        let mut turn = Turn { uploads: Arc::clone(self), model, newest, number, held: None };
        let held = tokio::time::timeout(TURN_WAIT, Arc::clone(&queue.turn).lock_owned()).await;
        turn.held = Some(held.map_err(|_elapsed| Refusal::TooManyUploads)?);
        Ok(turn)
    }

    /// Tells whether the file of a model is being uploaded.
    pub(super) fn has(&self, model: ModelId) -> bool {
        lock(&self.files).contains_key(&model)
    }
}

impl Turn {
    /// Returns once a newer upload of the same file has started.
    pub(super) fn is_over(&self) -> impl Future<Output = ()> + Send + use<> {
        let (mut newest, number) = (self.newest.clone(), self.number);
        async move { drop(newest.wait_for(|newest| *newest > number).await) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.held = None;
        let mut files = lock(&self.uploads.files);
        // The table holds one reference, so no other upload waits.
        if *self.newest.borrow() == self.number {
            files.remove(&self.model);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = lock(&self.uploads.running);
        if let Some(running) = all.get_mut(&self.account) {
            running.number -= 1;
            running.bytes = running.bytes.saturating_sub(self.most);
            if running.number == 0 {
                all.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn uploads_that_run_share_what_is_left_and_give_it_back() {
        let uploads = Arc::new(Uploads::default());
        let quota = Quota { models: 1, model_bytes: 100, keys: 1, tokens: 1, invitations: 1 };
        let account = |number| AccountId::from_uuid(Uuid::from_u128(number));
        let begin = |number, stored, size| uploads.begin(account(number), &quota, stored, size);
        let first = begin(1, 40, Some(40)).unwrap();
        assert!(matches!(begin(1, 40, Some(30)), Err(Refusal::QuotaReached(_))));
        let rest = begin(1, 40, None).unwrap();
        assert_eq!((rest.most, begin(2, 0, Some(100)).unwrap().most), (20, 100));
        drop((first, rest));
        let _places: Vec<_> = (0..OF_AN_ACCOUNT).map(|_| begin(1, 40, Some(1)).unwrap()).collect();
        assert_eq!(begin(1, 40, Some(1)).unwrap_err(), Refusal::TooManyUploads);
        assert!(begin(2, 0, None).is_ok());
    }
}
