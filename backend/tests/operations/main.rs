//! The maintenance commands and the service of `link-backend`: the real program on a real folder.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod account;
mod backup;
mod bucket;
#[path = "../store/cluster.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod cluster;
mod configuration;
mod faults;
mod heads;
mod neighbours;
#[path = "../store/object_store.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod object_store;
mod operation_rate;
mod postgres;
mod program;
mod service;
mod slow;
mod upkeep;
