//! A clock that stands still while the machine sleeps.

use std::time::Duration;

#[cfg(not(windows))]
#[path = "awake/other.rs"]
mod system;
#[cfg(windows)]
#[path = "awake/windows.rs"]
mod system;

/// The time since the start of this clock during which the machine was awake.
#[derive(Clone, Copy, Debug)]
pub struct Awake(system::Start);

impl Awake {
    /// Starts a clock.
    #[must_use]
    pub fn start() -> Self {
        Self(system::Start::now())
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on() {
        let clock = Awake::start();
        let first = clock.elapsed();
        assert!((0..100_000_000).any(|_| clock.elapsed() > first));
    }
}
