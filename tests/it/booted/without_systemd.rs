//! Without systemd, Link runs as a background process, and `link status` says so.

use link_tests::booted::Flavour;

use super::{ALICE, Device};

#[tokio::test]
async fn with_openrc_it_runs_until_a_reboot_as_it_says() {
    runs_until_a_reboot(Flavour::OpenRc).await;
}

#[tokio::test]
async fn without_an_init_it_runs_until_a_reboot_as_it_says() {
    runs_until_a_reboot(Flavour::Bare).await;
}

async fn runs_until_a_reboot(flavour: Flavour) {
    let Some(mut device) = Device::installed(flavour).await else { return };
    // The login session of the installation has ended.
    says_what_survives(&device).await;
    let id = device.id().await;
    device.comes_back_when_killed("link-agent").await;

    device.machine.reboot().await;
    assert_eq!((device.pid("link-guard").await, device.pid("link-agent").await), (None, None));
    let ran = device.link("status").await;
    assert_eq!(ran.code, Some(69), "{ran:?}");
    assert!(ran.stderr.contains("start the agent with `link start`"), "{ran:?}");
    says_what_survives(&device).await;

    let ran = device.machine.login(ALICE, "link start").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    device.is_healthy().await;
    device.backend.online(id, true).await;
    assert_eq!(device.id().await, id);
    device.uninstalls().await;
}

async fn says_what_survives(device: &Device) {
    let availability = &device.status().await["availability"];
    assert_eq!(availability["tier"], "detached");
    assert_eq!(availability["survives_logout"], true, "{availability}");
    assert_eq!(availability["survives_reboot"], false, "{availability}");
    let why = availability["why"].as_str().unwrap();
    assert!(why.contains("after a reboot run `link start`"), "{why}");
    let ran = device.link("doctor").await;
    let found = "warning  service: the agent runs until a reboot: ";
    let has_cure = ran.stdout.contains("-> run `link start` after that");
    assert!(ran.stdout.contains(found) && has_cure, "{ran:?}");
}
