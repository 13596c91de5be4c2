//! `link repair-serving`: corrects the allowlist of a model that is served, in place.

use crate::{
    args::RepairServing, command::outcome, context::Context, context::idempotency_key,
    error::CliError, resolve, session,
};

pub(super) async fn run(context: &Context, arguments: &RepairServing) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.model).await?;
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let key = idempotency_key();
    let sent = backend.repair_serving(model.model_id, device, arguments.port, &key).await?;
    let what = format!("repair the serving of `{}`", model.name);
    let patience = arguments.wait.wait.then_some(arguments.wait.timeout);
    outcome::report(context, &backend, sent, &what, patience).await
}
