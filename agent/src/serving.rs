//! Models: downloaded, run by engines, and served through the agent's proxy.

pub(crate) mod download;
pub(crate) mod engine;
pub(crate) mod plugins;
pub(crate) mod proxy;
