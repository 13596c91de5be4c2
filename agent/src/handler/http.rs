//! HTTP: lifecycle by PUT, everything else by POST, each to the target that its template names.

use std::time::Duration;

use link_agent_core::record::Report;
use link_client::http::{Call, Http, HttpError, or_false};
use link_protocol::{
    agent_api,
    config::{LogTarget, ReportTargets, Template, Values},
    id::DeviceId,
};

use super::Item;

/// The backend, and where on it each kind of item goes.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    http: Http,
    device_id: DeviceId,
    timeout: Duration,
    reports: ReportTargets,
    logs: Template,
}

impl Target {
    /// The target of reports.
    pub(crate) fn of_reports(http: Http, device_id: DeviceId, reports: ReportTargets) -> Self {
        let logs = LogTarget::default().target;
        Self { http, device_id, timeout: reports.timeout.get(), reports, logs }
    }

    /// The target of log records.
    pub(crate) fn of_logs(http: Http, device_id: DeviceId, target: &LogTarget) -> Self {
        let (timeout, logs) = (target.timeout.get(), target.target.clone());
        Self { http, device_id, timeout, reports: ReportTargets::default(), logs }
    }

    pub(super) async fn send(&self, item: &Item) -> Result<bool, HttpError> {
        let call = self.call(item).timeout(self.timeout);
        or_false(self.http.call_for_status(call).await)
    }

    fn call(&self, item: &Item) -> Call {
        let mut values = Values { device_id: self.device_id, command_id: None, model_id: None };
        let path = |template: &Template, values: &Values| {
            format!("{}{}", agent_api::PREFIX, template.fill(values))
        };
        let reports = &self.reports;
        match item {
            Item::Report(Report::Lifecycle(report)) => {
                Call::put(path(&reports.lifecycle_status, &values)).json(report)
            }
            Item::Report(Report::Command(report)) => {
                values.command_id = Some(report.command_id);
                Call::post(path(&reports.command_status, &values)).json(report)
            }
            Item::Report(Report::Model(report)) => {
                values.model_id = Some(report.model_id);
                Call::post(path(&reports.model_status, &values)).json(report)
            }
            Item::Report(Report::Progress { model_id, progress }) => {
                values.model_id = Some(*model_id);
                Call::post(path(&reports.deployment, &values)).json(progress)
            }
            Item::Telemetry(report) => {
                values.model_id = Some(report.model_id);
                Call::post(path(&reports.telemetry, &values)).json(report)
            }
            Item::System(report) => Call::post(path(&reports.system, &values)).json(report),
            Item::Log(record) => Call::post(path(&self.logs, &values)).json(record),
        }
    }
}
