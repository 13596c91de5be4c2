//! A hostile plugin on a device that serves: the agent, its other models and the machine go on.

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use link_protocol::{
    id::ModelId,
    local_api::{Containment, EngineHealth, ModelHealth},
    port::Port,
    report::CommandResult,
};
use link_tests::{
    backend::{EMAIL, OLD_ORIGIN, PASSWORD, TestBackend},
    chat,
    device::{TestDevice, free_port, is_free},
    engines::TINY_REPLY,
    wait::until,
};
use serde_json::{Value, json};

use crate::containment::lacks;

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

/// Reaches for everything that is not its own, and says what it got.
const REACH: &str = "
    def tried(what, act):
        try:
            act()
            print(\"got\", what, file=sys.stderr)
        except OSError:
            pass
    def connect(family, address):
        with socket.socket(family) as client:
            client.settimeout(2)
            client.connect(address)
    def say(address):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b\"secret\", address)
    def take(address):
        taken = socket.socket()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(address)
        taken.listen()
    def replace(path):
        os.unlink(path)
        socket.socket(socket.AF_UNIX).bind(path)
    tried(\"the backend\", lambda: connect(socket.AF_INET, (\"127.0.0.1\", PORT_OF_BACKEND)))
    tried(\"the other model\", lambda: connect(socket.AF_INET, (\"127.0.0.1\", PORT_OF_SOUND)))
    tried(\"the network\", lambda: say((\"127.0.0.1\", PORT_OF_BACKEND)))
    tried(\"another port\", lambda: take((\"127.0.0.1\", FREE_PORT)))
    tried(\"the port of the other model\", lambda: take((\"127.0.0.1\", PORT_OF_SOUND)))
    tried(\"the other engine\", lambda: connect(socket.AF_UNIX, \"SOCKET_OF_SOUND\"))
    tried(\"the place of the other engine\", lambda: replace(\"SOCKET_OF_SOUND\"))
    tried(\"the secret of the other engine\", lambda: open(\"SECRET_OF_SOUND\").close())
    tried(\"the agent\", lambda: os.kill(PID_OF_AGENT, signal.SIGKILL))
    print(\"tried everything\", file=sys.stderr)
";

/// Says that it is healthy, and answers requests with what is no HTTP or, if they say so, not at all.
const LIE: &str = "
    def lie(handler):
        if b\"hang\" in handler.read_body():
            threading.Event().wait()
        handler.wfile.write(b\"all is well\\r\\n\" * 1000)
        handler.close_connection = True
    Handler.do_POST = lie
";

/// Listens, and never answers.
const MUTE: &str = "
    threading.Event().wait()
";

/// A device with a hostile plugin that is served beside a sound model.
struct Stage {
    backend: TestBackend,
    device: TestDevice,
    model: ModelId,
    port: Port,
    /// The sound model, and its port.
    sound: ModelHealth,
    sound_port: Port,
    /// The descriptors of the agent beside the sound model alone.
    descriptors: usize,
}

impl Stage {
    /// Serves the template with `misbehaviour`. `configuration` is that of the agent.
    async fn start(misbehaviour: &str, configuration: Option<Value>) -> Self {
        Self::set(misbehaviour, configuration, &["--wait"]).await
    }

    /// Deploys the template with `misbehaviour`, with more words of `link model deploy`.
    async fn set(misbehaviour: &str, configuration: Option<Value>, more: &[&str]) -> Self {
        let backend = TestBackend::start().await;
        let mut device = TestDevice::register(&backend).await;
        if let Some(configuration) = configuration {
            device.configure(&configuration);
        }
        device.run(&[]);
        backend.online(device.id, true).await;
        let sound_port = backend.serve_tiny(&device).await.port;
        let sound = device.model().await;
        let descriptors = descriptors(device.agent_pid());
        let folder = device.home().join("echo");
        done(&link(&device, &["plugin", "new", folder.to_str().unwrap()]));
        let engine = folder.join("echo-engine");
        let intact = std::fs::read_to_string(&engine).unwrap();
        assert_eq!(intact.matches(FIRST).count(), 1);
        let run = device.home().join("state/run").join(sound.pipeline_id.to_string());
        let (socket, secret) = (run.join("engine.sock"), run.join("key"));
        assert!(socket.exists() && secret.exists());
        let backend_port = backend.url.rsplit_once(':').unwrap().1;
        let misbehaviour = misbehaviour
            .replace("HOME_OF_LINK", &device.home().display().to_string())
            .replace("PORT_OF_BACKEND", backend_port)
            .replace("PORT_OF_SOUND", &sound_port.to_string())
            .replace("FREE_PORT", &free_port().to_string())
            .replace("SOCKET_OF_SOUND", socket.to_str().unwrap())
            .replace("SECRET_OF_SOUND", secret.to_str().unwrap())
            .replace("PID_OF_AGENT", &device.agent_pid().to_string());
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
        let words = ["model", "deploy", "echo", "--port", &number, "--serve", "--json"];
        let words = [&words, more].concat();
        let deployed: Value = serde_json::from_str(&done(&link(&device, &words))).unwrap();
        let model = deployed["model_id"].as_str().unwrap().parse().unwrap();
        Self { backend, device, model, port, sound, sound_port, descriptors }
    }

    async fn echo(&self) -> ModelHealth {
        until("the hostile model", || async {
            let models = self.device.healthz().await.models;
            models.into_iter().find(|model| model.model_id == self.model)
        })
        .await
    }

    /// Checks that both models answer.
    async fn both_answer(&self) {
        let answer = chat::ask(self.port, None, false).await.unwrap();
        assert!(!chat::whole(answer).await.0.is_empty());
        self.harms_nobody().await;
    }

    /// Checks that the agent has its usual memory and descriptors, that no file was added or changed, and that the engine
    /// of the sound model is the same and answers with its own words.
    async fn harms_nobody(&self) {
        let agent = self.device.agent_pid();
        assert!(resident(agent) < 200 << 10, "{} KiB", resident(agent));
        let now = descriptors(agent);
        assert!(now < self.descriptors + 32, "{now} descriptors, {} before", self.descriptors);
        assert!(!self.device.home().join("planted").exists());
        assert!(!self.device.home().join("agent.json").exists());
        let answer = chat::ask(self.sound_port, None, false).await.unwrap();
        assert_eq!(chat::whole(answer).await.0, TINY_REPLY);
        let models = self.device.healthz().await.models;
        let sound = models.into_iter().find(|model| model.model_id == self.sound.model_id);
        assert_eq!(sound.unwrap().engine_pid, self.sound.engine_pid);
    }

    /// Stops the hostile model, and checks that nothing of it is left.
    async fn ends_whole(&self) {
        let echo = self.echo().await;
        let stop = self.backend.owner.stop(self.model, self.device.id).await.unwrap();
        let stopped = self.backend.result(stop.command_id).await.result.unwrap();
        assert_eq!(stopped.status, CommandResult::Succeeded, "{}", stopped.output);
        assert_eq!(self.processes().await, BTreeSet::new());
        let folder = self.device.home().join("state/run").join(echo.pipeline_id.to_string());
        assert!(!folder.exists(), "the secret is removed with the engine");
        assert!(is_free(self.port));
        self.harms_nobody().await;
        // The connections of the clients of this test end after them.
        let agent = self.device.agent_pid();
        until("the descriptors of the engine to be closed", || async {
            (descriptors(agent) < self.descriptors + 8).then_some(())
        })
        .await;
    }

    /// Returns what the hostile engine has printed, once that contains `text`.
    async fn printed(&self, text: &str) -> String {
        let name = format!("{}.log", self.echo().await.pipeline_id);
        let log = self.device.home().join("state/logs").join(name);
        until(text, || async {
            let printed = String::from_utf8_lossy(&std::fs::read(&log).ok()?).into_owned();
            printed.contains(text).then_some(printed)
        })
        .await
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

/// Returns how many descriptors a process has.
fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
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
    // A full log has become the one before.
    let text = stage.printed("bytes were dropped, above 64 KiB per second]").await;
    assert!(!text.contains("opened"));
    let logs = device.home().join("state/logs");
    let size: u64 = ["log", "log.1"]
        .map(|name| logs.join(format!("{}.{name}", echo.pipeline_id)))
        .map(|log| std::fs::metadata(log).map_or(0, |found| found.len()))
        .iter()
        .sum();
    assert!(size < 9 << 20, "{size}");
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

    stage.ends_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_reaches_for_what_is_not_its_own_gets_nothing() {
    let support = link_platform::contain::support();
    let refuses = support.files && support.connections && support.ports && support.signals;
    if lacks(refuses, "everything to an engine") {
        return;
    }
    let stage = Stage::start(REACH, None).await;
    let text = stage.printed("tried everything").await;
    assert!(!text.lines().any(|line| line.starts_with("got ")), "{text}");
    stage.both_answer().await;
    stage.ends_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_lies_about_its_health_fails_its_own_clients_only() {
    let stage = Stage::start(LIE, None).await;
    assert_eq!(stage.echo().await.health, EngineHealth::Healthy);
    for _ in 0..10 {
        let answer = chat::ask(stage.port, Some(OLD_ORIGIN), false).await.unwrap();
        assert_eq!(answer.status(), 502);
        assert_eq!(answer.headers()["access-control-allow-origin"], OLD_ORIGIN);
    }
    // Clients that wait for answers that never come, and leave.
    let url = format!("http://127.0.0.1:{}/v1/chat/completions", stage.port);
    let body = json!({ "messages": [{ "role": "user", "content": "hang" }] });
    let client = reqwest::Client::new();
    let waiting = (0..40).map(|_| client.post(&url).json(&body).send());
    let waiting = futures_util::future::join_all(waiting);
    let waited = tokio::time::timeout(Duration::from_secs(2), waiting).await;
    assert!(waited.is_err(), "nobody has an answer");
    drop(client);
    until("the agent to let go of them", || async {
        (descriptors(stage.device.agent_pid()) < stage.descriptors + 32).then_some(())
    })
    .await;
    stage.harms_nobody().await;
    stage.ends_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_never_gets_healthy_is_stopped_like_any_other() {
    let stage = Stage::set(MUTE, None, &[]).await;
    until("the engine to be started", || async { stage.echo().await.engine_pid }).await;
    assert_eq!(stage.echo().await.health, EngineHealth::Starting);
    let answer = chat::ask(stage.port, Some(OLD_ORIGIN), false).await.unwrap();
    assert_eq!(answer.status(), 503);
    assert!(answer.headers().contains_key("retry-after"));
    stage.harms_nobody().await;
    stage.ends_whole().await;
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
        for port in [stage.sound_port, stage.port] {
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
    stage.harms_nobody().await;
    // The port is still the agent's.
    chat::ask(stage.port, None, false).await.expect("the port is not given away");
    stage.ends_whole().await;
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
