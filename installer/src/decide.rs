//! The decisions of the installer, made before it changes anything. Pure: the observed state is an argument.
//!
//! `plan` decides the steps of an installation, `engine` the order of the builds to try, `update` how one version
//! replaces another, `guard` how to keep the agent running, and `service` how the guard is started.

pub mod engine;
pub mod guard;
pub mod plan;
pub mod service;
pub mod update;
