//! The steps after the file steps of a device. Reads the whole state before it changes anything,
//! then runs the steps of the plan in order.

use std::time::Duration;

use link_client::local::LocalClient;
use link_installer::{
    decide::plan::device::{AgentFound, DeviceFound, DeviceStep},
    layout::Layout,
    service::{Wish, manager},
    versions,
};
use link_protocol::exit_code::ExitCode;

use super::judge;
use crate::{
    agent_process::{self, Started},
    args::Register,
    backend_login,
    command::register,
    context::Context,
    error::CliError,
    local_backend, path_setup, resolve, service,
    wait::Deadline,
};

/// How long to wait for the next answer of an agent that has already answered.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of a device, and notes about what stays unchanged.
pub(super) struct Looked {
    pub(super) found: DeviceFound,
    service: Result<Option<String>, CliError>,
    path: Vec<String>,
}

/// The steps of one run.
pub(super) struct Steps<'a> {
    context: &'a Context,
    layout: &'a Layout,
    /// Descriptions of the finished steps.
    pub(super) done: Vec<String>,
    /// The result of the registration. If it fails, the device stays installed.
    pub(super) registered: Result<(), CliError>,
    has_unit: bool,
}

/// Reads the state of everything except the files. If a part cannot be read, the step that needs it
/// reports the error.
pub(super) fn look(context: &Context, layout: &Layout, wish: Wish) -> Looked {
    let (service, service_said) = service::look(context, layout, wish);
    let (start_files, path) = path_setup::look(context, layout);
    let is_registered = !matches!(resolve::identity(context), Ok(None));
    let has_key = !matches!(register::given_key(context, &Register::default()), Ok(None));
    let found = DeviceFound {
        manager: manager(),
        backend_url: backend_login::unkept_backend(context),
        service,
        can_register: !is_registered && has_key,
        agent: agent(context, layout),
        start_files,
    };
    Looked { found, service: service_said, path }
}

fn agent(context: &Context, layout: &Layout) -> AgentFound {
    let is_running = agent_process::is_running(context).unwrap_or(false);
    match (is_running, service::uses_unit(layout).then(|| service::is_active(layout))) {
        (true, Some(false)) => AgentFound::RunsWithoutItsUnit,
        (true, Some(true) | None) | (false, Some(true)) => AgentFound::Runs,
        (false, Some(false) | None) => AgentFound::Stopped,
    }
}

impl Looked {
    /// Reports what stays unchanged, before the steps run.
    pub(super) fn say(&self, context: &Context) -> Result<(), CliError> {
        match &self.service {
            Ok(said) => said.iter().for_each(|said| context.output.say(said)),
            Err(error) => context.output.error(error),
        }
        match resolve::identity(context)? {
            Some(identity) => {
                context
                    .output
                    .say(&format!("this device is already registered as {}", identity.device_id));
            }
            None if self.found.can_register => {}
            None => context.output.say(
                "not registered: no key was given; run `link up` for a backend of your own, or \
                 `link register` with a key",
            ),
        }
        Ok(())
    }

    /// Reports how to complete the setup of PATH, after the steps have run.
    pub(super) fn say_of_path(&self, context: &Context) {
        self.path.iter().for_each(|said| context.output.say(said));
        if let Some(line) = path_setup::zsh_completions(context) {
            context.output.say(&line);
        }
    }
}

impl<'a> Steps<'a> {
    /// Creates the run after the file steps, with the descriptions of those in `files`.
    pub(super) fn after(context: &'a Context, layout: &'a Layout, files: Vec<String>) -> Self {
        Self { context, layout, done: files, registered: Ok(()), has_unit: true }
    }

    /// Runs one step. If a unit cannot be installed or the registration fails, the later steps
    /// still run.
    ///
    /// # Errors
    /// The error of the step.
    pub(super) async fn apply(&mut self, step: &DeviceStep) -> Result<(), CliError> {
        let Self { context, layout, .. } = self;
        let is_done = match step {
            DeviceStep::KeepBackend(url) => {
                backend_login::keep_backend(context, url).map(|()| true)?
            }
            DeviceStep::RemoveUnit(_) => service::remove(context, layout).map(|()| true)?,
            DeviceStep::PlaceUnit(_, change) => {
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
            DeviceStep::EditPath { .. } => path_setup::edit(context, layout).map(|_edited| true)?,
            DeviceStep::LoadCompletions(_) => path_setup::load_completions(context, layout)?,
            DeviceStep::ListPath(_) => {
                path_setup::edit(context, layout)?;
                path_setup::load_completions(context, layout)?
            }
        };
        if is_done {
            self.done.push(step.to_string());
        }
        Ok(())
    }
}

/// Registers with the key from the environment.
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
        .context("installed but not registered")
    })?;
    context.output.say(&format!("registered as {}", identity.device_id));
    Ok(())
}

async fn start(context: &Context, layout: &Layout) -> Result<(), CliError> {
    let started = agent_process::start(context).await?;
    runs(context, layout, started).await
}

/// Checks that the installed version runs, because the guard may have rolled it back.
pub(super) async fn runs(
    context: &Context,
    layout: &Layout,
    started: Started,
) -> Result<(), CliError> {
    context.output.say(match started {
        Started::Before => "the agent is running",
        Started::Now => "started the agent",
    });
    agent_process::say_port(context)?;
    let availability = service::availability(context, local_backend::start_command(context));
    context.output.say(&service::in_words(&availability));
    let (local, deadline) = (LocalClient::of(&context.roots), Deadline::after(PATIENCE));
    let answers = match resolve::identity(context)? {
        Some(identity) => loop {
            let answer = local.healthz().await.ok();
            // An agent that has not adopted a new registration still reports the old device id.
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
