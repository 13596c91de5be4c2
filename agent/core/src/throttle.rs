//! Limits progress reports to steps of 5 %, which is frequent enough for a person and rare enough
//! to store each report.

use link_protocol::limits::PROGRESS_STEP_PERCENT;

/// A filter that passes one value for each step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Throttle {
    last_step: u64,
}

impl Throttle {
    /// Returns whether `done` of `total` reaches a new step.
    pub fn passes(&mut self, done: u64, total: u64) -> bool {
        let steps = 100 / u128::from(PROGRESS_STEP_PERCENT);
        let step = (u128::from(done.min(total)) * steps).checked_div(u128::from(total));
        let step = u64::try_from(step.unwrap_or(0)).unwrap_or(u64::MAX);
        let passes = step > self.last_step;
        self.last_step = self.last_step.max(step);
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Holds: S8-4
    #[test]
    fn a_download_of_a_thousand_pieces_gives_twenty_steps() {
        let mut throttle = Throttle::default();
        let passed: Vec<_> = (0..=1000).filter(|done| throttle.passes(*done, 1000)).collect();
        assert_eq!(passed, (1..=20).map(|step| step * 50).collect::<Vec<_>>());
    }

    #[test]
    fn an_empty_total_or_a_step_backwards_passes_nothing() {
        let mut throttle = Throttle::default();
        assert!(!throttle.passes(0, 0) && !throttle.passes(7, 0));
        assert!(throttle.passes(10, 100) && !throttle.passes(5, 100) && !throttle.passes(10, 100));
    }
}
