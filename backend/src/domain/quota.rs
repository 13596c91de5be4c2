//! What one account may have, so that it leaves room for the others.

use crate::domain::refusal::Refusal;

/// Bytes of a GiB.
pub const GIB: u64 = 1 << 30;

/// What one account may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quota {
    pub models: u32,
    /// Of all uploaded files together.
    pub model_bytes: u64,
    /// Keys that can still register a device.
    pub keys: u32,
    /// Personal access tokens of all members together.
    pub tokens: u32,
    /// Invitations that wait to be accepted.
    pub invitations: u32,
}

impl Quota {
    /// Returns how many bytes a file may have, beside `used` ones that are there or on their way.
    /// A file of `size` has to fit, where that is known.
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

    /// Refuses one more of `what`.
    #[must_use]
    pub fn reached(most: u32, what: &str) -> Refusal {
        Refusal::QuotaReached(format!("the account has {most} {what}, which is its limit"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
