//! `link up`: sets up a backend of one's own, an account, this device and the agent.
//!
//! Each step first checks whether it is already done, so a second run completes an interrupted first one. If the first
//! start fails, its files are deleted again.

mod account;
mod device;
mod document;
mod fetch;

pub(super) use self::document::Ready;

use std::time::Duration;

use link_client::local::LocalClient;
use link_installer::engines::Engines;
use link_platform::fs::{self, Lock};
use link_protocol::{backend_api::local_owner::OwnerFile, exit_code::ExitCode, port::Port};

use self::document::{Account, Agent, Backend, ThisDevice};
use crate::{
    agent_process::{self, Started},
    args::Up,
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    local_backend::{self, LocalBackend, Settings},
    progress::Progress,
    resolve,
    wait::Deadline,
};

/// Timeout for another `link up` or `link down` to finish.
const TURN: Duration = Duration::from_mins(2);

/// The running backend, and how it was started.
struct Running {
    owner: OwnerFile,
    /// Whether this run has started the backend.
    is_started: bool,
    /// The former address of the backend, if another program has taken its port.
    before: Option<String>,
}

pub(super) async fn run(context: &Context, arguments: Up) -> Result<(), CliError> {
    // The variables that scripts set for other backends do not apply here.
    let context = &context.without_backend();
    let _turn = turn(context).await?;
    let local = LocalBackend::find(context)?;
    fetch::ensure(context, &local).await?;
    let progress = Progress::start(context.output);
    let running = ensure_backend(context, &local, arguments.port, &progress).await;
    let Running { owner, is_started, before } = running.inspect_err(|_| progress.finish())?;
    progress.show("logging in", 0, 0);
    let followed = device::follow(context, before.as_deref(), &owner.url).await;
    followed.inspect_err(|_| progress.finish())?;
    let login = account::ensure(context, &owner).await.inspect_err(|_| progress.finish())?;
    let is_known = resolve::identity(context).is_ok_and(|known| known.is_some());
    progress.show(
        if is_known { "looking up this device" } else { "registering this device" },
        0,
        0,
    );
    let device = device::ensure(context, &owner.url).await.inspect_err(|_| progress.finish())?;
    progress.show("starting the agent", 0, 0);
    let agent = agent_process::start(context).await.inspect_err(|_| progress.finish())?;
    let online = device::wait_until_online(context, device.id).await;
    progress.finish();
    online?;

    let output = context.output;
    let word = |now: bool| if now { "started" } else { "already running" };
    output.say(&format!("backend: {}, {}", word(is_started), owner.url));
    output.say(&format!("account: {}{}", login.email, if login.is_new { ", new" } else { "" }));
    output.say(&format!("device: {}{}", device.id, if device.is_new { ", new" } else { "" }));
    output.say(&format!("agent: {}", word(agent == Started::Now)));
    let has_engine = Engines::of_language_models(&context.roots.engines())
        .list()
        .is_ok_and(|builds| !builds.is_empty());
    if !has_engine {
        output.say(
            "no inference engine is installed yet: the first `link run` brings one, or `link engine \
             install FILE`",
        );
    }
    output.say("chat in the terminal with `link run MODEL`, in the browser with `link open`");
    let local_api = LocalClient::of(&context.roots).port();
    let document = Ready {
        backend: Backend { url: &owner.url, started: is_started, data: local.folder() },
        account: Account { email: &login.email, created: login.is_new },
        device: ThisDevice { device_id: device.id, registered: device.is_new },
        agent: Agent { started: agent == Started::Now, local_api_port: local_api },
        engine_installed: has_engine,
    };
    output.data(&document, |_| {
        let api = local_api
            .map_or_else(String::new, |port| format!("\nlocal API   http://127.0.0.1:{port}"));
        format!("dashboard   {0}/\nworkspace   {0}/workspace{api}", owner.url)
    })
}

/// Waits for exclusive access to this user's backend.
///
/// # Errors
/// If another command does not finish in time.
pub(super) async fn turn(context: &Context) -> Result<Lock, CliError> {
    fs::create_private_dir(&context.roots.state).map_err(|error| CliError::file(&error))?;
    let file = context.roots.state.join("up.lock");
    let deadline = Deadline::after(TURN);
    let mut is_told = false;
    loop {
        if let Some(lock) = fs::try_lock(&file).map_err(|error| CliError::file(&error))? {
            return Ok(lock);
        }
        if !is_told {
            context
                .output
                .say("another `link up` or `link down` is running; waiting until it has ended");
            is_told = true;
        }
        if !deadline.pause_locally().await {
            let message = "another `link up` or `link down` is still running";
            return Err(CliError::new(ExitCode::Busy, ErrorCode::Busy, message)
                .hint("stop that command, or run this one again when it has ended"));
        }
    }
}

/// Starts the backend if it is stopped, with new settings if it has none.
async fn ensure_backend(
    context: &Context,
    local: &LocalBackend,
    wanted: Option<Port>,
    progress: &Progress,
) -> Result<Running, CliError> {
    let kept = local.settings()?.filter(|settings| !local.is_unused_server(settings));
    if let Some(settings) = &kept
        && !settings.is_for_one_person()
    {
        return Err(of_many(local));
    }
    let mut settings = match &kept {
        Some(settings) => at_home(context, local, settings.clone()),
        None => {
            let port = local_backend::free_port(wanted.map(Port::get))?;
            Settings::new(local.folder(), port)
        }
    };
    let before = kept.as_ref().and_then(Settings::port);
    if local.is_running()? && is_at(wanted, before) {
        if let Some(owner) = local.owner() {
            return Ok(Running { owner, is_started: false, before: None });
        }
        // The backend is starting or stopping.
        local.stop().await?;
    } else if local.is_running()? {
        local.stop().await?;
    }
    if let Some(port) = before {
        settings = with_free_port(context, settings, port, wanted)?;
    }
    let is_first = kept.is_none() && !local.folder().exists();
    if kept.as_ref() != Some(&settings) {
        local.write(&settings)?;
    }
    progress.show("starting the backend", 0, 0);
    match local.start(context).await {
        Ok(owner) => {
            let url = kept.as_ref().and_then(Settings::url);
            let before = url.filter(|url| *url != owner.url);
            Ok(Running { owner, is_started: true, before })
        }
        Err(error) => {
            if is_first {
                local.forget()?;
            }
            Err(error)
        }
    }
}

fn is_at(wanted: Option<Port>, port: Option<u16>) -> bool {
    wanted.is_none_or(|wanted| Some(wanted.get()) == port)
}

/// Corrects the folder in the settings if the home folder has moved.
fn at_home(context: &Context, local: &LocalBackend, settings: Settings) -> Settings {
    let data = local.folder();
    let named = settings.data().map(std::path::PathBuf::from);
    if named.is_none_or(|named| named == data || named.exists()) || !data.exists() {
        return settings;
    }
    context.output.say(&format!(
        "the home folder has moved: the backend's data is now in {}",
        data.display()
    ));
    settings.with_data(data)
}

/// Returns the settings with the requested port, or with a free port if that port is taken.
fn with_free_port(
    context: &Context,
    settings: Settings,
    port: u16,
    wanted: Option<Port>,
) -> Result<Settings, CliError> {
    let wanted = wanted.map_or(port, Port::get);
    let free = if local_backend::is_free(wanted) {
        wanted
    } else {
        local_backend::free_port(Some(wanted))?
    };
    if free != wanted {
        context.output.say(&format!(
            "port {wanted} is in use by another program, so the backend listens on port {free}"
        ));
    }
    Ok(if free == port { settings } else { settings.with_port(free) })
}

fn of_many(local: &LocalBackend) -> CliError {
    let message = format!("`{}` is the configuration of a server", local.config().display());
    CliError::new(ExitCode::Failed, ErrorCode::Server, message).hint(
        "log in to that server with `link login` and register this device with `link register`; \
         `link up` is for a machine without one",
    )
}
