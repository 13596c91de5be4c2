//! A device without an engine installs one by itself, from a signed index and from no other source.

use std::{os::unix::fs::PermissionsExt as _, process::Command};

use link_platform::contain;
use link_protocol::{deployment::DeploymentState, report::ModelState};
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    disk::SmallDisk,
    engine_index::EngineIndexes,
    engines,
    model_server::{self, ModelServer},
    release_server::{Fault, ReleaseServer},
    wait::until,
};

#[tokio::test]
async fn a_device_without_an_engine_serves_a_model_by_itself() {
    let backend = TestBackend::start().await;
    let indexes = EngineIndexes::new();
    indexes.publish_after_one_that_dies(1);
    let server = ReleaseServer::start(&indexes.folder(), "none", Fault::None).await;
    let mut device = without_engine(&backend, &server.url).await;
    device.set("LINK_DEV_RELEASE_KEYS", &indexes.trusted);
    device.run(&[]);
    backend.online(device.id, true).await;

    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
    assert_eq!(ended.progress.bytes_done, ended.progress.bytes_total);
    assert!(Some(ended.progress.bytes_total) > model.size_bytes, "the engine is part of it");
    device.serves().await;

    let status = device.link().arg("status").output().unwrap();
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    let expected = "Engine     llama-server b10068 (an accepted build for the processor; passed over: b9789 does not run \
                    on this machine (a signal ended it))";
    assert!(status.contains(expected), "{status}");
    let engines = device.home().join("data/engines/llama-server");
    assert!(!engines.join(".download").exists() && !engines.join(".new").exists());
}

/// A build is a stranger's program from its first run on: it reaches no file of the user, and nothing of it stays.
#[test]
fn a_build_that_is_tried_is_contained_as_an_engine_that_serves() {
    let support = contain::support();
    if !support.files {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let device = TestDevice::unregistered();
    let build = tempfile::tempdir().unwrap();
    let (program, marker) = (build.path().join("llama-server"), device.home().join("marker"));
    let seconds = format!("1000.{}", std::process::id());
    let script = format!(
        "#!/bin/sh\ncat {0}/secret || echo refused\necho stolen > {1}\nsetsid sleep {seconds} &\n\
         echo 'version: 9789 (abc)'\n",
        device.home().display(),
        marker.display()
    );
    std::fs::write(device.home().join("secret"), "canary").unwrap();
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = device.link().args(["engine", "install"]).arg(build.path()).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert!(!marker.exists(), "it wrote a file of the user");
    let left = Command::new("pgrep").args(["-f", &format!("sleep {seconds}")]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "", "a process of it is left");
}

// A backend can name an address and sign with its own key. It cannot make a device run a program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_of_a_stranger_makes_no_device_run_a_program_until_its_owner_trusts_the_key() {
    let backend = TestBackend::start().await;
    let indexes = EngineIndexes::new();
    indexes.publish(1);
    let server = ReleaseServer::start(&indexes.folder(), "none", Fault::None).await;
    let mut device = without_engine(&backend, &server.url).await;
    device.set("LINK_DEV_RELEASE_KEYS", &EngineIndexes::new().trusted);
    device.run(&[]);
    backend.online(device.id, true).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    assert_eq!(backend.ended(deployment.deployment_id).await.state, DeploymentState::Completed);
    let detail = until("the reason why nothing is served", || async {
        let model = device.healthz().await.models.pop()?;
        model.detail.filter(|_| model.state == ModelState::NotServing)
    })
    .await;
    for words in ["`link engine install FILE`", "a key that this installation does not trust"] {
        assert!(detail.contains(words), "{detail}");
    }
    assert_eq!(server.requests(".tar.gz"), 0, "nothing was downloaded");

    let trusted = device.link().args(["engine", "trust"]).arg(indexes.key_file()).output().unwrap();
    assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
    let installed = device
        .link()
        .args(["engine", "install"])
        .env("LINK_DEV_RELEASE_KEYS", EngineIndexes::new().trusted)
        .output()
        .unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    assert_eq!(server.requests(".tar.gz"), 1);
    let listed = device.link().args(["engine", "list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("b10068  used  an accepted build for the processor"), "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_without_room_for_the_engine_is_told_and_nothing_half_made_stays() {
    let backend = TestBackend::start().await;
    let indexes = EngineIndexes::new();
    indexes.publish(1);
    let server = ReleaseServer::start(&indexes.folder(), "none", Fault::None).await;
    let mut device = without_engine(&backend, &server.url).await;
    let folder = device.home().join("data/engines");
    std::fs::create_dir(&folder).unwrap();
    let Some(disk) = SmallDisk::mount(&folder) else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    disk.fill();
    device.set("LINK_DEV_RELEASE_KEYS", &indexes.trusted);
    device.run(&[]);
    backend.online(device.id, true).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    assert_eq!(backend.ended(deployment.deployment_id).await.state, DeploymentState::Completed);
    let detail = until("the reason why nothing is served", || async {
        let model = device.healthz().await.models.pop()?;
        model.detail.filter(|_| model.state == ModelState::NotServing)
    })
    .await;
    assert!(detail.contains("`link engine install FILE`"), "{detail}");
    let install = || {
        let mut command = device.link();
        command.args(["engine", "install"]).env("LINK_DEV_RELEASE_KEYS", &indexes.trusted);
        let ended = command.output().unwrap();
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let (code, said) = install();
    assert_eq!(code, Some(14), "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
    assert_eq!(server.requests(".tar.gz"), 0, "nothing was downloaded");
    assert!(!folder.join("llama-server").exists());

    // The disk of the folder below has room.
    drop(disk);
    let (code, said) = install();
    assert_eq!(code, Some(0), "{said}");
    backend.owner.serve(model.model_id, device.id, None).await.unwrap();
    device.serves().await;
}

// Holds: S3.1-2
#[tokio::test]
async fn a_cancel_while_the_engine_comes_leaves_no_part_of_it() {
    let backend = TestBackend::start().await;
    let indexes = EngineIndexes::new();
    indexes.publish(1);
    let server = ReleaseServer::start(&indexes.folder(), ".tar.gz", Fault::Slow).await;
    let mut device = without_engine(&backend, &server.url).await;
    device.set("LINK_DEV_RELEASE_KEYS", &indexes.trusted);
    device.run(&[]);
    backend.online(device.id, true).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let downloads = device.home().join("data/engines/llama-server/.download");
    let parts = || std::fs::read_dir(&downloads).is_ok_and(|mut files| files.next().is_some());
    until("a part of the engine", || async { parts().then_some(()) }).await;
    backend.owner.cancel_deployment(deployment.deployment_id).await.unwrap();
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Cancelled, "{:?}", ended.reason);
    assert!(!downloads.exists());
}

#[tokio::test]
async fn a_disk_that_fills_between_engine_and_model_keeps_the_engine_for_the_next_run() {
    let backend = TestBackend::start().await;
    let indexes = EngineIndexes::new();
    indexes.publish(1);
    let server = ReleaseServer::start(&indexes.folder(), "none", Fault::None).await;
    let mut device = without_engine(&backend, &server.url).await;
    let models = device.home().join("state/models");
    std::fs::create_dir_all(&models).unwrap();
    let Some(disk) = SmallDisk::mount(&models) else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    device.set("LINK_DEV_RELEASE_KEYS", &indexes.trusted);
    device.run(&[]);
    backend.online(device.id, true).await;
    let file = engines::model("tiny.gguf");
    let slow = ModelServer::start(file.clone(), model_server::Fault::Slow).await;
    let model = backend.model_at("tiny", &slow.url, &file).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let current = device.home().join("data/engines/llama-server/current");
    until("the engine to be installed", || std::future::ready(current.exists().then_some(())))
        .await;
    disk.fill();
    let ended = backend.ended(deployment.deployment_id).await;
    let reason = ended.reason.unwrap_or_default();
    assert_eq!(ended.state, DeploymentState::Failed, "{reason}");
    let full = reason == "the disk is full" || reason.starts_with("not enough disk space");
    assert!(full, "{reason}");
    assert_eq!(device.model_files(), [disk.filler()]);
    assert_eq!(std::fs::read_to_string(&current).unwrap(), "b10068\n");

    disk.empty();
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Completed, "{:?}", ended.reason);
    device.serves().await;
    assert_eq!(server.requests(".tar.gz"), 1, "the engine is not downloaded again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_plugin_brings_its_engine_from_an_index_of_builds_that_ran() {
    let backend = TestBackend::start().await;
    let indexes = EngineIndexes::new();
    let said = indexes.publish_all();
    assert_eq!(said.matches("; ran with a sample model; ").count(), 4, "{said}");
    let server = ReleaseServer::start(&indexes.folder(), "none", Fault::None).await;
    let mut device = without_engine(&backend, &server.url).await;
    device.set("LINK_DEV_RELEASE_KEYS", &indexes.trusted);
    device.run(&[]);
    backend.online(device.id, true).await;

    let onnx = |name: &str| std::fs::read(engines::onnx(name)).unwrap();
    for (plugin, file, bytes) in [
        ("language_model", "tiny.gguf", engines::model("tiny.gguf")),
        ("audio_transcriber", "empty.bin", engines::model("ggml-empty.bin")),
        ("image_classifier", "orientation.tar", onnx("orientation.tar")),
        ("audio_classifier", "voice.tar", onnx("voice.tar")),
    ] {
        let model = backend.upload_for(plugin, file, plugin, bytes).await;
        let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
        backend.serving(deployment.deployment_id, true).await;
    }
    let status = device.link().arg("status").output().unwrap();
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    for build in [
        "audio-classifier 1.3.0 (the default build for the processor)",
        "image-classifier 1.3.0 (the default build for the processor)",
        "llama-server b10068 (an accepted build for the processor)",
        "whisper-server v1.8.5 (an accepted build for the processor)",
    ] {
        assert!(status.contains(&format!("Engine     {build}")), "{status}");
    }
    assert_eq!(server.requests(".tar.gz"), 4);
}

/// A registered device without an engine, whose releases come from `source`. Its agent does not run.
pub(crate) async fn without_engine(backend: &TestBackend, source: &str) -> TestDevice {
    let device = TestDevice::register(backend).await;
    std::fs::remove_dir_all(device.home().join("data/engines")).unwrap();
    let receipt = serde_json::json!({
        "source": source, "versions": [], "pointers": [], "folders": [],
    });
    std::fs::write(device.home().join("data/receipt.json"), receipt.to_string()).unwrap();
    device
}
