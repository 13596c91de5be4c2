//! `link operation`: what became of operations on many devices; cancels, retries and follows one.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::operation::{ItemState, Operation, Work},
    id::OperationId,
};
use serde_json::json;

use crate::{
    args::OperationCommand, command::bulk, context::Context, error::CliError, output, session,
};

pub(super) async fn run(context: &Context, command: OperationCommand) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    match command {
        OperationCommand::List { limit } => {
            let most = usize::try_from(limit).unwrap_or(usize::MAX);
            let operations = backend.operations(most).await?;
            context.output.data(&operations, |operations| table(operations))
        }
        OperationCommand::Show { operation, state } => {
            show(context, &backend, operation, state).await
        }
        OperationCommand::Cancel { operation } => {
            let cancelled = backend.cancel_operation(operation).await?;
            let counts = bulk::summary(&cancelled.counts);
            context.output.say(&format!("no further device gets operation {operation}: {counts}"));
            context.output.data(&cancelled, |_| String::new())
        }
        OperationCommand::Retry { operation, wait } => {
            let retried = backend.retry_operation(operation).await?;
            let counts = bulk::summary(&retried.counts);
            context.output.say(&format!("retries operation {operation}: {counts}"));
            if wait.wait {
                return bulk::follow(context, &backend, retried, wait.timeout).await;
            }
            context.output.say(&bulk::how_to_follow(operation));
            context.output.data(&retried, |_| String::new())
        }
        OperationCommand::Wait { operation, timeout } => {
            let operation = backend.operation(operation).await?;
            bulk::follow(context, &backend, operation, timeout).await
        }
    }
}

async fn show(
    context: &Context,
    backend: &BackendClient,
    id: OperationId,
    state: Option<ItemState>,
) -> Result<(), CliError> {
    let operation = backend.operation(id).await?;
    let devices = backend.operation_devices(id, state).await?;
    context.output.data(&json!({"operation": operation, "devices": devices}), |_| {
        let Operation { created_at, ended_at, requested_by, .. } = &operation;
        let ended = ended_at.map_or_else(|| "-".to_owned(), |time| time.to_string());
        let by = requested_by.id.as_deref().unwrap_or("-");
        let select = operation.select.as_deref().unwrap_or("by id");
        let mut text = format!(
            "Operation  {}\nId         {id}\nSelection  {select}\nState      {}: {}\n\
             By         {by}\nCreated    {created_at}\nEnded      {ended}\n",
            told(&operation.work),
            operation.state,
            bulk::summary(&operation.counts),
        );
        if !devices.is_empty() {
            let devices: Vec<_> = devices.iter().collect();
            text.push_str(&format!("\n{}", bulk::table(&devices)));
        }
        text
    })
}

fn table(operations: &[Operation]) -> String {
    if operations.is_empty() {
        return "no operations; start one with `--select`, such as `link device tag lab --select \
                state=online`"
            .to_owned();
    }
    let rows = operations.iter().map(|operation| {
        [
            operation.created_at.to_string(),
            told(&operation.work),
            operation.state.to_string(),
            bulk::summary(&operation.counts),
            operation.operation_id.to_string(),
        ]
    });
    output::table(["TIME", "OPERATION", "STATE", "DEVICES", "ID"], rows)
}

fn told(work: &Work) -> String {
    let kind = work.kind();
    match work {
        Work::Deploy { model_id, .. }
        | Work::Repair { model_id, .. }
        | Work::Serve { model_id, .. }
        | Work::Stop { model_id }
        | Work::Remove { model_id } => format!("{kind} {model_id}"),
        Work::Update { version } => format!("{kind} to {version}"),
        Work::Tag { tags } | Work::Untag { tags } => format!("{kind} {}", tags.join(", ")),
        Work::Rename { pattern } => format!("{kind} to {pattern}"),
    }
}
