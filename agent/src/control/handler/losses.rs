//! Schedules log messages about lost items: the first loss is logged at once, further losses once a
//! minute with the number since the last message. Pure.

use std::time::Duration;

/// The least time between two messages.
const WINDOW: Duration = Duration::from_secs(60);

/// The losses logged so far.
#[derive(Debug, Default)]
pub(super) struct Losses {
    logged: u64,
    /// When the last message was logged.
    at: Option<Duration>,
}

impl Losses {
    /// Returns the number of losses to log at `now`, given `lost` losses in total. `None` if no
    /// message is due.
    pub(super) fn due(&mut self, lost: u64, now: Duration) -> Option<u64> {
        let since = lost - self.logged;
        if self.wait(lost, now)? > Duration::ZERO {
            return None;
        }
        (self.logged, self.at) = (lost, Some(now));
        Some(since)
    }

    /// Returns the time until the next message is due; `None` if all losses are logged.
    pub(super) fn wait(&self, lost: u64, now: Duration) -> Option<Duration> {
        let next = self.at.map_or(Duration::ZERO, |at| at + WINDOW);
        (lost > self.logged).then(|| next.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_at_once_and_then_once_a_minute_together() {
        let mut losses = Losses::default();
        let at = Duration::from_secs;
        assert_eq!((losses.due(0, at(0)), losses.wait(0, at(0))), (None, None));
        assert_eq!(losses.due(3, at(5)), Some(3));
        assert_eq!((losses.due(4, at(6)), losses.due(9, at(64))), (None, None));
        assert_eq!(losses.wait(9, at(64)), Some(at(1)));
        assert_eq!(losses.due(9, at(65)), Some(6));
        assert_eq!(losses.wait(9, at(200)), None);
        assert_eq!(losses.due(10, at(200)), Some(1));
    }
}
