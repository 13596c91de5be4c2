//! Log records of a device, as the backend has stored them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::report::Severity;

/// A stored log record.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeviceLog {
    /// Counts the records of the device; a newer record has a larger number.
    pub number: u64,
    /// When the backend received the record.
    #[schema(value_type = String, format = DateTime)]
    pub received_at: Timestamp,
    pub severity: Severity,
    pub category: String,
    pub message: String,
}

/// The filter and the page of a list of log records.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeviceLogQuery {
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Only records at least this severe.
    #[param(inline)]
    pub severity: Option<Severity>,
    /// Only records whose message names this model, by id.
    pub model: Option<String>,
}
