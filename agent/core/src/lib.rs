//! The agent's decisions, without any IO.
//!
//! [`agent::Agent`] takes an event and the time, changes its own state and returns the effects that
//! the shell must carry out; the outcome of an effect comes back as another event. State that must
//! outlive the process is stored by [`effect::Effect::Persist`], and later effects wait for it.
//! Nothing here reads a clock, a file, a socket or the environment, so every path can be tested in
//! memory.

#![forbid(unsafe_code)]

pub mod agent;
pub mod audio;
pub mod backoff;
pub mod clock;
pub mod components;
pub mod cors;
pub mod deployment;
pub mod effect;
pub mod event;
pub mod host;
pub mod identity;
pub mod ledger;
pub mod outbox;
pub mod record;
pub mod run;
pub mod serving;
pub mod session;
pub mod throttle;
mod update;
pub mod usage;

#[cfg(test)]
mod tests;
