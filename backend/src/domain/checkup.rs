//! Chooses the table of the database that is checked next. Each table is checked once a day, one
//! table at a time.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

/// The time between the starts of two rounds through all tables.
const EVERY: SignedDuration = SignedDuration::from_hours(24);

/// The current round.
#[derive(Clone, Debug, Default)]
pub struct Checkup {
    begun_at: Option<Timestamp>,
    left: VecDeque<String>,
}

impl Checkup {
    /// Tells whether a new round is due. The caller then starts one with [`Self::begin`].
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.left.is_empty() && self.begun_at.is_none_or(|begun| now.duration_since(begun) >= EVERY)
    }

    /// Starts a round through `tables`.
    pub fn begin(&mut self, tables: Vec<String>, now: Timestamp) {
        self.begun_at = Some(now);
        self.left = tables.into();
    }

    /// Removes and returns the next table of the round, if there is one.
    pub fn take_next(&mut self) -> Option<String> {
        self.left.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_checked_once_in_a_day() {
        let at = |hours| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours);
        let mut checkup = Checkup::default();
        assert!(checkup.is_due(at(0)));
        checkup.begin(vec!["a".to_owned(), "b".to_owned()], at(0));
        assert!(!checkup.is_due(at(30)), "the round is under way");
        assert_eq!(checkup.take_next().as_deref(), Some("a"));
        assert_eq!(checkup.take_next().as_deref(), Some("b"));
        assert_eq!(checkup.take_next(), None);
        assert!(!checkup.is_due(at(23)));
        assert!(checkup.is_due(at(24)));
    }
}
