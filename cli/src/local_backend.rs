//! The backend that `link up` runs for this user: its place, its state, its start and its stop.
//!
//! While it runs, the backend holds a lock and a file that only this user can read, with the owner's proof, its address
//! and its process id. The file is valid only while that process listens at that address.

mod existing;
mod settings;

use std::{
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use link_client::http::{Call, Http};
use link_installer::{
    layout::Layout,
    receipt::Receipt,
    service::{Scope, UnitStep, Wish, backend},
    versions,
};
use link_platform::{
    fs, port_owner,
    process::{self, DetachedChild, Program},
    program,
};
use link_protocol::{
    backend_api::local_owner::{OWNER_FILE, OWNER_FOLDER, OwnerFile},
    exit_code::ExitCode,
};

use crate::{
    backend_place::Place,
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
    service,
    wait::Deadline,
};
pub(crate) use existing::start_command;
pub(crate) use settings::Settings;

/// Timeout for the start or the stop of the backend.
const PATIENCE: Duration = Duration::from_secs(60);
/// The port of a first start, and how many of the next ports are tried.
const FIRST_PORT: u16 = 8000;
const PORTS: u16 = 10;
/// A larger log is truncated at the next start, in bytes.
const LOG_LIMIT: u64 = 16 * 1024 * 1024;
/// The size of the end of the log that is searched for its last message, in bytes.
const LOG_END: u64 = 4096;
/// The size limit of the file with the owner's proof, in bytes.
const OWNER_LIMIT: u64 = 4096;
/// Variables that the backend must not inherit.
const SECRETS: [&str; 3] = ["LINK_REGISTRATION_KEY", "LINK_FLEET_KEY", "LINK_ACCESS_TOKEN"];

/// The backend of this user.
pub(crate) struct LocalBackend {
    place: Place,
}

impl LocalBackend {
    /// Returns the installed backend, or the place for a future one.
    ///
    /// # Errors
    /// If `LINK_SERVICE` has an unknown value.
    pub(crate) fn find(context: &Context) -> Result<Self, CliError> {
        Ok(Self { place: Place::of_user(context, service::wish(context)?) })
    }

    /// Like [`Self::find`], but without asking the service manager, for callers that only send requests.
    pub(crate) fn look(context: &Context) -> Self {
        Self { place: Place::of_user(context, Wish::Detached) }
    }

    /// Returns the folder of all its data.
    pub(crate) fn folder(&self) -> &Path {
        &self.place.layout.roots().state
    }

    pub(crate) fn config(&self) -> &Path {
        &self.place.config
    }

    /// Reads its settings. None if there are none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn settings(&self) -> Result<Option<Settings>, CliError> {
        match fs::read_to_string(self.config()) {
            Ok(text) => Ok(Some(Settings::of(text))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(CliError::file(&error)),
        }
    }

    /// Writes its settings.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, settings: &Settings) -> Result<(), CliError> {
        fs::create_private_dir(&self.place.layout.roots().config)
            .and_then(|()| fs::write_atomic(self.config(), settings.text().as_bytes()))
            .map_err(|error| CliError::file(&error))
    }

    /// Returns whether the settings belong to a first installation as a server that was never used.
    pub(crate) fn is_unused_server(&self, settings: &Settings) -> bool {
        let is_used =
            self.folder().join("link.db").exists() && !self.folder().join("setup-token").exists();
        settings.text() == self.place.default_config() && !is_used
    }

    /// Returns whether the backend runs.
    ///
    /// # Errors
    /// If the backend's lock cannot be checked.
    pub(crate) fn is_running(&self) -> Result<bool, CliError> {
        match fs::try_lock(&self.folder().join("lock")) {
            Ok(lock) => Ok(lock.is_none()),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(CliError::file(&error)),
        }
    }

    /// Returns the owner file of the running backend. None if no backend answers.
    pub(crate) fn owner(&self) -> Option<OwnerFile> {
        let file = self.folder().join(OWNER_FOLDER).join(OWNER_FILE);
        let text = fs::read_limited(&file, OWNER_LIMIT).ok()?;
        let owner: OwnerFile = serde_json::from_str(&text).ok()?;
        is_its_port(&owner).then_some(owner)
    }

    /// Checks that the backend runs, if `url` is its address.
    ///
    /// # Errors
    /// If the backend does not run.
    pub(crate) fn must_run_at(&self, url: &str) -> Result<(), CliError> {
        let Some(settings) = self.settings()?.filter(Settings::is_for_one_person) else {
            return Ok(());
        };
        let is_its = settings.url().as_deref() == Some(url);
        if is_its && self.owner().is_none() { Err(not_running(true)) } else { Ok(()) }
    }

    /// Returns the owner file of the running backend, or an error.
    ///
    /// # Errors
    /// If the backend does not run.
    pub(crate) fn running(&self) -> Result<OwnerFile, CliError> {
        match self.owner() {
            Some(owner) => Ok(owner),
            None => Err(not_running(self.exists()?)),
        }
    }

    /// Returns the backend's program: from its own installation, from that of `link`, or beside this program.
    ///
    /// # Errors
    /// If the program is not installed.
    pub(crate) fn program(&self, context: &Context) -> Result<PathBuf, CliError> {
        let beside = std::env::current_exe().ok().map(|own| own.canonicalize().unwrap_or(own));
        let with_link = versions::program(&Layout::new(context.roots.clone()), program::BACKEND);
        let places = [
            Some(with_link),
            Some(versions::program(&self.place.layout, program::BACKEND)),
            beside.map(|own| own.with_file_name(program::BACKEND)),
        ];
        places.into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| {
            let message = "the program `link-backend` is not installed";
            CliError::new(ExitCode::NotRunning, ErrorCode::NoBackend, message).hint(
                "install it with `sh install.sh --backend`, from where Link was installed, and run \
                 `link up` again",
            )
        })
    }

    /// Starts the backend and waits until it answers.
    ///
    /// # Errors
    /// If the backend ends at once or does not answer in time. Then it does not run any more.
    pub(crate) async fn start(&self, context: &Context) -> Result<OwnerFile, CliError> {
        let program = self.program(context)?;
        fs::create_private_dir(self.folder()).map_err(|error| CliError::file(&error))?;
        let by_unit = self.place_unit(context, &program)?;
        let mut child = match by_unit {
            Some(scope) => {
                if let Err(error) = backend::restart(scope) {
                    let why = last_line_of_journal();
                    self.stop_unit();
                    return Err(not_started(why.unwrap_or_else(|| chain(&error))));
                }
                None
            }
            None => Some(self.spawn(&program)?),
        };
        let deadline = Deadline::after(PATIENCE);
        loop {
            let ours = |owner: &OwnerFile| child.as_ref().is_none_or(|one| one.id() == owner.pid);
            if let Some(owner) = self.owner().filter(ours)
                && is_ready(&owner).await
            {
                return Ok(owner);
            }
            if child.as_mut().is_some_and(DetachedChild::reap) {
                return Err(not_started(self.last_line_of_log()));
            }
            if !deadline.pause_locally().await {
                self.stop_unit();
                if let Some(child) = child {
                    let _gone = process::terminate(child.id());
                }
                return Err(not_started("it does not answer".to_owned()));
            }
        }
    }

    /// Stops the backend. Returns false if it was not running.
    ///
    /// # Errors
    /// If the backend does not stop in time.
    pub(crate) async fn stop(&self) -> Result<bool, CliError> {
        let by_unit = self.stop_unit();
        if !self.is_running()? {
            return Ok(by_unit);
        }
        let deadline = Deadline::after(PATIENCE);
        let pid = loop {
            if let Some(owner) = self.owner() {
                break owner.pid;
            }
            if !self.is_running()? {
                return Ok(true);
            }
            if !deadline.pause_locally().await {
                return Err(
                    deadline.gave_up("the backend runs without a process id file; try again")
                );
            }
        };
        let _gone = process::terminate(pid);
        while self.is_running()? {
            if !deadline.pause_locally().await {
                let what = format!("the backend ignores the request to stop; end process {pid}");
                return Err(deadline.gave_up(&what));
            }
        }
        Ok(true)
    }

    /// Returns the scope of the service manager that runs the backend. None if a command starts it.
    pub(crate) const fn scope(&self) -> Option<Scope> {
        self.place.scope
    }

    pub(crate) const fn place(&self) -> &Place {
        &self.place
    }

    /// Deletes the files of a failed first start.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    pub(crate) fn forget(&self) -> Result<(), CliError> {
        if let Some(scope) = self.scope() {
            let receipt = Receipt::read(&self.place.layout.receipt()).unwrap_or_default();
            let left = backend::remove(&receipt, scope);
            if let Some((path, why)) = left.first() {
                let message = format!("`{}` could not be deleted: {why}", path.display());
                return Err(CliError::new(ExitCode::CannotWrite, ErrorCode::File, message));
            }
        }
        fs::remove_file(self.config())
            .and_then(|()| fs::remove_dir(self.folder()))
            .map_err(|error| CliError::file(&error))
    }

    /// Installs the unit if this user's service manager runs the backend.
    fn place_unit(&self, context: &Context, program: &Path) -> Result<Option<Scope>, CliError> {
        let Some(scope) = self.scope() else { return Ok(None) };
        // The receipt, which lists the unit, is in this folder.
        fs::create_private_dir(&self.place.layout.roots().data)
            .map_err(|error| CliError::file(&error))?;
        let mut unit = self.place.unit(scope);
        program.clone_into(&mut unit.program);
        let step = backend::place(&self.place.layout, &unit).map_err(|error| {
            CliError::new(ExitCode::NotRunning, ErrorCode::Service, chain(&error))
                .hint("LINK_SERVICE=none starts the backend without a service")
        })?;
        if matches!(step, UnitStep::Masked | UnitStep::NotOurs) {
            context.output.say(
                "the unit `link-backend.service` is masked or belongs to another installation, so the \
                 backend runs without a service: run `link up` again after a reboot",
            );
            return Ok(None);
        }
        service::linger(context, &Layout::new(context.roots.clone()))?;
        Ok(Some(scope))
    }

    fn stop_unit(&self) -> bool {
        let Some(scope) = self.scope().filter(|scope| backend::is_active(*scope)) else {
            return false;
        };
        backend::stop(scope).is_ok()
    }

    fn spawn(&self, program: &Path) -> Result<DetachedChild, CliError> {
        let log = self.log();
        if log.exists() {
            fs::truncate_above(&log, LOG_LIMIT).map_err(|error| CliError::file(&error))?;
        }
        let mut args = vec!["serve".into(), "--config".into()];
        args.push(self.config().as_os_str().to_owned());
        let env = SECRETS.iter().map(|name| ((*name).into(), "".into())).collect();
        let program = Program { path: program.to_owned(), args, env, log: Some(log) };
        DetachedChild::start(&program).map_err(|error| {
            not_started(format!("`{}` cannot be run: {error}", program.path.display()))
        })
    }

    fn log(&self) -> PathBuf {
        self.folder().join("backend.log")
    }

    fn last_line_of_log(&self) -> String {
        let end = fs::read_end(&self.log(), LOG_END).unwrap_or_default();
        let last = end.lines().rfind(|line| !line.trim().is_empty());
        last.map_or_else(|| "it logged nothing".to_owned(), |line| line.trim().to_owned())
    }
}

/// Returns a free port: `wanted` (or the default port), one of the next ports, or any other port. If `wanted` is 0, any port.
///
/// # Errors
/// If no port is free.
pub(crate) fn free_port(wanted: Option<u16>) -> Result<u16, CliError> {
    let first = wanted.unwrap_or(FIRST_PORT);
    let ports = (first..=first.saturating_add(PORTS)).chain([0]);
    let mut listeners =
        ports.filter_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok());
    let address = listeners.next().and_then(|listener| listener.local_addr().ok());
    address.map(|address| address.port()).ok_or_else(|| {
        CliError::new(ExitCode::Failed, ErrorCode::NoPort, "no port of 127.0.0.1 is free")
            .hint("stop a program that listens there, then run `link up` again")
    })
}

/// Returns whether `port` is free.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Returns whether the process that wrote the file listens at the address in the file. If the system does not report
/// listeners, the file is trusted, because only this user can write it.
fn is_its_port(owner: &OwnerFile) -> bool {
    let port = owner.url.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    port.is_some_and(|port| {
        !port_owner::KNOWS || port_owner::listener_of(owner.pid, port).is_some()
    })
}

async fn is_ready(owner: &OwnerFile) -> bool {
    match Http::new(&owner.url) {
        Ok(http) => http.call_for_status(Call::get("/readyz")).await.is_ok(),
        Err(_) => false,
    }
}

/// Returns the last message of the backend in the journal of the service manager.
fn last_line_of_journal() -> Option<String> {
    let words = ["--user", "--unit", "link-backend", "--lines", "20", "--output", "cat", "--quiet"];
    let call = process::Call {
        program: "journalctl".into(),
        args: words.iter().map(Into::into).collect(),
        env: None,
        limit: Duration::from_secs(5),
    };
    let said = process::call(&call).ok()?.stdout;
    let own = said.lines().rfind(|line| line.starts_with("link-backend: "));
    own.map(|line| line.trim().to_owned())
}

fn not_started(why: String) -> CliError {
    let message = format!("the backend did not start: {why}");
    CliError::new(ExitCode::NotRunning, ErrorCode::BackendNotRunning, message)
        .hint("correct this, then run `link up` again")
}

fn not_running(exists: bool) -> CliError {
    let message =
        if exists { "your backend does not run" } else { "you have no backend on this machine" };
    CliError::new(ExitCode::NotRunning, ErrorCode::BackendNotRunning, message).hint("run `link up`")
}
