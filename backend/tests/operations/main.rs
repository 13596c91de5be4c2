//! The chores of `link-backend` and how it runs as a service: the real program on a real folder.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod account;
mod backup;
mod configuration;
mod program;
mod service;
mod upkeep;
