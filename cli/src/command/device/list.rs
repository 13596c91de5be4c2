//! `link device list`: the account's devices, shown once or after each change.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use link_client::backend::{BackendClient, WantedDevices};
use link_protocol::{backend_api::device::Device, shown};

use crate::{
    backend_login,
    command::device::state,
    context::Context,
    error::CliError,
    output::{self, Cell, View},
    wait::{self, pause},
};

/// The interval between two requests for the list.
const INTERVAL: Duration = Duration::from_secs(2);

pub(super) async fn run(
    context: &Context,
    wanted: &WantedDevices,
    watch: bool,
) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    if !watch {
        let devices = backend.listed_devices(wanted).await?;
        return context.output.data(&devices, |list| shown_of(list, wanted, &context.view()));
    }
    tokio::select! {
        // Listens before the first line is shown: a reader may press Ctrl-C at once.
        biased;
        _interrupted = tokio::signal::ctrl_c() => Ok(()),
        ended = follow(context, &backend, wanted) => ended,
    }
}

/// Shows the list after each change: in place on a terminal, otherwise below the previous list.
async fn follow(
    context: &Context,
    backend: &BackendClient,
    wanted: &WantedDevices,
) -> Result<(), CliError> {
    let is_screen = !context.output.is_json() && std::io::stdout().is_terminal();
    let screen = is_screen.then(|| {
        let screen = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
        screen.set_style(ProgressStyle::with_template("{msg}").expect("a valid template"));
        screen
    });
    let mut last = String::new();
    loop {
        if let Ok(devices) = wait::tolerate(backend.listed_devices(wanted).await)? {
            let shown = if context.output.is_json() {
                shown::json(&serde_json::to_string(&devices).expect("devices have string keys"))
            } else {
                shown::lines(&shown_of(&devices, wanted, &context.view()))
            };
            match &screen {
                Some(screen) => screen.set_message(shown),
                None if shown == last => {}
                None => {
                    if !output::stream_stdout(&format!("{shown}\n"))? {
                        return Ok(());
                    }
                    last = shown;
                }
            }
        }
        pause(INTERVAL).await;
    }
}

/// Formats the listed devices, or says why there are none.
fn shown_of(devices: &[Device], wanted: &WantedDevices, view: &View) -> String {
    match (devices.is_empty(), &wanted.search, &wanted.select) {
        (true, Some(text), None) => {
            format!("no device has `{text}` in its name, at the beginning of its id, or as a tag")
        }
        (true, Some(text), Some(_)) => format!("no device matches the selection and `{text}`"),
        (true, None, Some(_)) => "no device matches the selection".to_owned(),
        (true, None, None) | (false, ..) => table(devices, view),
    }
}

/// Returns the version of the agent, with the label of its channel if that is no production build.
pub(in crate::command) fn version(device: &Device) -> String {
    let channel = device.system.as_ref().map(|sample| sample.report.channel);
    channel.unwrap_or_default().beside(&device.agent_version)
}

/// Formats devices as a table.
pub(in crate::command) fn table(devices: &[Device], view: &View) -> String {
    if devices.is_empty() {
        return "no devices; register one with `link register`".to_owned();
    }
    let rows = devices.iter().map(|device| {
        [
            device.name.clone().into(),
            state(device).into(),
            version(device).into(),
            Cell::id(device.device_id),
            Cell::time(device.last_seen_at, "never"),
            device.tags.join(", ").into(),
            format!("{} {}", device.platform.os, device.platform.arch).into(),
        ]
    });
    view.table(["NAME", "STATE", "VERSION", "ID", "SEEN", "TAGS", "SYSTEM"], rows)
}
