//! This machine as a device of the backend of `link up`.

use std::time::Duration;

use link_platform::fs;
use link_protocol::{exit_code::ExitCode, id::DeviceId, identity::Identity, problem::Code};

use crate::{
    agent_process,
    args::{Backend, Register},
    backend_login,
    command::register,
    context::Context,
    credentials::CredentialsFile,
    error::CliError,
    error_code::ErrorCode,
    resolve,
    wait::{Deadline, tolerate},
};

/// Timeout for the backend to hear from the device.
const PATIENCE: Duration = Duration::from_secs(60);

/// This machine's device.
pub(super) struct Device {
    pub(super) id: DeviceId,
    /// Whether this run has registered the device.
    pub(super) is_new: bool,
}

/// Updates the address in the login and the identity after the backend's port has changed. `before`
/// is the former address. Stops an agent with the former address, because it would restart at a
/// moment that the next command cannot foresee.
///
/// # Errors
/// If a file cannot be read or written, or the agent does not stop.
pub(super) async fn follow(
    context: &Context,
    before: Option<&str>,
    url: &str,
) -> Result<(), CliError> {
    let Some(before) = before else { return Ok(()) };
    let credentials = CredentialsFile::of(&context.roots);
    if let Some(mut kept) = credentials.read()?.filter(|kept| kept.backend_url == before) {
        url.clone_into(&mut kept.backend_url);
        credentials.write(&kept)?;
    }
    if let Some(mut identity) = resolve::identity(context)?.filter(|it| it.backend_url == before) {
        url.clone_into(&mut identity.backend_url);
        fs::write_private(&context.roots.identity(), identity.to_text().as_bytes())
            .map_err(|error| CliError::file(&error))?;
        agent_process::stop(context).await?;
    }
    Ok(())
}

/// Registers this machine, unless it is already a device of the backend.
///
/// # Errors
/// If this machine is a device of another backend, or the backend refuses.
pub(super) async fn ensure(context: &Context, url: &str) -> Result<Device, CliError> {
    if let Some(Identity { device_id, backend_url, .. }) = resolve::identity(context)? {
        if backend_url != url {
            return Err(elsewhere(&backend_url));
        }
        match backend_login::logged_in(context)?.device(device_id).await.map_err(CliError::from) {
            Ok(_) => return Ok(Device { id: device_id, is_new: false }),
            Err(error) if error.code.as_str() == Code::NotFound.as_str() => {}
            Err(error) => return Err(error),
        }
    }
    let backend = Backend { url: Some(url.to_owned()) };
    let arguments = Register { backend, ..Register::default() };
    let identity = register::register(context, &arguments, None)
        .await
        .map_err(|error| error.context("this device is not registered"))?;
    Ok(Device { id: identity.device_id, is_new: true })
}

/// Waits until the backend has heard from the device.
///
/// # Errors
/// If the deadline has passed.
pub(super) async fn wait_until_online(context: &Context, device: DeviceId) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let deadline = Deadline::after(PATIENCE);
    loop {
        let asked_for = match tolerate(backend.device(device).await)? {
            Ok(found) if found.online => return Ok(()),
            Ok(_) => None,
            Err(asked_for) => asked_for,
        };
        if !deadline.pause(asked_for).await {
            return Err(deadline
                .gave_up("the agent runs, but the backend has not heard from it")
                .hint("`link status` shows the agent's connection; run `link up` again"));
        }
    }
}

fn elsewhere(url: &str) -> CliError {
    let message = format!("this machine is a device of {url}");
    CliError::new(ExitCode::Failed, ErrorCode::RegisteredElsewhere, message).hint(
        "`link up` starts your own backend: leave the other one first, with `link uninstall` or \
         by removing the device in its dashboard",
    )
}
