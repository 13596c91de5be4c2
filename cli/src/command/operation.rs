//! `link operation`: shows operations on many devices, and cancels, retries or follows one.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::operation::{ItemState, Operation, Work},
    id::OperationId,
};

use crate::{
    args::OperationCommand,
    backend_login,
    command::bulk,
    context::Context,
    error::CliError,
    names::Names,
    output::{Cell, View},
    resolve,
};

pub(super) async fn run(context: &Context, command: OperationCommand) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    match command {
        OperationCommand::List { limit } => {
            let most = usize::try_from(limit).unwrap_or(usize::MAX);
            let operations = backend.operations(most).await?;
            let (names, view) = (names(context, &backend).await, context.view());
            context.output.data(&operations, |operations| table(operations, &names, &view))
        }
        OperationCommand::Show { operation, state } => {
            let id = id(&backend, &operation).await?;
            show(context, &backend, id, state).await
        }
        OperationCommand::Cancel { operation } => {
            let operation = id(&backend, &operation).await?;
            let cancelled = backend.cancel_operation(operation).await?;
            let counts = bulk::summary(&cancelled.counts);
            context
                .output
                .say(&format!("operation {operation} sends no further command: {counts}"));
            if cancelled.counts.sent > 0 {
                context.output.say(
                    "devices whose command was sent continue, offline ones when they are back",
                );
            }
            context.output.data(&cancelled, |_| String::new())
        }
        OperationCommand::Retry { operation, wait } => {
            let operation = id(&backend, &operation).await?;
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
            let operation = backend.operation(id(&backend, &operation).await?).await?;
            bulk::follow(context, &backend, operation, timeout).await
        }
    }
}

/// Returns the id of the operation that `text` names: a complete id, or the beginning of one of the
/// newest ids.
async fn id(backend: &BackendClient, text: &str) -> Result<OperationId, CliError> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let newest = backend.operations(200).await?;
    let newest = newest.into_iter().map(|operation| operation.operation_id);
    resolve::by_prefix(resolve::Kind::Operation, text, newest)
}

async fn show(
    context: &Context,
    backend: &BackendClient,
    id: OperationId,
    state: Option<ItemState>,
) -> Result<(), CliError> {
    let operation = backend.operation(id).await?;
    let devices = backend.operation_devices(id, state).await?;
    let (names, view) = (names(context, backend).await, context.view());
    let document = bulk::Results { operation: &operation, devices: &devices };
    context.output.data(&document, |_| {
        let Operation { created_at, ended_at, requested_by, .. } = &operation;
        let created = view.time(*created_at);
        let ended = ended_at.map_or_else(|| "-".to_owned(), |time| view.time(time));
        let by = requested_by
            .id
            .as_ref()
            .map_or_else(|| "-".to_owned(), |id| view.whole(names.cell(id)));
        let select = operation.select.as_deref().unwrap_or("by id");
        let mut text = format!(
            "Operation  {}\nId         {id}\nSelection  {select}\nState      {}: {}\n\
             By         {by}\nCreated    {created}\nEnded      {ended}\n",
            told(&operation.work, &names, &view),
            operation.state,
            bulk::summary(&operation.counts),
        );
        if !devices.is_empty() {
            let devices: Vec<_> = devices.iter().collect();
            text.push_str(&format!("\n{}", bulk::table(&devices, &view)));
        }
        text
    })
}

/// Reads the names that stand beside ids, unless the output is JSON.
async fn names(context: &Context, backend: &BackendClient) -> Names {
    if context.output.is_json() { Names::default() } else { Names::of_all(backend).await }
}

fn table(operations: &[Operation], names: &Names, view: &View) -> String {
    if operations.is_empty() {
        return "no operations; start one with `--select`, such as `link device tag lab --select \
                state=online`"
            .to_owned();
    }
    let rows = operations.iter().map(|operation| {
        [
            Cell::Time(operation.created_at),
            operation.work.kind().into(),
            what(&operation.work, names),
            operation.state.to_string().into(),
            bulk::summary(&operation.counts).into(),
            Cell::id(operation.operation_id),
        ]
    });
    view.table(["TIME", "OPERATION", "WHAT", "STATE", "DEVICES", "ID"], rows)
}

fn told(work: &Work, names: &Names, view: &View) -> String {
    let what = view.whole(what(work, names));
    match work {
        Work::Update { .. } | Work::Rename { .. } => format!("{} to {what}", work.kind()),
        Work::Deploy { .. }
        | Work::Repair { .. }
        | Work::Serve { .. }
        | Work::Stop { .. }
        | Work::Remove { .. }
        | Work::Tag { .. }
        | Work::Untag { .. } => format!("{} {what}", work.kind()),
    }
}

/// Returns the model, the version, the tags or the pattern of an operation.
fn what(work: &Work, names: &Names) -> Cell {
    match work {
        Work::Deploy { model_id, .. }
        | Work::Repair { model_id, .. }
        | Work::Serve { model_id, .. }
        | Work::Stop { model_id }
        | Work::Remove { model_id } => names.cell(model_id),
        Work::Update { version } => version.to_string().into(),
        Work::Tag { tags } | Work::Untag { tags } => tags.join(", ").into(),
        Work::Rename { pattern } => pattern.as_str().into(),
    }
}
