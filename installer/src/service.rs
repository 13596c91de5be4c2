//! What starts Link by itself, done: a unit is written, enabled, started, stopped and removed. What is decided about it
//! is in [`crate::decide::service`].

pub mod backend;
pub mod systemd;

pub use crate::decide::service::{
    Availability, BackendUnit, Scope, Tier, UNMASK, Unit, UnitChange, UnitFound, UnitStep, Wish,
    availability, choose, linger_by_owner,
};
