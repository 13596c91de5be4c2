//! `link key`: registration and fleet keys.

use link_protocol::{
    backend_api::key::{CreateKey, KeyInfo},
    install_line::InstallLine,
    key::KeyKind,
};

use crate::{
    args::{KeyCommand, KeyKindArg},
    backend_login,
    context::{self, Context},
    document::Revoked,
    error::CliError,
    names::Names,
    output::{Cell, View},
    prompt, resolve,
};

pub(super) async fn run(context: &Context, command: KeyCommand) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    match command {
        KeyCommand::Create { kind, name, expires_at, max_devices, tags } => {
            let kind = match kind {
                KeyKindArg::Registration => KeyKind::Registration,
                KeyKindArg::Fleet => KeyKind::Fleet,
            };
            let expires_at = expires_at.map(|end| end.in_the_future(context::now()));
            let request = CreateKey { kind, name, expires_at, max_devices, tags };
            let created = backend.create_key(&request).await?;
            context.output.say("copy the key now: it is not shown again");
            // The login may use another address than devices, such as one of the backend's own machine.
            let configured = backend.install().await.ok().and_then(|info| info.backend_url);
            let base = configured.as_deref().unwrap_or_else(|| backend.http().base());
            context.output.say(&on_a_device(base, kind, created.key.expose()));
            context.output.data(&created, |created| created.key.expose().to_owned())
        }
        KeyCommand::List => {
            let names = if context.output.is_json() {
                Names::default()
            } else {
                Names::of_members(&backend).await
            };
            let view = context.view();
            context.output.data(&backend.keys().await?, |keys| list(keys, &names, &view))
        }
        KeyCommand::Revoke { key, yes } => {
            let named = key;
            let key = resolve::key(&backend, &named).await?;
            let told = resolve::told_by_id(&named, key);
            let question = format!("Revoke {told}? No device can register with it afterwards");
            if !prompt::is_meant(&question, yes)? {
                context.output.say("nothing was changed");
                return Ok(());
            }
            backend.revoke_key(key).await?;
            context.output.say(&format!("revoked {told}"));
            context.output.data(&Revoked { revoked: key }, |_| String::new())
        }
    }
}

/// Returns the complete commands to run on a device, with the address of the backend.
fn on_a_device(base: &str, kind: KeyKind, key: &str) -> String {
    let line = InstallLine { base, knows_address: true };
    let own = if base.starts_with("http://127.0.0.1") || base.starts_with("http://localhost") {
        "\nno other machine can reach this address: set `public_url` of the backend for devices elsewhere"
    } else {
        ""
    };
    format!(
        "on the device: {}\non Windows, in PowerShell, if the release has a build for Windows: {}{own}",
        line.shell(kind, key),
        line.power_shell(kind, key)
    )
}

fn list(keys: &[KeyInfo], names: &Names, view: &View) -> String {
    if keys.is_empty() {
        return "no keys".to_owned();
    }
    let rows = keys.iter().map(|key| {
        let limit = key.max_devices.map(|most| format!(" of {most}")).unwrap_or_default();
        [
            Cell::id(key.key_id),
            kind(key.kind).into(),
            key.name.clone().into(),
            format!("{}{limit}", key.devices).into(),
            Cell::time(key.expires_at, "-"),
            state(key, view.now).into(),
            key.created_by.map_or_else(|| "-".into(), |user| names.cell(user)),
        ]
    });
    view.table(["ID", "KIND", "NAME", "DEVICES", "EXPIRES", "STATE", "CREATED BY"], rows)
}

/// Returns the state of a key, in the same words as the dashboard.
fn state(key: &KeyInfo, now: jiff::Timestamp) -> &'static str {
    let most = match key.kind {
        KeyKind::Registration => Some(1),
        KeyKind::Fleet => key.max_devices,
    };
    if key.revoked {
        "revoked"
    } else if key.expires_at.is_some_and(|until| until <= now) {
        "expired"
    } else if most.is_some_and(|most| key.devices >= most) {
        "used"
    } else {
        "valid"
    }
}

const fn kind(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Registration => "registration",
        KeyKind::Fleet => "fleet",
    }
}
