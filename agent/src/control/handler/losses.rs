//! When a handler says that items were lost: at once the first time, then once a minute, with how many
//! there were since. Pure.

use std::time::Duration;

/// How long nothing more is said.
const WINDOW: Duration = Duration::from_secs(60);

/// What was said of losses.
#[derive(Debug, Default)]
pub(super) struct Losses {
    told: u64,
    /// When it was said last.
    at: Option<Duration>,
}

impl Losses {
    /// Returns how many items to tell of at `now`, when `lost` were lost so far.
    pub(super) fn due(&mut self, lost: u64, now: Duration) -> Option<u64> {
        let since = lost - self.told;
        if self.wait(lost, now)? > Duration::ZERO {
            return None;
        }
        (self.told, self.at) = (lost, Some(now));
        Some(since)
    }

    /// Returns how long it is until there is something to tell; nothing when all is told.
    pub(super) fn wait(&self, lost: u64, now: Duration) -> Option<Duration> {
        let next = self.at.map_or(Duration::ZERO, |at| at + WINDOW);
        (lost > self.told).then(|| next.saturating_sub(now))
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
