//! `link device`: shows, updates, transfers and retires the account's devices.

mod list;
mod system;
mod transfer;

use std::time::Duration;

pub(super) use self::{
    list::{table, version},
    transfer::Transferred,
};

use link_client::{
    backend::{self, WantedDevices},
    http::Http,
};
use link_protocol::{
    backend_api::{
        device::{ChangeDevice, Device, UpdateDevice},
        operation::Work,
    },
    id::DeviceId,
    retire::RetireCode,
    shown,
    update::{UpdateEnd, UpdateOutcome},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    args::{Backend, DeviceCommand, Selection},
    backend_login,
    command::{bulk, outcome},
    context::{Context, idempotency_key},
    document::{Component, Removed},
    error::CliError,
    output::View,
    prompt, resolve, secret_input,
};

/// The device whose record was deleted with its retire code.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Retired {
    #[schemars(with = "Component<DeviceId>")]
    retired: DeviceId,
}

pub(super) async fn run(context: &Context, command: DeviceCommand) -> Result<(), CliError> {
    match command {
        DeviceCommand::List { select, search, sort, watch } => {
            list::run(context, &WantedDevices { select, search, sort }, watch).await
        }
        DeviceCommand::Rename { device, name, many, wait } => {
            if let Some(selection) = many.selection() {
                let work = Work::Rename { pattern: device };
                let patience = wait.wait.then_some(wait.timeout);
                return start(context, selection, work, patience).await;
            }
            rename(context, &device, name.unwrap_or_default()).await
        }
        DeviceCommand::Tag { device, tags, many, wait } => {
            if let Some(selection) = many.selection() {
                let work = Work::Tag { tags: all_tags(device, tags) };
                let patience = wait.wait.then_some(wait.timeout);
                return start(context, selection, work, patience).await;
            }
            let change = ChangeDevice { add_tags: tags, ..ChangeDevice::default() };
            change_tags(context, &device, &change).await
        }
        DeviceCommand::Untag { device, tags, many, wait } => {
            if let Some(selection) = many.selection() {
                let work = Work::Untag { tags: all_tags(device, tags) };
                let patience = wait.wait.then_some(wait.timeout);
                return start(context, selection, work, patience).await;
            }
            let change = ChangeDevice { remove_tags: tags, ..ChangeDevice::default() };
            change_tags(context, &device, &change).await
        }
        DeviceCommand::Show { device } => {
            let backend = backend_login::logged_in(context)?;
            let id = resolve::device(context, &backend, device.as_deref()).await?;
            let view = context.view();
            context.output.data(&backend.device(id).await?, |device| show(device, &view))
        }
        DeviceCommand::Update { device, many, version, wait } => {
            let patience = wait.wait.then_some(wait.timeout);
            if let Some(selection) = many.selection() {
                return start(context, selection, Work::Update { version }, patience).await;
            }
            let backend = backend_login::logged_in(context)?;
            let id = resolve::device(context, &backend, device.as_deref()).await?;
            let what = format!("update to {version}");
            let wish = UpdateDevice { version };
            let sent = backend.update_device(id, &wish, &idempotency_key()).await?;
            outcome::report(context, &backend, sent, &what, patience).await
        }
        DeviceCommand::Remove { device, yes } => {
            let backend = backend_login::logged_in(context)?;
            let id = resolve::device(context, &backend, Some(&device)).await?;
            let question = format!(
                "Remove device {device}? Models that it serves go on until Link is uninstalled there, and to come back it must \
                 register again"
            );
            if !yes && !prompt::confirm(&question)? {
                context.output.say("nothing was changed");
                return Ok(());
            }
            backend.remove_device(id).await?;
            context.output.say(&format!("removed {id}"));
            context
                .output
                .say("models that it serves go on: to end them, run `link uninstall` on it");
            context.output.data(&Removed { removed: id }, |_| String::new())
        }
        DeviceCommand::Transfer { device, key_file, yes } => {
            transfer::run(context, &device, key_file.as_deref(), yes).await
        }
        DeviceCommand::Retire { code, backend } => retire(context, &code, &backend).await,
    }
}

async fn start(
    context: &Context,
    selection: Selection<'_>,
    work: Work,
    patience: Option<Duration>,
) -> Result<(), CliError> {
    bulk::start(context, &backend_login::logged_in(context)?, selection, work, patience).await
}

/// Returns all words as tags. With a selection, the first word is a tag, because no device is
/// named.
fn all_tags(first: String, mut rest: Vec<String>) -> Vec<String> {
    rest.insert(0, first);
    rest
}

async fn change_tags(
    context: &Context,
    named: &str,
    change: &ChangeDevice,
) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let id = resolve::device(context, &backend, Some(named)).await?;
    let device = backend.change_device(id, change).await?;
    let tags = if device.tags.is_empty() { "none".to_owned() } else { device.tags.join(", ") };
    context.output.say(&format!("tags of {}: {tags}", device.name));
    context.output.data(&device, |_| String::new())
}

async fn rename(context: &Context, named: &str, name: String) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let id = resolve::device(context, &backend, Some(named)).await?;
    let change = ChangeDevice { name: Some(name), ..ChangeDevice::default() };
    let device = backend.change_device(id, &change).await?;
    context.output.say(&format!("renamed {id} to {}", device.name));
    context.output.data(&device, |_| String::new())
}

async fn retire(context: &Context, argument: &str, at: &Backend) -> Result<(), CliError> {
    let text = if argument == "-" {
        secret_input::stdin_line("retire code")?.expose().to_owned()
    } else {
        argument.to_owned()
    };
    let code = RetireCode::parse(&text).map_err(|why| {
        CliError::usage(why.to_string())
            .hint("the code is truncated or mistyped; copy it again (nothing was sent)")
    })?;
    let http = Http::new(&backend_login::backend_url(context, at.url.as_deref())?)?;
    backend::retire_device(&http, &code).await?;
    let id = code.device();
    context.output.say(&format!("retired {id}; its slot is free"));
    context.output.data(&Retired { retired: id }, |_| String::new())
}

fn show(device: &Device, view: &View) -> String {
    let seen = device.last_seen_at.map_or_else(|| "never".to_owned(), |time| view.time(time));
    let registered = view.time(device.registered_at);
    let Device { name, device_id, platform, .. } = device;
    let system = format!("{} {}, host {}", platform.os, platform.arch, platform.hostname);
    let [name, system] = [name, &system].map(|text| shown::one_line(text));
    let tags = if device.tags.is_empty() {
        String::new()
    } else {
        format!("Tags        {}\n", shown::one_line(&device.tags.join(", ")))
    };
    let update = device.last_update.as_ref().map(last_update).unwrap_or_default();
    format!(
        "Device      {name}\nId          {device_id}\nState       {}\nAgent       {}\n\
         {update}System      {system}\n{tags}Registered  {registered}\nLast seen   {seen}\n{}",
        state(device),
        list::version(device),
        device.system.as_ref().map(|sample| system::lines(sample, view)).unwrap_or_default()
    )
}

fn last_update(update: &UpdateOutcome) -> String {
    let UpdateOutcome { from, to, outcome, reason } = update;
    let end = match outcome {
        UpdateEnd::Committed => "committed",
        UpdateEnd::RolledBack => "rolled back",
    };
    let why = reason.as_ref().map(|reason| format!(": {}", shown::one_line(reason)));
    let why = why.unwrap_or_default();
    format!("Last update {from} to {to}, {end}{why}\n")
}

pub(super) const fn state(device: &Device) -> &'static str {
    use link_protocol::report::LifecycleStatus::{
        Deregistered, Online, Starting, Stopping, Updating,
    };
    match (device.online, device.status) {
        (true, Updating) => "updating",
        (false, Updating) => "offline, was updating",
        (true, Starting) => "online, starting",
        (true, Online) => "online",
        (true, Stopping) => "online, stopping",
        (_, Deregistered) => "deregistered",
        (false, Starting | Online | Stopping) => "offline",
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use link_protocol::report::LifecycleStatus::{Online, Updating};
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_device_that_ended_while_it_updated_is_offline() {
        let said = |online, status| state(&Device { online, status, ..device() });
        assert_eq!(said(true, Updating), "updating");
        assert_eq!(said(false, Updating), "offline, was updating");
        assert_eq!(said(false, Online), "offline");
    }

    #[test]
    fn what_a_device_says_of_itself_stays_on_its_line() {
        let view = View::exact(Timestamp::UNIX_EPOCH);
        let shown = show(&device(), &view);
        let line = |start: &str| shown.lines().find(|line| line.starts_with(start)).unwrap();
        assert_eq!(shown.lines().count(), 8, "{shown}");
        assert_eq!(line("System"), "System      linux x86_64, host \u{fffd}[2Ja State online");
        assert_eq!(line("Last update"), "Last update 1.3.0 to 1.4.0, rolled back: no\u{fffd} go");
        assert!(!table(&[Device { name: "a\nb".into(), ..device() }], &view).contains("\nb"));
    }

    fn device() -> Device {
        let device = json!({
            "device_id": "dev_00000000000000000000000000000001", "name": "workstation",
            "online": true, "status": "online", "agent_version": "1.3.0",
            "last_update": {
                "from": "1.3.0", "to": "1.4.0", "outcome": "rolled_back", "reason": "no\u{9b}\ngo",
            },
            "platform": {
                "os": "linux", "arch": "x86_64", "hostname": "\u{1b}[2Ja\nState online",
            },
            "registered_at": "2026-10-01T00:00:00Z", "last_seen_at": null,
        });
        from_value(device).unwrap()
    }
}
