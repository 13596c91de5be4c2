//! The offset between the clock of this machine and the clock of the database server. All backends on one database
//! decide by the server's clock, so they agree on which devices are offline and which commands have expired.

use jiff::{SignedDuration, Timestamp};

/// The maximum offset. With a larger offset a backend accepts no requests, because the clock is also wrong for
/// everything else on this machine, such as logs and certificates.
pub const MOST: SignedDuration = SignedDuration::from_secs(5);
/// Smaller changes of the offset are network delays and are ignored.
const NOTICEABLE: SignedDuration = SignedDuration::from_millis(250);

/// Returns the new offset. The server reported the time `told`; by the clock of this machine, the request left at
/// `asked` and the answer arrived at `heard`. `before` is the previous offset.
#[must_use]
pub fn measured(
    before: SignedDuration,
    asked: Timestamp,
    told: Timestamp,
    heard: Timestamp,
) -> SignedDuration {
    let halfway = asked.saturating_add(heard.duration_since(asked) / 2).unwrap_or(asked);
    let offset = told.duration_since(halfway);
    // A slow answer is less precise than the previous offset.
    let unsure = NOTICEABLE.max(heard.duration_since(asked) / 2);
    if (offset - before).abs() <= unsure { before } else { offset }
}

/// Tells whether the offset is so large that this machine must not make decisions.
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
