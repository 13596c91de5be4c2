//! `link repair-serving`: updates the allowlist of a served model in place.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::{
        command::{CommandState, OutcomeStatus},
        device::Device,
        model::Model,
    },
    exit_code::ExitCode,
    selector::Selector,
};

use crate::{
    args::RepairServing,
    command::{
        bulk::{self, Step},
        outcome,
    },
    context::{Context, idempotency_key},
    error::CliError,
    error_code::ErrorCode,
    resolve, session, wait,
};

pub(super) async fn run(context: &Context, arguments: &RepairServing) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.model).await?;
    if let Some(selector) = &arguments.select {
        return repair_many(context, &backend, selector, &model, arguments).await;
    }
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let key = idempotency_key();
    let sent = backend.repair_serving(model.model_id, device, arguments.port, &key).await?;
    let what = format!("repair the serving of {}", resolve::told(&model));
    let patience = arguments.wait.wait.then_some(arguments.wait.timeout);
    outcome::report(context, &backend, sent, &what, patience).await
}

async fn repair_many(
    context: &Context,
    backend: &BackendClient,
    selector: &Selector,
    model: &Model,
    arguments: &RepairServing,
) -> Result<(), CliError> {
    let devices = bulk::select(backend, selector).await?;
    let patience = arguments.wait.wait.then_some(arguments.wait.timeout);
    let what = format!("repair the serving of {}", resolve::told(model));
    let send = async |device: &Device| {
        let (id, key) = (device.device_id, idempotency_key());
        let sent = backend.repair_serving(model.model_id, id, arguments.port, &key).await?;
        Ok(sent.command_id)
    };
    let look = async |id| {
        let Ok(command) = wait::tolerate(backend.command(id).await)? else {
            return Ok(Step::Running(id));
        };
        match &command.result {
            Some(result) if result.status == OutcomeStatus::Succeeded => {
                Ok(Step::Done(result.output.clone()))
            }
            Some(result) if result.status == OutcomeStatus::Superseded => {
                Err(outcome::superseded(&command, &what))
            }
            Some(result) => {
                let message = format!("{}: {}", result.status, result.output);
                Err(CliError::new(ExitCode::Failed, ErrorCode::CommandFailed, message))
            }
            None if command.state == CommandState::Expired => {
                let message = "the command expired";
                Err(CliError::new(ExitCode::Failed, ErrorCode::Expired, message))
            }
            None => Ok(Step::Running(id)),
        }
    };
    bulk::run(context, &what, devices, patience, send, look).await
}
