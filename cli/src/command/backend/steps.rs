//! The steps after the file steps of a backend. Reads the whole state before it changes anything, then runs the steps
//! of the plan in order.

use link_installer::{
    decide::plan::backend::{BackendFound, BackendStep},
    service::{Scope, ServiceError, UnitStep, backend},
    versions::{self, Versions},
};
use link_platform::{checkpoint, fs};
use link_protocol::exit_code::ExitCode;
use semver::Version;

use crate::{
    backend_place::Place,
    command::install_files,
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// The steps of one run.
pub(super) struct Steps<'a> {
    pub(super) context: &'a Context,
    pub(super) place: &'a Place,
    /// The version to restore if the new one does not become ready.
    pub(super) before: Option<Version>,
    /// Descriptions of the finished steps.
    pub(super) done: Vec<String>,
}

/// Reads the state of everything except the files.
///
/// # Errors
/// If the service or the state of updates cannot be read.
pub(super) fn look(place: &Place) -> Result<BackendFound, CliError> {
    let service = place.scope.map(|scope| backend::look(&place.layout, &place.unit(scope)));
    Ok(BackendFound {
        missing_config: (!place.config.exists()).then(|| place.config.clone()),
        service: service.transpose().map_err(explain)?,
        outdated: versions::outdated(&place.layout, &install_files::own_version())?,
    })
}

/// Explains why a unit is left unchanged.
pub(super) fn kept(step: &UnitStep) -> Option<String> {
    match step {
        UnitStep::Leave | UnitStep::Write => None,
        UnitStep::Keep { difference } => Some(format!(
            "the unit `link-backend.service` was edited, so it is kept (- the file, + what Link would write):\n\
             {difference}"
        )),
        UnitStep::Masked | UnitStep::NotOurs => Some(
            "the unit `link-backend.service` is masked or belongs to another installation, so it is kept".to_owned(),
        ),
    }
}

impl Steps<'_> {
    /// Runs one step.
    ///
    /// # Errors
    /// The error of the step.
    pub(super) fn apply(&mut self, step: &BackendStep) -> Result<(), CliError> {
        let Self { context, place, .. } = self;
        match step {
            BackendStep::Configure(path) => {
                fs::create_private_dir(&place.layout.roots().config)
                    .and_then(|()| fs::write_atomic(path, place.default_config().as_bytes()))
                    .map_err(|error| CliError::file(&error))?;
                context.output.say(&format!("created the configuration {}", path.display()));
                checkpoint::reach("backend-configured");
            }
            BackendStep::OpenToService => {
                backend::open_to_service(&place.layout, &place.config).map_err(explain)?;
            }
            BackendStep::MakeUser => backend::make_user().map_err(explain)?,
            BackendStep::PlaceUnit(_) => self.place_unit()?,
            BackendStep::Start | BackendStep::Restart => self.start()?,
            BackendStep::Prune(_) => Versions::lock_within(&place.layout, versions::PATIENCE)
                .and_then(|versions| versions.prune())?,
        }
        self.done.push(step.to_string());
        Ok(())
    }

    fn place_unit(&self) -> Result<(), CliError> {
        let Some(scope) = self.place.scope else { return Ok(()) };
        let unit = self.place.unit(scope);
        if backend::place(&self.place.layout, &unit).map_err(explain)? == UnitStep::Write {
            self.context.output.say("created the unit `link-backend.service`");
        }
        Ok(())
    }

    /// Starts the service, and waits until it reports that it is ready. If it does not, restores the previous version.
    fn start(&self) -> Result<(), CliError> {
        let Some(scope) = self.place.scope else { return Ok(()) };
        let Err(error) = backend::restart(scope) else { return Ok(()) };
        let own = install_files::own_version();
        let failed = explain(error).hint(match scope {
            Scope::System => "see `journalctl -u link-backend`",
            Scope::User => "see `journalctl --user -u link-backend`",
        });
        let before = self.before.as_ref().filter(|before| **before != own);
        let Some(before) = before else { return Err(failed) };
        Versions::lock_within(&self.place.layout, versions::PATIENCE)
            .and_then(|versions| versions.point(before))?;
        // The error message needs only to know whether the previous version started.
        let came_back = backend::restart(scope).is_ok();
        let message = format!(
            "the backend {own} does not become ready ({}); version {before} {}",
            failed.message,
            if came_back { "runs again" } else { "is current again but does not start either" }
        );
        let hint = failed.hint.unwrap_or_default();
        Err(CliError::new(ExitCode::RolledBack, ErrorCode::RolledBack, message).hint(hint))
    }
}

fn explain(error: ServiceError) -> CliError {
    CliError::new(ExitCode::NotRunning, ErrorCode::Service, chain(&error))
}
