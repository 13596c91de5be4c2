//! Updates on a machine that boots: good and bad releases, and a power cut during the trial.

use link_protocol::key::KeyKind;
use link_tests::{
    booted::Flavour,
    machine::Ran,
    release::{Agent, Releases},
    wait::until,
};

use super::{ALICE, Device};

const OLD: &str = env!("CARGO_PKG_VERSION");
const PASSES_ITS_CHECK: &str = "case $1 in --self-check) exit 0 ;; esac";
/// An agent that runs for half of the trial and then crashes.
const ENDS_AFTER_A_MINUTE: &str = "case $1 in --self-check) exit 0 ;; esac
echo '{\"event\":\"alive\",\"version\":\"9.9.4\"}' >&0; sleep 60; exit 1";

// Holds: S1-6c, S3.4-4, S8-8
#[tokio::test]
async fn systemd_sees_one_service_through_updates_good_and_bad() {
    let Some(mut device) = Device::fresh(Flavour::Systemd).await else { return };
    let releases = Releases::new();
    publish(&device, &releases, OLD, Agent::Good);
    is_installed(&device, &releases).await;
    has_window(&device, &releases, Some(15)).await;
    let service = main_pid(&device).await;
    assert_eq!(Some(service.clone()), device.pid("link-guard").await.map(|pid| pid.to_string()));

    publish(&device, &releases, "9.9.1", Agent::Good);
    let agent = device.pid("link-agent").await;
    let ran = device.link("update").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!((version(&device).await, device.pid("link-agent").await), ("9.9.1".into(), agent));
    // The power is cut before the end of the trial, which then starts anew.
    device.machine.power_cut().await;
    device.machine.switch_on().await;
    device.is_healthy().await;
    assert_eq!(version(&device).await, "9.9.1");
    is_settled(&device, "committed").await;

    for (bad, script) in [("9.9.2", "exit 7"), ("9.9.3", "exec sleep 1000")] {
        let service = main_pid(&device).await;
        let script = format!("{PASSES_ITS_CHECK}\n{script}").leak();
        publish(&device, &releases, bad, Agent::Script(script));
        rolls_back(&device, bad).await;
        assert_eq!(main_pid(&device).await, service, "systemd has not noticed");
    }

    // Use the default length of the trial.
    has_window(&device, &releases, None).await;
    publish(&device, &releases, "9.9.4", Agent::Script(ENDS_AFTER_A_MINUTE));
    rolls_back(&device, "9.9.4").await;
    doctor_knows_of_the_rollback(&device, "9.9.4").await;
    what_is_no_good_release_is_refused(&device, &releases).await;
    let ran = device.machine.user(ALICE, "ls ~/.local/share/link/versions").await;
    assert_eq!(ran.stdout.split_whitespace().collect::<Vec<_>>(), [OLD, "9.9.1"], "{ran:?}");

    let drop_in = "rm -r ~/.config/systemd/user/link.service.d";
    assert_eq!(device.machine.user(ALICE, drop_in).await.code, Some(0));
    device.uninstalls().await;
}

/// A release with a failed self-check, half an archive, a foreign signature or an older version
/// never runs.
async fn what_is_no_good_release_is_refused(device: &Device, releases: &Releases) {
    let service = main_pid(device).await;
    let broken = Agent::Script("echo 'no such library' >&2; exit 1");
    publish(device, releases, "9.9.5", broken);
    is_refused(device, "its self-check failed: no such library").await;
    publish(device, releases, "9.9.6", Agent::Good);
    let published = releases.archive("9.9.6", "");
    let archive = device.machine.releases().join(published.file_name().unwrap());
    let bytes = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
    is_refused(device, "the file is shorter than announced").await;
    releases.publish_forged("9.9.7");
    are_there(device, releases);
    is_refused(device, "cannot be trusted").await;
    publish(device, releases, "0.0.1", Agent::Good);
    is_refused(device, "is older than the installed").await;
    assert_eq!((main_pid(device).await, version(device).await), (service, "9.9.1".to_owned()));
}

async fn is_refused(device: &Device, words: &str) {
    let ran = device.link("update").await;
    assert!(ran.code != Some(0) && ran.stderr.contains(words), "{words}: {ran:?}");
    device.is_healthy().await;
}

/// Puts a release where the device looks for it.
fn publish(device: &Device, releases: &Releases, version: &str, agent: Agent) {
    releases.publish(version, agent);
    are_there(device, releases);
}

fn are_there(device: &Device, releases: &Releases) {
    for entry in std::fs::read_dir(releases.folder()).unwrap() {
        let path = entry.unwrap().path();
        let to = device.machine.releases().join(path.file_name().unwrap());
        std::fs::copy(path, to).unwrap();
    }
}

async fn is_installed(device: &Device, releases: &Releases) {
    let key = device.backend.key(KeyKind::Registration).await;
    let keys = format!(
        "export LINK_REGISTRATION_KEY={} LINK_DEV_RELEASE_KEYS={} LINK_VERSION={OLD}",
        key.expose(),
        releases.trusted
    );
    let ran = device.install_with(&keys).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("signature of release"), "{ran:?}");
}

/// Writes a drop-in, as a person would, with the keys of these releases and a trial of `seconds`.
async fn has_window(device: &Device, releases: &Releases, seconds: Option<u32>) {
    let window = seconds.map_or_else(String::new, |seconds| {
        format!("Environment=LINK_DEV_UPDATE_WINDOW={seconds}\\n")
    });
    let line = format!(
        "mkdir -p ~/.config/systemd/user/link.service.d \
         && printf '[Service]\\nEnvironment=LINK_DEV_RELEASE_KEYS={}\\n{window}' \
            > ~/.config/systemd/user/link.service.d/test.conf \
         && systemctl --user daemon-reload && systemctl --user restart link",
        releases.trusted
    );
    let ran = device.machine.login(ALICE, &line).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    device.is_healthy().await;
}

async fn rolls_back(device: &Device, bad: &str) {
    let before = version(device).await;
    let ran: Ran = device.link("update").await;
    assert_eq!(ran.code, Some(70), "{bad}: {ran:?}");
    device.is_healthy().await;
    assert_eq!(version(device).await, before);
    is_settled(device, "rolled_back").await;
    let again = device.link("update").await;
    assert!(again.stderr.contains("was given up before"), "{again:?}");
}

async fn doctor_knows_of_the_rollback(device: &Device, bad: &str) {
    let ran = device.link("doctor").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found = format!("warning  agent: the update to {bad} was rolled back: ");
    let cure = "`link update` installs a newer version; `link update --again` retries this one";
    assert!(ran.stdout.contains(&found) && ran.stdout.contains(cure), "{ran:?}");
}

async fn is_settled(device: &Device, outcome: &str) {
    until("the end of the trial", || async {
        let status = device.status().await;
        (status["agent"]["last_update"]["outcome"] == outcome).then_some(())
    })
    .await;
}

async fn version(device: &Device) -> String {
    device.status().await["agent"]["agent_version"].as_str().unwrap_or_default().to_owned()
}

async fn main_pid(device: &Device) -> String {
    device.machine.login(ALICE, "systemctl --user show -P MainPID link").await.stdout
}
