//! Models: fetched, run by engines, and answered for by the agent's own proxy.

pub(crate) mod download;
pub(crate) mod engine;
pub(crate) mod proxy;
