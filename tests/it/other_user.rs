//! What another user of the machine can do to an agent through its local API: not stop it, not learn its token, and not
//! impersonate it.

use std::{
    ffi::OsString,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use link_platform::{line::Line, process::Program};
use link_protocol::{
    backend_api::command::OutcomeStatus,
    guard_line::{FromAgent, FromGuard},
};
use link_tests::{
    backend::TestBackend,
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
    program,
    wait::{PATIENCE, until},
};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

/// The user id and the group id of `nobody` on Linux.
const NOBODY: u32 = 65534;

/// The agent cannot see which user opened a connection, so these connections may as well be another user's.
#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_of_a_stranger_switch_nothing_off() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::register(&backend).await;
    device.limit_descriptors(1024);
    device.run(&[]);
    backend.online(device.id, true).await;
    let tiny = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(tiny.model_id, device.id, free_port(), true).await;
    backend.serving(deployment.deployment_id, true).await;

    let before = descriptors(&device);
    let crowd: Vec<_> = (0..1100).map_while(|_| connect(device.local_port)).collect();
    assert_eq!(crowd.len(), 1100);
    for _ in 0..3 {
        let status = device.link().arg("status").output().unwrap();
        assert!(status.status.success(), "{status:?}");
    }
    // Each of these commands writes a session file.
    let stopped = backend.owner.stop(tiny.model_id, device.id).await.unwrap();
    assert_eq!(result(&backend, stopped.command_id).await, OutcomeStatus::Succeeded);
    let started = backend.owner.serve(tiny.model_id, device.id, None).await.unwrap();
    assert_eq!(result(&backend, started.command_id).await, OutcomeStatus::Succeeded);
    let answer = chat::ask(deployment.port, None, false).await.unwrap();
    assert_eq!(chat::whole(answer).await.0, TINY_REPLY);
    // A later client is answered too: the oldest idle connections are closed for it.
    let answer = get(&device, "/healthz", None).await;
    assert_eq!(answer.0, StatusCode::OK);
    let during = descriptors(&device);
    eprintln!(
        "descriptors {before} before, {during} with 1,100 connections; {} kB resident",
        resident(&device)
    );
    assert!(during < before + 100, "{before} before, {during} with 1,100 connections");
    assert!(!device.output().contains("Too many open files"), "{}", device.output());
    drop(crowd);
    until("the descriptors to be given back", || async {
        (descriptors(&device) <= before + 4).then_some(())
    })
    .await;
}

/// A program that blocks the port for others must not decide about an update.
#[tokio::test(flavor = "multi_thread")]
async fn the_guard_is_answered_while_strangers_hold_every_connection() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let set = |name: &str, value: OsString| (name.into(), value);
    let agent = Program {
        path: "prlimit".into(),
        args: vec!["--nofile=1024:1024".into(), "--".into(), program::path("link-agent").into()],
        env: vec![
            set("LINK_HOME", device.home().into()),
            set("LINK_LOCAL_PORT", device.local_port.to_string().into()),
        ],
        log: Some(device.home().join("agent.log")),
    };
    let (agent, mut line) = Line::start(&agent).unwrap();
    backend.online(device.id, true).await;
    let crowd: Vec<_> = (0..1100).map_while(|_| connect(device.local_port)).collect();
    assert_eq!(crowd.len(), 1100);
    for _ in 0..3 {
        line.tell(&serde_json::to_string(&FromGuard::Healthz).unwrap()).await;
        let answered = async {
            loop {
                let told = line.next().await.unwrap();
                if let FromAgent::Answered { version } = serde_json::from_str(&told).unwrap() {
                    return version;
                }
            }
        };
        let version = tokio::time::timeout(PATIENCE, answered).await.unwrap();
        assert_eq!(version.to_string(), env!("CARGO_PKG_VERSION"));
    }
    agent.terminate();
    until("the agent to end", || async { agent_has_ended(&device) }).await;
    drop(agent);
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_and_bodies_that_never_end_are_given_up() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let before = descriptors(&device);
    let halves = [
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
        "POST /update HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
    ];
    let mut crowd = Vec::new();
    for number in 0..200 {
        let mut stream = connect(device.local_port).unwrap();
        stream.write_all(halves[number % 2].as_bytes()).unwrap();
        crowd.push(stream);
    }
    assert_eq!(get(&device, "/healthz", None).await.0, StatusCode::OK);
    // No new connection evicts them: they time out by themselves.
    until("the connections to be closed", || async {
        (descriptors(&device) <= before + 4).then_some(())
    })
    .await;
}

/// The program that holds the port sees everything that the commands of this user send there.
#[tokio::test(flavor = "multi_thread")]
async fn no_command_gives_the_token_to_whoever_holds_the_port() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let token = device.home().join("state/run/control.token");
    let token = std::fs::read_to_string(token).unwrap();
    device.kill();
    let impostor = Impostor::at(device.local_port, &device.id.to_string());
    for words in [&["status"][..], &["update"], &["update", "--check"], &["stop"], &["start"]] {
        let ran = device.link().args(words).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(!said.contains("9.9.9"), "link {words:?} believed a stranger: {said}");
    }
    let heard = impostor.heard();
    assert!(!heard.contains(token.trim()), "the token was sent to a stranger:\n{heard}");
    assert!(!heard.to_lowercase().contains("authorization"), "{heard}");
}

/// The path of a socket has at most 107 bytes.
#[tokio::test(flavor = "multi_thread")]
async fn where_there_is_no_socket_the_port_has_to_prove_itself() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::register(&backend).await;
    let stage = tempfile::tempdir().unwrap();
    let long = stage.path().join("a".repeat(100));
    std::os::unix::fs::symlink(device.home(), &long).unwrap();
    device.run(&[("LINK_HOME", long.to_str().unwrap())]);
    backend.online(device.id, true).await;
    assert!(!device.home().join("state/run/control.sock").exists());
    let link = |words: &[&str]| device.link().args(words).env("LINK_HOME", &long).output().unwrap();
    let status = link(&["status"]);
    assert!(status.status.success(), "{status:?}");
    // The token is accepted, but there is nothing to update.
    let update = link(&["update"]);
    assert!(text(&update.stderr).contains("it was not installed by install.sh"), "{update:?}");
    device.kill();
    let token = std::fs::read_to_string(device.home().join("state/run/control.token")).unwrap();
    let impostor = Impostor::at(device.local_port, &device.id.to_string());
    let link = |words: &[&str]| device.link().args(words).env("LINK_HOME", &long).output().unwrap();
    for words in [&["status"][..], &["update"]] {
        let ran = link(words);
        assert!(!ran.status.success() && !text(&ran.stdout).contains("9.9.9"), "{ran:?}");
    }
    let heard = impostor.heard();
    assert!(heard.contains("/proof?nonce=") && !heard.contains(token.trim()), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_reads_what_the_specification_names_and_nothing_else() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;

    let (status, state) = get(&device, "/healthz", None).await;
    assert_eq!(status, StatusCode::OK);
    let state: Value = serde_json::from_str(&state).unwrap();
    let wanted = [
        "agent_version",
        "channel",
        "currently_serving",
        "deployments",
        "device_id",
        "model_id",
        "models",
        "status",
        "transport",
    ];
    assert_eq!(members(&state), wanted);
    let wanted = ["alias", "health", "model_id", "pipeline_id", "state"];
    assert_eq!(members(&state["models"][0]), wanted);
    let (status, models) = get(&device, "/models", None).await;
    assert_eq!(status, StatusCode::OK);
    let models: Value = serde_json::from_str(&models).unwrap();
    assert_eq!(models[0]["port"], deployment.port.get());
    assert_eq!(members(&models[0]), ["alias", "host", "is_serving", "pipeline_id", "port"]);
    for path in ["/events", "/metrics"] {
        let (status, text) = get(&device, path, None).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(text.contains("\"reader-token-required\""), "{text}");
    }
    // A wrong token is not the same as none: the client gets an error.
    assert_eq!(get(&device, "/healthz", Some("wrong")).await.0, StatusCode::UNAUTHORIZED);

    let run = device.home().join("state/run");
    let reader = std::fs::read_to_string(run.join("reader.token")).unwrap();
    let (status, state) = get(&device, "/healthz", Some(reader.trim())).await;
    assert_eq!(status, StatusCode::OK);
    let state: Value = serde_json::from_str(&state).unwrap();
    assert!(state["models"][0]["engine_pid"].is_u64(), "{state}");
    let (status, text) = get(&device, "/metrics", Some(reader.trim())).await;
    assert!(status.is_success() && text.contains("link_agent_memory_bytes"), "{text}");
    // The reader token allows reading only.
    let pipeline = state["models"][0]["pipeline_id"].as_str().unwrap();
    let stop = format!("http://127.0.0.1:{}/models/{pipeline}/stop", device.local_port);
    let stopped = Client::new().post(stop).bearer_auth(reader.trim()).send().await.unwrap();
    assert_eq!(stopped.status(), StatusCode::UNAUTHORIZED);

    // Over the socket, which no other user reaches, the state is complete and no token is needed.
    let socket = run.join("control.sock");
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--max-time", "10", "--unix-socket"]).arg(&socket);
    curl.arg("http://localhost/metrics");
    let metrics = curl.output().unwrap();
    assert!(String::from_utf8_lossy(&metrics.stdout).contains("link_agent_info"), "{metrics:?}");
    if link_platform::user_manager::is_root() {
        let home = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(device.home(), home).unwrap();
        let refused = curl.uid(NOBODY).gid(NOBODY).output().unwrap();
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
    } else {
        eprintln!("skipped: only root can try the socket as another user");
    }
}

/// Two users install Link on one machine, in its own network namespace, where no other program has the port.
#[tokio::test(flavor = "multi_thread")]
async fn two_users_of_a_machine_have_two_agents_and_each_talks_to_its_own() {
    if !link_platform::user_manager::is_root() {
        eprintln!("skipped: only root can act for two users");
        return;
    }
    let backend = TestBackend::start().await;
    let (alice, bob) = (TestDevice::register(&backend).await, TestDevice::register(&backend).await);
    let stage = tempfile::tempdir().unwrap();
    for path in [stage.path(), &bob.home(), &alice.home()] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["link", "link-agent", "link-guard"] {
        std::fs::copy(program::path(name), stage.path().join(name)).unwrap();
    }
    let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(bob.home()).status();
    assert!(owned.unwrap().success());
    let script = r#"
        set -u
        ip link set lo up
        of_alice() { LINK_HOME=$1 "$3/link" $4; }
        of_bob() { LINK_HOME=$2 setpriv --reuid 65534 --regid 65534 --clear-groups "$3/link" $4; }
        for words in start "status --json" "update --check" restart "status --json" stop; do
            of_alice "$1" "$2" "$3" "$words"; echo "alice $words = $?"
            [ "$words" = stop ] || of_bob "$1" "$2" "$3" "$words"; echo "bob $words = $?"
        done
        of_bob "$1" "$2" "$3" "status --json"; of_bob "$1" "$2" "$3" stop"#;
    let ran = Command::new("unshare")
        .args(["--net", "sh", "-c", script, "sh"])
        .args([alice.home(), bob.home()])
        .arg(stage.path())
        .env_remove("LINK_LOCAL_PORT")
        .output()
        .unwrap();
    let (said, told) = (text(&ran.stdout), text(&ran.stderr));
    let statuses: Vec<Value> = serde_json::Deserializer::from_str(&documents(&said))
        .into_iter::<Value>()
        .map_while(Result::ok)
        .collect();
    assert_eq!(statuses.len(), 5, "{said}\n{told}");
    let (a, b) = (json!(alice.id), json!(bob.id));
    for (number, wanted) in [&a, &b, &a, &b, &b].into_iter().enumerate() {
        let status = &statuses[number];
        assert_eq!(status["agent"]["device_id"], *wanted, "status {number}: {said}\n{told}");
    }
    assert_eq!(statuses[0]["local_port"], 20505, "{said}");
    let others: Vec<_> = statuses[1..].iter().map(|status| &status["local_port"]).collect();
    assert!(others[0].is_u64() && *others[0] != 20505, "{said}");
    // The second agent reports the port on which it listens.
    assert!(told.contains("port 20505 is"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_was_given_and_is_taken_is_said_and_a_stranger_is_not_believed() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let impostor = Impostor::at(device.local_port, &device.id.to_string());
    let started = device.link().arg("start").output().unwrap();
    assert!(!started.status.success(), "{started:?}");
    let log = std::fs::read_to_string(device.home().join("state/logs/agent.log")).unwrap();
    assert!(log.contains(&format!("port {} is in use", device.local_port)), "{log}");
    assert_eq!(impostor.heard(), "", "nothing is asked of a stranger");
    assert!(device.link().arg("stop").output().unwrap().status.success());
}

/// A program of another user that answers on a port like an agent.
struct Impostor {
    heard: Arc<Mutex<String>>,
}

impl Impostor {
    fn at(port: u16, device: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let heard = Arc::<Mutex<String>>::default();
        let record = heard.clone();
        let state = json!({
            "status": "online", "agent_version": "9.9.9", "channel": "stable",
            "device_id": device, "transport": {"type": "http", "state": "connected"},
            "models": [], "deployments": [], "currently_serving": false, "model_id": null,
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (record, state) = (record.clone(), state.to_string());
                std::thread::spawn(move || serve(stream, &record, &state));
            }
        });
        Self { heard }
    }

    fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, record: &Mutex<String>, state: &str) {
    let mut bytes = [0; 8192];
    while let Ok(count) = stream.read(&mut bytes) {
        if count == 0 {
            return;
        }
        let request = String::from_utf8_lossy(&bytes[..count]).into_owned();
        let body = if request.contains("/healthz") { state } else { "[]" };
        record.lock().unwrap().push_str(&request);
        let kind = "Content-Type: application/json";
        let head = format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn agent_has_ended(device: &TestDevice) -> Option<()> {
    (!device.home().join("state/agent.pid").exists()).then_some(())
}

fn connect(port: u16) -> Option<TcpStream> {
    let address = ([127, 0, 0, 1], port).into();
    TcpStream::connect_timeout(&address, Duration::from_secs(20)).ok()
}

async fn get(device: &TestDevice, path: &str, token: Option<&str>) -> (StatusCode, String) {
    let request = Client::new().get(format!("http://127.0.0.1:{}{path}", device.local_port));
    let request = request.timeout(Duration::from_secs(20));
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let answer = request.send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

async fn result(backend: &TestBackend, command: link_protocol::id::CommandId) -> OutcomeStatus {
    backend.result(command).await.result.unwrap().status
}

fn descriptors(device: &TestDevice) -> usize {
    std::fs::read_dir(process_folder(device).join("fd")).unwrap().count()
}

fn resident(device: &TestDevice) -> String {
    let status = std::fs::read_to_string(process_folder(device).join("status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").to_owned()
}

fn process_folder(device: &TestDevice) -> PathBuf {
    Path::new("/proc").join(device.agent_pid().to_string())
}

fn members(value: &Value) -> Vec<String> {
    let mut members: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
    members.sort();
    members
}

/// The JSON documents among the lines of a script.
fn documents(said: &str) -> String {
    said.lines().filter(|line| !line.starts_with("alice") && !line.starts_with("bob")).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
