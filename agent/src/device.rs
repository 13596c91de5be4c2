//! The machine and the program on it: measurements, updates, the check of a new build.

pub(crate) mod footprint;
pub(crate) mod monitor;
pub(crate) mod self_check;
pub(crate) mod update;
