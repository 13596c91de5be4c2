//! Work on many devices, as an operation of the backend that continues when this command ends. Starts an operation,
//! follows it until it ends, and shows the result for each device.

use std::{io::IsTerminal as _, time::Duration};

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::operation::{
        CreateOperation, ItemState, Operation, OperationCounts, OperationDevice, OperationPlan,
        OperationState, Work,
    },
    exit_code::ExitCode,
    id::OperationId,
    selector::Selector,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    args::Selection,
    context::{Context, idempotency_key},
    document::Component,
    error::CliError,
    error_code::ErrorCode,
    output::{Cell, View},
    progress::Progress,
    wait::{self, Deadline},
};

/// An operation and its result on each device.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Results<'a> {
    #[schemars(with = "Component<Operation>")]
    pub(super) operation: &'a Operation,
    #[schemars(with = "Vec<Component<OperationDevice>>")]
    pub(super) devices: &'a [OperationDevice],
}

/// Starts `work` on the devices of `selection` and, with `patience`, follows it until it ends.
///
/// # Errors
/// If no device matches, the backend refuses, or the operation fails on a device.
pub(super) async fn start(
    context: &Context,
    backend: &BackendClient,
    selection: Selection<'_>,
    work: Work,
    patience: Option<Duration>,
) -> Result<(), CliError> {
    let select = Some(selection.devices.to_string());
    let wish = CreateOperation { work, select, devices: None, dry_run: false };
    let none = |error: CliError| nothing_selected(error, selection.devices);
    if selection.dry_run {
        let plan = backend.plan_operation(&wish).await;
        return show_plan(context, &plan.map_err(|error| none(error.into()))?);
    }
    let started = backend.create_operation(&wish, &idempotency_key()).await;
    let operation = started.map_err(|error| none(error.into()))?;
    let Operation { operation_id: id, devices, .. } = operation;
    context.output.say(&format!(
        "operation {id}: {} on {}",
        operation.work.kind(),
        many_of(devices)
    ));
    match patience {
        Some(patience) => follow(context, backend, operation, patience).await,
        None => {
            context.output.say(&how_to_follow(id));
            context.output.data(&operation, |operation| operation.operation_id.to_string())
        }
    }
}

/// Waits until an operation ends, and shows the result for each device.
///
/// # Errors
/// If a device failed, the operation was cancelled, the time limit has passed, or the person pressed Ctrl-C.
pub(super) async fn follow(
    context: &Context,
    backend: &BackendClient,
    operation: Operation,
    patience: Duration,
) -> Result<(), CliError> {
    let id = operation.operation_id;
    let progress = Progress::start(context.output);
    let ended = tokio::select! {
        ended = wait_for(backend, &progress, operation, Deadline::after(patience)) => ended,
        _interrupted = tokio::signal::ctrl_c() => {
            let message = format!("stopped waiting; operation {id} continues");
            Err(CliError::new(ExitCode::Interrupted, ErrorCode::GaveUp, message)
                .hint(how_to_follow(id)))
        }
    };
    progress.finish();
    report(context, backend, ended?).await
}

async fn wait_for(
    backend: &BackendClient,
    progress: &Progress,
    started: Operation,
    deadline: Deadline,
) -> Result<Operation, CliError> {
    let mut last = started;
    let mut asked_for = None;
    loop {
        let (kind, counts) = (last.work.kind(), last.counts);
        let (ended, total) = (counts.ended() as usize, last.devices as usize);
        progress.show_count(&format!("{kind}: {}", summary(&counts)), ended, total);
        if last.state != OperationState::Running {
            return Ok(last);
        }
        let id = last.operation_id;
        if !deadline.pause(asked_for.take()).await {
            let so_far = format!("{ended} of {} done ({id})", many_of(last.devices));
            return Err(deadline.gave_up(&so_far).hint(how_to_follow(id)));
        }
        match wait::tolerate(backend.operation(id).await)? {
            Ok(operation) => last = operation,
            Err(retry_after) => asked_for = retry_after,
        }
    }
}

/// Shows the results: on a terminal only devices that did not succeed, otherwise all of them.
async fn report(
    context: &Context,
    backend: &BackendClient,
    operation: Operation,
) -> Result<(), CliError> {
    let devices = backend.operation_devices(operation.operation_id, None).await?;
    let document = Results { operation: &operation, devices: &devices };
    let is_terminal = std::io::stdout().is_terminal();
    context.output.data(&document, |_| {
        let shown =
            |device: &&OperationDevice| !is_terminal || device.state != ItemState::Succeeded;
        let shown: Vec<&OperationDevice> = devices.iter().filter(shown).collect();
        if shown.is_empty() { String::new() } else { table(&shown, &context.view()) }
    })?;
    let Operation { operation_id: id, state, counts, .. } = &operation;
    context.output.say(&format!("{}: {}", operation.work.kind(), summary(counts)));
    let failed = match state {
        OperationState::Running | OperationState::Succeeded => return Ok(()),
        OperationState::Failed => format!("failed on {}", many_of(counts.failed)),
        OperationState::Cancelled => {
            format!("cancelled; {} did not get it", many_of(counts.cancelled))
        }
    };
    let message = format!("{}: {failed} of {}", operation.work.kind(), operation.devices);
    let hint = if counts.failed > 0 {
        format!("correct the causes, then send it again with `link operation retry {id}`")
    } else {
        format!("see the devices with `link operation show {id} --state cancelled`")
    };
    Err(CliError::new(ExitCode::Failed, ErrorCode::SomeFailed, message).hint(hint))
}

fn show_plan(context: &Context, plan: &OperationPlan) -> Result<(), CliError> {
    let kind = plan.work.kind();
    context.output.say(&format!("would {kind} on {}", many_of(plan.devices)));
    context.output.data(plan, |plan| {
        let rows = plan.first.iter().map(|device| {
            let state = if device.online { "online" } else { "offline" };
            let name = device.new_name.clone().unwrap_or_default();
            [device.name.clone().into(), state.into(), name.into(), Cell::id(device.device_id)]
        });
        let mut text = context.view().table(["DEVICE", "STATE", "NEW NAME", "ID"], rows);
        let rest = (plan.devices as usize).saturating_sub(plan.first.len());
        if rest > 0 {
            text.push_str(&format!("\nand {rest} more"));
        }
        text
    })
}

/// Formats the results as a table.
pub(super) fn table(devices: &[&OperationDevice], view: &View) -> String {
    let rows = devices.iter().map(|device| {
        let code = device.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
        [
            device.name.clone().into(),
            format!("{}{code}", device.state).into(),
            device.detail.clone().unwrap_or_default().into(),
            Cell::id(device.device_id),
        ]
    });
    view.table(["DEVICE", "RESULT", "DETAIL", "ID"], rows)
}

/// Returns the number of devices in each state, as text.
pub(super) fn summary(counts: &OperationCounts) -> String {
    let mut counts = *counts;
    let parts = ItemState::ALL.map(|state| (*counts.of_mut(state), state));
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, state)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
}

/// Returns the commands that follow and cancel an operation, as text.
pub(super) fn how_to_follow(id: OperationId) -> String {
    format!(
        "follow it with `link operation wait {id}`; cancel it with `link operation cancel {id}`"
    )
}

fn many_of(devices: u32) -> String {
    if devices == 1 { "1 device".to_owned() } else { format!("{devices} devices") }
}

fn nothing_selected(error: CliError, selector: &Selector) -> CliError {
    if error.code.as_str() != ErrorCode::NothingSelected.as_str() {
        return error;
    }
    let message = format!("no device matches `{selector}`");
    CliError::new(ExitCode::Failed, ErrorCode::NothingSelected, message)
        .hint("list the devices with `link device list` and the tags with `link fleet list`")
}
