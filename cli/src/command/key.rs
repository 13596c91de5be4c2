//! `link key`: registration and fleet keys.

use link_protocol::{
    backend_api::key::{CreateKey, KeyInfo},
    key::KeyKind,
};

use crate::{
    args::{KeyCommand, KeyKindArg},
    context::Context,
    error::CliError,
    output, session,
};

pub(super) async fn run(context: &Context, command: KeyCommand) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    match command {
        KeyCommand::Create { kind, name, expires_at, max_devices, tags } => {
            let kind = match kind {
                KeyKindArg::Registration => KeyKind::Registration,
                KeyKindArg::Fleet => KeyKind::Fleet,
            };
            let request = CreateKey { kind, name, expires_at, max_devices, tags };
            let created = backend.create_key(&request).await?;
            context.output.say("copy the key now: it is not shown again");
            context.output.say(&on_a_device(backend.http().base(), kind, created.key.expose()));
            context.output.data(&created, |created| created.key.expose().to_owned())
        }
        KeyCommand::List => context.output.data(&backend.keys().await?, |keys| list(keys)),
        KeyCommand::Revoke { key } => {
            backend.revoke_key(key).await?;
            context.output.say(&format!("revoked {key}"));
            context.output.data(&serde_json::json!({"revoked": key}), |_| String::new())
        }
    }
}

/// Returns the complete line to run on a device, with the address of the backend.
fn on_a_device(base: &str, kind: KeyKind, key: &str) -> String {
    let variable = match kind {
        KeyKind::Registration => "LINK_REGISTRATION_KEY",
        KeyKind::Fleet => "LINK_FLEET_KEY",
    };
    format!("on the device: curl -fsSL {base}/install.sh | {variable}={key} sh")
}

fn list(keys: &[KeyInfo]) -> String {
    if keys.is_empty() {
        return "no keys".to_owned();
    }
    let rows = keys.iter().map(|key| {
        let limit = key.max_devices.map(|most| format!(" of {most}")).unwrap_or_default();
        let until = key.expires_at.map_or_else(|| "-".to_owned(), |time| time.to_string());
        let state = if key.revoked { "revoked" } else { "good" };
        [
            key.key_id.to_string(),
            kind(key.kind).to_owned(),
            key.name.clone(),
            format!("{}{limit}", key.devices),
            until,
            state.to_owned(),
            key.created_by.map_or_else(|| "-".to_owned(), |user| user.to_string()),
        ]
    });
    output::table(["ID", "KIND", "NAME", "DEVICES", "EXPIRES", "STATE", "CREATED BY"], rows)
}

const fn kind(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Registration => "registration",
        KeyKind::Fleet => "fleet",
    }
}
