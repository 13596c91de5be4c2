//! Deployments that are cancelled, replaced, refused or wait for their turn.

use super::*;

// Holds: S3.1-2
#[test]
fn a_cancel_stops_the_download_and_both_end_with_it() {
    let mut bench = Bench::online();
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    let told = bench.deliver(&cancel(1, 1));
    assert!(told.contains(&"cancel download 1".to_owned()), "{told:?}");
    let outcome = Err(DownloadFailure::Cancelled);
    let effects = bench.handle(Event::DownloadEnded { download: download(1, 1), outcome });
    assert_eq!(
        results(&effects),
        ["c1 cancelled: cancelled by a user", "c2 succeeded: the deployment has ended: cancelled"]
    );
}

#[test]
fn a_cancel_survives_a_restart_before_the_download_has_ended() {
    let mut bench = Bench::online();
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    bench.deliver(&cancel(1, 1));
    bench.restart();
    let started = words(&bench.effects);
    let find = |wanted: &str| started.iter().position(|line| line == wanted);
    assert!(find("download 1") < find("cancel download 1"), "{started:?}");
    let effects = bench.handle(Event::DownloadEnded { download: download(1, 1), outcome: Ok(()) });
    assert!(words(&effects).contains(&"discard the file".to_owned()));
    assert_eq!(results(&effects).len(), 2);
}

#[test]
fn a_deployment_that_waits_is_cancelled_without_having_begun_and_one_that_is_done_is_not() {
    let mut bench = Bench::online();
    bench.deliver(&update_agent());
    for number in 1..=8 {
        bench.deliver(&Command::DeployModel(deploy(number, number)));
    }
    let told = bench.deliver(&Command::DeployModel(deploy(9, 9)));
    assert!(!told.iter().any(|line| line.starts_with("download")), "nine at a time: {told:?}");
    let told = bench.deliver(&cancel(9, 9));
    assert!(told.contains(&"c10 cancelled: cancelled by a user".to_owned()), "{told:?}");
    assert!(told.contains(&"c11 succeeded: the deployment was cancelled".to_owned()), "{told:?}");
    let told = bench.deliver(&cancel(9, 9));
    let late = "c12 rejected: too late: the deployment is no longer downloading on this device";
    assert!(told.contains(&late.to_owned()), "{told:?}");
}

#[test]
fn a_complete_deployment_has_as_many_bytes_as_its_progress_had() {
    let mut bench = Bench::online();
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    let (download, build) = (download(1, 1), "b9789".to_owned());
    let engine = Event::EngineProgressed { download, build, bytes_done: 4000, bytes_total: 4000 };
    bench.handle(engine);
    let told = words(&bench.handle(Event::DownloadEnded { download, outcome: Ok(()) }));
    for end in ["tell Configuring 5000", "tell Completed 5000"] {
        assert!(told.iter().any(|line| line.ends_with(end)), "{end}: {told:?}");
    }
}

// Holds: S3.1-4
#[test]
fn a_deployment_of_a_model_that_is_being_removed_fails_and_is_never_told_as_completed() {
    let mut bench = Bench::serving();
    bench.handle(Event::Wished(Wish::Remove(pipeline(1))));
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    let effects = bench.handle(Event::DownloadEnded { download: download(1, 1), outcome: Ok(()) });
    assert_eq!(results(&effects), ["c1 failed: the model is being removed"]);
    let told = words(&effects);
    assert!(!told.iter().any(|line| line.contains("tell Completed")), "{told:?}");
}

#[test]
fn a_person_here_sees_a_deployment_that_waits_and_cancels_it() {
    let mut bench = Bench::online();
    for number in 1..=9 {
        bench.deliver(&Command::DeployModel(deploy(number, number)));
    }
    let shown = bench.agent.deployments();
    assert_eq!((shown.len(), shown[8].state), (9, DeploymentState::Queued));
    let effects = bench.handle(Event::Wished(Wish::CancelDeploy(pipeline(9))));
    assert_eq!(results(&effects), ["c9 cancelled: ended by a person at this machine"]);
    assert_eq!(bench.agent.deployments().len(), 8);
}

#[test]
fn a_cancelled_redeployment_leaves_the_file_that_serves() {
    let mut bench = Bench::serving();
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    bench.deliver(&cancel(1, 1));
    let effects = bench.handle(Event::DownloadEnded { download: download(1, 1), outcome: Ok(()) });
    assert!(!words(&effects).contains(&"discard the file".to_owned()), "{effects:?}");
}

#[test]
fn a_newer_deployment_of_a_model_ends_the_download_of_the_older_one() {
    let mut bench = Bench::online();
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    let told = bench.deliver(&Command::DeployModel(deploy(2, 1)));
    assert!(told.contains(&"cancel download 1".to_owned()), "{told:?}");
    let outcome = Err(DownloadFailure::Cancelled);
    let effects = bench.handle(Event::DownloadEnded { download: download(1, 1), outcome });
    assert_eq!(results(&effects), ["c1 cancelled: ended by a newer command"]);
    assert!(words(&effects).contains(&"download 2".to_owned()));
}
