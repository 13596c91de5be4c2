//! The steps after the files of a device are in place. Observes everything before it changes
//! anything, then takes the steps of the plan in order.

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

/// The observed state of a device, and the notes about what stays unchanged.
pub(super) struct Looked {
    pub(super) found: DeviceFound,
    service: Result<Option<String>, CliError>,
    path: Vec<String>,
}

/// The steps of one run.
pub(super) struct Steps<'a> {
    context: &'a Context,
    layout: &'a Layout,
    /// The finished steps, in words.
    pub(super) done: Vec<String>,
    /// The failed registration of a device that is installed nevertheless.
    pub(super) registered: Result<(), CliError>,
    has_unit: bool,
}

/// Observes everything except the files. If something cannot be read, the step that needs it
/// reports why.
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
    /// Reports what stays unchanged, before the steps.
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

    /// Reports how to complete PATH, after the steps.
    pub(super) fn say_of_path(&self, context: &Context) {
        self.path.iter().for_each(|said| context.output.say(said));
        if let Some(line) = path_setup::zsh_completions(context) {
            context.output.say(&line);
        }
    }
}

impl<'a> Steps<'a> {
    /// Starts with the steps that were taken with the files.
    pub(super) fn after(context: &'a Context, layout: &'a Layout, files: Vec<String>) -> Self {
        Self { context, layout, done: files, registered: Ok(()), has_unit: true }
    }

    /// Takes one step. A unit that cannot be placed, or a failed registration, does not prevent the
    /// later steps.
    ///
    /// # Errors
    /// The failure of the step.
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

/// Makes sure that the installed version runs: the guard may have rolled back.
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
    context.output.say(&service::in_words(&service::availability(context)));
    let (local, deadline) = (LocalClient::of(&context.roots), Deadline::after(PATIENCE));
    let answers = match resolve::identity(context)? {
        Some(identity) => loop {
            let answer = local.healthz().await.ok();
            // An agent that has not adopted a new registration is still another device.
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
