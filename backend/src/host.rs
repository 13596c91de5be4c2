//! Services of the machine and the runtime: the time, random numbers, wake-ups between tasks, and metrics.
//!
//! Every other module may use these modules, and they import no module outside this folder.

pub mod clock;
pub mod metrics;
pub mod random;
pub mod wake;
