//! A device without an engine gets one by itself: from a signed index, and from nothing else.

use link_protocol::{deployment::DeploymentState, report::ModelState};
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    engine_index::EngineIndexes,
    engines,
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
    let expected = "Engine     b10068 (an accepted build for processor; passed over: b9789 does not run \
                    on this machine (a signal ended it))";
    assert!(status.contains(expected), "{status}");
    let engines = device.home().join("data/engines/llama-server");
    assert!(!engines.join(".download").exists() && !engines.join(".new").exists());
}

// What a backend can do: name an address, and sign with a key of its own. It does not make a device run a program.
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
    for words in ["`link engine install FILE`", "signed with a key that is not pinned"] {
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
    assert!(listed.contains("b10068  used  an accepted build for processor"), "{listed}");
}

/// A registered device without an engine, whose releases come from `source`; its agent does not run.
pub(crate) async fn without_engine(backend: &TestBackend, source: &str) -> TestDevice {
    let device = TestDevice::register(backend).await;
    std::fs::remove_dir_all(device.home().join("data/engines")).unwrap();
    let receipt = serde_json::json!({
        "source": source, "versions": [], "pointers": [], "folders": [],
    });
    std::fs::write(device.home().join("data/receipt.json"), receipt.to_string()).unwrap();
    device
}
