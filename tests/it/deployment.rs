//! Deployments over bad connections, with bad files, and cancelled ones.

use std::time::{Duration, Instant};

use link_protocol::deployment::DeploymentState;
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    disk::SmallDisk,
    engines,
    model_server::{Fault, ModelServer},
    wait::until,
};

/// A file that is large enough to interrupt its download.
fn bytes() -> Vec<u8> {
    engines::model("tiny.gguf")
}

#[tokio::test]
async fn a_cut_connection_is_resumed_within_the_deployment() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let server = ModelServer::start(bytes(), Fault::CutOnce).await;
    let model = backend.model_at("tiny", &server.url, &bytes()).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
    assert_eq!((server.requests(), server.resumed()), (2, 1));
    let files = device.model_files();
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::read(&files[0]).unwrap(), bytes());
}

// Holds: S3.1-3, S3.1-4, S5-5
#[tokio::test]
async fn a_short_or_wrong_file_fails_with_a_reason_and_leaves_nothing() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    for (fault, reason) in [
        (Fault::Short, "the file is shorter than announced"),
        (Fault::Wrong, "the checksum is wrong"),
    ] {
        let server = ModelServer::start(bytes(), fault).await;
        let name = format!("{fault:?}").to_lowercase();
        let model = backend.model_at(&name, &server.url, &bytes()).await;
        let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
        let ended = backend.ended(deployment.deployment_id).await;
        assert_eq!(ended.state, DeploymentState::Failed);
        assert!(ended.reason.as_ref().unwrap().contains(reason), "{:?}", ended.reason);
        assert!(device.model_files().is_empty(), "{:?}", device.model_files());
        assert!(device.pipelines().await.is_empty());
    }
    // A new deployment works.
    let server = ModelServer::start(bytes(), Fault::None).await;
    let model = backend.model_at("right", &server.url, &bytes()).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
}

// Holds: S3.1-2
#[tokio::test]
async fn a_cancel_stops_the_download_at_once_and_a_new_deployment_works() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let server = ModelServer::start(bytes(), Fault::Slow).await;
    let model = backend.model_at("tiny", &server.url, &bytes()).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    until("bytes on disk", || async {
        let shown = device.healthz().await.deployments;
        shown.first().is_some_and(|shown| shown.progress.bytes_done > 0).then_some(())
    })
    .await;
    let cancelled = Instant::now();
    backend.owner.cancel_deployment(deployment.deployment_id).await.unwrap();
    let ended = backend.ended(deployment.deployment_id).await;
    // The rest of the file would take seven seconds.
    assert!(cancelled.elapsed() < Duration::from_secs(4), "{:?}", cancelled.elapsed());
    assert_eq!(ended.state, DeploymentState::Cancelled, "{:?}", ended.reason);
    assert!(device.model_files().is_empty(), "{:?}", device.model_files());
    let again = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let ended = backend.ended(again.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
}

// Holds: S3.1-4
#[tokio::test]
async fn a_server_that_is_gone_fails_the_deployment() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let url = format!("http://127.0.0.1:{}/model.gguf", free_port());
    let model = backend.model_at("tiny", &url, &bytes()).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Failed);
    assert!(ended.reason.unwrap().contains("the server is unreachable"));
    assert!(device.model_files().is_empty());
}

// Holds: S3.1-4
#[tokio::test]
async fn a_disk_that_fills_up_fails_the_deployment_and_leaves_nothing() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let Some(disk) = SmallDisk::mount(&device.home().join("state/models")) else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    let server = ModelServer::start(bytes(), Fault::Slow).await;
    let model = backend.model_at("tiny", &server.url, &bytes()).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    until("bytes on disk", || async {
        let shown = device.healthz().await.deployments;
        shown.first().is_some_and(|shown| shown.progress.bytes_done > 0).then_some(())
    })
    .await;
    disk.fill();
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Failed);
    assert_eq!(ended.reason.as_deref(), Some("the disk is full"));
    assert_eq!(device.model_files(), [disk.filler()]);

    // A download that cannot fit is not started.
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let reason = backend.ended(deployment.deployment_id).await.reason.unwrap();
    assert!(reason.starts_with("not enough disk space"), "{reason}");
    disk.empty();
    let server = ModelServer::start(bytes(), Fault::None).await;
    let model = backend.model_at("again", &server.url, &bytes()).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
}
