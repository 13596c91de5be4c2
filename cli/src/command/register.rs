//! `link register`: makes this machine a device, with a key alone.
//!
//! The identity file is written after the backend's answer and in one step, so a device is
//! registered or it is not. The device's own key is kept from before the call: when the answer is
//! lost, the same command again gets the same device, even with a key that is good for one.

use link_client::{
    agent,
    backend::BackendClient,
    http::{Failure, Http},
};
use link_platform::{facts, fs};
use link_protocol::{
    backend_api::key::CreateKey,
    identity::{Identity, SCHEMA_VERSION, encode_seed},
    key::{EnrolmentKey, KeyKind},
    registration::{KeyProof, Platform, RegisterRequest, proof_statement},
    secret::Secret,
    signing::SigningKey,
};
use serde_json::json;

use crate::{
    agent_process,
    args::Register,
    context::{self, Context},
    error::CliError,
    exit_code::ExitCode,
    resolve, secret_input, session,
};

pub(super) async fn run(context: &Context, arguments: &Register) -> Result<(), CliError> {
    let given = given_key(context, arguments)?;
    let identity = register(context, arguments, given)
        .await
        .map_err(|error| error.context("not registered"))?;
    context.output.say(&format!("registered as {}", identity.device_id));
    if !agent_process::is_running(context)? {
        context.output.say("the agent does not run: start it with `link start`");
    }
    let document = json!({
        "device_id": identity.device_id, "backend_url": identity.backend_url,
        "transport": identity.transport,
    });
    context.output.data(&document, |_| String::new())
}

/// Returns the key that was given as an argument or in the environment; arguments win.
///
/// # Errors
/// When it is mistyped, or of the other kind. Nobody has been called then.
pub(super) fn given_key(
    context: &Context,
    arguments: &Register,
) -> Result<Option<EnrolmentKey>, CliError> {
    let environment = &context.environment;
    let (text, kind, source) = match (&arguments.registration_key, &arguments.fleet_key) {
        (Some(text), _) => (secret(text)?, KeyKind::Registration, "--registration-key"),
        (None, Some(text)) => (secret(text)?, KeyKind::Fleet, "--fleet-key"),
        (None, None) => match (&environment.registration_key, &environment.fleet_key) {
            (Some(_), Some(_)) => {
                return Err(CliError::usage(
                    "both LINK_REGISTRATION_KEY and LINK_FLEET_KEY are set",
                )
                .hint("unset one of them"));
            }
            (Some(key), None) => (key.clone(), KeyKind::Registration, "LINK_REGISTRATION_KEY"),
            (None, Some(key)) => (key.clone(), KeyKind::Fleet, "LINK_FLEET_KEY"),
            (None, None) => return Ok(None),
        },
    };
    let refused = |why: String| {
        CliError::new(ExitCode::KeyRefused, "key-mistyped", format!("{source}: {why}"))
            .hint("copy the whole key again; nobody was asked about it")
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

/// Registers and writes the identity file.
///
/// # Errors
/// Why nothing was registered.
pub(super) async fn register(
    context: &Context,
    arguments: &Register,
    given: Option<EnrolmentKey>,
) -> Result<Identity, CliError> {
    let url = session::backend_url(context, arguments.backend.url.as_deref())?;
    let http = Http::new(&url)?;
    let before = known_device(context, arguments, http.base())?;
    fs::create_private_dir(&context.roots.state).map_err(|error| CliError::file(&error))?;
    let (key, backend) = match given {
        Some(key) => (key, http.clone()),
        None => key_of_login(context, &http).await?,
    };
    let seed = device_seed(context, before.as_ref())?;
    let signing = SigningKey::from_seed(&seed);
    let request = request(arguments, &key, before.as_ref(), &signing);
    let answer = agent::register(&backend, &request).await.map_err(explain)?;
    let identity = Identity {
        schema_version: SCHEMA_VERSION.to_owned(),
        backend_url: http.base().to_owned(),
        device_id: answer.device_id,
        device_token: answer.device_token,
        epoch: answer.epoch,
        transport: answer.transport,
        backend_keys: answer.backend_keys,
        private_key_seed: encode_seed(&seed),
    };
    fs::write_private(&context.roots.identity(), identity.to_text().as_bytes())
        .and_then(|()| fs::remove_file(&pending(context)))
        .map_err(|error| CliError::file(&error))?;
    Ok(identity)
}

/// Returns the device that this machine is, when it is to stay that device.
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
    let message = format!("this machine is registered at {}, not at {base}", identity.backend_url);
    Err(CliError::new(ExitCode::Failed, "registered-elsewhere", message)
        .hint("add --new-device to leave that backend"))
}

/// The interactive path: a key made for the account that is logged in, shown to the backend with
/// its access token.
async fn key_of_login(context: &Context, http: &Http) -> Result<(EnrolmentKey, Http), CliError> {
    let no_key = |error: CliError| {
        if error.code == "not-logged-in" {
            CliError::new(ExitCode::NotRegistered, "no-key", "no key was given")
                .hint("give --registration-key or --fleet-key, or log in first with `link login`")
        } else {
            error
        }
    };
    let login: BackendClient = session::logged_in(context).map_err(no_key)?;
    if login.http().base() != http.base() {
        let message = format!("the login is for {}, not for {}", login.http().base(), http.base());
        return Err(CliError::usage(message).hint("give a key of that backend, or log in there"));
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

fn request(
    arguments: &Register,
    key: &EnrolmentKey,
    before: Option<&Identity>,
    signing: &SigningKey,
) -> RegisterRequest {
    let hostname = facts::hostname();
    let device_id = arguments.device_id.or(before.map(|identity| identity.device_id));
    // A device that is known keeps its key pair, so the key itself proves that it agrees.
    let proof =
        device_id.filter(|id| before.is_some_and(|known| known.device_id == *id)).map(|id| {
            let issued_at = context::now();
            let statement = proof_statement(id, signing.verifying(), issued_at);
            KeyProof { issued_at, signature: signing.sign(&statement) }
        });
    let of_kind = |kind| (key.kind() == kind).then(|| key.clone());
    RegisterRequest {
        registration_key: of_kind(KeyKind::Registration),
        fleet_key: of_kind(KeyKind::Fleet),
        device_id,
        name: arguments.name.clone().unwrap_or_else(|| hostname.clone()),
        agent_version: env!("CARGO_PKG_VERSION").parse().expect("Cargo checks the version"),
        platform: Platform { os: facts::os().to_owned(), arch: facts::arch().to_owned(), hostname },
        public_key: signing.verifying().clone(),
        proof,
    }
}

/// Returns the seed of the device's own key: the one that it has, the one of a registration whose
/// answer was lost, or a new one.
fn device_seed(context: &Context, before: Option<&Identity>) -> Result<[u8; 32], CliError> {
    let pending = pending(context);
    let kept = match before {
        Some(identity) => Some(identity.private_key_seed.clone()),
        None => fs::read_to_string(&pending).ok().map(|text| Secret::new(text.trim())),
    };
    if let Some(seed) = kept.and_then(|seed| link_protocol::identity::decode_seed(&seed)) {
        return Ok(seed);
    }
    let seed = context::random_seed()?;
    fs::write_private(&pending, encode_seed(&seed).expose().as_bytes())
        .map_err(|error| CliError::file(&error))?;
    Ok(seed)
}

fn pending(context: &Context) -> std::path::PathBuf {
    context.roots.state.join("registration.pending")
}

fn explain(failure: Failure) -> CliError {
    let lost = matches!(failure, Failure::Unavailable { .. });
    let error = CliError::from(failure);
    if lost { error.hint("the same command again continues where this one ended") } else { error }
}

/// Reads the key from stdin when the argument is `-`.
fn secret(argument: &str) -> Result<Secret, CliError> {
    if argument == "-" { secret_input::stdin_line("key") } else { Ok(Secret::new(argument)) }
}
