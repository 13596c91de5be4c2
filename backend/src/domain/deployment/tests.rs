//! Deployments: the table of reports, and when an allowlist is stale.

use jiff::ToSpan as _;
use link_protocol::id::PipelineId;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

// Holds: S3.1-5, S6-4
#[test]
fn progress_moves_forwards_only() {
    let mut deployment = queued();
    assert!(deployment.progress(&report(ProgressEvent::Downloading, 5), at(1)));
    assert!(deployment.progress(&report(ProgressEvent::Downloading, 50), at(2)));
    assert_eq!(deployment.progress.bytes_done, 50);
    assert!(deployment.progress(&report(ProgressEvent::Configuring, 100), at(3)));
    assert!(!deployment.progress(&report(ProgressEvent::Downloading, 60), at(4)));
    assert!(deployment.progress(&report(ProgressEvent::Completed, 100), at(5)));
    assert!(!deployment.result(CommandResult::Failed, "late", at(6)));
    assert_eq!((deployment.state, deployment.reason), (DeploymentState::Completed, None));
}

// Holds: S3.1-4
#[test]
fn a_result_ends_the_deployment_with_its_reason() {
    for (status, state) in [
        (CommandResult::Failed, DeploymentState::Failed),
        (CommandResult::Rejected, DeploymentState::Failed),
        (CommandResult::Cancelled, DeploymentState::Cancelled),
    ] {
        let mut deployment = queued();
        assert!(deployment.result(status, "disk full", at(1)));
        assert_eq!((deployment.state, deployment.reason.as_deref()), (state, Some("disk full")));
    }
}

// Holds: S3.1-1, S8-3
#[test]
fn a_deployment_is_overdue_after_more_than_five_minutes() {
    let mut deployment = queued();
    assert!(!deployment.is_overdue(at(300)));
    assert!(deployment.is_overdue(at(301)));
    deployment.progress(&report(ProgressEvent::Downloading, 0), at(2));
    assert!(!deployment.is_overdue(at(1000)));
}

// Holds: S3.1-1
#[test]
fn a_deployment_is_stuck_when_it_is_overdue_or_its_command_is_over() {
    let mut deployment = queued();
    for command in [Some(State::Delivered), Some(State::Acknowledged), None] {
        assert!(!deployment.is_stuck(command, at(300)), "{command:?}");
        assert!(deployment.is_stuck(command, at(301)), "{command:?}");
    }
    deployment.progress(&report(ProgressEvent::Downloading, 0), at(2));
    assert!(!deployment.is_stuck(Some(State::Acknowledged), at(1000)));
    assert!(deployment.is_stuck(Some(State::Superseded), at(3)));
    deployment.end(DeploymentState::Failed, None, at(4));
    assert!(!deployment.is_stuck(Some(State::Expired), at(1000)));
}

// Holds: S1-3b
#[test]
fn a_list_is_stale_when_it_lacks_an_origin_of_the_current_one() {
    let list = |origins: &[&str]| Allowlist::new(origins.iter().map(|o| o.parse().unwrap()));
    let (a, ab) = (list(&["https://a.example"]), list(&["https://a.example", "https://b.example"]));
    let mut deployment = queued();
    deployment.allowlist = a.clone();
    assert!(deployment.is_stale(&ab, None));
    assert!(!deployment.is_stale(&a, None));
    deployment.allowlist = ab;
    assert!(!deployment.is_stale(&a, None), "an origin too many is not stale");
    deployment.state = DeploymentState::Completed;
    let other = list(&["https://other.example"]);
    assert!(deployment.is_stale(&a, Some(other.digest())), "the device has a list of its own");
    assert!(!deployment.is_stale(&a, Some(a.digest())));
    deployment.state = DeploymentState::Queued;
    assert!(!deployment.is_stale(&a, Some(other.digest())), "the new list is on its way");
    deployment.allowlist = Allowlist::new([]);
    deployment.end(DeploymentState::Failed, None, at(1));
    assert!(!deployment.is_stale(&a, None), "the model is not on the device");
    let digest = deployment.allowlist.digest().to_owned();
    assert!(deployment.is_stale(&a, Some(&digest)), "the model is there as it was before");
    deployment.removed = true;
    assert!(!deployment.is_stale(&a, Some(&digest)));
}

#[test]
fn a_deployment_without_effect_has_the_values_that_are_in_force() {
    let mut there = queued();
    there.end(DeploymentState::Completed, None, at(1));
    let wish = || DeploymentRecord {
        id: DeploymentId::from_uuid(Uuid::from_u128(9)),
        alias: "renamed".parse().unwrap(),
        port: Port::try_from(9090_u16).unwrap(),
        allowlist: Allowlist::new(["https://a.example".parse().unwrap()]),
        proxy: ProxyFeatures { cors: false, ..ProxyFeatures::default() },
        settings: serde_json::from_str(r#"{"nope":1}"#).unwrap(),
        ..queued()
    };
    let mut failed = wish();
    failed.end(DeploymentState::Failed, Some("no such setting"), at(2));
    let shown = failed.clone().as_in_force(&[failed.clone(), there.clone()]);
    let values = |record: &DeploymentRecord| {
        let DeploymentRecord { alias, port, allowlist, proxy, settings, .. } = record.clone();
        (alias, port, allowlist, proxy, settings)
    };
    assert_eq!(values(&shown), values(&there));
    assert_eq!(shown.reason.as_deref(), Some("no such setting"));

    // Nothing is in force: the next attempt keeps what was asked for.
    assert_eq!(failed.clone().as_in_force(&[failed.clone()]), failed);
    there.removed = true;
    assert_eq!(failed.clone().as_in_force(&[failed.clone(), there.clone()]), failed);
    there.removed = false;
    let waiting = wish();
    assert_eq!(waiting.clone().as_in_force(&[waiting.clone(), there]), waiting);
}

proptest! {
    #[test]
    fn final_stays_final(steps in proptest::collection::vec(0..7_u8, 0..20)) {
        let mut deployment = queued();
        for step in steps {
            let before = deployment.clone();
            let changed = match step {
                0 => deployment.progress(&report(ProgressEvent::Downloading, 1), at(1)),
                1 => deployment.progress(&report(ProgressEvent::Configuring, 1), at(1)),
                2 => deployment.progress(&report(ProgressEvent::Completed, 1), at(1)),
                3 => deployment.result(CommandResult::Succeeded, "", at(1)),
                4 => deployment.result(CommandResult::Failed, "", at(1)),
                5 => deployment.result(CommandResult::Cancelled, "", at(1)),
                _ => deployment.end(DeploymentState::Failed, None, at(1)),
            };
            prop_assert!(changed || before == deployment);
            if before.state.is_final() {
                prop_assert_eq!(&before, &deployment);
            }
        }
    }
}

fn queued() -> DeploymentRecord {
    let model = ModelId::from_uuid(Uuid::from_u128(1));
    assert_eq!(PipelineId::of(model), PipelineId::from_uuid(Uuid::from_u128(1)));
    DeploymentRecord {
        id: DeploymentId::from_uuid(Uuid::from_u128(2)),
        model,
        device: DeviceId::from_uuid(Uuid::from_u128(3)),
        command: CommandId::from_uuid(Uuid::from_u128(4)),
        alias: "tiny".parse().unwrap(),
        port: Port::try_from(DEFAULT_PORT).unwrap(),
        state: DeploymentState::Queued,
        reason: None,
        progress: Progress { bytes_done: 0, bytes_total: 100 },
        allowlist: Allowlist::new([]),
        proxy: ProxyFeatures::default(),
        settings: Settings::default(),
        removed: false,
        created_at: at(0),
        updated_at: at(0),
    }
}

fn report(event: ProgressEvent, bytes_done: u64) -> ProgressReport {
    let deployment_id = Some(DeploymentId::from_uuid(Uuid::from_u128(2)));
    ProgressReport { deployment_id, event, bytes_done, bytes_total: 100 }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000).unwrap() + seconds.seconds()
}
