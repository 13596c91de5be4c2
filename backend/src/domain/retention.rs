//! How long records are kept.

use jiff::{SignedDuration, Timestamp};

/// How long each kind of record is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retention {
    /// Usage by the hour; afterwards it is kept by the day.
    pub usage_hours: SignedDuration,
    /// Usage by the day.
    pub usage: SignedDuration,
    pub logs: SignedDuration,
    /// Commands that ended.
    pub commands: SignedDuration,
    /// Deployments that ended and are not the current one of their model on their device.
    pub deployments: SignedDuration,
    pub audit: SignedDuration,
    /// Operations that ended.
    pub operations: SignedDuration,
    /// Idempotency keys: a request that is repeated later is a new request.
    pub idempotency: SignedDuration,
    /// The latest sample of a device that has stopped sending samples.
    pub samples: SignedDuration,
}

/// Returns the time before which a record is deleted that is kept for `kept`.
#[must_use]
pub fn since(now: Timestamp, kept: SignedDuration) -> Timestamp {
    now.checked_sub(kept).unwrap_or(Timestamp::MIN)
}
