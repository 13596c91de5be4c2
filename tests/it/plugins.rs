//! Plugins: found as data, installed from a folder by a person, and served without a change to the agent.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use link_protocol::report::CommandResult;
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
    program,
};
use serde_json::Value;

/// The plugins of this checkout.
fn plugins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins")
}

/// Makes the folder of a plugin for text generation with another id.
fn write_plugin(folder: &Path, id: &str) {
    std::fs::create_dir_all(folder).unwrap();
    for file in ["plugin.toml", "adapter.toml", "install.sh"] {
        let text = std::fs::read_to_string(plugins().join("language_model").join(file)).unwrap();
        std::fs::write(folder.join(file), text.replace("language_model", id)).unwrap();
    }
}

/// Logs the device's person in, whose words `link model deploy` needs.
fn log_in(backend: &TestBackend, device: &TestDevice) {
    let mut login = device.link();
    login.args(["login", "--email", EMAIL, "--password-stdin", "--backend", &backend.url]);
    let mut login = login.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    login.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(login.wait().unwrap().success());
}

/// Returns the command line of the device's only engine.
async fn engine_arguments(device: &TestDevice) -> String {
    let pid = device.model().await.engine_pid.unwrap();
    let words = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    words.replace('\0', " ")
}

fn plugin(device: &TestDevice, words: &[&str]) -> Output {
    device.link().arg("plugin").args(words).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

// Holds: S9-9a, S9-9b
#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_of_a_person_is_served_repaired_and_removed_while_it_serves() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let folder = device.home().join("mine");
    write_plugin(&folder, "my_plugin");

    // The agent runs already: a new plugin needs no restart.
    let model =
        backend.upload_for("my_plugin", "tiny.gguf", "tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let early = backend.deploy(model.model_id, device.id, port, true).await;
    let refused = backend.result(early.command_id).await.result.unwrap();
    assert_eq!(refused.status, CommandResult::Failed);
    assert!(refused.output.contains("the plugin `my_plugin` is not installed"), "{refused:?}");

    let installed = plugin(&device, &["install", folder.to_str().unwrap()]);
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let serve = backend.owner.serve(model.model_id, device.id, None).await.unwrap();
    let served = backend.result(serve.command_id).await.result.unwrap();
    assert_eq!(served.status, CommandResult::Succeeded, "{}", served.output);
    let (text, usage) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!((&*text, usage["completion_tokens"].as_u64()), (TINY_REPLY, Some(22)));

    // The allowlist changes in place, as for every plugin.
    backend.allow(&[WORKSPACE]).await;
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 403);
    backend.repair(model.model_id, device.id, None).await;
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 204);

    // A plugin that is removed serves on until its model is stopped.
    let removed = plugin(&device, &["remove", "my_plugin"]);
    assert!(removed.status.success(), "{}", String::from_utf8_lossy(&removed.stderr));
    assert!(chat::ask(port, None, false).await.unwrap().status().is_success());
    backend.allow(&[]).await;
    backend.repair(model.model_id, device.id, None).await;
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 403);
    let stop = backend.owner.stop(model.model_id, device.id).await.unwrap();
    backend.result(stop.command_id).await;
    let again = backend.owner.serve(model.model_id, device.id, None).await.unwrap();
    let refused = backend.result(again.command_id).await.result.unwrap();
    assert!(refused.output.contains("the plugin `my_plugin` is not installed"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_a_deployment_reach_the_engine_and_stay() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    backend.upload("tiny", engines::model("tiny.gguf")).await;
    log_in(&backend, &device);
    let port = free_port().to_string();
    let deploy = |words: &[&str]| {
        let mut command = device.link();
        command.args(["model", "deploy", "tiny", "--port", &port, "--json"]).args(words);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said, output.stdout)
    };
    let (code, said, out) =
        deploy(&["--set", "context=512", "--set", "threads=2", "--serve", "--wait"]);
    assert_eq!(code, Some(0), "{said}");
    let deployed: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(deployed["settings"], serde_json::json!({ "context": 512, "threads": 2 }));
    let arguments = engine_arguments(&device).await;
    assert!(
        arguments.contains("--ctx-size 512") && arguments.contains("--threads 2"),
        "{arguments}"
    );
    let first = device.model().await.engine_pid;

    // A deployment that names no settings keeps them, and the engine.
    let (code, said, _) = deploy(&["--serve", "--wait"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(device.model().await.engine_pid, first);
    // Other settings start the engine again.
    let (code, said, _) = deploy(&["--set", "context=2048", "--serve", "--wait"]);
    assert_eq!(code, Some(0), "{said}");
    let arguments = engine_arguments(&device).await;
    assert!(
        arguments.contains("--ctx-size 2048") && arguments.contains("--threads 1"),
        "{arguments}"
    );
    let (code, said, out) = deploy(&["--reset", "--serve", "--wait"]);
    assert_eq!(code, Some(0), "{said}");
    let deployed: Value = serde_json::from_slice(&out).unwrap();
    assert!(deployed.get("settings").is_none(), "{deployed}");
    // The arguments of the agent apply again.
    assert!(engine_arguments(&device).await.contains("--ctx-size 1024"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_that_the_plugin_does_not_take_is_refused_before_the_download() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    backend.upload("tiny", engines::model("tiny.gguf")).await;
    log_in(&backend, &device);
    let deploy = |set: &str| {
        let words = ["model", "deploy", "tiny", "--set", set, "--serve", "--wait"];
        let output = device.link().args(words).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (set, said) in [
        (
            "contxt=512",
            "the plugin `language_model` has no setting `contxt`; it has context, threads",
        ),
        (
            "context=100",
            "the setting `context` of the plugin `language_model` takes a whole number from 256 to \
             4194304, not 100",
        ),
        ("context=large", "takes a whole number from 256 to 4194304, not large"),
        ("threads=true", "takes a whole number from 1 to 1024, not true"),
    ] {
        let (code, told) = deploy(set);
        assert_eq!(code, Some(1), "{set}: {told}");
        assert!(told.contains(said), "{set}: {told}");
    }
    assert!(device.model_files().is_empty());
    // What a shell would interpret does not leave the command.
    for set in ["context=$(id)", "context=1;id", "a b=1", "context"] {
        let (code, told) = deploy(set);
        assert_eq!(code, Some(2), "{set}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_argument_of_the_agent_outside_the_bounds_of_a_plugin_is_refused_with_a_word() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::register(&backend).await;
    device.run(&[("LINK_ENGINE_CONTEXT", "100")]);
    backend.online(device.id, true).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let early = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let refused = backend.result(early.command_id).await.result.unwrap();
    assert_eq!(refused.status, CommandResult::Failed);
    let said = "the setting `context` of the plugin `language_model` takes a whole number from 256 \
                to 4194304, not 100; correct `--engine-context` of this agent";
    assert!(refused.output.contains(said), "{}", refused.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_engine_of_a_plugin_is_named_with_the_command_that_installs_it() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let bytes = b"\x08\x07 no network".to_vec();
    let model = backend.upload_for("audio_classifier", "ears.onnx", "ears", bytes).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let result = backend.result(deployment.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Failed);
    let command = "link engine install FILE --plugin audio_classifier --build 1.3.0";
    assert!(result.output.contains(command), "{}", result.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_of_another_format_is_refused_by_its_first_bytes() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let bytes = engines::model("tiny.gguf");
    let model = backend.upload_for("image_classifier", "wrong.tar", "wrong", bytes).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let ended = backend.ended(deployment.deployment_id).await;
    let why = ended.reason.unwrap_or_default();
    assert!(why.contains("the file is no tar archive with an ONNX model"), "{why}");
    assert!(device.model_files().is_empty());
}

// Holds: S9-9c, S9-9b
#[test]
fn the_four_plugins_are_listed_with_their_engines_and_units() {
    let device = TestDevice::unregistered();
    let listed = json(&plugin(&device, &["list", "--json"]));
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|one| &one["plugin"]).collect();
    assert_eq!(
        ids,
        ["audio_classifier", "audio_transcriber", "image_classifier", "language_model"]
    );
    for (id, engine, unit) in [
        ("language_model", "llama-server", "tokens"),
        ("audio_transcriber", "whisper-server", "seconds"),
        ("image_classifier", "image-classifier", "images"),
        ("audio_classifier", "audio-classifier", "seconds"),
    ] {
        let shown = json(&plugin(&device, &["show", id, "--json"]));
        assert_eq!((shown["engine"].as_str(), shown["usage"].as_str()), (Some(engine), Some(unit)));
        assert!(plugins().join(id).join("install.sh").is_file(), "{id}");
        assert_eq!(shown["plugin"], id);
    }
}

#[test]
fn a_faulty_plugin_is_named_with_its_fault_and_the_others_go_on() {
    let device = TestDevice::unregistered();
    let folder = device.home().join("mine");
    write_plugin(&folder, "my_plugin");
    let adapter = folder.join("adapter.toml");
    let text = std::fs::read_to_string(&adapter).unwrap();
    std::fs::write(&adapter, text.replace("{model}", "{modle}")).unwrap();
    for words in [["check"], ["install"]] {
        let refused = plugin(&device, &[words[0], folder.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("`{modle}` stands for nothing"), "{said}");
    }
    // A folder that was copied by hand is named, too.
    let place = device.home().join("data/plugins/mine");
    std::fs::create_dir_all(&place).unwrap();
    for file in ["plugin.toml", "adapter.toml"] {
        std::fs::copy(folder.join(file), place.join(file)).unwrap();
    }
    let listed = json(&plugin(&device, &["list", "--json"]));
    let faulty = listed.as_array().unwrap().iter().find(|one| one["place"] == "unusable").unwrap();
    assert!(faulty["fault"].as_str().unwrap().contains("{modle}"), "{faulty}");
    assert_eq!(listed.as_array().unwrap().len(), 5);
    let unknown = plugin(&device, &["show", "my_plugin"]);
    assert_eq!(unknown.status.code(), Some(1));
    let shipped = plugin(&device, &["remove", "language_model"]);
    assert_eq!(shipped.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&shipped.stderr).contains("belongs to this release"));
}

#[test]
fn the_agent_depends_on_no_plugin() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "-p", "link-agent", "--prefix", "none"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.lines().any(|line| line.starts_with("link-installer ")), "{tree}");
    let plugin =
        tree.lines().find(|line| line.contains("link-plugin") || line.contains("/plugins/"));
    assert_eq!(plugin, None);
    let program = std::fs::read(program::path("link-agent")).unwrap();
    let holds = |text: &[u8]| program.windows(text.len()).any(|window| window == text);
    assert!(!holds(b"--api-key-file"), "the arguments of an engine are data");
}
