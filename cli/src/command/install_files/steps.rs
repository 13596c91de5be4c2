//! What follows the files of a device: everything is looked at before anything is done, then each step
//! of the plan is done in its turn.

use std::time::Duration;

use link_client::local::LocalClient;
use link_installer::{
    decide::plan::device::{AgentFound, DeviceFound, DeviceStep},
    layout::Layout,
    service::{Wish, systemd},
    versions,
};
use link_protocol::exit_code::ExitCode;

use super::judge;
use crate::{
    agent_process::{self, Started},
    args::Register,
    command::register,
    context::Context,
    error::CliError,
    path_setup, resolve, service, session,
    wait::Deadline,
};

/// An agent that answered a moment ago answers again within this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was found of a device, and what a person is told of what stays as it is.
pub(super) struct Looked {
    pub(super) found: DeviceFound,
    service: Result<Option<String>, CliError>,
    path: Vec<String>,
}

/// The steps of one run.
pub(super) struct Steps<'a> {
    context: &'a Context,
    layout: &'a Layout,
    /// What was done, in words.
    pub(super) done: Vec<String>,
    /// A device that could not be registered is installed all the same.
    pub(super) registered: Result<(), CliError>,
    has_unit: bool,
}

/// Looks at everything beside the files. What cannot be looked at is left to the step that needs it,
/// which says why.
pub(super) fn look(context: &Context, layout: &Layout, wish: Wish) -> Looked {
    let (service, service_said) = service::look(context, layout, wish);
    let (start_files, path) = path_setup::look(context, layout);
    let is_registered = !matches!(resolve::identity(context), Ok(None));
    let has_key = !matches!(register::given_key(context, &Register::default()), Ok(None));
    let found = DeviceFound {
        backend_url: session::unkept_backend(context),
        service,
        can_register: !is_registered && has_key,
        agent: agent(context, layout),
        start_files,
    };
    Looked { found, service: service_said, path }
}

fn agent(context: &Context, layout: &Layout) -> AgentFound {
    let is_running = agent_process::is_running(context).unwrap_or(false);
    match (is_running, service::uses_unit(layout).then(systemd::is_active)) {
        (true, Some(false)) => AgentFound::RunsWithoutItsUnit,
        (true, Some(true) | None) | (false, Some(true)) => AgentFound::Runs,
        (false, Some(false) | None) => AgentFound::Stopped,
    }
}

impl Looked {
    /// Says what stays as it is, before the steps.
    pub(super) fn say(&self, context: &Context) -> Result<(), CliError> {
        match &self.service {
            Ok(said) => said.iter().for_each(|said| context.output.say(said)),
            Err(error) => context.output.error(error),
        }
        match resolve::identity(context)? {
            Some(identity) => {
                context.output.say(&format!("this device is {} already", identity.device_id));
            }
            None if self.found.can_register => {}
            None => context.output.say(
                "not registered: no key was given; run `link up` for a backend of your own, or \
                 `link register` with a key",
            ),
        }
        Ok(())
    }

    /// Says what a person can do about PATH, after the steps.
    pub(super) fn say_of_path(&self, context: &Context) {
        self.path.iter().for_each(|said| context.output.say(said));
    }
}

impl<'a> Steps<'a> {
    /// Begins with the steps that were done with the files.
    pub(super) fn after(context: &'a Context, layout: &'a Layout, files: Vec<String>) -> Self {
        Self { context, layout, done: files, registered: Ok(()), has_unit: true }
    }

    /// Does one step. A unit that could not be placed and a device that could not be registered keep
    /// nothing else from its turn.
    ///
    /// # Errors
    /// What the step failed with.
    pub(super) async fn apply(&mut self, step: &DeviceStep) -> Result<(), CliError> {
        let Self { context, layout, .. } = self;
        let is_done = match step {
            DeviceStep::KeepBackend(url) => session::keep_backend(context, url).map(|()| true)?,
            DeviceStep::RemoveUnit => service::remove(context, layout).map(|()| true)?,
            DeviceStep::PlaceUnit(change) => {
                self.has_unit = service::place(context, layout, *change);
                self.has_unit
            }
            DeviceStep::Linger(_) if !self.has_unit => false,
            DeviceStep::Linger(_) => service::linger(context, layout).map(|()| true)?,
            DeviceStep::Register => {
                self.registered = enrol(context).await;
                self.registered.is_ok()
            }
            DeviceStep::StartAgent => start(context, layout).await.map(|()| true)?,
            DeviceStep::RestartAgent => {
                agent_process::stop(context).await?;
                start(context, layout).await.map(|()| true)?
            }
            DeviceStep::EditPath { .. } | DeviceStep::ListPath(_) => {
                path_setup::edit(context, layout).map(|()| true)?
            }
        };
        if is_done {
            self.done.push(step.to_string());
        }
        Ok(())
    }
}

/// Registers with the key in the environment.
async fn enrol(context: &Context) -> Result<(), CliError> {
    let arguments = Register::default();
    let key = register::given_key(context, &arguments)?;
    let identity = register::register(context, &arguments, key).await.map_err(|error| {
        let unreachable = error.exit == ExitCode::Unreachable;
        CliError {
            exit: if unreachable { ExitCode::InstalledUnreachable } else { error.exit },
            hint: Some(error.hint.unwrap_or_else(|| "register with `link register`".to_owned())),
            ..error
        }
        .context("installed, and not registered")
    })?;
    context.output.say(&format!("registered as {}", identity.device_id));
    Ok(())
}

async fn start(context: &Context, layout: &Layout) -> Result<(), CliError> {
    let started = agent_process::start(context).await?;
    runs(context, layout, started).await
}

/// Makes sure that what runs is what was installed: the guard may have put the version before back.
pub(super) async fn runs(
    context: &Context,
    layout: &Layout,
    started: Started,
) -> Result<(), CliError> {
    context.output.say(match started {
        Started::Before => "the agent runs",
        Started::Now => "started the agent",
    });
    agent_process::say_port(context)?;
    context.output.say(&service::in_words(&service::availability(context)));
    let (local, deadline) = (LocalClient::of(&context.roots), Deadline::after(PATIENCE));
    let answers = match resolve::identity(context)? {
        Some(identity) => loop {
            let answer = local.healthz().await.ok();
            // One that has not taken up a new registration yet is another device.
            let answer = answer.filter(|healthz| healthz.device_id == identity.device_id);
            if answer.is_some() || !deadline.pause_locally().await {
                break answer.map(|healthz| healthz.agent_version);
            }
        },
        None => versions::current(layout),
    };
    let current = versions::current(layout);
    judge(current.as_ref(), answers.as_ref(), versions::state(layout).last)
}
