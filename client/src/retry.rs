//! Decides which failures may be retried, and when.
//!
//! Pure. The rules are the specification's section 7: a timeout, a 5xx and a refused connection are
//! retryable; every 4xx is not.

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822};
use link_protocol::limits;
use reqwest::header::{self, HeaderMap};

/// The outcome of a request, judged by the status of the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The request succeeded.
    Success,
    /// A retry may succeed.
    Retryable,
    /// A retry gets the same answer.
    Refused,
}

/// Returns the outcome for `status`.
#[must_use]
pub const fn judge(status: u16) -> Verdict {
    match status {
        200..=299 => Verdict::Success,
        500..=599 => Verdict::Retryable,
        _ => Verdict::Refused,
    }
}

/// Returns the wait before the next attempt after `failed` failed attempts, or `None` after the
/// last attempt. If the server asked for a longer wait, that wait applies, up to
/// [`limits::RETRY_AFTER_CAP`].
#[must_use]
pub fn delay_after(failed: usize, retry_after: Option<Duration>) -> Option<Duration> {
    let own = failed.checked_sub(1).and_then(|index| limits::RETRY_DELAYS.get(index)).copied()?;
    Some(no_sooner(own, retry_after))
}

/// Returns the longer of `own` and the server's wait, which counts up to
/// [`limits::RETRY_AFTER_CAP`].
#[must_use]
pub fn no_sooner(own: Duration, retry_after: Option<Duration>) -> Duration {
    own.max(retry_after.unwrap_or_default().min(limits::RETRY_AFTER_CAP))
}

/// Returns the wait that the server asks for in `headers`: seconds, or a date.
///
/// A date is compared with the `Date` of the same answer, so only the server's clock counts.
pub(crate) fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let wait = text(header::RETRY_AFTER)?;
    if !wait.is_empty() && wait.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large for the type counts as the longest wait.
        return Some(Duration::from_secs(wait.parse().unwrap_or(u64::MAX)));
    }
    let (until, sent) = (parse_date(wait)?, parse_date(text(header::DATE)?)?);
    Some(Duration::try_from(until.duration_since(sent)).unwrap_or_default())
}

pub(crate) fn parse_date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
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

    // Holds: S7-6, S8-6
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
    fn retry_after_is_read_as_seconds_or_as_a_date_of_the_same_clock() {
        let sent = Some("Wed, 21 Oct 2026 07:28:00 GMT");
        for (retry_after, date, seconds) in [
            (" 3 ", None, Some(3)),
            ("0", sent, Some(0)),
            ("99999999999999999999999", None, Some(u64::MAX)),
            ("Wed, 21 Oct 2026 07:28:07 GMT", sent, Some(7)),
            ("Wed, 21 Oct 2026 07:27:00 GMT", sent, Some(0)),
            ("Thu, 31 Dec 9998 23:59:59 GMT", sent, Some(251_578_197_119)),
            ("Wed, 21 Oct 2026 07:28:07 GMT", None, None),
            ("Wed, 21 Oct 2026 07:28:07 GMT", Some("yesterday"), None),
            ("-1", sent, None),
            ("1.5", sent, None),
            ("soon", sent, None),
            ("", sent, None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, retry_after.parse().unwrap());
            if let Some(date) = date {
                headers.insert(header::DATE, date.parse().unwrap());
            }
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(asked_for(&headers), expected, "{retry_after} sent {date:?}");
        }
        assert_eq!(asked_for(&HeaderMap::new()), None);
    }
}
