//! A device that has lost its models, or was restored from an older copy, gets its models back. Models that were
//! removed on purpose stay removed.

use std::path::Path;

use link_protocol::{backend_api::deployment::Deployment, id::ModelId};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
    wait::until,
};

#[tokio::test]
async fn a_device_that_lost_everything_gets_back_what_it_served() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let served = backend.serve_tiny(&device).await;
    let kept = backend.upload("kept", engines::model("tiny.gguf")).await.model_id;
    let removed = backend.upload("removed", engines::model("tiny.gguf")).await.model_id;
    for model in [kept, removed] {
        let deployment = backend.deploy(model, device.id, free_port(), false).await;
        backend.ended(deployment.deployment_id).await;
    }
    let uninstalled = backend.owner.uninstall(removed, device.id).await.unwrap();
    backend.result(uninstalled.command_id).await;

    device.kill();
    forget_all_but_who_it_is(&device.home().join("state"));
    device.run(&[]);
    until("the model to be deployed anew", || async {
        let shown = backend.owner.deployment(served.deployment_id).await.ok()?;
        (!shown.current).then_some(())
    })
    .await;
    let again = current(&backend, &device, served.model_id, true).await;
    assert_eq!((again.port, &again.alias), (served.port, &served.alias));
    let response = chat::ask(again.port, Some(OLD_ORIGIN), false).await.unwrap();
    assert_eq!(chat::whole(response).await.0, TINY_REPLY);
    current(&backend, &device, kept, false).await;
    let mut aliases: Vec<_> =
        device.pipelines().await.iter().map(|one| one.alias.to_string()).collect();
    aliases.sort();
    assert_eq!(aliases, ["kept", "tiny"]);

    // A model that the device already has is not deployed again.
    device.kill();
    device.run(&[]);
    backend.online(device.id, true).await;
    let same = current(&backend, &device, served.model_id, true).await;
    assert_eq!(same.deployment_id, again.deployment_id);
}

/// Waits until the newest deployment of a model is complete and its model served, or not served.
async fn current(
    backend: &TestBackend,
    device: &TestDevice,
    model: ModelId,
    serves: bool,
) -> Deployment {
    until("the model to be on the device", || async {
        let all = backend.owner.current_deployments(Some(device.id), Some(model)).await.ok()?;
        let found = all.into_iter().next()?;
        let reported = found.serving.as_ref()?;
        let is_there = reported.state != link_protocol::report::ModelState::Removed;
        let done = found.state == link_protocol::deployment::DeploymentState::Completed;
        (done && is_there && reported.is_serving == serves).then_some(found)
    })
    .await
}

fn forget_all_but_who_it_is(state: &Path) {
    for entry in std::fs::read_dir(state).unwrap().flatten() {
        if entry.file_name() == "identity.json" {
            continue;
        }
        if entry.path().is_dir() {
            std::fs::remove_dir_all(entry.path()).unwrap();
        } else {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}
