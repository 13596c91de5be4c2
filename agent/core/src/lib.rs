//! What the agent decides, without doing any of it.
//!
//! [`agent::Agent`] takes an event and the time, changes its own state and returns the effects the
//! shell must carry out; the outcome of an effect comes back as another event. What must outlive
//! the process is an [`effect::Effect::Persist`], and the effects after it wait for it. Nothing
//! here reads a clock, a file, a socket or the environment, so every path can be tested in memory.

#![forbid(unsafe_code)]

pub mod agent;
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
pub mod serving;
pub mod session;
pub mod throttle;
mod update;
pub mod usage;

#[cfg(test)]
mod tests;
