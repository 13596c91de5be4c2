//! The spans of time that the counts of a summary cover.

use std::time::Duration;

use jiff::Timestamp;
use link_protocol::{
    id::CommandId,
    limits,
    system::{DiskUsage, SystemReport},
};
use uuid::Uuid;

/// The used share of a disk, in whole percent, from which on it is nearly full.
pub const NEARLY_FULL_PERCENT: i64 = 90;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the used share of the disk in a report, in whole percent; -1 for a device that reports no disk.
#[must_use]
pub fn disk_percent(report: &SystemReport) -> i64 {
    report.disk.and_then(DiskUsage::used_percent).map_or(-1, i64::from)
}

/// The spans of a summary.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Spans {
    /// A device whose last message is later may be online.
    pub online_since: Timestamp,
    /// Midnight UTC.
    pub today: Timestamp,
    /// A failure counts if it was reported later.
    pub failed_since: Timestamp,
    /// A key ends soon if it expires until then.
    pub week_end: Timestamp,
    /// The first id that a command may have whose result was reported after `failed_since`.
    pub first_command: String,
}

impl Spans {
    /// Returns the spans of a summary at `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        let before = |span: Duration| now.checked_sub(span).unwrap_or(Timestamp::MIN);
        let day = i64::try_from(DAY.as_millis()).unwrap_or(1);
        let midnight = now.as_millisecond().div_euclid(day) * day;
        // A device may have waited for the command, and then worked on it. A day more covers different clocks.
        let longest = limits::COMMAND_EXPIRY + limits::DEPLOY_EXECUTION_DEADLINE + DAY;
        Self {
            online_since: before(limits::OFFLINE_AFTER),
            today: Timestamp::from_millisecond(midnight).unwrap_or(Timestamp::MIN),
            failed_since: before(DAY),
            week_end: now.checked_add(DAY * 7).unwrap_or(Timestamp::MAX),
            first_command: first_id(before(DAY + longest)),
        }
    }
}

/// Returns the lowest id of a command that was created at `time`: the first 48 bits of an id are milliseconds.
fn first_id(time: Timestamp) -> String {
    let ms = u128::try_from(time.as_millisecond()).unwrap_or(0);
    CommandId::from_uuid(Uuid::from_u128(ms << 80)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_begins_at_midnight_and_the_week_ends_in_seven_days() {
        let now: Timestamp = "2026-11-23T20:10:00Z".parse().unwrap();
        let spans = Spans::at(now);
        assert_eq!(spans.today.to_string(), "2026-11-23T00:00:00Z");
        assert_eq!(spans.week_end.to_string(), "2026-11-30T20:10:00Z");
        assert_eq!(spans.failed_since.to_string(), "2026-11-22T20:10:00Z");
        assert_eq!(spans.online_since.to_string(), "2026-11-23T20:08:45Z");
    }

    #[test]
    fn a_command_of_the_last_days_has_a_later_id() {
        let now: Timestamp = "2026-11-23T20:10:00Z".parse().unwrap();
        let first = Spans::at(now).first_command;
        let made = |time: &str| first_id(time.parse().unwrap());
        assert!(made("2026-11-21T12:00:00Z") > first && made("2026-11-20T12:00:00Z") < first);
    }
}
