//! `link repair-serving`: updates the allowlist of a served model without a restart.

use link_protocol::backend_api::operation::Work;

use crate::{
    args::RepairServing,
    backend_login,
    command::{bulk, outcome},
    context::{Context, idempotency_key},
    error::CliError,
    resolve,
};

pub(super) async fn run(context: &Context, arguments: &RepairServing) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.model).await?;
    let patience = arguments.wait.wait.then_some(arguments.wait.timeout);
    if let Some(selection) = arguments.many.selection() {
        let work = Work::Repair { model_id: model.model_id, port: arguments.port };
        return bulk::start(context, &backend, selection, work, patience).await;
    }
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let key = idempotency_key();
    let sent = backend.repair_serving(model.model_id, device, arguments.port, &key).await?;
    let what = format!("repair the serving of {}", resolve::told(&model));
    outcome::report(context, &backend, sent, &what, patience).await
}
