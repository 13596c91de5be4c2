//! Collects the texts of the archive, and removes the secrets.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks at the files of the logs")]

use std::path::Path;

use link_client::local::LocalClient;
use link_installer::{layout::Layout, plugins::Plugins, service};
use link_platform::{facts, fs, memory, paths::ENGINE_KEY};
use link_protocol::{config, secret::Secret};

use crate::{
    command::{doctor, logs},
    context::Context,
    error::CliError,
    redaction::{Redaction, without_login},
};

/// The part of each log that the archive holds: its end. Bytes.
const LOG_END: u64 = 1024 * 1024;
/// The most logs of engines.
const MOST_LOGS: usize = 32;
/// The largest other file, in bytes.
const FILE_LIMIT: u64 = 1024 * 1024;
/// The files with logins, in the folder of the configuration.
const LOGINS: [&str; 1] = ["credentials.json"];

/// A text in the archive.
pub(super) struct Item {
    pub(super) name: String,
    pub(super) about: &'static str,
    pub(super) text: String,
}

pub(super) async fn collect(context: &Context) -> Result<Vec<Item>, CliError> {
    let layout = Layout::new(context.roots.clone());
    let diagnosis = doctor::diagnose(context, None).await?;
    let local = LocalClient::of(&context.roots);
    let mut items = vec![
        item("doctor.txt", "the findings of `link doctor`", diagnosis.text()),
        item("doctor.json", "the same for a program", pretty(&diagnosis)),
        item("machine.txt", "versions, system, memory and plugins", machine(context)),
    ];
    if let Ok(health) = local.healthz().await {
        items.push(item("agent-state.json", "what the agent says of itself", pretty(&health)));
    }
    if let Ok(models) = local.models().await {
        items.push(item(
            "models.json",
            "the models of this device and their ports",
            pretty(&models),
        ));
    }
    let files = [
        (context.roots.agent_config(), "agent.json", "the configuration of the agent"),
        (layout.receipt(), "receipt.json", "the files that the installer has placed"),
        (layout.update_state(), "update-state.json", "the last updates"),
    ];
    for (path, name, about) in files {
        if let Ok(text) = fs::read_plain(&path, FILE_LIMIT.max(config::SIZE_LIMIT)) {
            items.push(item(name, about, plain(text)));
        }
    }
    let unit = service::manager().made(&layout).map(|unit| unit.path);
    if let Some(text) = unit.and_then(|unit| fs::read_plain(&unit, FILE_LIMIT).ok()) {
        items.push(item("service.txt", "the unit that starts the agent", text));
    }
    items.extend(ends_of_logs(context, &layout));
    let redaction = redaction(context);
    for item in &mut items {
        item.text = redaction.text(&item.text);
    }
    Ok(items)
}

fn ends_of_logs(context: &Context, layout: &Layout) -> Vec<Item> {
    let mut items = Vec::new();
    if let Some(text) = logs::journal_text(layout) {
        items.push(item("logs/journal.txt", "the journal of the agent and its guard", text));
    }
    let entries = std::fs::read_dir(context.roots.logs());
    let found = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> =
        found.filter(|path| has_ending(path, "log") || has_ending(path, "1")).collect();
    found.sort();
    for path in found.into_iter().take(MOST_LOGS) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let about = if path == layout.agent_log() {
            "the end of the log of the agent and its guard"
        } else {
            "the end of the log of an engine"
        };
        if let Ok(text) = fs::read_end(&path, LOG_END) {
            items.push(item(&format!("logs/{name}"), about, text));
        }
    }
    items
}

fn machine(context: &Context) -> String {
    let total =
        memory::total_bytes().map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
    let features = facts::processor_features().unwrap_or_default().join(" ");
    let plugins = Plugins::find(&context.roots);
    let plugins: Vec<_> = plugins
        .usable()
        .map(|plugin| format!("{} {}", plugin.manifest.id, plugin.manifest.version))
        .collect();
    let network: Vec<_> = context
        .environment
        .network
        .iter()
        .map(|(name, value)| format!("{name}={}", without_login(value)))
        .collect();
    format!(
        "link       {}\nsystem     {} {}\nprocessor  {features}\nmemory     {total} bytes\nplugins    {}\nnetwork    {}\n",
        env!("CARGO_PKG_VERSION"),
        facts::os(),
        facts::arch(),
        plugins.join(", "),
        network.join(" "),
    )
}

/// Reads the secrets of this machine, to find them in other texts.
fn redaction(context: &Context) -> Redaction {
    let roots = &context.roots;
    let mut paths =
        vec![roots.identity(), roots.control_token(), roots.reader_token(), roots.agent_config()];
    paths.extend(LOGINS.map(|name| roots.config.join(name)));
    let folders = std::fs::read_dir(roots.run()).into_iter().flatten().flatten();
    paths.extend(folders.map(|folder| folder.path().join(ENGINE_KEY)));
    let files: Vec<_> =
        paths.iter().filter_map(|path| fs::read_limited(path, FILE_LIMIT).ok()).collect();
    let environment = &context.environment;
    let words = [&environment.registration_key, &environment.fleet_key, &environment.access_token];
    let words = words.into_iter().flatten().map(Secret::expose).map(str::to_owned);
    Redaction::of(&files, words.collect())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

fn item(name: &str, about: &'static str, text: String) -> Item {
    Item { name: name.to_owned(), about, text }
}

/// Returns a JSON document in a uniform format, so that every secret in it is escaped alike; returns other text unchanged.
fn plain(text: String) -> String {
    serde_json::from_str::<serde_json::Value>(&text).map_or(text, |document| pretty(&document))
}

fn pretty<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).expect("our documents have only string keys")
}
