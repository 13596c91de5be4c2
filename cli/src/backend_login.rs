//! The backend and the login that a command uses.

use link_client::{
    backend::{BackendClient, Tokens},
    http::Http,
};
use link_platform::fs;

use link_protocol::exit_code::ExitCode;

use crate::{
    context::Context,
    credentials::{Credentials, CredentialsFile},
    error::CliError,
    error_code::ErrorCode,
    local_backend::LocalBackend,
};

/// The backend's address that is compiled into this program, if any.
const BUILT_FOR: Option<&str> = option_env!("LINK_DEFAULT_BACKEND_URL");

/// The file that stores the address.
const BACKEND_URL: &str = "backend_url";

/// Returns a client of the backend, with the stored login.
///
/// # Errors
/// If nobody is logged in.
pub(crate) fn logged_in(context: &Context) -> Result<BackendClient, CliError> {
    let file = CredentialsFile::of(&context.roots);
    if let Some(access) = context.environment.access_token.clone() {
        let http = Http::new(&backend_url(context, None)?)?;
        return Ok(BackendClient::new(http, Tokens { access, refresh: None }, None));
    }
    let Some(Credentials { backend_url, access_token, refresh_token, .. }) = file.read()? else {
        return Err(not_logged_in());
    };
    let given = context.environment.backend_url.as_deref().map(|url| url.trim_end_matches('/'));
    if given.is_some_and(|given| given != backend_url) {
        let message = format!(
            "LINK_BACKEND_URL is `{}`, but the login is for `{backend_url}`",
            given.unwrap_or_default()
        );
        return Err(
            CliError::usage(message).hint("log in there with `link login`, or unset the variable")
        );
    }
    // While this user's backend is stopped, another user of this machine could listen on its port.
    LocalBackend::look(context).must_run_at(&backend_url)?;
    let tokens = Tokens { access: access_token, refresh: refresh_token };
    Ok(BackendClient::new(Http::new(&backend_url)?, tokens, Some(Box::new(file))))
}

/// Returns the address of the backend: from the argument, the environment, the login, the
/// installation, or this build.
///
/// # Errors
/// If none of them has an address.
pub(crate) fn backend_url(context: &Context, given: Option<&str>) -> Result<String, CliError> {
    if let Some(url) = given.or(context.environment.backend_url.as_deref()) {
        return Ok(url.trim().trim_end_matches('/').to_owned());
    }
    if let Some(login) = CredentialsFile::of(&context.roots).read()? {
        return Ok(login.backend_url);
    }
    if let Ok(url) = fs::read_to_string(&context.roots.config.join(BACKEND_URL)) {
        return Ok(url.trim().to_owned());
    }
    BUILT_FOR.map(str::to_owned).ok_or_else(|| {
        CliError::usage("the address of the backend is unknown")
            .hint("give it with --backend or LINK_BACKEND_URL")
    })
}

/// Returns the backend's address, if it is known but not yet stored by [`keep_backend`].
pub(crate) fn unkept_backend(context: &Context) -> Option<String> {
    let url = backend_url(context, None).ok()?;
    let kept = fs::read_to_string(&context.roots.config.join(BACKEND_URL));
    (!kept.is_ok_and(|kept| kept == format!("{url}\n"))).then_some(url)
}

/// Stores the address of the backend for later commands.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn keep_backend(context: &Context, url: &str) -> Result<(), CliError> {
    let folder = &context.roots.config;
    fs::create_private_dir(folder)
        .and_then(|()| fs::write_atomic(&folder.join(BACKEND_URL), format!("{url}\n").as_bytes()))
        .map_err(|error| CliError::file(&error))
}

fn not_logged_in() -> CliError {
    CliError::new(ExitCode::Refused, ErrorCode::NotLoggedIn, "nobody is logged in")
        .hint("log in with `link login`, or run `link up` for a backend of your own")
}
