//! The decisions of the installer, made before anything is changed. Pure: the findings are arguments.
//!
//! `plan` is an installation, `engine` which builds of an engine are tried, `update` a version in the place of another, `guard` what keeps the agent running, `service`
//! what starts the guard.

pub mod engine;
pub mod guard;
pub mod plan;
pub mod service;
pub mod update;
