//! What the installer decides, before anything is done: pure, each with what it found as an argument.
//!
//! `plan` is an installation, `update` a version in the place of another, `guard` what keeps the agent running, `service`
//! what starts the guard.

pub mod guard;
pub mod plan;
pub mod service;
pub mod update;
