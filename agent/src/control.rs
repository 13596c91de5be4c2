//! Communication with the backend: commands over a transport, reports, and log records.

pub(crate) mod handler;
pub(crate) mod log;
pub(crate) mod pipeline;
pub(crate) mod queue;
pub(crate) mod report;
pub(crate) mod transport;
