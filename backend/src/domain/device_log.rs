//! The filter for log records of a device.

use link_protocol::{id::ModelId, report::Severity};

/// A filter for log records.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogFilter {
    /// Only records at least this severe.
    pub severity: Option<Severity>,
    /// Only records whose message names this model.
    pub model: Option<ModelId>,
}
