//! `link register`: makes this machine a device.
//!
//! The identity file is written atomically after the backend's answer, so a device is either registered or not. The
//! device's key pair is stored before the request: if the answer is lost, a retry with the same key pair gets the same
//! device, even with a key for only one device.

use std::io::IsTerminal as _;

use link_client::{
    backend::{BackendClient, Tokens},
    enrolment::{Enrolment, NotEnrolled},
    http::{Failure, Http},
};
use link_platform::{facts, fs};
use link_protocol::{
    backend_api::key::CreateKey,
    exit_code::ExitCode,
    id::DeviceId,
    identity::Identity,
    key::{EnrolmentKey, KeyKind},
    registration::TransportSettings,
    secret::Secret,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    agent_process,
    args::Register,
    backend_login,
    command::account,
    context::{self, Context},
    document::Component,
    error::CliError,
    error_code::ErrorCode,
    prompt, resolve, secret_input,
};

/// This machine as a device.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Registration<'a> {
    #[schemars(with = "Component<DeviceId>")]
    device_id: DeviceId,
    backend_url: &'a str,
    #[schemars(with = "Component<TransportSettings>")]
    transport: &'a TransportSettings,
    /// Whether the id that this machine had or asked for is not a device of the account, so that
    /// the machine has another id.
    requested_id_unknown: bool,
}

pub(super) async fn run(context: &Context, arguments: &Register) -> Result<(), CliError> {
    let given = given_key(context, arguments)?;
    let before = resolve::identity(context)?.filter(|_| !arguments.new_device);
    let before = before.map(|identity| identity.device_id);
    let asked = arguments.device_id.or(before);
    let identity = register(context, arguments, given)
        .await
        .map_err(|error| error.context("not registered"))?;
    let device_id = identity.device_id;
    match asked.filter(|asked| *asked != device_id) {
        None => context.output.say(&format!("registered as {device_id}")),
        Some(asked) => {
            let kept = before == Some(device_id);
            let has = if kept { "keeps its id" } else { "has a new id" };
            context.output.say(&format!(
                "registered as {device_id}: {asked} is not a device of this account, so this \
                 machine {has}"
            ));
        }
    }
    if !agent_process::is_running(context)? {
        context.output.say("the agent is not running: start it with `link start`");
    }
    let document = Registration {
        device_id,
        backend_url: &identity.backend_url,
        transport: &identity.transport,
        requested_id_unknown: asked.is_some_and(|asked| asked != device_id),
    };
    context.output.data(&document, |_| String::new())
}

/// Returns the key from the arguments or, if they have none, from the environment.
///
/// # Errors
/// If the key is mistyped or of the other kind. Nothing has been sent then.
pub(super) fn given_key(
    context: &Context,
    arguments: &Register,
) -> Result<Option<EnrolmentKey>, CliError> {
    let (text, kind, source) = match (&arguments.registration_key, &arguments.fleet_key) {
        (Some(text), _) => (secret(text, "key")?, KeyKind::Registration, "--registration-key"),
        (None, Some(text)) => (secret(text, "key")?, KeyKind::Fleet, "--fleet-key"),
        (None, None) => match from_environment(context)? {
            Some(given) => given,
            None => return Ok(None),
        },
    };
    let refused = |why: String| {
        CliError::new(ExitCode::KeyRefused, ErrorCode::KeyMistyped, format!("{source}: {why}"))
            .hint("the key is truncated or mistyped; copy it again (nothing was sent)")
    };
    let key = EnrolmentKey::parse(text.expose().trim()).map_err(|why| refused(why.to_string()))?;
    match (kind, key.kind()) {
        (KeyKind::Registration, KeyKind::Fleet) => {
            Err(refused("this is a fleet key".to_owned()).hint("give it as --fleet-key"))
        }
        (KeyKind::Fleet, KeyKind::Registration) => {
            Err(refused("this is a registration key".to_owned())
                .hint("give it as --registration-key"))
        }
        (KeyKind::Registration, KeyKind::Registration) | (KeyKind::Fleet, KeyKind::Fleet) => {
            Ok(Some(key))
        }
    }
}

/// Returns the key from the environment: from the variable with the key, or from the file that another variable names.
fn from_environment(
    context: &Context,
) -> Result<Option<(Secret, KeyKind, &'static str)>, CliError> {
    let environment = &context.environment;
    let of_file = |file: &Option<String>| {
        file.as_ref().map(|file| secret_input::line_of(file, "key")).transpose()
    };
    let given = [
        (environment.registration_key.clone(), KeyKind::Registration, "LINK_REGISTRATION_KEY"),
        (environment.fleet_key.clone(), KeyKind::Fleet, "LINK_FLEET_KEY"),
        (
            of_file(&environment.registration_key_file)?,
            KeyKind::Registration,
            "LINK_REGISTRATION_KEY_FILE",
        ),
        (of_file(&environment.fleet_key_file)?, KeyKind::Fleet, "LINK_FLEET_KEY_FILE"),
    ];
    let mut given = given.into_iter().filter_map(|(key, kind, from)| Some((key?, kind, from)));
    match (given.next(), given.next()) {
        (Some((.., first)), Some((.., second))) => {
            let message = format!("both {first} and {second} are set");
            Err(CliError::usage(message).hint("unset one of them"))
        }
        (first, _) => Ok(first),
    }
}

/// Registers the device, and writes the identity file.
///
/// # Errors
/// The reason why the device was not registered.
pub(super) async fn register(
    context: &Context,
    arguments: &Register,
    given: Option<EnrolmentKey>,
) -> Result<Identity, CliError> {
    let url = backend_login::backend_url(context, arguments.backend.url.as_deref())?;
    let http = Http::new(&url)?;
    let before = known_device(context, arguments, http.base())?;
    fs::create_private_dir(&context.roots.state).map_err(|error| CliError::file(&error))?;
    let account = account_given(context, arguments, &http).await?;
    let (key, backend) = match (given, account) {
        // With the login, the backend checks that the key belongs to the same account.
        (Some(key), Some(account)) => (key, http.with_bearer(account.access_token())),
        (Some(key), None) => (key, http.clone()),
        (None, account) => key_of_account(context, account, &http).await?,
    };
    let enrolment = Enrolment {
        roots: &context.roots,
        key: &key,
        device_id: arguments.device_id,
        name: arguments.name.as_deref(),
        before: before.as_ref(),
        agent_version: env!("CARGO_PKG_VERSION").parse().expect("Cargo checks the version"),
        now: context::now(),
    };
    enrolment.enrol(&backend).await.map_err(explain)
}

/// Returns the existing device of this machine, unless it shall become a new device.
fn known_device(
    context: &Context,
    arguments: &Register,
    base: &str,
) -> Result<Option<Identity>, CliError> {
    if arguments.new_device {
        return Ok(None);
    }
    let Some(identity) = resolve::identity(context)? else { return Ok(None) };
    if identity.backend_url == base {
        return Ok(Some(identity));
    }
    let message =
        format!("this machine is registered with {}, not with {base}", identity.backend_url);
    Err(CliError::new(ExitCode::Failed, ErrorCode::RegisteredElsewhere, message)
        .hint("to leave that backend, add --new-device"))
}

/// Logs in to the account that the arguments name. None if they name none.
async fn account_given(
    context: &Context,
    arguments: &Register,
    http: &Http,
) -> Result<Option<BackendClient>, CliError> {
    let tokens = match (&arguments.token, &arguments.email) {
        (Some(token), _) => Tokens { access: secret(token, "token")?, refresh: None },
        (None, Some(email)) => {
            let password_stdin = arguments.password_stdin;
            account::sign_in(context, http, email.clone(), password_stdin).await?.1
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(BackendClient::new(http.clone(), tokens, None)))
}

/// Registers without a given key: creates a key for the logged-in account, and presents the key with the account's
/// access token.
async fn key_of_account(
    context: &Context,
    account: Option<BackendClient>,
    http: &Http,
) -> Result<(EnrolmentKey, Http), CliError> {
    let no_key = |error: CliError| {
        if error.is(ErrorCode::NotLoggedIn) {
            CliError::new(ExitCode::NotRegistered, ErrorCode::NoKey, "no key was given").hint(
                "give --registration-key or --fleet-key, or log in: --email, --token or \
                     `link login`",
            )
        } else {
            error
        }
    };
    let login = account.map_or_else(|| backend_login::logged_in(context).map_err(no_key), Ok)?;
    if login.http().base() != http.base() {
        let message = format!("the login is for {}, not for {}", login.http().base(), http.base());
        return Err(CliError::usage(message).hint("use a key of that backend, or log in to it"));
    }
    let request = CreateKey {
        kind: KeyKind::Registration,
        name: format!("for {}", facts::hostname()),
        expires_at: None,
        max_devices: None,
        tags: Vec::new(),
    };
    let created = login.create_key(&request).await?;
    Ok((created.key, http.with_bearer(login.access_token())))
}

fn explain(failure: NotEnrolled) -> CliError {
    let again = "run the same command again: it continues where this run stopped";
    match failure {
        NotEnrolled::Backend(failure @ Failure::Unavailable { .. }) => {
            CliError::from(failure).hint(again)
        }
        NotEnrolled::Backend(failure @ Failure::Refused(_)) => failure.into(),
        NotEnrolled::File(error) => CliError::file(&error),
        NotEnrolled::NoRandomness => {
            CliError::new(ExitCode::Failed, ErrorCode::NoRandomness, failure.to_string())
        }
    }
}

/// Returns the secret of an argument. For `-`, prompts for it on a terminal, and otherwise reads stdin.
fn secret(argument: &str, what: &str) -> Result<Secret, CliError> {
    match argument {
        "-" if std::io::stdin().is_terminal() => prompt::ask_secret(what, "a pipe"),
        "-" => secret_input::stdin_line(what),
        given => Ok(Secret::new(given)),
    }
}
