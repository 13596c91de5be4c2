//! The agent or its guard as the first process of a container: it collects orphans, and ends when it is asked to.

#![expect(clippy::print_stderr, reason = "a test says why it is skipped")]

use std::process::{Child, Command, Stdio};

use link_tests::{device::TestDevice, program, wait::until};

/// A program that is process 1 of a namespace of its own. Dropping the value kills it and whoever it started.
struct Contained {
    unshare: Child,
    /// Its process id outside.
    first: u32,
}

impl Contained {
    /// Starts a program of Link. None if this user may not create namespaces.
    async fn start(name: &str, device: &TestDevice) -> Option<Self> {
        let flags =
            ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"];
        let may = Command::new("unshare").args(flags).arg("true").stderr(Stdio::null()).status();
        if !may.is_ok_and(|status| status.success()) {
            eprintln!("skipped: this user may not create namespaces");
            return None;
        }
        let mut command = Command::new("unshare");
        command.args(flags).arg(program::path(name)).stdin(Stdio::null());
        command.env("LINK_HOME", device.home());
        command.env("LINK_LOCAL_PORT", device.local_port.to_string());
        let unshare = command.spawn().unwrap();
        let of_unshare = unshare.id();
        let first = until("process 1", || async { children(of_unshare).first().copied() }).await;
        Some(Self { unshare, first })
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        drop(self.unshare.kill());
        drop(self.unshare.wait());
    }
}

fn children(pid: u32) -> Vec<u32> {
    let file = format!("/proc/{pid}/task/{pid}/children");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn is_running(name: &str, pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|text| text.trim() == name)
}

async fn collects_orphans_and_stops(name: &str) {
    let device = TestDevice::unregistered();
    let Some(mut contained) = Contained::start(name, &device).await else { return };
    let pid_file = device.home().join("state/agent.pid");
    until("the agent", || async { pid_file.exists().then_some(()) }).await;
    let own = std::fs::read_to_string(&pid_file).unwrap();
    assert_ne!(own.trim(), "1", "the agent is below process 1");

    // The shell ends at once, and its child gets another parent.
    let first = contained.first;
    let mut enter = Command::new("nsenter");
    enter.args(["--target", &first.to_string(), "--user", "--pid", "--", "sh", "-c"]);
    let left = enter.arg("sleep 2 >/dev/null 2>&1 &").status().unwrap();
    assert!(left.success());
    let orphan = until("an orphan", || async {
        children(first).into_iter().find(|&pid| is_running("sleep", pid))
    })
    .await;
    until("the orphan to be collected", || async {
        (!std::path::Path::new(&format!("/proc/{orphan}")).exists()).then_some(())
    })
    .await;

    let asked = Command::new("kill").args(["-TERM", &first.to_string()]).status().unwrap();
    assert!(asked.success());
    let ended =
        until("the end of process 1", || std::future::ready(contained.unshare.try_wait().unwrap()))
            .await;
    assert!(ended.success(), "{ended:?}");
}

#[tokio::test]
async fn an_agent_that_is_process_1_collects_orphans_and_stops_when_asked() {
    collects_orphans_and_stops("link-agent").await;
}

/// What starts the agent in a container whose agent has to come back by itself.
#[tokio::test]
async fn a_guard_that_is_process_1_collects_orphans_and_stops_when_asked() {
    collects_orphans_and_stops("link-guard").await;
}
