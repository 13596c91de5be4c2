//! Counters that put in order what happens to a device. Each is a type of its own, so none takes the place of another.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares a counter that is written as its number.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident;)+) => { $(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Returns the next number; the highest one stays.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+ };
}

counters! {
    /// Counts the registrations and transfers of a device, from 1. A command is valid in one epoch.
    Epoch;
    /// The sequence number of a command of a device, from 1. Zero stands for no command.
    Seq;
    /// Counts the states of a model on a device in an epoch. Of two reports, the one with the higher generation is newer.
    Generation;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_written_as_its_number_and_stops_at_the_highest_one() {
        assert_eq!(serde_json::to_string(&Epoch(3)).unwrap(), "3");
        assert_eq!(serde_json::from_str::<Seq>("7").unwrap(), Seq(7));
        assert!(serde_json::from_str::<Generation>("\"7\"").is_err());
        assert_eq!((Seq(7).next(), Seq(u64::MAX).next()), (Seq(8), Seq(u64::MAX)));
        assert_eq!(Epoch(3).to_string(), "3");
    }
}
