//! The machine and the agent program: measurements, updates, and the self-check of a new version.

pub(crate) mod footprint;
pub(crate) mod monitor;
pub(crate) mod self_check;
pub(crate) mod update;
