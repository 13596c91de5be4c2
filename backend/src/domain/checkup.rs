//! Which table of the database is checked next: each once a day, one at a time.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

/// A round through all tables begins this long after the round before began.
const EVERY: SignedDuration = SignedDuration::from_hours(24);

/// The round that is under way.
#[derive(Clone, Debug, Default)]
pub struct Checkup {
    begun_at: Option<Timestamp>,
    left: VecDeque<String>,
}

impl Checkup {
    /// Returns whether a round is due: then [`Self::begin`] says what there is to check.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.left.is_empty() && self.begun_at.is_none_or(|begun| now.duration_since(begun) >= EVERY)
    }

    /// Begins a round through `tables`.
    pub fn begin(&mut self, tables: Vec<String>, now: Timestamp) {
        self.begun_at = Some(now);
        self.left = tables.into();
    }

    /// Takes the table that is checked next, if one is left.
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
