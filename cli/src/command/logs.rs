//! `link logs`: the log records of a device that the backend has stored, or the logs on this machine.

mod local;

pub(super) use local::journal_text;

use std::time::Duration;

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::device_log::{DeviceLog, DeviceLogQuery},
    exit_code::ExitCode,
    id::DeviceId,
    limits, shown,
};

use crate::{
    args::Logs,
    backend_login,
    context::Context,
    error::CliError,
    output, resolve,
    wait::{self, pause},
};

/// The interval between two requests for new records.
const INTERVAL: Duration = Duration::from_secs(2);

pub(super) async fn run(context: &Context, arguments: Logs) -> Result<ExitCode, CliError> {
    if arguments.local {
        return local::run(context, &arguments).await;
    }
    let backend = backend_login::logged_in(context)?;
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let model = match &arguments.model {
        Some(named) => Some(resolve::model(&backend, named).await?.model_id.to_string()),
        None => None,
    };
    let most = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let query = DeviceLogQuery {
        limit: Some(arguments.limit.min(limits::PAGE_SIZE_LIMIT)),
        cursor: None,
        severity: arguments.severity.map(Into::into),
        model,
    };
    let records = newest(&backend, device, query.clone(), |records| records.len() < most).await?;
    let mut records: Vec<_> = records.into_iter().take(most).collect();
    records.reverse();
    if !arguments.follow {
        context.output.data(&records, |records| text(records))?;
        return Ok(ExitCode::Success);
    }
    tokio::select! {
        // Listens before the first line is shown: a reader may press Ctrl-C at once.
        biased;
        _interrupted = tokio::signal::ctrl_c() => Ok(ExitCode::Success),
        ended = follow(context, &backend, device, &query, records) => ended,
    }
}

/// Returns the newest records, newest first. Reads further pages while `more` returns true.
async fn newest(
    backend: &BackendClient,
    device: DeviceId,
    mut query: DeviceLogQuery,
    more: impl Fn(&[DeviceLog]) -> bool,
) -> Result<Vec<DeviceLog>, link_client::backend::CallError> {
    let mut records = Vec::new();
    loop {
        let mut page = backend.device_logs(device, &query).await?;
        records.append(&mut page.items);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() || !more(&records) {
            return Ok(records);
        }
    }
}

/// Prints `records` and every later record, until the reader closes the output.
async fn follow(
    context: &Context,
    backend: &BackendClient,
    device: DeviceId,
    query: &DeviceLogQuery,
    mut records: Vec<DeviceLog>,
) -> Result<ExitCode, CliError> {
    let mut last = 0;
    loop {
        for record in &records {
            last = last.max(record.number);
            let line = if context.output.is_json() { json(record) } else { line(record) };
            if !output::stream_stdout(&format!("{line}\n"))? {
                return Ok(ExitCode::Success);
            }
        }
        pause(INTERVAL).await;
        let is_new = |record: &DeviceLog| record.number > last;
        let answer =
            newest(backend, device, query.clone(), |seen| seen.last().is_some_and(is_new)).await;
        records = match wait::tolerate(answer)? {
            Ok(newest) => newest.into_iter().filter(is_new).collect(),
            Err(_retry_after) => Vec::new(),
        };
        records.reverse();
    }
}

fn text(records: &[DeviceLog]) -> String {
    if records.is_empty() {
        return "no matching records; on the device itself, `link logs --local` shows all that the agent and its engines \
                have logged"
            .to_owned();
    }
    records.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(record: &DeviceLog) -> String {
    let DeviceLog { received_at, severity, message, .. } = record;
    let time = received_at.strftime("%Y-%m-%dT%H:%M:%SZ");
    shown::one_line(&format!("{time} {:<8} {message}", severity.as_str()))
}

fn json(record: &DeviceLog) -> String {
    shown::json(&serde_json::to_string(record).expect("a record has only string keys"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_that_cannot_steer_the_terminal() {
        let record: DeviceLog = serde_json::from_value(serde_json::json!({
            "number": 7, "received_at": "2026-10-01T12:00:00.25Z", "severity": "warning",
            "category": "other", "message": "engine ended\u{1b}[2J\nagain",
        }))
        .unwrap();
        let line = line(&record);
        assert_eq!(line, "2026-10-01T12:00:00Z warning  engine ended\u{fffd}[2J again");
    }
}
