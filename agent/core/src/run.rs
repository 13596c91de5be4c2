//! The numbers of runs.

use std::fmt;

/// The number of a run: one start of a pipeline, with the port that it reserves and the engine that it
/// starts. What an earlier run brings has no effect.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Run(pub u64);

impl Run {
    /// Returns the number of the next run.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
