//! Tests the contents of a device's journal, and the order of its commands.

use jiff::Timestamp;
use link_protocol::{
    allowlist::Allowlist,
    command::{
        CancelDeploy, DeployModel, ModelFile, ProxyFeatures, ServingConfig, Sha256Hex,
        StartServing, StopServing, UninstallModel, UpdateAgent,
    },
    counter::{Epoch, Seq},
    envelope::ENVELOPE_VERSION,
    id::{DeviceId, ModelId, PipelineId},
    identity::{SCHEMA_VERSION, encode_seed},
    port::Port,
    registration::{TransportSettings, TransportType},
    secret::Secret,
};
use uuid::Uuid;

use super::*;

const WORK: u64 = 100;

#[test]
fn a_command_takes_effect_once_however_often_it_is_delivered() {
    let mut device = device(None);
    assert_eq!(device.deliver(&serve(1, 1), 0).receipt, ReceiptKind::Stored);
    assert_eq!(device.deliver(&serve(1, 1), 1).receipt, ReceiptKind::Duplicate);
    assert_eq!(device.work(WORK - 1), []);
    assert_eq!(device.work(WORK), [id(1)]);
    let again = device.deliver(&serve(1, 1), 200);
    assert_eq!(again.receipt, ReceiptKind::Done);
    assert_eq!(again.result.map(|report| report.status), Some(CommandResult::Succeeded));
    assert_eq!(device.work(1_000), []);
    assert_eq!(device.last_seq(), Seq(1));
}

#[test]
fn a_lane_keeps_its_order_and_the_agent_lane_waits_for_all() {
    let mut device = device(None);
    for envelope in [serve(1, 1), serve(2, 1), serve(3, 2), update(4), serve(5, 1)] {
        device.deliver(&envelope, 0);
    }
    assert_eq!(device.work(WORK), [id(1), id(3)]);
    assert_eq!(device.work(2 * WORK), [id(2)]);
    assert_eq!(device.work(3 * WORK), [id(4)]);
    assert_eq!(device.work(4 * WORK), [id(5)]);
    assert_eq!(device.next_work(), None);
}

#[test]
fn what_comes_too_late_or_for_another_epoch_is_answered_and_not_done() {
    let mut device = device(None);
    let late = Envelope { ttl_ms: 0, ..serve(1, 1) };
    let foreign = Envelope { epoch: Epoch(2), ..serve(2, 1) };
    for envelope in [late, foreign] {
        assert_eq!(device.deliver(&envelope, 0).receipt, ReceiptKind::Expired);
    }
    assert_eq!((device.work(1_000), device.last_seq()), (vec![], Seq(0)));
}

#[test]
fn a_payload_that_does_not_fit_is_rejected_without_an_effect() {
    let mut device = device(None);
    device.deliver(&Envelope { r#type: "NOTHING".to_owned(), ..serve(1, 1) }, 0);
    assert_eq!(device.work(WORK), []);
    let statuses: Vec<_> = device.untold().iter().map(|report| report.status).collect();
    assert_eq!(statuses, [CommandResult::Rejected]);
}

#[test]
fn a_restart_keeps_the_journal_and_begins_anew_what_was_not_done() {
    let mut device = device(None);
    for envelope in [serve(1, 1), serve(2, 1)] {
        device.deliver(&envelope, 0);
    }
    device.work(WORK);
    let boot = device.hello().boot_id;
    device.restart(150);
    let hello = device.hello();
    assert_ne!(hello.boot_id, boot);
    assert_eq!((hello.last_seq, hello.inflight.len()), (Seq(2), 1));
    assert_eq!(device.next_work(), Some(150 + WORK));
    assert_eq!(device.deliver(&serve(1, 1), 160).receipt, ReceiptKind::Done);
}

#[test]
fn a_command_that_nobody_waits_for_is_not_begun_and_not_told() {
    let mut device = device(None);
    device.deliver(&serve(1, 1), 0);
    device.withdraw(id(1));
    assert_eq!((device.work(1_000), device.untold()), (vec![], vec![]));
}

#[test]
fn a_result_is_told_until_the_backend_has_it() {
    let mut device = device(None);
    device.deliver(&serve(1, 1), 0);
    device.work(WORK);
    assert_eq!((device.untold().len(), device.untold().len()), (1, 1));
    device.told(id(1));
    assert_eq!(device.untold(), []);
}

#[test]
fn a_cancelled_deployment_has_no_effect() {
    let mut device = device(None);
    let deployment = DeploymentId::from_uuid(Uuid::from_u128(3));
    device.deliver(&serve(1, 1), 0);
    device.entry(id(1), |entry| entry.deploys = Some(deployment));
    let cancel = CancelDeploy { deployment_id: deployment, model_id: model(1) };
    device.deliver(&envelope(2, Command::CancelDeploy(cancel)), 10);
    assert_eq!(device.work(1_000), [id(2)]);
    let statuses: Vec<_> = device.untold().iter().map(|report| report.status).collect();
    assert_eq!(statuses, [CommandResult::Cancelled, CommandResult::Succeeded]);
}

#[test]
fn the_flaws_are_flaws() {
    let mut repeats = device(Some(Flaw::RepeatsEffects));
    repeats.deliver(&serve(1, 1), 0);
    assert_eq!(repeats.work(WORK), [id(1)]);
    repeats.deliver(&serve(1, 1), 200);
    assert_eq!(repeats.work(200), [id(1)]);

    let mut reverses = device(Some(Flaw::ReversesOrder));
    for number in [1, 2] {
        reverses.deliver(&serve(number, 1), 0);
    }
    assert_eq!(reverses.work(1_000), [id(2), id(1)]);
}

#[test]
fn it_lists_the_models_that_it_has_and_no_others() {
    let listed = |device: &Simulated| -> Vec<ModelId> {
        device.hello().serving.iter().map(|report| report.model_id).collect()
    };
    let mut device = device(None);
    device.deliver(&deploy(1, 1), 0);
    device.deliver(&deploy(2, 2), 0);
    assert_eq!(listed(&device), []);
    device.work(WORK);
    device.restart(WORK);
    assert_eq!(listed(&device), [model(1), model(2)]);
    let (pipeline_id, model_id) = (PipelineId::of(model(1)), model(1));
    let gone = Command::UninstallModel(UninstallModel { pipeline_id, model_id });
    device.deliver(&envelope(3, gone), WORK);
    device.work(2 * WORK);
    assert_eq!(listed(&device), [model(2)]);
}

fn deploy(number: u64, of: u128) -> Envelope {
    let (pipeline_id, model_id) = (PipelineId::of(model(of)), model(of));
    let config = ServingConfig {
        pipeline_id,
        model_id,
        alias: "some-model".parse().unwrap(),
        plugin: "language_model".to_owned(),
        port: Port::try_from(9_000).unwrap(),
        allowlist: Allowlist::new([]),
        proxy: ProxyFeatures::default(),
        settings: link_protocol::plugin::Settings::default(),
    };
    let model = ModelFile {
        model_id,
        file_name: "model.gguf".parse().unwrap(),
        url: None,
        sha256: Sha256Hex::from_digest(&[1; 32]),
        size_bytes: 1,
    };
    let deployment_id = DeploymentId::from_uuid(Uuid::from_u128(of));
    let deploy = DeployModel { deployment_id, pipeline_id, model, config, serve: false };
    envelope(number, Command::DeployModel(deploy))
}

fn device(flaw: Option<Flaw>) -> Simulated {
    let identity = Identity {
        schema_version: SCHEMA_VERSION.to_owned(),
        backend_url: "http://link.example".to_owned(),
        device_id: DeviceId::from_uuid(Uuid::from_u128(9)),
        device_token: Secret::new("ldt_x"),
        epoch: Epoch(1),
        transport: TransportSettings { r#type: TransportType::Http },
        backend_keys: vec![],
        private_key_seed: encode_seed(&[1; 32]),
    };
    Simulated::new(identity, WORK, flaw)
}

fn serve(number: u64, of: u128) -> Envelope {
    let (pipeline_id, model_id) = (PipelineId::of(model(of)), model(of));
    let command = if number % 2 == 1 {
        Command::StartServing(StartServing { pipeline_id, model_id, port: None })
    } else {
        Command::StopServing(StopServing { pipeline_id, model_id })
    };
    envelope(number, command)
}

fn update(number: u64) -> Envelope {
    let version = semver::Version::new(1, 2, 3);
    envelope(number, Command::UpdateAgent(UpdateAgent { version }))
}

fn envelope(number: u64, command: Command) -> Envelope {
    let lane = command.lane();
    let value = serde_json::to_value(&command).unwrap();
    Envelope {
        v: ENVELOPE_VERSION,
        command_id: id(u128::from(number)),
        device_id: DeviceId::from_uuid(Uuid::from_u128(9)),
        epoch: Epoch(1),
        seq: Seq(number),
        r#type: value["type"].as_str().unwrap().to_owned(),
        lane,
        idempotency_key: number.to_string(),
        attempt: 1,
        issued_at: Timestamp::UNIX_EPOCH,
        expires_at: Timestamp::UNIX_EPOCH,
        ttl_ms: 1_000,
        exec_deadline_s: 60,
        payload: serde_json::value::to_raw_value(&value["payload"]).unwrap(),
    }
}

fn model(number: u128) -> ModelId {
    ModelId::from_uuid(Uuid::from_u128(number))
}

fn id(number: u128) -> CommandId {
    CommandId::from_uuid(Uuid::from_u128(number))
}
