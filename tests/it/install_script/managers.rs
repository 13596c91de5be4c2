//! The launch agent of macOS and the scheduled task of Windows, with a recorded `launchctl` and `schtasks` that start and
//! stop the real guard: installed, stopped, started, edited, repaired and uninstalled.

use std::{collections::BTreeSet, os::unix::fs::PermissionsExt, path::PathBuf, process::Command};

use link_tests::device::free_port;
use serde_json::Value;

use super::scratch::{Ran, SCRIPT, Scratch, run};

/// Keeps one launch agent: its state is a file, its guard a process. Like the real launchctl, it answers `bootout` with an error
/// while the guard ends, lists the agent for one more second, and refuses to load it for another second.
const LAUNCHCTL: &str = r#"#!/bin/sh
printf '%s\n' "$*" >>"$RECORD"
me=gui/$(id -u) other=user/$(id -u)
ends() { [ -f "$RECORD.ended" ] && [ $(($(date +%s) - $(cat "$RECORD.ended"))) -le "$1" ]; }
case "$*" in
  "print $me") exit 0 ;;
  "print $me/dev.link.agent") [ -f "$RECORD.loaded" ] || ends 1 || { echo 'Could not find service' >&2; exit 113; } ;;
  "print $other/dev.link.agent") [ -f "$RECORD.twice" ] || { echo 'Could not find service' >&2; exit 113; } ;;
  "bootout $other/dev.link.agent") rm -f "$RECORD.twice" ;;
  "print-disabled $me") [ ! -f "$RECORD.disabled" ] || printf '\t"dev.link.agent" => disabled\n' ;;
  "enable $me/dev.link.agent") rm -f "$RECORD.disabled" ;;
  "bootstrap $me "*)
    if [ -f "$RECORD.refuses" ]; then
      read -r code reason <"$RECORD.refuses"
      echo "Bootstrap failed: $code: $reason" >&2
      exit "$code"
    fi
    ! ends 2 && [ ! -f "$RECORD.loaded" ] || { echo 'Bootstrap failed: 5: Input/output error' >&2; exit 5; }
    file=${*#"bootstrap $me "}
    program=$(tr -d '\n' <"$file" | sed 's/.*ProgramArguments<[^<]*<array>[^<]*<string>\([^<]*\)<.*/\1/')
    : >"$RECORD.loaded"
    HOME=$HOME setsid "$program" </dev/null >/dev/null 2>&1 & ;;
  "kickstart $me/dev.link.agent") ;;
  "bootout $me/dev.link.agent")
    rm -f "$RECORD.loaded"
    date +%s >"$RECORD.ended"
    kill "$(cat "$HOME/.local/state/link/guard.pid")"
    echo 'Boot-out failed: 36: Operation now in progress' >&2
    exit 36 ;;
  *) echo "unexpected: $*" >&2; exit 64 ;;
esac
"#;

/// Keeps one task, with its XML and whether it is enabled.
const SCHTASKS: &str = r#"#!/bin/sh
printf '%s\n' "$*" >>"$RECORD"
verb=$1; shift
[ "$verb" != /Query ] || [ $# != 0 ] || exit 0
[ "$1" = /TN ] && [ "$2" = "link-agent-$(id -u)" ] || { echo "unexpected: $*" >&2; exit 64; }
shift 2
task=$RECORD.task
[ "$verb" = /Create ] || [ -f "$task" ] || { echo 'FEHLER: Die Datei wurde nicht gefunden.' >&2; exit 1; }
[ "$verb" != /Create ] || [ ! -f "$RECORD.refuses" ] || { echo 'ERROR: Access is denied.' >&2; exit 1; }
case "$verb $*" in
  "/Create /XML "*" /F") iconv -f UTF-16 -t UTF-8 "$2" >"$task" ;;
  "/Query ") ;;
  "/Query /XML") cat "$task" ;;
  "/Change /ENABLE") sed -i '/<Settings>/,$s,<Enabled>false,<Enabled>true,' "$task" ;;
  "/Change /DISABLE") sed -i '/<Settings>/,$s,<Enabled>true,<Enabled>false,' "$task" ;;
  "/Run ")
    program=$(sed -n 's,.*<Command>\(.*\)</Command>.*,\1,p' "$task")
    setsid "$program" </dev/null >/dev/null 2>&1 & ;;
  "/Delete /F") rm "$task" ;;
  *) echo "unexpected: $verb $*" >&2; exit 64 ;;
esac
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_launch_agent_starts_the_guard_and_is_forgotten_with_it() {
    let machine = Machine::new("launchd", "launchctl", LAUNCHCTL);
    let plist = machine.scratch.home().join("Library/LaunchAgents/dev.link.agent.plist");
    machine.lives(&Tells {
        kind: "the launch agent `dev.link.agent`",
        tier: "launch-agent",
        why: "launchd starts it at login, and it ends at logout",
        file: &plist,
    });
    let calls = machine.calls();
    assert!(calls.iter().any(|call| call.starts_with("bootstrap gui/")), "{calls:?}");
    assert!(calls.iter().any(|call| call.starts_with("bootout gui/")), "{calls:?}");
    assert!(!plist.exists());

    // Launchd has an agent that was installed by ssh, and loads it again at the login at the screen.
    assert_eq!(machine.install().code, Some(0));
    std::fs::write(machine.record("twice"), "").unwrap();
    assert_eq!(machine.link(&["stop"]).code, Some(0));
    assert!(!machine.record("twice").exists() && !machine.record("loaded").exists());
    assert_eq!(machine.status()["running"], false);
    assert_eq!(machine.link(&["uninstall", "--yes"]).code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_task_starts_the_guard_and_is_forgotten_with_it() {
    let machine = Machine::new("task", "schtasks", SCHTASKS);
    let xml = machine.scratch.home().join(".local/share/link/service/task.xml");
    machine.lives(&Tells {
        kind: "the scheduled task `link-agent`",
        tier: "logon-task",
        why: "the task scheduler starts it when",
        file: &xml,
    });
    let calls = machine.calls();
    assert!(calls.iter().any(|call| call.ends_with("/DISABLE")), "{calls:?}");
    assert!(calls.iter().any(|call| call.starts_with("/Delete ")), "{calls:?}");
    assert!(!machine.record("task").exists() && !xml.exists());
}

/// A policy may forbid tasks: the agent runs all the same, and the status says that nothing starts it.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_scheduler_that_refuses_leaves_a_running_agent_and_no_task() {
    let machine = Machine::new("task", "schtasks", SCHTASKS);
    let xml = machine.scratch.home().join(".local/share/link/service/task.xml");
    std::fs::write(machine.record("refuses"), "").unwrap();
    let ran = machine.install();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("could not register `link-agent`: ERROR: Access is denied."),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("started the agent"), "{ran:?}");
    assert!(!xml.exists());
    let status = machine.status();
    assert_eq!(status["running"], true, "{status}");
    assert_eq!(status["availability"]["tier"], "detached", "{status}");
    assert_eq!(machine.link(&["restart"]).code, Some(0));

    // Once the scheduler takes tasks, the next installation makes one. A later refusal leaves that one as it is.
    std::fs::remove_file(machine.record("refuses")).unwrap();
    let ran = machine.install();
    assert!(ran.code == Some(0) && ran.stderr.contains("created the scheduled task"), "{ran:?}");
    let text = std::fs::read(&xml).unwrap();
    std::fs::write(machine.record("refuses"), "").unwrap();
    std::fs::write(&xml, "").unwrap();
    let ran = machine.install();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(machine.status()["availability"]["tier"], "logon-task");
    std::fs::remove_file(machine.record("refuses")).unwrap();
    machine.install();
    assert_eq!(std::fs::read(&xml).unwrap(), text);
    assert_eq!(machine.link(&["uninstall", "--yes"]).code, Some(0));
}

/// An organisation may forbid login items. The installation says who refused, why and where to look. Nothing runs until launchd
/// loads the agent or the owner wants no service.
#[tokio::test(flavor = "multi_thread")]
async fn a_launchd_that_refuses_is_named_with_its_reason_and_a_next_step() {
    let machine = Machine::new("launchd", "launchctl", LAUNCHCTL);
    let plist = machine.scratch.home().join("Library/LaunchAgents/dev.link.agent.plist");
    // The first is also the answer to an agent that is already loaded, so it is believed only after some seconds.
    for refusal in ["5 Input/output error", "125 Domain does not support specified action"] {
        std::fs::write(machine.record("refuses"), refusal).unwrap();
        let ran = machine.install();
        assert_eq!(ran.code, Some(41), "{ran:?}");
        let said = refusal.replacen(' ', ": ", 1);
        let error = format!("launchd could not start `dev.link.agent`: Bootstrap failed: {said}\n");
        assert!(ran.stderr.contains(&error), "{ran:?}");
        let hint = "hint: see `launchctl print gui/$(id -u)/dev.link.agent`, and whether System Settings, Login \
                    Items lets Link run; to install without a service, set LINK_SERVICE=none";
        assert!(ran.stderr.contains(hint), "{ran:?}");
        assert!(!ran.stderr.contains("started the agent"), "{ran:?}");
        assert_eq!(machine.status()["running"], false);
    }
    assert!(plist.exists());

    // The owner wants no service: the agent runs without launchd, which forgets the launch agent.
    let mut script = machine.scratch.shell(&["dash"], &machine.scratch.file_url());
    let ran = run(machine.set(script.arg(SCRIPT)).env("LINK_SERVICE", "none"));
    assert!(ran.code == Some(0) && ran.stderr.contains("started the agent"), "{ran:?}");
    let status = machine.status();
    assert_eq!(status["running"], true, "{status}");
    assert_eq!(status["availability"]["tier"], "detached", "{status}");
    assert!(!plist.exists());

    // Once launchd takes the agent, the next installation has it loaded.
    std::fs::remove_file(machine.record("refuses")).unwrap();
    let ran = machine.install();
    assert!(ran.code == Some(0) && ran.stderr.contains("created the launch agent"), "{ran:?}");
    assert!(machine.record("loaded").exists());
    assert_eq!(machine.status()["availability"]["tier"], "launch-agent");
    assert_eq!(machine.link(&["uninstall", "--yes"]).code, Some(0));
}

/// A task sets no variables, so the guard gives the agent those of the installation.
#[tokio::test(flavor = "multi_thread")]
async fn the_guard_of_a_task_gives_the_agent_the_variables_of_the_installation() {
    let machine = Machine::new("task", "schtasks", SCHTASKS);
    let port = free_port().to_string();
    let mut script = machine.scratch.shell(&["dash"], &machine.scratch.file_url());
    let ran = run(machine
        .set(script.arg(SCRIPT))
        .env("LINK_LOCAL_PORT", &port)
        .env("NO_PROXY", "a.example"));
    assert!(ran.code == Some(0) && ran.stderr.contains("created the scheduled task"), "{ran:?}");
    let variables = || {
        let file = machine.scratch.home().join(".local/state/link/agent.pid");
        let pid = std::fs::read_to_string(file).unwrap();
        let environment = std::fs::read(format!("/proc/{}/environ", pid.trim())).unwrap();
        let all = environment
            .split(|byte| *byte == 0)
            .map(|one| String::from_utf8_lossy(one).into_owned());
        all.filter(|one| one.starts_with("LINK_LOCAL_PORT=") || one.starts_with("NO_PROXY="))
            .collect::<BTreeSet<_>>()
    };
    let given =
        BTreeSet::from([format!("LINK_LOCAL_PORT={port}"), "NO_PROXY=a.example".to_owned()]);
    assert_eq!(variables(), given);
    // Another value at the next installation restarts the agent with it; the other variables stay.
    let port = free_port().to_string();
    let mut script = machine.scratch.shell(&["dash"], &machine.scratch.file_url());
    let ran = run(machine.set(script.arg(SCRIPT)).env("LINK_LOCAL_PORT", &port));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let given =
        BTreeSet::from([format!("LINK_LOCAL_PORT={port}"), "NO_PROXY=a.example".to_owned()]);
    assert_eq!(variables(), given);
    // From a shell without them, too: the scheduler knows nothing of a shell.
    assert_eq!(machine.link(&["restart"]).code, Some(0));
    assert_eq!(variables(), given);
    assert_eq!(machine.link(&["uninstall", "--yes"]).code, Some(0));
}

/// A home in which another system's service manager is found first.
struct Machine {
    scratch: Scratch,
    manager: &'static str,
}

/// What the installation says of its service.
struct Tells<'a> {
    kind: &'static str,
    tier: &'static str,
    why: &'static str,
    file: &'a PathBuf,
}

impl Machine {
    fn new(manager: &'static str, program: &str, text: &str) -> Self {
        let scratch = Scratch::new();
        let folder = scratch.path().join("managers");
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join(program);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        // A task cannot set variables, so the port stands in the configuration.
        let config = scratch.home().join(".config/link");
        std::fs::create_dir_all(&config).unwrap();
        let port = free_port();
        let agent = format!(r#"{{"schema_version": "2.1", "local_api": {{"port": {port}}}}}"#);
        std::fs::write(config.join("agent.json"), agent).unwrap();
        Self { scratch, manager }
    }

    /// Goes through the life of an installation.
    fn lives(&self, tells: &Tells<'_>) {
        let ran = self.install();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains(&format!("created {}", tells.kind)), "{ran:?}");
        assert!(tells.file.is_file());
        self.is_kept(tells);
        let guard = self.guard();

        let ran = self.install();
        assert!(ran.code == Some(0) && !ran.stderr.contains("created the"), "{ran:?}");
        assert_eq!(self.guard(), guard, "an intact installation restarts nothing");

        assert_eq!(self.link(&["stop"]).code, Some(0));
        assert_eq!(self.status()["running"], false);
        assert_eq!(self.link(&["start"]).code, Some(0));
        self.is_kept(tells);

        std::fs::remove_file(tells.file).unwrap();
        let ran = self.install();
        assert!(ran.stderr.contains(&format!("created {}", tells.kind)), "{ran:?}");
        self.is_kept(tells);

        let ran = self.link(&["uninstall", "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    fn is_kept(&self, tells: &Tells<'_>) {
        let status = self.status();
        let availability = &status["availability"];
        assert_eq!(availability["tier"], tells.tier, "{status}");
        assert_eq!(availability["survives_logout"], false, "{status}");
        assert_eq!(availability["survives_reboot"], false, "{status}");
        assert!(availability["why"].as_str().unwrap().contains(tells.why), "{status}");
        assert!(PathBuf::from("/proc").join(self.guard()).exists());
    }

    fn guard(&self) -> String {
        let file = self.scratch.home().join(".local/state/link/guard.pid");
        std::fs::read_to_string(file).unwrap()
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.link(&["status", "--json"]).stdout).unwrap()
    }

    fn install(&self) -> Ran {
        let mut script = self.scratch.shell(&["dash"], &self.scratch.file_url());
        run(self.set(script.arg(SCRIPT)))
    }

    fn link(&self, arguments: &[&str]) -> Ran {
        let mut command = self.scratch.shell(&["dash"], "");
        let link = self.scratch.home().join(".local/bin/link");
        command.args(["-c", r#"exec "$0" "$@""#]).arg(link).args(arguments);
        run(self.set(&mut command))
    }

    fn set<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = std::env::var("PATH").unwrap();
        let managers = self.scratch.path().join("managers");
        command
            .env("PATH", format!("{}:{path}", managers.display()))
            .env("RECORD", self.scratch.path().join("calls"))
            .env("LINK_DEV_SERVICE_MANAGER", self.manager)
            .env_remove("LINK_HOME")
            .env_remove("LINK_SERVICE")
            .env_remove("LINK_LOCAL_PORT")
    }

    fn record(&self, name: &str) -> PathBuf {
        self.scratch.path().join(format!("calls.{name}"))
    }

    fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.scratch.path().join("calls")).unwrap();
        calls.lines().map(str::to_owned).collect()
    }
}

impl Drop for Machine {
    /// Stops the installed programs, which would outlive a failed test.
    fn drop(&mut self) {
        if self.scratch.home().join(".local/bin/link").exists() {
            drop(self.link(&["stop"]));
        }
    }
}
