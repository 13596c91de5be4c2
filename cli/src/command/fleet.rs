//! `link fleet`: the account's devices by tag.

use std::collections::BTreeMap;

use link_protocol::{backend_api::device::Device, exit_code::ExitCode, selector::DeviceState};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    args::FleetCommand,
    backend_login,
    command::device,
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    output::{Cell, View},
};

/// Devices with one tag.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub(super) struct Fleet {
    tag: String,
    /// The number of devices.
    devices: usize,
    /// The number of devices in each state: `online`, `updating` or `offline`. A state without
    /// devices is absent.
    states: BTreeMap<&'static str, usize>,
    /// The number of devices with each version of the agent.
    versions: BTreeMap<String, usize>,
    /// The same with the label of the channel, for a person.
    #[serde(skip)]
    labels: BTreeMap<String, usize>,
}

pub(super) async fn run(context: &Context, command: FleetCommand) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let devices = backend.devices().await?;
    match command {
        FleetCommand::List => {
            context.output.data(&fleets(&devices), |fleets| table(fleets, &context.view()))
        }
        FleetCommand::Show { tag } => {
            let devices: Vec<Device> =
                devices.into_iter().filter(|device| device.tags.contains(&tag)).collect();
            if devices.is_empty() {
                let message = format!("no device has the tag `{tag}`");
                return Err(CliError::new(ExitCode::Failed, ErrorCode::UnknownName, message)
                    .hint("see `link fleet list`, or add a tag with `link device tag`"));
            }
            context.output.data(&devices, |devices| device::table(devices, &context.view()))
        }
    }
}

fn fleets(devices: &[Device]) -> Vec<Fleet> {
    let mut fleets: BTreeMap<&str, Fleet> = BTreeMap::new();
    for device in devices {
        for tag in &device.tags {
            let fleet = fleets.entry(tag).or_default();
            fleet.tag.clone_from(tag);
            fleet.devices += 1;
            *fleet.states.entry(DeviceState::of(device).as_str()).or_default() += 1;
            *fleet.versions.entry(device.agent_version.to_string()).or_default() += 1;
            *fleet.labels.entry(device::version(device)).or_default() += 1;
        }
    }
    fleets.into_values().collect()
}

fn table(fleets: &[Fleet], view: &View) -> String {
    if fleets.is_empty() {
        return "no device has a tag; add a tag with `link device tag`".to_owned();
    }
    let rows = fleets.iter().map(|fleet| {
        let count = |state: DeviceState| {
            fleet.states.get(state.as_str()).copied().unwrap_or_default().to_string()
        };
        let versions = fleet.labels.iter().map(|(version, count)| format!("{version} ({count})"));
        [
            fleet.tag.clone(),
            fleet.devices.to_string(),
            count(DeviceState::Online),
            count(DeviceState::Updating),
            count(DeviceState::Offline),
            versions.collect::<Vec<_>>().join(", "),
        ]
        .map(Cell::Text)
    });
    view.table(["TAG", "DEVICES", "ONLINE", "UPDATING", "OFFLINE", "VERSIONS"], rows)
}
