//! Which failures may be tried again, and when.
//!
//! Pure. The rules are the specification's section 7: a timeout, a 5xx and a refused connection are
//! retryable; every 4xx is not.

use std::time::Duration;

use link_protocol::limits;

/// What the status of an answer means for its request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It was done.
    Success,
    /// It may succeed when it is sent again.
    Retryable,
    /// Sending it again gives the same answer.
    Refused,
}

/// Returns what `status` means.
#[must_use]
pub const fn judge(status: u16) -> Verdict {
    match status {
        200..=299 => Verdict::Success,
        500..=599 => Verdict::Retryable,
        _ => Verdict::Refused,
    }
}

/// Returns how long to wait before the attempt after `failed` failed ones, or `None` when there is
/// none. A longer wait that the other side asked for wins, up to a minute.
#[must_use]
pub fn delay_after(failed: usize, retry_after: Option<Duration>) -> Option<Duration> {
    let own = failed.checked_sub(1).and_then(|index| limits::RETRY_DELAYS.get(index)).copied()?;
    Some(own.max(retry_after.unwrap_or_default().min(LONGEST_WAIT)))
}

/// The longest wait that another side's `Retry-After` can cause.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Reads a `Retry-After` header that holds seconds. The form with a date is ignored: it would need
/// two clocks to agree.
#[must_use]
pub fn parse_retry_after(header: &str) -> Option<Duration> {
    header.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_server_errors_are_retryable_among_the_statuses() {
        for (status, verdict) in [
            (200, Verdict::Success),
            (202, Verdict::Success),
            (204, Verdict::Success),
            (307, Verdict::Refused),
            (400, Verdict::Refused),
            (401, Verdict::Refused),
            (403, Verdict::Refused),
            (404, Verdict::Refused),
            (408, Verdict::Refused),
            (429, Verdict::Refused),
            (500, Verdict::Retryable),
            (503, Verdict::Retryable),
            (599, Verdict::Retryable),
        ] {
            assert_eq!(judge(status), verdict, "{status}");
        }
    }

    #[test]
    fn there_are_two_retries_half_a_second_and_one_and_a_half_later() {
        let delays: Vec<_> = (0..5).map(|failed| delay_after(failed, None)).collect();
        let [first, second] = [500, 1500].map(|ms| Some(Duration::from_millis(ms)));
        assert_eq!(delays, [None, first, second, None, None]);
    }

    #[test]
    fn a_longer_wait_that_was_asked_for_wins_but_not_without_bound() {
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(delay_after(1, seconds(7)), seconds(7));
        assert_eq!(delay_after(1, seconds(0)), Some(Duration::from_millis(500)));
        assert_eq!(delay_after(1, seconds(86_400)), seconds(60));
        assert_eq!(delay_after(3, seconds(7)), None);
    }

    #[test]
    fn retry_after_is_read_as_seconds_only() {
        assert_eq!(parse_retry_after(" 3 "), Some(Duration::from_secs(3)));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(parse_retry_after("-1"), None);
    }
}
