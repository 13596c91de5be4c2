//! What the process takes from the machine: the time, random numbers, wake-ups between tasks, and metrics.
//!
//! Every other module may use these modules, and these modules import no other module of this crate.

pub mod clock;
pub mod metrics;
pub mod random;
pub mod wake;
