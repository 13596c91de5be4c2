//! Lists as CSV, with the filters and the permissions of the lists.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        device::DeviceSort,
        usage::{UsageBucket, UsageQuery},
    },
    command::CommandKind,
    id::{AuditId, CommandId, DeviceId, ModelId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    api::{
        audit::{self, AuditParams},
        caller::{Caller, may},
        command, csv, deployment, device,
        extract::{Params, device_id},
        list,
        problem::Rejection,
        usage,
    },
    app::App,
    domain::refusal::Refusal,
    tables::CommandFilter,
};

/// A column: its head, and the place of its value in the JSON document of an item.
type Column = (&'static str, &'static str);

const DEVICES: &[Column] = &[
    ("device_id", "/device_id"),
    ("name", "/name"),
    ("online", "/online"),
    ("status", "/status"),
    ("agent_version", "/agent_version"),
    ("os", "/platform/os"),
    ("arch", "/platform/arch"),
    ("hostname", "/platform/hostname"),
    ("tags", "/tags"),
    ("cpu_percent", "/system/cpu_percent"),
    ("memory_used_bytes", "/system/memory/used_bytes"),
    ("memory_total_bytes", "/system/memory/total_bytes"),
    ("disk_used_bytes", "/system/disk/used_bytes"),
    ("disk_total_bytes", "/system/disk/total_bytes"),
    ("registered_at", "/registered_at"),
    ("last_seen_at", "/last_seen_at"),
    ("key_id", "/key_id"),
    ("disk_free_bytes", "/system/disk/free_bytes"),
    ("last_update", "/last_update/outcome"),
];
const DEPLOYMENTS: &[Column] = &[
    ("deployment_id", "/deployment_id"),
    ("model_id", "/model_id"),
    ("model_name", "/model_name"),
    ("publisher", "/publisher"),
    ("device_id", "/device_id"),
    ("device_name", "/device_name"),
    ("alias", "/alias"),
    ("port", "/port"),
    ("state", "/state"),
    ("reason", "/reason"),
    ("stale", "/stale"),
    ("current", "/current"),
    ("serving", "/serving/state"),
    ("created_at", "/created_at"),
    ("updated_at", "/updated_at"),
];
const COMMANDS: &[Column] = &[
    ("command_id", "/command_id"),
    ("type", "/type"),
    ("state", "/state"),
    ("model_id", "/model_id"),
    ("model_name", "/model_name"),
    ("device_id", "/device_id"),
    ("device_name", "/device_name"),
    ("port", "/port"),
    ("created_at", "/created_at"),
    ("expires_at", "/expires_at"),
    ("result", "/result/status"),
    ("output", "/result/output"),
    ("reported_at", "/result/reported_at"),
];
const USAGE: &[Column] = &[
    ("begin", "/begin"),
    ("bucket", "/bucket"),
    ("device_id", "/device_id"),
    ("device_name", "/device_name"),
    ("model_id", "/model_id"),
    ("model_name", "/model_name"),
    ("inferences", "/inferences"),
    ("uncounted", "/uncounted"),
    ("prompt_tokens", "/prompt_tokens"),
    ("completion_tokens", "/completion_tokens"),
    ("audio_ms", "/audio_ms"),
    ("images", "/images"),
    ("duration_ms", "/duration_ms"),
];
const AUDIT: &[Column] = &[
    ("entry_id", "/entry_id"),
    ("at", "/at"),
    ("actor_kind", "/actor/kind"),
    ("actor_id", "/actor/id"),
    ("action", "/action"),
    ("subject", "/subject"),
    ("address", "/address"),
    ("outcome", "/outcome"),
    ("detail", "/detail"),
];

/// The filter of an export of devices.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeviceExport {
    /// Only devices that match every term, as in the list of devices.
    select: Option<String>,
    /// Only devices whose name, id or tag matches, as in the list of devices.
    q: Option<String>,
    /// The order, as in the list of devices, but for `last_seen`.
    #[serde(default)]
    #[param(default = "-registered")]
    sort: DeviceSort,
}

/// The filter of an export of deployments.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeploymentExport {
    /// Only deployments on this device.
    #[param(value_type = Option<DeviceId>)]
    device_id: Option<String>,
    /// Only deployments of this model.
    #[param(value_type = Option<ModelId>)]
    model_id: Option<String>,
    /// `true`: only deployments whose allowlist lacks a current origin. `false`: only the others.
    stale: Option<bool>,
    /// `true`: only the newest deployment of each model and device. `false`: only the others.
    current: Option<bool>,
    /// Only deployments that match this text, as `q` in the list of deployments.
    q: Option<String>,
}

/// The filter of an export of commands.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CommandExport {
    /// Only commands to this device.
    #[param(value_type = Option<DeviceId>)]
    device_id: Option<String>,
    /// Only commands that have not ended.
    open: Option<bool>,
    /// Only commands of this type.
    r#type: Option<CommandKind>,
}

/// The filter of an export of usage.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageExport {
    /// Only usage on this device.
    #[param(value_type = Option<DeviceId>)]
    device_id: Option<String>,
    /// Only usage of this model.
    #[param(value_type = Option<ModelId>)]
    model_id: Option<String>,
    /// From the hour or day that contains this time.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<String>,
    /// Up to the hour or day that contains this time or ends at this time.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<String>,
    /// The length of a span.
    #[serde(default)]
    #[param(default = "hour")]
    bucket: UsageBucket,
}

/// Returns the devices of the account as CSV, the newest first unless `sort` says otherwise. The order `last_seen` changes while it is
/// read, so an export cannot have it.
#[utoipa::path(get, path = "/devices/export", tag = "device",
    security(("access_token" = ["devices:read"])), params(DeviceExport),
    responses((status = 200, description = "The devices.", body = String, content_type = "text/csv")))]
pub(crate) async fn export_devices(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Params(query): Params<DeviceExport>,
) -> Result<Response, Rejection> {
    let moves = matches!(query.sort, DeviceSort::LastSeen | DeviceSort::LastSeenDescending);
    if moves {
        let why = "sort: an export has no order by `last_seen`, which changes while it is read";
        return Err(Refusal::invalid(why).into());
    }
    let asked = Arc::new(device::asked(query.select.as_deref(), query.q, query.sort)?);
    let asker = (Arc::clone(&app), caller);
    let read = move |request: PageRequest| {
        let (app, asked) = (Arc::clone(&app), Arc::clone(&asked));
        async move {
            let wanted = list::wanted::<String>(&request)?;
            let devices = app.devices(caller, &asked, &wanted).await?;
            Ok(cells(&list::part(devices), DEVICES))
        }
    };
    csv::answer(asker, "devices", &heads(DEVICES), read).await
}

/// Returns the deployments on the account's devices as CSV, newest first.
#[utoipa::path(get, path = "/deployments/export", tag = "deployment",
    security(("access_token" = ["deployments:read"])), params(DeploymentExport),
    responses((status = 200, description = "The deployments.", body = String, content_type = "text/csv")))]
pub(crate) async fn export_deployments(
    Caller(caller, ..): Caller<may::ReadDeployments>,
    State(app): State<Arc<App>>,
    Params(query): Params<DeploymentExport>,
) -> Result<Response, Rejection> {
    let DeploymentExport { device_id, model_id, stale, current, q } = query;
    let asker = (Arc::clone(&app), caller);
    let read = move |PageRequest { limit, cursor }| {
        let params = deployment::DeploymentParams {
            device_id: device_id.clone(),
            model_id: model_id.clone(),
            stale,
            current,
            q: q.clone(),
            limit,
            cursor,
        };
        let app = Arc::clone(&app);
        async move {
            let (wanted, query) = deployment::read(params)?;
            let deployments = app.deployments(caller, &query, &wanted).await?;
            Ok(cells(&list::part(deployments), DEPLOYMENTS))
        }
    };
    csv::answer(asker, "deployments", &heads(DEPLOYMENTS), read).await
}

/// Returns the commands to the account's devices as CSV, newest first.
#[utoipa::path(get, path = "/commands/export", tag = "serving",
    security(("access_token" = ["commands:read"])), params(CommandExport),
    responses((status = 200, description = "The commands.", body = String, content_type = "text/csv")))]
pub(crate) async fn export_commands(
    Caller(caller, ..): Caller<may::ReadCommands>,
    State(app): State<Arc<App>>,
    Params(query): Params<CommandExport>,
) -> Result<Response, Rejection> {
    let device = query.device_id.as_deref().map(device_id).transpose()?;
    let filter = CommandFilter { device, open: query.open.unwrap_or(false), kind: query.r#type };
    let asker = (Arc::clone(&app), caller);
    let read = move |request: PageRequest| {
        let app = Arc::clone(&app);
        async move {
            let wanted = list::wanted::<CommandId>(&request)?;
            let commands = app.commands(caller, filter, &wanted).await?;
            Ok(cells(&list::page(commands, &wanted, command::cursor), COMMANDS))
        }
    };
    csv::answer(asker, "commands", &heads(COMMANDS), read).await
}

/// Returns token usage by device, model and hour or day as CSV, newest first.
#[utoipa::path(get, path = "/usage/export", tag = "usage",
    security(("access_token" = ["usage:read"])), params(UsageExport),
    responses((status = 200, description = "The usage.", body = String, content_type = "text/csv")))]
pub(crate) async fn export_usage(
    Caller(caller, ..): Caller<may::ReadUsage>,
    State(app): State<Arc<App>>,
    Params(query): Params<UsageExport>,
) -> Result<Response, Rejection> {
    let UsageExport { device_id, model_id, from, to, bucket } = query;
    let asker = (Arc::clone(&app), caller);
    let read = move |PageRequest { limit, cursor }| {
        let params = UsageQuery {
            device_id: device_id.clone(),
            model_id: model_id.clone(),
            from: from.clone(),
            to: to.clone(),
            bucket,
            group_by: None,
            limit,
            cursor,
        };
        let app = Arc::clone(&app);
        async move {
            let (wanted, filter) = usage::read(params)?;
            let items = app.usage(caller, &filter).await?;
            Ok(cells(&list::page(items, &wanted, usage::cursor), USAGE))
        }
    };
    csv::answer(asker, "usage", &heads(USAGE), read).await
}

/// Returns the audit entries of the account as CSV, newest first.
#[utoipa::path(get, path = "/audit/export", tag = "account",
    security(("access_token" = ["audit:read"])), params(AuditParams),
    responses((status = 200, description = "The entries.", body = String, content_type = "text/csv")))]
pub(crate) async fn export_audit(
    Caller(caller, ..): Caller<may::ReadAudit>,
    State(app): State<Arc<App>>,
    Params(query): Params<AuditParams>,
) -> Result<Response, Rejection> {
    let filter = audit::filter(query)?;
    let asker = (Arc::clone(&app), caller);
    let read = move |request: PageRequest| {
        let (app, filter) = (Arc::clone(&app), filter.clone());
        async move {
            let wanted = list::wanted::<AuditId>(&request)?;
            let entries = app.audit(caller, filter, &wanted).await?;
            Ok(cells(&list::page(entries, &wanted, |entry| entry.entry_id.to_string()), AUDIT))
        }
    };
    csv::answer(asker, "audit", &heads(AUDIT), read).await
}

fn heads(columns: &[Column]) -> Vec<&'static str> {
    columns.iter().map(|(head, _)| *head).collect()
}

fn cells<T: Serialize>(page: &Page<T>, columns: &[Column]) -> Page<Vec<String>> {
    let row = |item: &T| {
        let value = serde_json::to_value(item).unwrap_or_default();
        columns.iter().map(|(_, place)| text(value.pointer(place))).collect()
    };
    Page { items: page.items.iter().map(row).collect(), next_cursor: page.next_cursor.clone() }
}

/// Returns a value as the text of a cell. Nothing is an empty cell, and a list is separated by spaces.
fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            items.iter().map(|item| text(Some(item))).collect::<Vec<_>>().join(" ")
        }
        Some(other) => other.to_string(),
    }
}
