//! The life of a model of each plugin: deployed, served, repaired, its plugin updated while it serves, its engine and its
//! agent killed, stopped and removed.

use link_protocol::{id::DeploymentId, local_api::ModelHealth, port::Port, report::CommandResult};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port, is_alive, is_free},
    engines,
    wait::until,
};

/// The checkpoints at which a plugin's engine is started and gets its route.
const OF_SERVING: [&str; 3] = ["reserve-port", "start-engine", "replace-route"];
const OF_REPAIR: [&str; 2] = ["pipeline-stored", "replace-route"];
/// A page that is added to the allowlist by a repair, as the workspace is.
const PAGE: &str = "https://page.example";
const OF_REMOVAL: [&str; 2] = ["command-stored", "delete-model"];

/// A plugin, and a model file for it.
struct Kind {
    plugin: &'static str,
    file: &'static str,
    model: fn() -> Vec<u8>,
    install: fn(&std::path::Path),
    /// A path that the plugin serves.
    path: &'static str,
}

const TRANSCRIBER: Kind = Kind {
    plugin: "audio_transcriber",
    file: "empty.bin",
    model: || engines::model("ggml-empty.bin"),
    install: engines::install_transcriber,
    path: "/v1/audio/transcriptions",
};

const IMAGES: Kind = Kind {
    plugin: "image_classifier",
    file: "orientation.tar",
    model: || std::fs::read(engines::onnx("orientation.tar")).unwrap(),
    install: |home| engines::install_classifier(home, "image"),
    path: "/v1/images/classifications",
};

const SOUND: Kind = Kind {
    plugin: "audio_classifier",
    file: "voice.tar",
    model: || std::fs::read(engines::onnx("voice.tar")).unwrap(),
    install: |home| engines::install_classifier(home, "audio"),
    path: "/v1/audio/classifications",
};

#[tokio::test(flavor = "multi_thread")]
async fn a_transcriber_lives_through_kills_at_every_step() {
    live(&TRANSCRIBER).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_classifier_of_images_lives_through_kills_at_every_step() {
    live(&IMAGES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_classifier_of_sound_lives_through_kills_at_every_step() {
    live(&SOUND).await;
}

async fn live(kind: &Kind) {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::register(&backend).await;
    (kind.install)(&device.home());
    let model = backend.upload_for(kind.plugin, kind.file, "model", (kind.model)()).await.model_id;
    let port = free_port();

    let deployment = backend.deploy(model, device.id, port, true).await;
    for checkpoint in OF_SERVING {
        device.run_until(checkpoint);
        device.died().await;
    }
    device.run(&[]);
    backend.serving(deployment.deployment_id, true).await;
    serves(kind, port, OLD_ORIGIN, true).await;

    let updated = update_plugin(kind, &device);
    let engine = device.model().await.engine_pid.unwrap();
    serves(kind, port, OLD_ORIGIN, true).await;
    assert_eq!(device.model().await.engine_pid, Some(engine), "an update restarts no engine");

    kill_engine(kind, &device, port, engine).await;
    let shown = device.link().args(["plugin", "show", kind.plugin, "--json"]).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains(&updated), "{shown:?}");

    for (checkpoint, [origin, other]) in
        OF_REPAIR.into_iter().zip([[WORKSPACE, PAGE], [PAGE, WORKSPACE]])
    {
        backend.allow(&[origin]).await;
        device.freeze();
        let sent = backend.owner.repair_serving(model, device.id, None, checkpoint).await.unwrap();
        device.kill();
        device.run_until(checkpoint);
        device.died().await;
        device.run(&[]);
        let result = backend.result(sent.command_id).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{checkpoint}: {}", result.output);
        device.serves().await;
        serves(kind, port, origin, true).await;
        serves(kind, port, other, false).await;
    }

    remove(&backend, &mut device, deployment.deployment_id).await;
    assert!(is_free(port));
    let left = std::fs::read_dir(device.home().join("data/engines")).unwrap();
    assert!(left.count() > 0, "the engine is for the next model");
}

/// Asserts that a page of `origin` is answered by the engine, or, if not `allowed`, refused.
async fn serves(kind: &Kind, port: Port, origin: &str, allowed: bool) {
    let url = format!("http://127.0.0.1:{port}{}", kind.path);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let sent = client.post(url).header("origin", origin).body("no file").send().await.unwrap();
    // The engine answers that this is no file of the kind.
    let expected = if allowed { [400, 415, 422].as_slice() } else { &[403] };
    assert!(expected.contains(&sent.status().as_u16()), "{origin}: {sent:?}");
}

/// Installs a later version of the plugin, and returns its version.
fn update_plugin(kind: &Kind, device: &TestDevice) -> String {
    let shipped =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins").join(kind.plugin);
    let folder = device.home().join(kind.plugin);
    std::fs::create_dir(&folder).unwrap();
    for entry in std::fs::read_dir(shipped).unwrap().flatten() {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    let project = folder.join("plugin.toml");
    let text = std::fs::read_to_string(&project).unwrap();
    std::fs::write(&project, text.replacen("version = \"1.3.0\"", "version = \"9.0.0\"", 1))
        .unwrap();
    let installed = device.link().args(["plugin", "install"]).arg(&folder).output().unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    "9.0.0".to_owned()
}

/// Kills the engine. Until the next one serves, the port accepts every connection.
async fn kill_engine(kind: &Kind, device: &TestDevice, port: Port, engine: u32) {
    let killed = std::process::Command::new("kill").args(["-KILL", &engine.to_string()]).status();
    assert!(killed.unwrap().success());
    until("another engine to serve", || async {
        chat::preflight(port, OLD_ORIGIN).await;
        let ModelHealth { state, engine_pid, .. } = device.model().await;
        let other = engine_pid.is_some_and(|pid| pid != engine);
        (state == link_protocol::report::ModelState::Serving && other).then_some(())
    })
    .await;
    assert!(!is_alive(engine));
    serves(kind, port, OLD_ORIGIN, true).await;
}

/// Removes the model while the agent is killed, and waits until nothing of it is left.
async fn remove(backend: &TestBackend, device: &mut TestDevice, deployment: DeploymentId) {
    device.kill();
    let model = backend.owner.deployment(deployment).await.unwrap().model_id;
    let sent = backend.owner.uninstall(model, device.id).await.unwrap();
    for checkpoint in OF_REMOVAL {
        device.run_until(checkpoint);
        device.died().await;
    }
    device.run(&[]);
    let result = backend.result(sent.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    until("the model to be gone", || async {
        let gone = device.healthz().await.models.is_empty() && device.model_files().is_empty();
        gone.then_some(())
    })
    .await;
    backend.serving(deployment, false).await;
}
