//! How far the clock of this machine is from the clock of the database server. Backends on one
//! database decide by the server's clock, so that none of them calls a device offline or a command
//! expired that the others do not.

use jiff::{SignedDuration, Timestamp};

/// A backend whose clock is further away takes no requests: whatever else reads its clock, such as
/// its logs and its certificates, is wrong.
pub const MOST: SignedDuration = SignedDuration::from_secs(5);
/// A smaller change of the offset is a delay of the answer, and changes nothing.
const NOTICEABLE: SignedDuration = SignedDuration::from_millis(250);

/// Returns the offset after the server said `told`, asked at `asked` and heard at `heard` by the clock
/// of this machine; `before` is the offset until then.
#[must_use]
pub fn measured(
    before: SignedDuration,
    asked: Timestamp,
    told: Timestamp,
    heard: Timestamp,
) -> SignedDuration {
    let halfway = asked.saturating_add(heard.duration_since(asked) / 2).unwrap_or(asked);
    let offset = told.duration_since(halfway);
    // An answer that took long says less about the clock than the offset known before.
    let unsure = NOTICEABLE.max(heard.duration_since(asked) / 2);
    if (offset - before).abs() <= unsure { before } else { offset }
}

/// Tells whether a machine with this offset must not decide anything.
#[must_use]
pub fn is_too_far(offset: SignedDuration) -> bool {
    offset.abs() > MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).unwrap()
    }

    #[test]
    fn the_offset_leads_from_the_clock_of_the_machine_to_that_of_the_server() {
        let none = SignedDuration::ZERO;
        let behind = measured(none, at(1_000), at(601_010), at(1_020));
        assert_eq!(behind, SignedDuration::from_mins(10));
        let ahead = measured(none, at(601_000), at(1_000), at(601_000));
        assert_eq!(ahead, SignedDuration::from_mins(-10));
        assert!(is_too_far(behind) && is_too_far(ahead) && !is_too_far(MOST));
    }

    #[test]
    fn delays_of_an_answer_move_nothing() {
        let before = SignedDuration::from_secs(2);
        assert_eq!(measured(before, at(0), at(2_200), at(20)), before);
        assert_eq!(measured(before, at(0), at(2_000), at(3_000)), before);
        assert_ne!(measured(before, at(0), at(3_000), at(20)), before);
    }
}
