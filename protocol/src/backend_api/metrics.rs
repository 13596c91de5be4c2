//! The load of a device over time.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A period that ends now.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub enum MetricsPeriod {
    #[serde(rename = "1h")]
    Hour,
    #[default]
    #[serde(rename = "24h")]
    Day,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
}

/// The period of `GET /devices/{device_id}/metrics`.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams,
)]
#[into_params(parameter_in = Query)]
pub struct MetricsQuery {
    /// The period, which ends now. The steps are 10 seconds (`1h`), 3 minutes (`24h`), 30 minutes (`7d`) and 90 minutes
    /// (`30d`).
    #[serde(default)]
    #[param(default = "24h")]
    pub period: MetricsPeriod,
}

/// The load of a device over a period, by the backend's clock.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeviceMetrics {
    pub period: MetricsPeriod,
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub to: Timestamp,
    /// The length of a step. Times of points are multiples of this length.
    pub step_seconds: u32,
    /// The sizes of the newest sample, to which used bytes compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_total_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_total_bytes: Option<u64>,
    /// The memory of all graphics processors that report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory_total_bytes: Option<u64>,
    /// The steps with samples, oldest first, at most 500. A step without a sample is left out.
    pub points: Vec<MetricPoint>,
}

/// The samples of one step. A value that the device cannot measure is left out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct MetricPoint {
    /// The beginning of the step.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The number of samples in the step.
    pub samples: u32,
    /// The load of all processors together: 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<MetricRange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used_bytes: Option<MetricRange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_used_bytes: Option<MetricRange>,
    /// The load of the busiest graphics processor: 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_percent: Option<MetricRange>,
    /// The used memory of all graphics processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory_used_bytes: Option<MetricRange>,
    /// The temperature of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<MetricRange>,
    /// The temperature of the hottest graphics processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_temperature_celsius: Option<MetricRange>,
}

/// The values of the samples of one step. Bytes are exact to 1 MiB, other values to a tenth.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct MetricRange {
    pub min: f64,
    pub avg: f64,
    pub max: f64,
}
