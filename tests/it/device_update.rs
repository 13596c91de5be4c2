//! Updates of an installed device that its owner requests remotely, through the backend.

use std::process::Output;

use link_protocol::{
    backend_api::{
        command::{CommandInfo, CommandState},
        device::Device,
    },
    report::{CommandResult, LifecycleStatus},
    update::{UpdateEnd, UpdateOutcome},
};
use link_tests::{
    device::TestDevice,
    installed::{Installed, OLD, PASSES_ITS_CHECK, json, said},
    release::Agent,
    wait::until,
};

const NEW: &str = "9.9.1";
const NEWER: &str = "9.9.2";

// Holds: S6-10
#[tokio::test]
async fn an_owner_updates_a_device_from_afar_and_sees_that_it_stays() {
    let installed = Installed::new(&[]).await;
    let Installed { backend, device, releases } = &installed;
    let owner = Owner::of(&installed);
    assert_eq!(backend.owner.device(device.id).await.unwrap().last_update, None);
    releases.publish(NEW, Agent::Good);
    releases.publish(NEWER, Agent::Good);

    let process = || std::fs::read_to_string(device.home().join("state/agent.pid")).unwrap();
    let before = process();
    let asked = owner.updates_to(NEW, &["--json"]);
    assert!(asked.status.success(), "{asked:?}");
    let asked: CommandInfo = serde_json::from_value(json(&asked)).unwrap();
    assert_eq!(asked.state, CommandState::Sent);
    let result = until("the new version to be online", || async {
        let seen = backend.owner.device(device.id).await.ok()?;
        let is_online = seen.online && seen.status == LifecycleStatus::Online;
        let is_here = is_online && seen.agent_version.to_string() == NEW;
        let result = backend.owner.command(asked.command_id).await.ok()?.result;
        // The previous version has reported its result before the next version connects.
        is_here.then(|| result.expect("the result comes before the new version is online"))
    })
    .await;
    assert_eq!(result.status, CommandResult::Succeeded, "{result:?}");
    assert_eq!(result.output, format!("version {NEW} is verified and checked, and takes over now"));
    let last = owner.sees_the_outcome_of(NEW).await;
    assert_eq!((last.outcome, last.from.to_string()), (UpdateEnd::Committed, OLD.to_owned()));
    assert_eq!(process(), before, "the process is another one");
    installed.is_committed(NEW).await;
    assert_eq!(installed.on_disk(), [OLD, NEW], "not the newest: the one that was asked for");

    let waited = owner.updates_to(NEWER, &["--wait"]);
    assert!(waited.status.success() && said(&waited).contains("takes over now"), "{waited:?}");
    let last = owner.sees_the_outcome_of(NEWER).await;
    assert_eq!((last.outcome, last.from.to_string()), (UpdateEnd::Committed, NEW.to_owned()));
    let shown = owner.link(&["device", "show", &device.id.to_string()]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("Agent       9.9.2"), "{text}");
    assert!(text.contains("Last update 9.9.1 to 9.9.2, committed"), "{text}");

    let same = owner.updates_to(NEWER, &["--wait"]);
    assert!(same.status.success() && said(&same).contains("is installed"), "{same:?}");
    assert_eq!(owner.device().await.agent_version.to_string(), NEWER);
}

#[tokio::test]
async fn a_version_that_is_not_published_is_declined() {
    let installed = Installed::new(&[]).await;
    let owner = Owner::of(&installed);
    let declined = owner.updates_to("8.8.8", &["--wait", "--json"]);
    assert_eq!(declined.status.code(), Some(1), "{declined:?}");
    let error: serde_json::Value = serde_json::from_slice(&declined.stderr).unwrap();
    assert_eq!(error["error"], "command-rejected");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("(rejected): declined: there is no release 8.8.8"), "{message}");

    installed.is_healthy().await;
    until("the device to be online again", || async {
        (owner.device().await.status == LifecycleStatus::Online).then_some(())
    })
    .await;
    let device = owner.device().await;
    assert_eq!((device.agent_version.to_string().as_str(), device.last_update), (OLD, None));
}

#[tokio::test]
async fn a_version_that_fails_on_its_trial_is_known_to_be_rolled_back() {
    let installed = Installed::new(&[]).await;
    let owner = Owner::of(&installed);
    let script = format!("{PASSES_ITS_CHECK}\nexit 7").leak();
    installed.releases.publish(NEW, Agent::Script(script));
    let asked = owner.updates_to(NEW, &["--json"]);
    let asked: CommandInfo = serde_json::from_value(json(&asked)).unwrap();
    let last = owner.sees_the_outcome_of(NEW).await;
    assert_eq!((last.outcome, last.from.to_string()), (UpdateEnd::RolledBack, OLD.to_owned()));
    let reason = last.reason.unwrap();
    assert!(reason.contains("it ended within its trial"), "{reason}");
    let result = installed.backend.owner.command(asked.command_id).await.unwrap().result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "it was verified, and took over");

    installed.is_healthy().await;
    assert_eq!(installed.version().await, OLD);
    let again = owner.updates_to(NEW, &["--wait"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(said(&again).contains("declined: ") && said(&again).contains("was given up before"));
}

/// The owner of a device, who works on another machine.
struct Owner<'a> {
    of: &'a Installed,
    machine: TestDevice,
}

impl<'a> Owner<'a> {
    fn of(installed: &'a Installed) -> Self {
        Self { of: installed, machine: TestDevice::unregistered() }
    }

    fn link(&self, arguments: &[&str]) -> Output {
        self.machine
            .link()
            .args(arguments)
            .env("LINK_BACKEND_URL", &self.of.backend.url)
            .env("LINK_ACCESS_TOKEN", self.of.backend.owner.access_token().expose())
            .output()
            .unwrap()
    }

    fn updates_to(&self, version: &str, more: &[&str]) -> Output {
        let device = self.of.device.id.to_string();
        self.link(&[&["device", "update", &device, "--to", version], more].concat())
    }

    async fn device(&self) -> Device {
        self.of.backend.owner.device(self.of.device.id).await.unwrap()
    }

    async fn sees_the_outcome_of(&self, version: &str) -> UpdateOutcome {
        until("the outcome of the update", || async {
            let last = self.device().await.last_update?;
            (last.to.to_string() == version).then_some(last)
        })
        .await
    }
}
