//! How a device is installed from this backend.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use link_protocol::{
    backend_api::install::{InstallInfo, InstallSystem, PublishedRelease},
    install_line::InstallLine,
    install_script,
    key::KeyKind,
    release::{Archive, Manifest, Package, Statement},
    signing::Signed,
};
use tokio::io::AsyncReadExt as _;

use crate::{
    api::{
        caller::{Caller, may},
        problem::Rejection,
    },
    app::App,
};

/// The place of a key in a line.
const KEY: &str = "{key}";
/// The place of the backend's address in a line, if no address is configured.
const BACKEND: &str = "{backend}";
/// The systems that an installer supports, each with its part of the name of a target.
const SYSTEMS: [(&str, &str); 3] =
    [("linux", "-linux-"), ("macos", "-apple-darwin"), ("windows", "-windows-")];
/// The size limit of a manifest, in bytes.
const MANIFEST_LIMIT: u64 = 1024 * 1024;

/// Describes how a device is installed from this backend: its address, the published release, and a line for each
/// system with a place for a key.
#[utoipa::path(get, path = "/install", tag = "device", security(("access_token" = ["account:read"])),
    responses((status = 200, description = "The installer.", body = InstallInfo)))]
pub(crate) async fn read_install(
    Caller(_caller, ..): Caller<may::ReadAccount>,
    State(app): State<Arc<App>>,
) -> Result<Answer<InstallInfo>, Rejection> {
    let address = app.public_url().and_then(install_script::plain);
    let line = InstallLine { base: address.unwrap_or(BACKEND), knows_address: address.is_some() };
    let manifest = published(&app).await;
    let system = |&(system, target): &(&str, &str)| {
        let lines = [KeyKind::Registration, KeyKind::Fleet].map(|kind| match system {
            "windows" => line.power_shell(kind, KEY),
            _ => line.shell(kind, KEY),
        });
        let [registration_line, fleet_line] = lines;
        let archives = manifest.as_ref().map(|manifest| &manifest.archives);
        InstallSystem {
            system: system.to_owned(),
            released: archives.map(|all| all.iter().any(|one| is_for_device(one, target))),
            shell: if system == "windows" { "powershell" } else { "sh" }.to_owned(),
            registration_line,
            fleet_line,
        }
    };
    let systems = SYSTEMS.iter().map(system).collect();
    let release = manifest
        .map(|manifest| PublishedRelease { version: manifest.version, channel: manifest.channel });
    Ok(Answer(InstallInfo { backend_url: address.map(str::to_owned), release, systems }))
}

/// Tells whether a device with the system `target` is installed from the archive.
fn is_for_device(archive: &Archive, target: &str) -> bool {
    matches!(archive.package, Package::Device | Package::Everything)
        && archive.target.contains(target)
}

/// Returns the manifest of the published release, or `None` if there is none or it cannot be read.
async fn published(app: &App) -> Option<Manifest> {
    let found = app.releases().open("manifest.json").await.ok()??;
    let mut text = Vec::new();
    found.file.take(MANIFEST_LIMIT).read_to_end(&mut text).await.ok()?;
    // The signature was verified when the release was pulled.
    let signed: Signed = serde_json::from_slice(&text).ok()?;
    let Ok(Statement::Manifest(manifest)) = serde_json::from_str(&signed.envelope) else {
        return None;
    };
    Some(manifest)
}
