//! Examples shared by the tests of several modules, and effects as short text.

use std::collections::BTreeSet;

use jiff::{Timestamp, ToSpan as _};
use link_protocol::{
    allowlist::Allowlist,
    command::{
        CancelDeploy, Command, DeployModel, ModelFile, ProxyFeatures, RepairServing, ServingConfig,
        StartServing, StopServing, UninstallModel, UpdateAgent, UpdatePipeline,
    },
    counter::{Epoch, Generation, Seq},
    envelope::{ENVELOPE_VERSION, Envelope},
    id::{CommandId, DeploymentId, DeviceId, ModelId, PipelineId},
    port::Port,
};
use serde_json::value::RawValue;

use crate::{
    effect::{Effect, Finished, Turn},
    record::{Change, PipelineRecord, Report},
};

/// Returns the n-th identifier of its kind.
pub(crate) fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(prefix: &str, number: u64) -> T {
    format!("{prefix}{number:032x}").parse().unwrap()
}

pub(crate) fn command_id(number: u64) -> CommandId {
    id(CommandId::PREFIX, number)
}

pub(crate) fn device_id() -> DeviceId {
    id(DeviceId::PREFIX, 1)
}

pub(crate) fn model(number: u64) -> ModelId {
    id(ModelId::PREFIX, number)
}

pub(crate) fn pipeline(number: u64) -> PipelineId {
    PipelineId::of(model(number))
}

pub(crate) fn deployment(number: u64) -> DeploymentId {
    id(DeploymentId::PREFIX, number)
}

pub(crate) fn port(number: u16) -> Port {
    Port::try_from(number).unwrap()
}

pub(crate) fn allowlist(origins: &[&str]) -> Allowlist {
    Allowlist::new(origins.iter().map(|origin| origin.parse().unwrap()))
}

/// Returns the time on the backend's clock in the tests.
pub(crate) fn moment() -> Timestamp {
    "2026-08-07T12:00:00Z".parse().unwrap()
}

pub(crate) fn config(model_number: u64) -> ServingConfig {
    ServingConfig {
        pipeline_id: pipeline(model_number),
        model_id: model(model_number),
        alias: "tiny".parse().unwrap(),
        plugin: "language_model".to_owned(),
        port: port(8080),
        allowlist: allowlist(&["https://old.example"]),
        proxy: ProxyFeatures::default(),
        settings: link_protocol::plugin::Settings::default(),
    }
}

/// A file of a model; `content` is one hexadecimal digit.
pub(crate) fn file(model_number: u64, content: char) -> ModelFile {
    ModelFile {
        model_id: model(model_number),
        file_name: "tiny.gguf".parse().unwrap(),
        url: None,
        sha256: content.to_string().repeat(64).parse().unwrap(),
        size_bytes: 1000,
    }
}

/// The `number`-th deployment, of the given model.
pub(crate) fn deploy(number: u64, model_number: u64) -> DeployModel {
    DeployModel {
        deployment_id: deployment(number),
        pipeline_id: pipeline(model_number),
        model: file(model_number, 'a'),
        config: config(model_number),
        serve: true,
    }
}

pub(crate) fn cancel(number: u64, model_number: u64) -> Command {
    Command::CancelDeploy(CancelDeploy {
        deployment_id: deployment(number),
        model_id: model(model_number),
    })
}

pub(crate) fn start(model_number: u64, wanted: Option<u16>) -> StartServing {
    StartServing {
        pipeline_id: pipeline(model_number),
        model_id: model(model_number),
        port: wanted.map(port),
    }
}

pub(crate) fn stop(model_number: u64) -> StopServing {
    StopServing { pipeline_id: pipeline(model_number), model_id: model(model_number) }
}

pub(crate) fn repair(model_number: u64, wanted: Option<u16>) -> RepairServing {
    RepairServing {
        pipeline_id: pipeline(model_number),
        model_id: model(model_number),
        allowlist: allowlist(&["https://old.example", "https://work.example"]),
        port: wanted.map(port),
    }
}

pub(crate) fn update(config: ServingConfig) -> UpdatePipeline {
    UpdatePipeline { pipeline_id: config.pipeline_id, config }
}

pub(crate) fn uninstall(model_number: u64) -> UninstallModel {
    UninstallModel { pipeline_id: pipeline(model_number), model_id: model(model_number) }
}

pub(crate) fn update_agent() -> Command {
    Command::UpdateAgent(UpdateAgent { version: semver::Version::new(1, 4, 0) })
}

/// The stored pipeline of a model.
pub(crate) fn record(model_number: u64, serve: bool) -> PipelineRecord {
    PipelineRecord {
        config: config(model_number),
        file: file(model_number, 'a'),
        serve,
        explicit: false,
        generation: Generation(1),
        removing: false,
    }
}

/// The first delivery of a command, with sequence number `seq`.
pub(crate) fn envelope(seq: u64, command: &Command) -> Envelope {
    let tagged = serde_json::to_value(command).unwrap();
    let expiry = i64::try_from(command.kind().expiry().as_secs()).unwrap();
    Envelope {
        v: ENVELOPE_VERSION,
        command_id: command_id(seq),
        device_id: device_id(),
        epoch: Epoch(1),
        seq: Seq(seq),
        r#type: tagged["type"].as_str().unwrap().to_owned(),
        lane: command.lane(),
        idempotency_key: seq.to_string(),
        attempt: 1,
        issued_at: moment(),
        expires_at: moment().checked_add(expiry.seconds()).unwrap(),
        ttl_ms: 1000,
        exec_deadline_s: command.kind().execution_deadline().as_secs(),
        payload: RawValue::from_string(tagged["payload"].to_string()).unwrap(),
    }
}

/// Returns the results of a turn as short text: changes, effects, results, reports.
pub(crate) fn told(turn: &Turn) -> Vec<String> {
    let changes = turn.changes.iter().map(change);
    let effects = turn.effects.iter().flat_map(effect);
    let finished = turn.finished.iter().map(|Finished { command, status, output }| {
        format!("{} {status}: {output}", number_of(*command))
    });
    let reports = turn.reports.iter().map(report);
    changes.chain(effects).chain(finished).chain(reports).collect()
}

/// Returns the effects as short text.
pub(crate) fn words(effects: &[Effect]) -> Vec<String> {
    effects.iter().flat_map(effect).collect()
}

/// The command results in `effects` as short text.
pub(crate) fn results(effects: &[Effect]) -> Vec<String> {
    let lines = words(effects);
    lines.into_iter().filter(|line| line.starts_with('c') && line.contains(": ")).collect()
}

/// The numbers that stand for `commands`.
pub(crate) fn numbers(commands: impl IntoIterator<Item = CommandId>) -> BTreeSet<String> {
    commands.into_iter().map(number_of).collect()
}

fn number_of(command: CommandId) -> String {
    let text = command.to_string();
    let digits = text.trim_start_matches(CommandId::PREFIX);
    format!("c{}", u128::from_str_radix(digits, 16).unwrap())
}

fn change(change: &Change) -> String {
    match change {
        Change::PutCommand(entry) => match &entry.result {
            Some(result) => {
                format!("{} {}: {}", number_of(entry.command_id), result.status, result.output)
            }
            None => format!("write {}", number_of(entry.command_id)),
        },
        Change::ForgetCommand(id) => format!("forget {}", number_of(*id)),
        Change::PutPipeline(record) => {
            let serve = if record.serve { "serve" } else { "rest" };
            format!("write {serve} on {} generation {}", record.config.port, record.generation)
        }
        Change::RemovePipeline(_) => "forget the pipeline".to_owned(),
        Change::PutReport(entry) => format!("write {}: {}", entry.id, report(&entry.report)),
        Change::RemoveReport(id) => format!("forget {id}"),
        Change::HoldReport(entry) => format!("set aside {}", entry.id),
        Change::BuryReport { entry, reason } => format!("bury {}: {reason}", entry.id),
        Change::SetLastSeq(seq) => format!("seq {seq}"),
    }
}

fn effect(effect: &Effect) -> Vec<String> {
    let line = match effect {
        Effect::Persist(changes) => {
            let mut lines = vec!["persist".to_owned()];
            lines.extend(changes.iter().map(change));
            return lines;
        }
        Effect::SendReceipt(receipt) => {
            format!("receipt {} {:?}", number_of(receipt.command_id), receipt.receipt)
        }
        Effect::SendReport(entry) => format!("send {}: {}", entry.id, report(&entry.report)),
        Effect::Download { download, .. } => format!("download {}", download.attempt),
        Effect::CancelDownload { download } => format!("cancel download {}", download.attempt),
        Effect::ReservePort { run, route } => format!("reserve {} for run {run}", route.port),
        Effect::ReplaceRoute(route) => {
            let engine = route.engine.map_or("no engine".to_owned(), |run| format!("engine {run}"));
            format!("route {} to {engine}, {} origins", route.port, route.allowlist.origins().len())
        }
        Effect::ReleasePort { port, .. } => format!("release {port}"),
        Effect::StartEngine { run, .. } => format!("start engine {run}"),
        Effect::StopEngine { run, .. } => format!("stop engine {run}"),
        Effect::KillEngine { run, .. } => format!("kill engine {run}"),
        Effect::PruneModel { .. } => "prune the model".to_owned(),
        Effect::DiscardFile(_) => "discard the file".to_owned(),
        Effect::DeleteModel { .. } => "delete the model".to_owned(),
        Effect::StageUpdate { request, .. } => {
            let version =
                request.version.as_ref().map_or("the newest".to_owned(), ToString::to_string);
            format!("stage {version}")
        }
        Effect::ReplaceAgent { version } => format!("replace the agent by {version}"),
        Effect::HandOver { to_epoch } => format!("hand over to epoch {to_epoch}"),
        Effect::Log(note) => format!("log {note:?}").chars().take(12).collect(),
    };
    vec![line]
}

fn report(report: &Report) -> String {
    match report {
        Report::Lifecycle(lifecycle) => format!("tell {:?}", lifecycle.status),
        Report::Command(result) => {
            format!("tell {} {}", number_of(result.command_id), result.status)
        }
        Report::Model(model) => format!("tell {:?}", model.state),
        Report::Progress { progress, .. } => {
            format!("tell {:?} {}", progress.event, progress.bytes_done)
        }
    }
}
