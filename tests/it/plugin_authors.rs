//! Plugins by other people: the templates work as they are, and the contract names each planted fault.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use link_protocol::report::CommandResult;
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port},
    readme,
    wait::until,
};
use serde_json::Value;

fn link(device: &TestDevice, words: &[&str]) -> Output {
    device.link().args(words).output().unwrap()
}

fn done(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn log_in(backend: &TestBackend, device: &TestDevice) {
    let mut login = device.link();
    login.args(["login", "--email", EMAIL, "--password-stdin", "--backend", &backend.url]);
    let mut login = login.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    login.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(login.wait().unwrap().success());
}

/// Writes a new plugin, as a person does.
fn new(device: &TestDevice, words: &[&str]) -> PathBuf {
    let folder = device.home().join("echo");
    let command = [&["plugin", "new", folder.to_str().unwrap()], words].concat();
    done(&link(device, &command));
    folder
}

/// The way of `docs/plugins.md`, from the plugin's folder to a served model: checked, installed, served, counted, repaired.
async fn follow_the_guide(backend: &TestBackend, device: &TestDevice, folder: &Path) {
    let path = folder.to_str().unwrap();
    let checked = done(&link(device, &["plugin", "check", path]));
    assert_eq!(
        checked.lines().filter(|line| line.starts_with("contract")).count(),
        12,
        "{checked}"
    );
    assert!(!checked.contains("FAILED") && !checked.contains("not tested"), "{checked}");
    done(&link(device, &["plugin", "install", path]));
    done(&link(device, &["engine", "install", path, "--plugin", "echo", "--build", "0.1.0"]));
    log_in(backend, device);
    let sample = folder.join("sample.txt");
    let sample = sample.to_str().unwrap();
    done(&link(device, &["model", "add", sample, "--plugin", "echo", "--name", "echo"]));
    let port = free_port();
    let number = port.to_string();
    let words = [
        "model", "deploy", "echo", "--port", &number, "--set", "repeat=2", "--serve", "--wait",
        "--json",
    ];
    let deployed: Value = serde_json::from_str(&done(&link(device, &words))).unwrap();
    assert_eq!(deployed["settings"], serde_json::json!({ "repeat": 2 }));

    let (text, usage) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert!(text.starts_with("a model for "), "{text}");
    let streamed = chat::streamed(chat::ask(port, None, true).await.unwrap()).await;
    assert_eq!(streamed, text);
    let tokens = |name: &str| usage[name].as_u64().unwrap();
    let expected = (2, 2 * tokens("prompt_tokens"), 2 * tokens("completion_tokens"));
    let url = format!("{}/api/v1/usage?device_id={}", backend.url, device.id);
    until("both inferences to be counted", || async {
        let token = backend.owner.access_token();
        let asked = reqwest::Client::new().get(&url).bearer_auth(token.expose());
        let page: Value = asked.send().await.ok()?.json().await.ok()?;
        let sum = |name: &str| -> u64 {
            page["items"].as_array().unwrap().iter().map(|one| one[name].as_u64().unwrap()).sum()
        };
        let counted = (sum("inferences"), sum("prompt_tokens"), sum("completion_tokens"));
        (counted == expected).then_some(())
    })
    .await;

    // The allowlist changes in place, and the engine stays.
    let before = device.model().await.engine_pid;
    backend.allow(&[WORKSPACE]).await;
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 403);
    let model = deployed["model_id"].as_str().unwrap().parse().unwrap();
    backend.repair(model, device.id, None).await;
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 204);
    assert_eq!(device.model().await.engine_pid, before);

    // An engine that is killed is started again.
    assert!(
        Command::new("kill")
            .args(["-KILL", &before.unwrap().to_string()])
            .status()
            .unwrap()
            .success()
    );
    until("the engine to be started again", || async {
        let pid = device.model().await.engine_pid;
        (pid.is_some() && pid != before).then_some(())
    })
    .await;
    until("the engine to answer again", || async {
        chat::ask(port, None, false).await.ok().filter(|answer| answer.status().is_success())
    })
    .await;
    let refused = backend.owner.stop(model, device.id).await.unwrap();
    let stopped = backend.result(refused.command_id).await.result.unwrap();
    assert_eq!(stopped.status, CommandResult::Succeeded, "{}", stopped.output);
}

/// The commands of the guide's first section, typed as they stand.
#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_lead_from_nothing_to_an_answer() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    log_in(&backend, &device);
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(device.link().get_program(), programs.join("link")).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let blocks = readme::blocks_of("docs/plugins.md");
    let guide: Vec<_> =
        blocks.iter().filter(|block| block.section == "Begin with one that works").collect();
    assert_eq!(guide.len(), 2, "{guide:?}");
    let mut said = String::new();
    for line in guide.iter().flat_map(|block| block.text.lines()) {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(folder.path()).env("PATH", &path);
        for (name, value) in device.link().get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let mut shell = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Only the last command reads it.
        let typed = shell.stdin.take().unwrap().write_all(b"Is anybody there?\n");
        assert!(typed.is_ok() || !line.starts_with("link chat"), "{line}");
        said = done(&shell.wait_with_output().unwrap());
    }
    assert!(said.contains("Is anybody there?"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_template_in_python_is_served_counted_and_repaired_by_following_the_guide() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let folder = new(&device, &[]);
    follow_the_guide(&backend, &device, &folder).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_template_in_rust_is_served_counted_and_repaired_by_following_the_guide() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let folder = new(&device, &["--language", "rust"]);
    // The checkout's lock file and registry, so that nothing is downloaded.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env_remove("CARGO_TARGET_DIR")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let plugin = folder.join("plugin");
    std::fs::copy(folder.join("target/release/echo-engine"), plugin.join("echo-engine")).unwrap();
    follow_the_guide(&backend, &device, &plugin).await;
}

#[test]
fn the_contract_finds_each_planted_fault() {
    let device = TestDevice::unregistered();
    let folder = new(&device, &[]);
    let (engine, path) = (folder.join("echo-engine"), folder.to_str().unwrap().to_owned());
    let intact = std::fs::read_to_string(&engine).unwrap();
    let check = || {
        let output = link(&device, &["plugin", "check", &path, "--timeout", "5s", "--json"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
        let failed: Vec<String> = checked["contract"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["outcome"] == "failed")
            .map(|one| one["clause"].as_str().unwrap().to_owned())
            .collect();
        (output.status.code(), failed, said)
    };
    assert_eq!(check().1, Vec::<String>::new());
    let faults = [
        (
            "health",
            "self.answer(200, {\"status\": \"ok\"})",
            "self.answer(503, {\"status\": \"loading\"})",
        ),
        (
            "health",
            "    with open(options.secret_file",
            "    sys.exit(\"no memory\")\n    with open(options.secret_file",
        ),
        (
            "proof",
            "            elif self.path == \"/props\":",
            "            elif self.path == \"/other\":",
        ),
        (
            "refused-secret",
            "            self.check_secret()\n            if self.path",
            "            if self.path",
        ),
        (
            "answers",
            "        usage = {",
            "        raise Refused(500, \"it broke\")\n        usage = {",
        ),
        ("usage", ", \"choices\": [choice], \"usage\": usage}", ", \"choices\": [choice]}"),
        ("bad-request", "AttributeError):\n", "AttributeError):\n            os._exit(1)\n"),
        (
            "concurrency",
            "        self.answer(200, {\"object\"",
            "        import time\n        time.sleep(0.2)\n        if threading.active_count() > 6:\n            os._exit(1)\n        self.answer(200, {\"object\"",
        ),
        (
            "cancel",
            "        \"\"\"A client that leaves early is no error of the engine.\"\"\"",
            "        os._exit(1)",
        ),
        ("hidden-secret", "print(\"ready\"", "print(secret.decode()"),
        (
            "shutdown",
            "signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())",
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        ),
        (
            "files",
            "    print(\"ready\"",
            "    open(os.path.join(os.environ[\"TMPDIR\"], \"cache\"), \"w\").close()\n    print(\"ready\"",
        ),
    ];
    for (clause, sound, faulty) in faults {
        assert_eq!(intact.matches(sound).count(), 1, "{clause}: {sound}");
        std::fs::write(&engine, intact.replace(sound, faulty)).unwrap();
        let (code, failed, said) = check();
        assert_eq!(code, Some(1), "{clause}: {said}");
        assert!(failed.contains(&clause.to_owned()), "{clause}: {failed:?}");
        assert!(said.contains(clause), "{said}");
    }
    // The model is of another plugin.
    std::fs::write(&engine, &intact).unwrap();
    std::fs::write(folder.join("sample.txt"), "no echo").unwrap();
    let (_, failed, _) = check();
    assert!(failed.contains(&"model".to_owned()), "{failed:?}");
    // Nothing is left of the checks.
    let left: Vec<_> =
        std::fs::read_dir(device.home().join("state/check")).into_iter().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_new_plugin_replaces_nothing_and_has_a_usable_id() {
    let device = TestDevice::unregistered();
    let folder = new(&device, &[]);
    let again = link(&device, &["plugin", "new", folder.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists already"));
    let bad = link(&device, &["plugin", "new", device.home().join("My-Plugin").to_str().unwrap()]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(!device.home().join("My-Plugin").exists());
}
