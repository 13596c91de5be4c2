//! Writes, enables, starts, stops and removes the units of Link. The decisions are in [`crate::decide::service`].

pub mod backend;
pub mod systemd;

pub use crate::decide::service::{
    Availability, BackendUnit, Scope, Tier, UNMASK, Unit, UnitChange, UnitFound, UnitStep, Wish,
    availability, choose, linger_by_owner,
};
