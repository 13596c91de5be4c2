//! The chores of `link-backend` and how it runs as a service: the real program on a real folder.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod account;
mod backup;
#[path = "../store/cluster.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod cluster;
mod configuration;
mod postgres;
mod program;
mod service;
mod upkeep;
