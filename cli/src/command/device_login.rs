//! `link login --device`: a person approves this login in a browser, on this or another machine.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use link_client::{
    backend::{self, Tokens},
    http::{Failure, Http},
};
use link_platform::facts;
use link_protocol::{
    backend_api::device_flow::{DeviceCodeRequest, DeviceCodeResponse, DeviceTokenRequest},
    exit_code::ExitCode,
    problem::Code,
};

use crate::{
    context::Context, error::CliError, error_code::ErrorCode, output::Prompt, progress::Progress,
    prompt, wait::Deadline,
};

/// How much longer to wait between polls after the backend has answered that a poll came too early.
const SLOWER: Duration = Duration::from_secs(5);

/// Waits until a person has approved this login.
///
/// # Errors
/// If the person refuses, the code expires, or the deadline passes.
pub(super) async fn run(
    context: &Context,
    http: &Http,
    browser: bool,
    patience: Duration,
) -> Result<Tokens, CliError> {
    let client_name = machine_name();
    let codes =
        backend::begin_device_login(http, &DeviceCodeRequest { client_name, client_id: None })
            .await?;
    announce(context, &codes);
    if browser {
        open_browser(context, &codes)?;
    }
    let lifetime = Duration::from_secs(codes.expires_in);
    let deadline = Deadline::after(patience.min(lifetime));
    let progress = Progress::start(context.output);
    let request =
        DeviceTokenRequest { device_code: codes.device_code, grant_type: None, client_id: None };
    let mut interval = Duration::from_secs(codes.interval.max(1));
    loop {
        progress.show("waiting for you to approve in the browser", 0, 0);
        if !deadline.pause(Some(interval)).await {
            return Err(deadline
                .gave_up("the login was not approved")
                .hint("run the command again for a new code, or wait longer with --timeout"));
        }
        match backend::poll_device_login(http, &request).await {
            Ok(tokens) => return Ok(tokens),
            Err(failure) => match failure.code() {
                Some(Code::AuthorizationPending) => {}
                Some(Code::SlowDown) => interval += SLOWER,
                _ if matches!(failure, Failure::Unavailable { .. }) => {}
                _ => return Err(failure.into()),
            },
        }
    }
}

fn announce(context: &Context, codes: &DeviceCodeResponse) {
    let DeviceCodeResponse { user_code, verification_uri, expires_in, .. } = codes;
    let minutes = expires_in / 60;
    let prompt =
        Prompt { verification_uri: verification_uri.clone(), user_code: user_code.clone() };
    context.output.prompt(
        &prompt,
        &format!("open {verification_uri} and enter the code {user_code} within {minutes} minutes"),
    );
}

/// Opens the address in a browser: on a terminal after a confirmation, otherwise at once. A machine
/// without a browser is no error, because any other machine can open the address.
fn open_browser(context: &Context, codes: &DeviceCodeResponse) -> Result<(), CliError> {
    let wanted = !io::stdin().is_terminal()
        || prompt::confirm("Open the address in a browser on this machine?")?;
    if wanted && let Err(error) = open_address(&codes.verification_uri_complete) {
        context.output.say(&format!("{}; open the address elsewhere", error.message));
    }
    Ok(())
}

/// Opens an address in the browser if it is a web address. Refuses any other address that a server
/// may name.
fn open_address(address: &str) -> Result<(), CliError> {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    let failed = |why: String| CliError::new(ExitCode::Failed, ErrorCode::Browser, why);
    if !is_web || address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(failed("the backend sent no web address".to_owned()));
    }
    open::that_detached(address)
        .map_err(|error| failed(format!("no browser could be started ({error})")))
}

fn machine_name() -> String {
    let name = facts::hostname();
    let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
    let name = name.trim();
    if name.is_empty() { "a machine".to_owned() } else { format!("link on {name}") }
}
