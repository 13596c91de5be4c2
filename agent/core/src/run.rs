//! The number of a run, as a type.

use std::fmt;

/// The number of a run. A run is one start of a pipeline, with the port it reserves and the engine
/// it starts. Late outcomes of an earlier run are ignored.
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
