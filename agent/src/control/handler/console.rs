//! The console: the agent's standard error, for a person who watches it.

use link_agent_core::record::Report;
use serde::Serialize;

use super::Item;

/// The log target of printed reports, for use in filters.
pub(crate) const TARGET: &str = "link_report";

/// Prints `item` on one line.
pub(super) fn print(item: &Item) {
    if let Some(line) = line(item) {
        tracing::info!(target: TARGET, "{line}");
    }
}

/// Returns the kind of a report and the JSON that a backend would receive, with ids and statuses in
/// their wire format. `None` for a log record, which its own subscriber prints.
fn line(item: &Item) -> Option<String> {
    Some(match item {
        Item::Report(Report::Lifecycle(report)) => written("lifecycle", report),
        Item::Report(Report::Command(report)) => written("command", report),
        Item::Report(Report::Model(report)) => written("model", report),
        Item::Report(Report::Progress { progress, .. }) => written("deployment", progress),
        Item::Telemetry(report) => written("telemetry", report),
        Item::System(report) => written("system", report),
        Item::Log(_) => return None,
    })
}

/// Serializes a report. Reports of this version always serialize.
fn written(kind: &str, report: &impl Serialize) -> String {
    format!("{kind} {}", serde_json::to_string(report).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use link_protocol::report::{CommandReport, CommandResult};

    use super::*;

    #[test]
    fn a_report_is_printed_with_the_ids_and_statuses_that_are_used_everywhere() {
        let id = "cmd_00000000000000000000000000000001";
        let report = CommandReport {
            command_id: id.parse().unwrap(),
            status: CommandResult::Failed,
            output: "no space left".to_owned(),
            attempt: 1,
        };
        let expected = format!(
            r#"command {{"command_id":"{id}","status":"failed","output":"no space left","attempt":1}}"#
        );
        assert_eq!(line(&Item::Report(Report::Command(report))), Some(expected));
    }
}
