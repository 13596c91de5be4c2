//! A hostile plugin on a device that serves: the agent, its other models and the machine go on.

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use link_protocol::{
    id::ModelId,
    local_api::{Containment, ModelHealth},
    port::Port,
    report::CommandResult,
};
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend},
    chat,
    device::{TestDevice, free_port, is_free},
    wait::until,
};
use serde_json::{Value, json};

/// What the engine of the template does first.
const FIRST: &str = "    print(\"ready\"";

/// Leaves a process in a session of its own that floods the log, and tries to change a file of the home.
const MISBEHAVE: &str = "
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                os.write(2, b\"flood \" * 4096 + b\"\\n\")
        os._exit(0)
    for name in [\"HOME_OF_LINK/planted\", \"HOME_OF_LINK/agent.json\", \"HOME_OF_LINK/state/identity.json\"]:
        try:
            open(name, \"a\").close()
            print(\"opened\", name, file=sys.stderr)
        except OSError:
            pass
";

/// A device with a hostile plugin that is served beside a sound model.
struct Stage {
    backend: TestBackend,
    device: TestDevice,
    model: ModelId,
    port: Port,
    /// The port of the sound model.
    sound: Port,
}

impl Stage {
    /// Serves the template with `misbehaviour`. `configuration` is that of the agent.
    async fn start(misbehaviour: &str, configuration: Option<Value>) -> Self {
        let backend = TestBackend::start().await;
        let mut device = TestDevice::register(&backend).await;
        if let Some(configuration) = configuration {
            device.configure(&configuration);
        }
        device.run(&[]);
        backend.online(device.id, true).await;
        let sound = backend.serve_tiny(&device).await.port;
        let folder = device.home().join("echo");
        done(&link(&device, &["plugin", "new", folder.to_str().unwrap()]));
        let engine = folder.join("echo-engine");
        let intact = std::fs::read_to_string(&engine).unwrap();
        assert_eq!(intact.matches(FIRST).count(), 1);
        let home = device.home().display().to_string();
        let misbehaviour = misbehaviour.replace("HOME_OF_LINK", &home);
        let hostile = intact.replace(FIRST, &format!("{}\n{FIRST}", misbehaviour.trim_end()));
        std::fs::write(&engine, hostile).unwrap();
        let path = folder.to_str().unwrap();
        done(&link(&device, &["plugin", "install", path]));
        done(&link(&device, &["engine", "install", path, "--plugin", "echo", "--build", "0.1.0"]));
        let mut login = device.link();
        login.args(["login", "--email", EMAIL, "--password-stdin", "--backend", &backend.url]);
        let mut login = login.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        login.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
        assert!(login.wait().unwrap().success());
        let sample = folder.join("sample.txt");
        let words =
            ["model", "add", sample.to_str().unwrap(), "--plugin", "echo", "--name", "echo"];
        done(&link(&device, &words));
        let port = free_port();
        let number = port.to_string();
        let words = ["model", "deploy", "echo", "--port", &number, "--serve", "--wait", "--json"];
        let deployed: Value = serde_json::from_str(&done(&link(&device, &words))).unwrap();
        let model = deployed["model_id"].as_str().unwrap().parse().unwrap();
        Self { backend, device, model, port, sound }
    }

    async fn echo(&self) -> ModelHealth {
        let models = self.device.healthz().await.models;
        models.into_iter().find(|model| model.model_id == self.model).unwrap()
    }

    /// Checks that both models answer.
    async fn both_answer(&self) {
        for port in [self.sound, self.port] {
            let answer = chat::ask(port, None, false).await.unwrap();
            assert!(answer.status().is_success(), "{port}: {}", answer.status());
            let (text, _) = chat::whole(answer).await;
            assert!(!text.is_empty());
        }
    }

    /// Returns the processes of the hostile engine, at any depth.
    async fn processes(&self) -> BTreeSet<u32> {
        let folder =
            self.device.home().join("state/run").join(self.echo().await.pipeline_id.to_string());
        with_folder(&folder)
    }
}

/// Returns the processes whose environment names `folder`.
fn with_folder(folder: &Path) -> BTreeSet<u32> {
    let mark = format!("TMPDIR={}", folder.display());
    let of = |entry: std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let is_marked = environment.windows(mark.len()).any(|text| text == mark.as_bytes());
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        is_marked.then_some(pid)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
}

fn link(device: &TestDevice, words: &[&str]) -> Output {
    device.link().args(words).output().unwrap()
}

fn done(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_forks_floods_and_writes_elsewhere_harms_nobody_and_ends_whole() {
    let stage = Stage::start(MISBEHAVE, None).await;
    let device = &stage.device;
    stage.both_answer().await;
    let echo = stage.echo().await;
    let log =
        |name: &str| device.home().join("state/logs").join(format!("{}.{name}", echo.pipeline_id));
    // A full log has become the one before.
    until("the flood to be dropped", || async {
        let text = std::fs::read(log("log")).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.contains("bytes were dropped, above 64 KiB per second]").then_some(())
    })
    .await;
    let size: u64 = ["log", "log.1"]
        .map(|name| std::fs::metadata(log(name)).map_or(0, |found| found.len()))
        .iter()
        .sum();
    assert!(size < 9 << 20, "{size}");
    let text = std::fs::read(log("log")).unwrap();
    assert!(!String::from_utf8_lossy(&text).contains("opened"));
    assert!(!device.home().join("planted").exists());
    assert!(resident(device.agent_pid()) < 200 << 10);
    assert!(stage.processes().await.len() >= 3, "the supervisor, the engine and what it left");
    stage.both_answer().await;

    // The public port stays with the agent while the engine is started again.
    let first = stage.echo().await.engine_pid.unwrap();
    let killed = std::process::Command::new("kill").args(["-KILL", &first.to_string()]).status();
    assert!(killed.unwrap().success());
    until("another engine", || async {
        let answer = chat::ask(stage.port, None, false).await.expect("the port is not given away");
        let now = stage.echo().await.engine_pid;
        (answer.status().is_success() && now.is_some_and(|pid| pid != first)).then_some(())
    })
    .await;

    let stop = stage.backend.owner.stop(stage.model, device.id).await.unwrap();
    let stopped = stage.backend.result(stop.command_id).await.result.unwrap();
    assert_eq!(stopped.status, CommandResult::Succeeded, "{}", stopped.output);
    assert_eq!(stage.processes().await, BTreeSet::new());
    let folder: PathBuf = device.home().join("state/run").join(echo.pipeline_id.to_string());
    assert!(!folder.exists(), "the secret is removed with the engine");
    assert!(is_free(stage.port));
    assert!(chat::ask(stage.sound, None, false).await.unwrap().status().is_success());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_of_an_engine_outlives_an_agent_that_is_killed() {
    let mut stage = Stage::start(MISBEHAVE, None).await;
    let run = stage.device.home().join("state/run");
    until("what the engine leaves", || async {
        (stage.processes().await.len() >= 3).then_some(())
    })
    .await;
    stage.device.kill();
    until("every process to end", || async { with_folder(&run).is_empty().then_some(()) }).await;
    // The next agent serves both again.
    stage.device.run(&[]);
    until("both models to serve", || async {
        for port in [stage.sound, stage.port] {
            let answer = chat::ask(port, None, false).await.ok()?;
            answer.status().is_success().then_some(())?;
        }
        Some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_eats_memory_is_ended_with_the_reason_and_the_other_model_serves_on() {
    let eat = "
    def eat():
        held = []
        while True:
            held.append(b\"x\" * (1 << 20))
            threading.Event().wait(0.01)
    threading.Timer(2, eat).start()
";
    let limit = json!({
        "schema_version": "2.1",
        "containment": { "echo": { "memory_mib": 200 } }
    });
    let stage = Stage::start(eat, Some(limit)).await;
    let first = stage.echo().await.engine_pid.unwrap();
    let log = || std::fs::read_to_string(stage.device.home().join("agent.log")).unwrap();
    until("the engine to be ended", || async {
        log().contains("MiB of memory, and 200 MiB are allowed").then_some(())
    })
    .await;
    assert!(!Path::new(&format!("/proc/{first}")).exists());
    assert!(chat::ask(stage.sound, None, false).await.unwrap().status().is_success());
    // The port is still the agent's.
    chat::ask(stage.port, None, false).await.expect("the port is not given away");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_asks_the_agent_what_engines_are_kept_from() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let found = device.healthz().await.containment.unwrap();
    let support = link_platform::contain::support();
    let expected = Containment {
        supervised: true,
        files: support.files,
        connections: support.connections,
        ports: support.ports,
        signals: support.signals,
    };
    assert_eq!(found, expected);
    // Whatever is not kept from engines is in the log, once.
    let complete = support.files && support.connections && support.ports && support.signals;
    let said = device.output().matches("this system does not keep engines from").count();
    assert_eq!(said, usize::from(!complete));
}
