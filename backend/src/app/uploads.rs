//! Uploads that run: a few of each account, and what they may bring together.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use link_protocol::id::AccountId;

use crate::{
    app::lock,
    domain::{quota::Quota, refusal::Refusal},
};

/// Uploads of one account that may run at a time; a bucket takes four of all accounts.
const OF_AN_ACCOUNT: usize = 3;

/// The uploads that run.
#[derive(Debug, Default)]
pub(super) struct Uploads(Mutex<HashMap<AccountId, Running>>);

#[derive(Clone, Copy, Debug, Default)]
struct Running {
    number: usize,
    bytes: u64,
}

/// The room that an upload has; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    uploads: Arc<Uploads>,
    account: AccountId,
    /// How large the file may be.
    pub(super) most: u64,
}

impl Uploads {
    /// Takes room for a file of `size`, or all that is left when that is not known; `stored` is
    /// what the account has.
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
        let mut all = lock(&self.0);
        let running = all.get(&account).copied().unwrap_or_default();
        if running.number >= OF_AN_ACCOUNT {
            return Err(Refusal::TooManyUploads);
        }
        let most = quota.room_for(stored.saturating_add(running.bytes), size)?;
        let (number, bytes) = (running.number + 1, running.bytes.saturating_add(most));
        all.insert(account, Running { number, bytes });
        Ok(Place { uploads: Arc::clone(self), account, most })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = lock(&self.uploads.0);
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
