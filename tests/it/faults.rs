//! Faults of a device other than those of the network: disks that are full or read-only, a device
//! that was restored from an old copy, and one that runs on two machines.

use std::path::Path;

use link_protocol::{
    deployment::DeploymentState,
    report::{CommandResult, ModelState},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port},
    disk::SmallDisk,
    engines::{self, TINY_REPLY},
    program::{self, Running},
    wait::until,
};

#[tokio::test]
async fn a_full_disk_of_the_state_holds_commands_up_and_ends_nothing_that_serves() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::register(&backend).await;
    let Some(disk) = on_a_disk_of_its_own(&device) else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    device.run(&[]);
    backend.online(device.id, true).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;

    disk.fill();
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let sent =
        backend.owner.repair_serving(deployment.model_id, device.id, None, "k").await.unwrap();
    let log = device.home().join("agent.log");
    until("the agent to say that it cannot write", || async {
        let told = std::fs::read_to_string(&log).unwrap_or_default();
        told.contains("retrying until it succeeds").then_some(())
    })
    .await;
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY, "what serves goes on");
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 403, "nothing is done unwritten");

    // A start on a full disk waits too, and reports that.
    device.kill();
    let before = std::fs::read_to_string(&log).unwrap().len();
    device.run(&[]);
    until("the agent to say it at its start", || async {
        let told = std::fs::read_to_string(&log).unwrap_or_default();
        told[before..].contains("retrying until it succeeds").then_some(())
    })
    .await;
    disk.empty();
    let result = backend.result(sent.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 204);
}

#[tokio::test]
async fn a_read_only_folder_of_the_state_is_said_at_the_start() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::register(&backend).await;
    let Some(disk) = on_a_disk_of_its_own(&device) else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    disk.set_writable(false);
    device.run(&[]);
    device.died().await;
    let told = std::fs::read_to_string(device.home().join("agent.log")).unwrap();
    assert!(told.contains("Read-only file system") && told.contains("/state"), "{told}");
    disk.set_writable(true);
    device.run(&[]);
    backend.online(device.id, true).await;
}

#[tokio::test]
async fn a_device_set_back_to_an_old_copy_of_itself_tells_the_truth_and_is_repaired_again() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    device.kill();
    let (state, copy) = (device.home().join("state"), device.home().join("copy"));
    copy_folder(&state, &copy);

    device.run(&[]);
    backend.online(device.id, true).await;
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let result = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded);
    until("the backend to know of the repair", || async {
        let shown = backend.owner.deployment(deployment.deployment_id).await.ok()?;
        (!shown.stale).then_some(())
    })
    .await;
    device.kill();
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::rename(&copy, &state).unwrap();

    device.run(&[]);
    device.serves().await;
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 403, "the old copy's allowlist");
    until("the backend to know that it is stale again", || async {
        let shown = backend.owner.deployment(deployment.deployment_id).await.ok()?;
        shown.stale.then_some(())
    })
    .await;
    let result = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 204);
}

#[tokio::test]
async fn a_device_that_runs_on_two_machines_is_noticed_and_does_nothing_twice() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    device.kill();
    let twin = tempfile::tempdir().unwrap();
    copy_folder(&device.home(), twin.path());
    device.run(&[]);
    let log = twin.path().join("twin.log");
    let mut command = std::process::Command::new(program::path("link-agent"));
    command
        .env("LINK_HOME", twin.path())
        .env("LINK_LOCAL_PORT", free_port().to_string())
        .env("LINK_ENGINE_THREADS", "1");
    let running = Running::start(command, &log);
    until("one of the two to be told", || async {
        let told = |path: &Path| {
            let log = std::fs::read_to_string(path).unwrap_or_default();
            log.contains("a newer poll of this device")
        };
        (told(&log) || told(&device.home().join("agent.log"))).then_some(())
    })
    .await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
    drop(running);
    backend.online(device.id, true).await;
    let shown = device.healthz().await;
    assert!(shown.models.iter().all(|model| model.state == ModelState::NotServing));
}

/// Moves the state of a device to a small disk. Its agent must not run.
fn on_a_disk_of_its_own(device: &TestDevice) -> Option<SmallDisk> {
    let (state, copy) = (device.home().join("state"), device.home().join("copy"));
    copy_folder(&state, &copy);
    let disk = SmallDisk::mount(&state)?;
    copy_folder(&copy, &state);
    Some(disk)
}

fn copy_folder(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-aT").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}
