//! `link device transfer`: moves a device to another account. A key of that account proves its consent.

use link_protocol::{
    backend_api::device::TransferDevice, exit_code::ExitCode, id::DeviceId, key::EnrolmentKey,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    backend_login, context::Context, document::Component, error::CliError, error_code::ErrorCode,
    prompt, resolve, secret_input,
};

/// The device that was moved to another account.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct Transferred {
    #[schemars(with = "Component<DeviceId>")]
    transferred: DeviceId,
}

pub(super) async fn run(
    context: &Context,
    named: &str,
    key_file: Option<&str>,
    yes: bool,
) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let id = resolve::device(context, &backend, Some(named)).await?;
    let key = key(key_file)?;
    let question = format!(
        "Transfer device {named} to another account? It leaves this account now and deletes its models"
    );
    if !yes && !prompt::confirm(&question)? {
        context.output.say("nothing was changed");
        return Ok(());
    }
    backend.transfer_device(id, &TransferDevice::from(key)).await?;
    context.output.say(&format!(
        "{id} now belongs to the other account; it reconnects there without its models"
    ));
    context.output.data(&Transferred { transferred: id }, |_| String::new())
}

/// Reads the key from a file, or prompts for it.
fn key(file: Option<&str>) -> Result<EnrolmentKey, CliError> {
    let text = match file {
        Some(file) => secret_input::line_of(file, "key")?,
        None => prompt::ask_secret("Key of the receiving account", "--key-file")?,
    };
    EnrolmentKey::parse(text.expose().trim()).map_err(|why| {
        CliError::new(ExitCode::KeyRefused, ErrorCode::KeyMistyped, why.to_string())
            .hint("the key is truncated or mistyped; copy it again (nothing was sent)")
    })
}
