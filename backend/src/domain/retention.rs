//! How long records are kept.

use jiff::{SignedDuration, Timestamp};

/// The retention of each kind of record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retention {
    /// Hourly usage; after this time only daily totals are kept.
    pub usage_hours: SignedDuration,
    /// Daily usage.
    pub usage: SignedDuration,
    pub logs: SignedDuration,
    /// Ended commands.
    pub commands: SignedDuration,
    /// Ended deployments, except the current deployment of each model on its device.
    pub deployments: SignedDuration,
    pub audit: SignedDuration,
    /// Ended operations.
    pub operations: SignedDuration,
    /// Idempotency keys. A request that is repeated later counts as a new request.
    pub idempotency: SignedDuration,
    /// The latest sample of a device that has stopped sending samples.
    pub samples: SignedDuration,
}

/// Returns the time before which records with the retention `kept` are deleted.
#[must_use]
pub fn since(now: Timestamp, kept: SignedDuration) -> Timestamp {
    now.checked_sub(kept).unwrap_or(Timestamp::MIN)
}
