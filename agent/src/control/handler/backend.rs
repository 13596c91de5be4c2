//! Sending to the backend: lifecycle reports by PUT, everything else by POST, each to the target of
//! its template.

use std::time::Duration;

use link_agent_core::record::Report;
use link_client::http::{Call, Failure};
use link_protocol::{
    agent_api,
    config::{LogTarget, ReportTargets, Template, Values},
    id::DeviceId,
    zenoh::Verb,
};

use super::Item;
use crate::control::transport::Way;

/// The backend, with the path for each kind of item.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    way: Way,
    device_id: DeviceId,
    timeout: Duration,
    reports: ReportTargets,
    logs: Template,
}

/// A message: its path below `/api/v1`, and how to send it.
struct Message {
    verb: Verb,
    path: String,
    body: Vec<u8>,
}

impl Target {
    /// The target of reports.
    pub(crate) fn of_reports(way: Way, device_id: DeviceId, reports: ReportTargets) -> Self {
        let logs = LogTarget::default().target;
        Self { way, device_id, timeout: reports.timeout.get(), reports, logs }
    }

    /// The target of log records.
    pub(crate) fn of_logs(way: Way, device_id: DeviceId, target: &LogTarget) -> Self {
        let (timeout, logs) = (target.timeout.get(), target.target.clone());
        Self { way, device_id, timeout, reports: ReportTargets::default(), logs }
    }

    pub(super) async fn send(&self, item: &Item) -> Result<(), Failure> {
        let Message { verb, path, body } = self.message(item);
        match &self.way {
            Way::Http(http) => {
                let path = format!("{}{path}", agent_api::PREFIX);
                let call = if verb == Verb::Put { Call::put(path) } else { Call::post(path) };
                http.call_for_status(call.bytes(body).timeout(self.timeout)).await
            }
            Way::Zenoh(link) => link.send(verb, &path, body, self.timeout).await,
        }
    }

    fn message(&self, item: &Item) -> Message {
        let mut values = Values { device_id: self.device_id, command_id: None, model_id: None };
        let reports = &self.reports;
        match item {
            Item::Report(Report::Lifecycle(report)) => {
                message(Verb::Put, &reports.lifecycle_status, &values, report)
            }
            Item::Report(Report::Command(report)) => {
                values.command_id = Some(report.command_id);
                message(Verb::Post, &reports.command_status, &values, report)
            }
            Item::Report(Report::Model(report)) => {
                values.model_id = Some(report.model_id);
                message(Verb::Post, &reports.model_status, &values, report)
            }
            Item::Report(Report::Progress { model_id, progress }) => {
                values.model_id = Some(*model_id);
                message(Verb::Post, &reports.deployment, &values, progress)
            }
            Item::Telemetry(report) => {
                values.model_id = Some(report.model_id);
                message(Verb::Post, &reports.telemetry, &values, report)
            }
            Item::System(report) => message(Verb::Post, &reports.system, &values, report),
            Item::Log(record) => message(Verb::Post, &self.logs, &values, record),
        }
    }
}

/// Creates the message with `report`. Reports of this version always serialize.
fn message(
    verb: Verb,
    target: &Template,
    values: &Values,
    report: &impl serde::Serialize,
) -> Message {
    let body = serde_json::to_vec(report).unwrap_or_default();
    Message { verb, path: target.fill(values), body }
}
