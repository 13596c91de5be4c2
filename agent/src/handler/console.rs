//! The console: the agent's standard error, for a person who watches it.

use super::Item;

/// Where reports are printed; a filter can name it.
pub(crate) const TARGET: &str = "link_report";

/// Prints `item` in one line.
pub(super) fn print(item: &Item) {
    match item {
        Item::Report(report) => tracing::info!(target: TARGET, "{report:?}"),
        Item::Telemetry(report) => tracing::info!(target: TARGET, "{report:?}"),
        Item::System(report) => tracing::info!(target: TARGET, "{report:?}"),
        // Log records are printed by the subscriber that makes them.
        Item::Log(_) => {}
    }
}
