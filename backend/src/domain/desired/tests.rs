//! Which models are deployed again.

use jiff::Timestamp;
use link_protocol::{
    allowlist::Allowlist,
    command::{Command, ProxyFeatures, UninstallModel},
    counter::{Generation, Seq},
    deployment::DeploymentState,
    id::{CommandId, DeploymentId, DeviceId, PipelineId},
    local_api::Progress,
    port::Port,
    report::ModelState,
};
use uuid::Uuid;

use super::*;

#[test]
fn what_is_not_listed_is_lost_and_served_again_as_it_was() {
    let current = vec![
        (deployed(1), Some(report(1, true))),
        (deployed(2), Some(report(2, false))),
        (deployed(3), None),
        (deployed(4), Some(report(4, true))),
    ];
    let found = lost(current, &[report(4, false)], &[]);
    let found: Vec<_> = found.iter().map(|one| (one.deployment.model, one.served)).collect();
    assert_eq!(found, [(model(1), true), (model(2), false), (model(3), false)]);
}

#[test]
fn what_is_removed_or_was_never_there_is_no_loss() {
    let removed = DeploymentRecord { removed: true, ..deployed(1) };
    let failed = DeploymentRecord { state: DeploymentState::Failed, ..deployed(2) };
    let queued = DeploymentRecord { state: DeploymentState::Queued, ..deployed(3) };
    let current = [removed, failed, queued].map(|deployment| (deployment, None)).to_vec();
    assert_eq!(lost(current, &[], &[]), []);
}

#[test]
fn a_model_that_a_command_is_still_about_is_no_loss_and_another_is() {
    let wish = Command::UninstallModel(UninstallModel {
        pipeline_id: PipelineId::of(model(1)),
        model_id: model(1),
    });
    let id = CommandId::from_uuid(Uuid::from_u128(9));
    let device = DeviceId::from_uuid(Uuid::from_u128(3));
    let running =
        CommandRecord::new(id, device, Seq(1), wish, String::new(), Timestamp::UNIX_EPOCH);
    let current = vec![(deployed(1), None), (deployed(2), None)];
    let found = lost(current, &[], &[running]);
    let found: Vec<_> = found.iter().map(|one| one.deployment.model).collect();
    assert_eq!(found, [model(2)]);
}

fn model(number: u128) -> ModelId {
    ModelId::from_uuid(Uuid::from_u128(number))
}

fn port() -> Port {
    Port::try_from(8080).unwrap()
}

fn deployed(number: u128) -> DeploymentRecord {
    DeploymentRecord {
        id: DeploymentId::from_uuid(Uuid::from_u128(number)),
        model: model(number),
        device: DeviceId::from_uuid(Uuid::from_u128(3)),
        command: CommandId::from_uuid(Uuid::from_u128(number)),
        alias: format!("model-{number}").parse().unwrap(),
        port: port(),
        state: DeploymentState::Completed,
        reason: None,
        progress: Progress { bytes_done: 1, bytes_total: 1 },
        allowlist: Allowlist::new([]),
        proxy: ProxyFeatures::default(),
        settings: link_protocol::plugin::Settings::default(),
        removed: false,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

fn report(number: u128, is_serving: bool) -> ModelReport {
    ModelReport {
        model_id: model(number),
        pipeline_id: PipelineId::of(model(number)),
        state: if is_serving { ModelState::Serving } else { ModelState::NotServing },
        is_serving,
        port: port(),
        allowlist_digest: String::new(),
        generation: Generation(1),
        detail: None,
    }
}
