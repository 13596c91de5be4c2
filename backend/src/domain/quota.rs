//! The quota of an account, which limits its use so that room is left for other accounts.

use link_protocol::limits;

use crate::domain::refusal::Refusal;

/// The bytes in one GiB.
pub const GIB: u64 = 1 << 30;

/// The limits of one account.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quota {
    pub models: u32,
    /// The total size of all uploaded files, in bytes.
    pub model_bytes: u64,
    /// Keys that can still register a device.
    pub keys: u32,
    /// Personal access tokens of all members.
    pub tokens: u32,
    /// Invitations that wait to be accepted.
    pub invitations: u32,
}

impl Quota {
    /// Returns the maximum size of a new file when other files use `used` bytes. A file with a known `size` has to fit.
    ///
    /// # Errors
    /// [`Refusal::QuotaReached`].
    pub fn room_for(&self, used: u64, size: Option<u64>) -> Result<u64, Refusal> {
        let room = self.model_bytes.saturating_sub(used);
        if room == 0 || size.is_some_and(|size| size > room) {
            let (gib, used) = (self.model_bytes / GIB, used / (1024 * 1024));
            let said = format!("the account may keep {gib} GiB of model files and has {used} MiB");
            return Err(Refusal::QuotaReached(said));
        }
        Ok(size.unwrap_or(room))
    }

    /// Checks that an account with `count` models may have one more.
    ///
    /// # Errors
    /// [`Refusal::QuotaReached`].
    pub fn check_models(&self, count: u32) -> Result<(), Refusal> {
        check(count, self.models, "models")
    }

    /// Checks that an account with `count` keys that can register a device may have one more.
    ///
    /// # Errors
    /// [`Refusal::QuotaReached`].
    pub fn check_keys(&self, count: u32) -> Result<(), Refusal> {
        check(count, self.keys, "keys that can register a device")
    }

    /// Checks that an account with `count` waiting invitations may have one more.
    ///
    /// # Errors
    /// [`Refusal::QuotaReached`].
    pub fn check_invitations(&self, count: u32) -> Result<(), Refusal> {
        check(count, self.invitations, "invitations that wait")
    }

    /// Checks that a member with `own` tokens may have one more when all members have `of_all` tokens.
    ///
    /// # Errors
    /// [`Refusal::QuotaReached`].
    pub fn check_tokens(&self, own: u32, of_all: u32) -> Result<(), Refusal> {
        let (most, most_of_all) = (limits::PERSONAL_TOKENS, self.tokens);
        if own < most && of_all < most_of_all {
            return Ok(());
        }
        let said =
            format!("a member may have {most} tokens, an account {most_of_all} of all members");
        Err(Refusal::QuotaReached(said))
    }
}

/// Checks that an account may begin an operation while `sending` others still send commands to devices.
///
/// # Errors
/// [`Refusal::QuotaReached`].
pub fn check_sending(sending: u32) -> Result<(), Refusal> {
    check(sending, limits::OPERATIONS_SENDING, "operations that still send commands to devices")
}

/// Checks that an account may begin an operation while `unended` others have not ended.
///
/// # Errors
/// [`Refusal::QuotaReached`].
pub fn check_unended(unended: u32) -> Result<(), Refusal> {
    check(unended, limits::OPERATIONS_KEPT, "operations that have not ended")
}

fn check(count: u32, most: u32, what: &str) -> Result<(), Refusal> {
    if count < most {
        return Ok(());
    }
    Err(Refusal::QuotaReached(format!("the account has {most} {what}, which is its limit")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_is_refused_at_the_limit() {
        let quota = Quota { models: 2, model_bytes: GIB, keys: 2, tokens: 2, invitations: 2 };
        let said = |checked: Result<(), Refusal>| checked.unwrap_err().to_string();
        for checked in [quota.check_models(1), quota.check_keys(1), quota.check_invitations(1)] {
            assert_eq!(checked, Ok(()));
        }
        assert!(said(quota.check_models(2)).contains("the account has 2 models"));
        assert!(said(quota.check_keys(2)).contains("2 keys that can register a device"));
        assert!(said(quota.check_invitations(3)).contains("2 invitations that wait"));
        assert_eq!(quota.check_tokens(0, 1), Ok(()));
        assert!(said(quota.check_tokens(0, 2)).contains("an account 2 of all members"));
        assert!(quota.check_tokens(limits::PERSONAL_TOKENS, 1).is_err());
    }

    #[test]
    fn a_file_has_to_fit_into_what_is_left() {
        let quota = Quota { models: 1, model_bytes: 2 * GIB, keys: 1, tokens: 1, invitations: 1 };
        assert_eq!(quota.room_for(0, Some(2 * GIB)), Ok(2 * GIB));
        assert_eq!(quota.room_for(GIB, None), Ok(GIB));
        for (used, size) in [(1, Some(2 * GIB)), (2 * GIB, Some(1)), (u64::MAX, None)] {
            let refused = quota.room_for(used, size);
            assert!(matches!(refused, Err(Refusal::QuotaReached(_))), "{refused:?}");
        }
    }
}
