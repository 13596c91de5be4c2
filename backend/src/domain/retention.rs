//! How long what nobody needs any more is kept.

use jiff::{SignedDuration, Timestamp};

/// How long each kind of record is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retention {
    /// How long usage is known by the hour; by the day from then on.
    pub usage_hours: SignedDuration,
    /// How long usage is known at all.
    pub usage: SignedDuration,
    pub logs: SignedDuration,
    /// Commands, once they have come to their end.
    pub commands: SignedDuration,
    /// How long an idempotency key stands for its request.
    pub idempotency: SignedDuration,
    /// The latest sample of a device that sends none any more.
    pub samples: SignedDuration,
}

/// Returns the time before which a record is too old that is kept for `kept`.
#[must_use]
pub fn since(now: Timestamp, kept: SignedDuration) -> Timestamp {
    now.checked_sub(kept).unwrap_or(Timestamp::MIN)
}
