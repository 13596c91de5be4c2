//! `link device`: the devices of the account.

use link_protocol::backend_api::device::Device;

use crate::{
    args::DeviceCommand, context::Context, error::CliError, output, resolve, secret_input, session,
};

pub(super) async fn run(context: &Context, command: DeviceCommand) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    match command {
        DeviceCommand::List => context.output.data(&backend.devices().await?, |list| table(list)),
        DeviceCommand::Show { device } => {
            let id = resolve::device(context, &backend, device.as_deref()).await?;
            context.output.data(&backend.device(id).await?, show)
        }
        DeviceCommand::Remove { device, yes } => {
            let id = resolve::device(context, &backend, Some(&device)).await?;
            let question = format!("Remove device {device}? It has to register again afterwards");
            if !yes && !secret_input::confirm(&question)? {
                context.output.say("nothing was changed");
                return Ok(());
            }
            backend.remove_device(id).await?;
            context.output.say(&format!("removed {id}"));
            context.output.data(&serde_json::json!({"removed": id}), |_| String::new())
        }
    }
}

fn table(devices: &[Device]) -> String {
    if devices.is_empty() {
        return "no devices; register one with `link register`".to_owned();
    }
    let rows = devices.iter().map(|device| {
        [
            device.name.clone(),
            state(device).to_owned(),
            device.agent_version.to_string(),
            format!("{} {}", device.platform.os, device.platform.arch),
            device.device_id.to_string(),
        ]
    });
    output::table(["NAME", "STATE", "VERSION", "SYSTEM", "ID"], rows)
}

fn show(device: &Device) -> String {
    let seen = device.last_seen_at.map_or_else(|| "never".to_owned(), |time| time.to_string());
    let Device { name, device_id, agent_version, platform, registered_at, .. } = device;
    let system = format!("{} {}, host {}", platform.os, platform.arch, platform.hostname);
    format!(
        "Device      {name}\nId          {device_id}\nState       {}\nAgent       {agent_version}\n\
         System      {system}\nRegistered  {registered_at}\nLast seen   {seen}",
        state(device)
    )
}

const fn state(device: &Device) -> &'static str {
    use link_protocol::report::LifecycleStatus::{
        Deregistered, Online, Starting, Stopping, Updating,
    };
    match (device.online, device.status) {
        (_, Updating) => "updating",
        (true, Starting) => "starting",
        (true, Online) => "online",
        (true, Stopping) => "stopping",
        (_, Deregistered) => "deregistered",
        (false, Starting | Online | Stopping) => "offline",
    }
}
