//! The console: the agent's standard error, for a person who watches it.

use super::Item;

/// Prints `item` in one line.
pub(super) fn print(item: &Item) {
    match item {
        Item::Report(report) => tracing::info!(target: "link_report", "{report:?}"),
        Item::Telemetry(report) => tracing::info!(target: "link_report", "{report:?}"),
        Item::System(report) => tracing::info!(target: "link_report", "{report:?}"),
        // Log records are printed by the subscriber that makes them.
        Item::Log(_) => {}
    }
}
