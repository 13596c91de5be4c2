//! The agent or its guard as the first process of a container: it collects orphans, passes signals on, and ends as the program
//! below it has ended.

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
        let may = unshare().arg("true").stderr(Stdio::null()).status();
        if !may.is_ok_and(|status| status.success()) {
            eprintln!("skipped: this user may not create namespaces");
            return None;
        }
        let mut command = unshare();
        command.arg(program::path(name)).stdin(Stdio::null());
        command.env("LINK_HOME", device.home());
        command.env("LINK_LOCAL_PORT", device.local_port.to_string());
        // SIGQUIT may leave a core file here.
        command.current_dir(device.home());
        let unshare = command.spawn().unwrap();
        let of_unshare = unshare.id();
        let first = until("process 1", || async { children(of_unshare).first().copied() }).await;
        Some(Self { unshare, first })
    }

    /// Sends a signal to process 1, and returns the exit code of process 1.
    async fn ends_by(&mut self, signal: &str) -> Option<i32> {
        let mut kill = Command::new("kill");
        kill.arg(format!("-{signal}")).arg(self.first.to_string());
        assert!(kill.status().unwrap().success());
        let ended = || std::future::ready(self.unshare.try_wait().unwrap());
        until("the end of process 1", ended).await.code()
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        drop(self.unshare.kill());
        drop(self.unshare.wait());
    }
}

/// Starts a program as process 1 of a namespace, and ends with its exit code.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    command
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

    assert_eq!(contained.ends_by("TERM").await, Some(0));
}

/// SIGTERM and SIGINT ask the program to stop. It has no answer to the others, so each of them ends it.
async fn passes_signals_on(name: &str) {
    let codes =
        [("TERM", 0), ("INT", 0), ("HUP", 129), ("QUIT", 131), ("USR1", 138), ("USR2", 140)];
    let device = TestDevice::unregistered();
    for (signal, code) in codes {
        let Some(mut contained) = Contained::start(name, &device).await else { return };
        let first = contained.first;
        until("a program below process 1 that can be stopped", || async {
            children(first).into_iter().find(|&pid| listens(pid))
        })
        .await;
        assert_eq!(contained.ends_by(signal).await, Some(code), "{name} after SIG{signal}");
    }
    let refused = unshare().arg(program::path(name)).arg("--no-such-option").output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

/// Returns whether a process handles SIGINT and SIGTERM, as the kernel has it.
fn listens(pid: u32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    [2, 15].iter().all(|signal| caught & (1 << (signal - 1)) != 0)
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

#[tokio::test]
async fn an_agent_that_is_process_1_gets_each_signal_and_ends_with_its_exit_code() {
    passes_signals_on("link-agent").await;
}

#[tokio::test]
async fn a_guard_that_is_process_1_gets_each_signal_and_ends_with_its_exit_code() {
    passes_signals_on("link-guard").await;
}
