//! The metrics that Prometheus scrapes, by name. Without a recorder they are discarded.
//!
//! Each label has few values: a route is its template and never a path.

use std::time::Duration;

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

/// The upper bounds of the histogram buckets of every duration, in seconds. A poll is held for up to 50 s.
pub const BUCKETS_S: [f64; 14] =
    [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 60.0];

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const UNMATCHED: &str = "unmatched";

/// Totals of the whole backend.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    pub devices: u64,
    /// Devices that said hello in their current epoch, were heard of lately, and are not leaving.
    pub online: u64,
    /// Commands that were not delivered.
    pub queued: u64,
    /// Commands that were delivered and not acknowledged.
    pub delivered: u64,
}

/// Describes each metric to the recorder.
pub fn describe() {
    describe_counter!("link_requests_total", "Requests answered, by route and status.");
    describe_histogram!(
        "link_request_duration_seconds",
        Unit::Seconds,
        "Time from a request to the head of its answer, by route; polls are held."
    );
    describe_counter!("link_reports_total", "Reports of devices that were accepted, by kind.");
    describe_counter!("link_commands_placed_total", "Commands accepted for a device.");
    describe_counter!("link_commands_acknowledged_total", "Commands that a device took.");
    describe_counter!("link_commands_expired_total", "Commands that no device took in time.");
    describe_histogram!(
        "link_database_seconds",
        Unit::Seconds,
        "Time of a statement that only reads, and of the sweep, which writes."
    );
    describe_counter!(
        "link_database_faults_total",
        "Statements that failed because the database is full, unwritable or damaged."
    );
    describe_gauge!("link_commands_waiting", "Commands that are not acknowledged, by state.");
    describe_gauge!("link_devices", "Registered devices.");
    describe_gauge!("link_devices_online", "Devices that can be given commands.");
    describe_gauge!("link_parked_polls", "Polls that wait for a command.");
    describe_gauge!("link_ready", "1 when the backend is ready for requests.");
    describe_gauge!("link_process_memory_bytes", Unit::Bytes, "Memory in use by this process.");
    describe_gauge!("link_build_info", "1, with the version of the program.");
    gauge!("link_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
}

/// Counts an answered request. `route` is the template that it matched.
pub fn request(method: &str, route: Option<&str>, status: u16, took: Duration) {
    let method = METHODS.iter().copied().find(|known| *known == method).unwrap_or("other");
    let route = route.unwrap_or(UNMATCHED).to_owned();
    if status < 300
        && let Some(kind) = report_kind(method, &route)
    {
        counter!("link_reports_total", "kind" => kind).increment(1);
    }
    let status = status.to_string();
    counter!("link_requests_total", "method" => method, "route" => route.clone(), "status" => status)
        .increment(1);
    histogram!("link_request_duration_seconds", "method" => method, "route" => route)
        .record(took.as_secs_f64());
}

/// Counts a command that was accepted.
pub fn command_placed() {
    counter!("link_commands_placed_total").increment(1);
}

/// Counts commands that a device acknowledged.
pub fn commands_acknowledged(number: u64) {
    counter!("link_commands_acknowledged_total").increment(number);
}

/// Counts commands that expired.
pub fn commands_expired(number: u64) {
    counter!("link_commands_expired_total").increment(number);
}

/// Records how long the database took for `what`.
pub fn database(what: &'static str, took: Duration) {
    histogram!("link_database_seconds", "what" => what).record(took.as_secs_f64());
}

/// Counts a fault of the database that was met.
pub fn database_fault(fault: &'static str) {
    counter!("link_database_faults_total", "fault" => fault).increment(1);
}

/// Records the totals from the database.
pub fn counted(counts: &Counts) {
    gauge!("link_commands_waiting", "state" => "queued").set(float(counts.queued));
    gauge!("link_commands_waiting", "state" => "delivered").set(float(counts.delivered));
    gauge!("link_devices").set(float(counts.devices));
    gauge!("link_devices_online").set(float(counts.online));
}

/// Records the state of this process.
pub fn process(parked_polls: usize, is_ready: bool, memory_bytes: Option<u64>) {
    gauge!("link_parked_polls").set(float(parked_polls as u64));
    gauge!("link_ready").set(f64::from(u8::from(is_ready)));
    if let Some(bytes) = memory_bytes {
        gauge!("link_process_memory_bytes").set(float(bytes));
    }
}

/// Converts a count; the result is exact up to 2^53.
fn float(number: u64) -> f64 {
    number as f64
}

fn report_kind(method: &str, route: &str) -> Option<&'static str> {
    let path = route.split_once("/agent/{device_id}/").map(|(_, path)| path);
    match (method, path) {
        ("PUT", Some("status")) => Some("lifecycle"),
        ("PUT" | "POST", Some("system")) => Some("system"),
        ("POST", Some(path)) if path.starts_with("commands/") && path.ends_with("/status") => {
            Some("command")
        }
        ("POST", Some(path)) => match path.rsplit('/').next() {
            Some("status") => Some("model"),
            Some("deployment") => Some("progress"),
            Some("telemetry") => Some("telemetry"),
            Some(_) | None => None,
        },
        ("POST", None) if route.ends_with("/logs") => Some("log"),
        _ => None,
    }
}
