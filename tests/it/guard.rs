//! The guard keeps the agent running. `link start`, `stop` and `uninstall` act through the guard.

use std::{
    path::Path,
    process::{Output, Stdio},
};

use link_tests::{
    backend::TestBackend,
    chat,
    device::{TestDevice, is_alive},
    engines::TINY_REPLY,
    installed::PORT_TAKEN,
    program,
    wait::until,
};

// Holds: S4.4-1b
#[tokio::test]
async fn an_agent_that_is_killed_comes_back_by_itself_and_serves_again() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    link(&device, &["start"]);
    backend.online(device.id, true).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;

    let (guard, agent) = (pid(&device, "guard"), pid(&device, "agent"));
    kill(agent);
    let again = until("another agent", || async {
        let found = read_pid(&device.home().join("state/agent.pid"));
        found.filter(|found| *found != agent && is_alive(*found))
    })
    .await;
    assert_eq!(pid(&device, "guard"), guard);
    until("the model to answer", || async { chat::ask(port, None, false).await.ok() }).await;
    until("the engine to be loaded", || async {
        let answer = chat::ask(port, None, false).await.ok()?;
        answer.status().is_success().then_some(())
    })
    .await;
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);

    link(&device, &["stop"]);
    assert!(!is_alive(guard) && !is_alive(again));
    assert!(chat::ask(port, None, false).await.is_err());

    link(&device, &["start"]);
    let guard = pid(&device, "guard");
    link(&device, &["uninstall", "--yes"]);
    assert!(!is_alive(guard));
    assert!(backend.owner.devices().await.unwrap().is_empty());
    assert!(!device.home().join("state/identity.json").exists());
}

#[tokio::test]
async fn a_guard_that_is_killed_takes_the_agent_along_and_start_works_again() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    link(&device, &["start"]);
    let (guard, agent) = (pid(&device, "guard"), pid(&device, "agent"));
    kill(guard);
    // The agent may not have noticed yet.
    until("the guard to be gone", || async { (!is_alive(guard)).then_some(()) }).await;
    link(&device, &["start"]);
    let again = pid(&device, "guard");
    assert!(again != guard && pid(&device, "agent") != agent && is_alive(again));
    backend.online(device.id, true).await;
    link(&device, &["stop"]);
}

#[tokio::test]
async fn two_commands_that_start_the_agent_at_once_start_one() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let starts =
        [(); 2].map(|()| device.link().arg("start").stderr(Stdio::piped()).spawn().unwrap());
    let ended = starts.map(|start| start.wait_with_output().unwrap());
    assert!(ended.iter().all(|start| start.status.success()), "{ended:?}");
    let said = ended.map(|start| String::from_utf8_lossy(&start.stderr).into_owned());
    let is_second = |text: &&String| text.contains("the agent is already running");
    assert_eq!(said.iter().filter(is_second).count(), 1, "{said:?}");
    assert!(is_alive(pid(&device, "guard")) && is_alive(pid(&device, "agent")));
    link(&device, &["stop"]);
}

#[tokio::test]
async fn a_second_guard_has_nothing_to_do() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    link(&device, &["start"]);
    let (guard, agent) = (pid(&device, "guard"), pid(&device, "agent"));
    let second = std::process::Command::new(program::path("link-guard"))
        .env("LINK_HOME", device.home())
        .output()
        .unwrap();
    assert!(second.status.success(), "{second:?}");
    let told = String::from_utf8_lossy(&second.stderr);
    assert!(told.contains("another guard runs with"), "{told}");
    assert_eq!((pid(&device, "guard"), pid(&device, "agent")), (guard, agent));
    assert!(is_alive(guard) && is_alive(agent));
    link(&device, &["stop"]);
}

/// Silence limit in seconds: longer than a few beats, and short enough for a test.
const SILENCE: &str = "8";

#[tokio::test]
async fn an_agent_that_hangs_is_killed_and_started_again() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let started = device.link().arg("start").env("LINK_DEV_SILENCE", SILENCE).output().unwrap();
    assert!(started.status.success(), "{started:?}");
    let (guard, agent) = (pid(&device, "guard"), pid(&device, "agent"));
    signal("STOP", agent);
    let again = until("another agent", || async {
        let found = read_pid(&device.home().join("state/agent.pid"));
        found.filter(|found| *found != agent && is_alive(*found))
    })
    .await;
    assert!(!is_alive(agent));
    assert_eq!(pid(&device, "guard"), guard);
    backend.online(device.id, true).await;
    link(&device, &["stop"]);
    assert!(!is_alive(again));
    let log = std::fs::read_to_string(device.home().join("state/logs/agent.log")).unwrap();
    assert_eq!(log.matches("the agent has stopped sending heartbeats").count(), 1);
}

#[tokio::test]
async fn an_agent_whose_port_is_taken_says_so_by_its_exit_code() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let taken = std::net::TcpListener::bind(("127.0.0.1", device.local_port)).unwrap();
    let agent = std::process::Command::new(program::path("link-agent"))
        .env("LINK_HOME", device.home())
        .env("LINK_LOCAL_PORT", device.local_port.to_string())
        .output()
        .unwrap();
    drop(taken);
    assert_eq!(agent.status.code(), Some(PORT_TAKEN), "{agent:?}");
}

fn link(device: &TestDevice, arguments: &[&str]) -> Output {
    let output = device.link().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn pid(device: &TestDevice, program: &str) -> u32 {
    let file = device.home().join(format!("state/{program}.pid"));
    read_pid(&file).unwrap()
}

fn read_pid(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn kill(pid: u32) {
    signal("KILL", pid);
}

fn signal(name: &str, pid: u32) {
    let arguments = [format!("-{name}"), pid.to_string()];
    assert!(std::process::Command::new("kill").args(arguments).status().unwrap().success());
}
