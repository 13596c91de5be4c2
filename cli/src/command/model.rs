//! `link model`: models and their deployments.

pub(super) mod add;
pub(super) mod catalogue;
pub(super) mod deploy;
pub(super) mod lookup;
mod stage;

use std::time::Duration;

use link_protocol::{
    backend_api::{
        deployment::Deployment,
        model::{Model, ModelFacts},
        operation::Work,
    },
    deployment::DeploymentState,
    exit_code::ExitCode,
    id::ModelId,
    problem::Code,
    report::ModelState,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    args::{self, ModelCommand, OnDevice, Serve, Wait},
    backend_login,
    command::{bulk, outcome},
    context::Context,
    document::Component,
    error::CliError,
    error_code::ErrorCode,
    names::Names,
    output::{Cell, View, bytes},
    prompt, resolve,
};

/// A model and its current deployments.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Details<'a> {
    #[schemars(with = "Component<Model>")]
    model: &'a Model,
    /// The newest deployment of the model on each device.
    #[schemars(with = "Vec<Component<Deployment>>")]
    deployments: &'a [Deployment],
}

/// The model that was deleted.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Deleted {
    #[schemars(with = "Component<ModelId>")]
    deleted: ModelId,
}

pub(super) async fn run(context: &Context, command: ModelCommand) -> Result<(), CliError> {
    match command {
        ModelCommand::List => list(context).await,
        ModelCommand::Search { words } => catalogue::search(context, &words).await,
        ModelCommand::Add(arguments) => lookup::add(context, arguments).await,
        ModelCommand::Show { model } => show(context, &model).await,
        ModelCommand::Deploy(arguments) => deploy::run(context, arguments).await,
        ModelCommand::Serve(arguments) => serve(context, &arguments).await,
        ModelCommand::Stop(arguments) => stop(context, &arguments).await,
        ModelCommand::Remove(arguments) => remove(context, &arguments).await,
        ModelCommand::Cancel { model, device } => cancel(context, &model, device.as_deref()).await,
        ModelCommand::Delete { model, yes } => delete(context, &model, yes).await,
    }
}

async fn list(context: &Context) -> Result<(), CliError> {
    let models = backend_login::logged_in(context)?.models().await?;
    context.output.data(&models, |models| {
        if models.is_empty() {
            return "no models; add one with `link model add FILE`".to_owned();
        }
        let rows = models.iter().map(|model| {
            [
                resolve::called(model).into(),
                model.size_bytes.map_or_else(|| "-".to_owned(), bytes).into(),
                state(model).into(),
                whose(model).into(),
                Cell::id(model.model_id),
            ]
        });
        context.view().table(["NAME", "SIZE", "STATE", "WHOSE", "ID"], rows)
    })
}

async fn show(context: &Context, named: &str) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let model = match resolve::model(&backend, named).await {
        Err(unknown) if unknown.is(ErrorCode::UnknownName) => {
            let catalogue = catalogue::read(context).await;
            return match catalogue.as_ref().ok().and_then(|catalogue| catalogue.find(named)) {
                Some(model) => catalogue::show(context, model),
                None => Err(unknown),
            };
        }
        found => found?,
    };
    let deployments = backend.current_deployments(None, Some(model.model_id)).await?;
    let names =
        if context.output.is_json() { Names::default() } else { Names::of_devices(&backend).await };
    let document = Details { model: &model, deployments: &deployments };
    context.output.data(&document, |_| {
        let file = match &model.url {
            Some(url) => format!("{} from {url}", model.file_name),
            None => model.file_name.to_string(),
        };
        let sum = model.sha256.as_ref().map_or("-", |sum| sum.as_str());
        let Model { model_id, plugin, .. } = &model;
        let (name, whose) = (resolve::called(&model), whose(&model));
        let mut text = format!(
            "Model   {name}\nId      {model_id}\nWhose   {whose}\nFile    {file}\nSize    {}\n\
             SHA-256 {sum}\nPlugin  {plugin}\nState   {}\n",
            model.size_bytes.map_or_else(|| "-".to_owned(), bytes),
            state(&model),
        );
        if let Some(facts) = &model.facts {
            text.push_str(&about(facts));
        }
        if !deployments.is_empty() {
            text.push_str(&format!("\n{}", on_devices(&deployments, &names, &context.view())));
        }
        text
    })
}

/// Formats the facts in a model's file.
fn about(facts: &ModelFacts) -> String {
    let quantization = facts.quantization.as_ref().map(|name| format!(", {name}"));
    let context = facts.context_length.map(|tokens| format!("Context {tokens} tokens\n"));
    let task = facts.task.map(|task| format!("For     {task}\n"));
    format!(
        "Kind    {}{}, {} parameters\n{}{}Memory  about {}\n",
        facts.architecture,
        quantization.unwrap_or_default(),
        facts.parameters,
        context.unwrap_or_default(),
        task.unwrap_or_default(),
        bytes(facts.memory_bytes),
    )
}

fn state(model: &Model) -> &'static str {
    if model.ready { "ready" } else { "incomplete" }
}

fn on_devices(deployments: &[Deployment], names: &Names, view: &View) -> String {
    let rows = deployments.iter().map(|deployment| {
        let stale = if deployment.stale { "stale: repair it" } else { "current" };
        [
            names.cell(deployment.device_id),
            standing(deployment).into(),
            deployment.alias.to_string().into(),
            deployment.port.to_string().into(),
            stale.into(),
        ]
    });
    view.table(["DEVICE", "STATE", "ALIAS", "PORT", "ALLOWLIST"], rows)
}

/// Returns what became of a deployment and, where its model is on the device, what that does.
fn standing(deployment: &Deployment) -> &'static str {
    match (deployment.state, deployment.serving.as_ref().map(|serving| serving.state)) {
        // What was deployed before serves on.
        (DeploymentState::Failed, Some(ModelState::Serving)) => "failed, still serving",
        (DeploymentState::Cancelled, Some(ModelState::Serving)) => "cancelled, still serving",
        (DeploymentState::Completed, Some(ModelState::Serving)) => "serving",
        (DeploymentState::Completed, Some(ModelState::Starting)) => "starting",
        (DeploymentState::Completed, Some(ModelState::Stopping)) => "stopping",
        (DeploymentState::Completed, Some(ModelState::NotServing)) => "not serving",
        (DeploymentState::Completed, Some(ModelState::Removed)) => "removed",
        (DeploymentState::Completed, None) => "deployed",
        (state, _) => state.as_str(),
    }
}

async fn serve(context: &Context, arguments: &Serve) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.on.model).await?;
    if let Some(selection) = arguments.on.many.selection() {
        let work = Work::Serve { model_id: model.model_id, port: arguments.port };
        return bulk::start(context, &backend, selection, work, patience(arguments.on.wait)).await;
    }
    let device = resolve::device(context, &backend, arguments.on.device.as_deref()).await?;
    let sent = backend.serve(model.model_id, device, arguments.port).await?;
    let what = format!("serve {}", resolve::told(&model));
    outcome::report(context, &backend, sent, &what, patience(arguments.on.wait)).await
}

async fn stop(context: &Context, arguments: &OnDevice) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.model).await?;
    if let Some(selection) = arguments.many.selection() {
        let work = Work::Stop { model_id: model.model_id };
        return bulk::start(context, &backend, selection, work, patience(arguments.wait)).await;
    }
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let sent = backend.stop(model.model_id, device).await?;
    let what = format!("stop serving {}", resolve::told(&model));
    outcome::report(context, &backend, sent, &what, patience(arguments.wait)).await
}

async fn remove(context: &Context, arguments: &args::Remove) -> Result<(), CliError> {
    let args::Remove { on: arguments, yes } = arguments;
    let backend = backend_login::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.model).await?;
    if let Some(selection) = arguments.many.selection() {
        let question =
            format!("Delete {} from the disk of every selected device?", resolve::told(&model));
        if !selection.dry_run && !prompt::is_meant(&question, *yes)? {
            context.output.say("nothing was changed");
            return Ok(());
        }
        let work = Work::Remove { model_id: model.model_id };
        return bulk::start(context, &backend, selection, work, patience(arguments.wait)).await;
    }
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let question = format!("Delete {} from this device's disk?", resolve::told(&model));
    let question = match &arguments.device {
        Some(named) => format!("Delete {} from the disk of {named}?", resolve::told(&model)),
        None => question,
    };
    if !prompt::is_meant(&question, *yes)? {
        context.output.say("nothing was changed");
        return Ok(());
    }
    let sent = backend.uninstall(model.model_id, device).await?;
    let what = format!("remove {}", resolve::told(&model));
    outcome::report(context, &backend, sent, &what, patience(arguments.wait)).await
}

async fn cancel(context: &Context, named: &str, device: Option<&str>) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let model = resolve::model(&backend, named).await?;
    let device = resolve::device(context, &backend, device).await?;
    let current = backend.current_deployments(Some(device), Some(model.model_id)).await?;
    let Some(deployment) = current.first() else {
        let message = format!("`{}` was never deployed to {device}", model.name);
        return Err(CliError::new(ExitCode::Failed, ErrorCode::NotDeployed, message).hint(format!(
            "name another device with --device; `link model show {named}` lists the devices that have it"
        )));
    };
    let cancelled = backend.cancel_deployment(deployment.deployment_id).await?;
    context.output.say(&match cancelled.state {
        DeploymentState::Cancelled => format!("cancelled the deployment of `{}`", model.name),
        DeploymentState::Completed | DeploymentState::Failed => {
            format!("the deployment of `{}` has ended already", model.name)
        }
        DeploymentState::Queued | DeploymentState::Downloading | DeploymentState::Configuring => {
            format!("asked the device to end the deployment of `{}`", model.name)
        }
    });
    context.output.data(&cancelled, |_| String::new())
}

async fn delete(context: &Context, named: &str, yes: bool) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let model = resolve::model(&backend, named).await?;
    let question = format!("Delete {} and its file from the backend?", resolve::told(&model));
    if !prompt::is_meant(&question, yes)? {
        context.output.say("nothing was changed");
        return Ok(());
    }
    if let Err(error) = backend.delete_model(model.model_id).await {
        let own = backend.current_deployments(None, Some(model.model_id)).await;
        return Err(in_use(error.into(), named, own.is_ok_and(|own| own.is_empty())));
    }
    context.output.say(&format!("deleted `{}`", model.name));
    context.output.data(&Deleted { deleted: model.model_id }, |_| String::new())
}

/// Says how to remove a model that a device still has. `is_elsewhere`: only other accounts have it.
fn in_use(error: CliError, named: &str, is_elsewhere: bool) -> CliError {
    if error.code.as_str() != Code::ModelInUse.as_str() {
        return error;
    }
    if is_elsewhere {
        return error.hint(
            "the other accounts remove it from their devices; a model that is no longer shared, which is a switch on its \
             page, is deployed by nobody else",
        );
    }
    error.hint(format!(
        "first remove the model from each device with `link model remove {named} --device DEVICE`; \
         `link model show {named}` lists the devices"
    ))
}

fn patience<const SECONDS: u64>(wait: Wait<SECONDS>) -> Option<Duration> {
    wait.wait.then_some(wait.timeout)
}

fn whose(model: &Model) -> String {
    let publisher = model.publisher.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
    match (model.owned, model.shared) {
        (true, true) => "yours, shared".to_owned(),
        (true, false) => "yours".to_owned(),
        (false, true) => format!("shared{publisher}"),
        (false, false) => format!("no longer shared{publisher}; existing deployments stay"),
    }
}
