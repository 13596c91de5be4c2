//! Which processes systemd keeps running with and without a login, as `link status` reports.

use jiff::Timestamp;
use link_tests::booted::Flavour;

use super::{ALICE, Device, LINGER};

// Holds: S1-8c, S4.4-8c, S4.4-8d
#[tokio::test]
async fn it_outlives_logout_reboot_and_power_cut_and_leaves_nothing() {
    let Some(mut device) = Device::fresh(Flavour::Systemd).await else { return };
    let ran = device.install().await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("survives logout and reboot"), "{ran:?}");
    let ran = device.machine.login(ALICE, "link status && systemctl --user is-active link").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.ends_with("\nactive"), "{ran:?}");
    survives_everything(&device).await;
    assert_eq!(device.machine.root(&format!("test -e {LINGER}")).await.code, Some(0));
    let id = device.id().await;

    let processes = (device.pid("link-guard").await, device.pid("link-agent").await);
    assert!(processes.0.is_some() && processes.1.is_some());
    device.is_logged_out().await;
    assert_eq!((device.pid("link-guard").await, device.pid("link-agent").await), processes);
    device.is_healthy().await;

    device.machine.reboot().await;
    is_back(&device).await;
    device.machine.power_cut().await;
    let off = Timestamp::now();
    device.machine.switch_on().await;
    is_back(&device).await;
    device.is_heard_of(id, off).await;
    assert_eq!(device.id().await, id);

    device.comes_back_when_killed("link-agent").await;
    device.comes_back_when_killed("link-guard").await;
    device.uninstalls().await;
    let ran = device.machine.login(ALICE, "systemctl --user show -P LoadState link").await;
    assert_eq!(ran.stdout, "not-found", "{ran:?}");
}

/// Checks that the agent runs and is online although nobody has logged in.
async fn is_back(device: &Device) {
    device.is_healthy().await;
    assert_eq!(device.sessions().await, "");
    survives_everything(device).await;
}

async fn survives_everything(device: &Device) {
    let availability = &device.status().await["availability"];
    assert_eq!(availability["tier"], "systemd-user");
    assert_eq!(availability["survives_logout"], true, "{availability}");
    assert_eq!(availability["survives_reboot"], true, "{availability}");
}

#[tokio::test]
async fn without_polkit_it_says_what_ends_and_who_can_change_that() {
    const ADVICE: &str = "sudo loginctl enable-linger alice";
    let Some(mut device) = Device::fresh(Flavour::NoPolkit).await else { return };
    let ran = device.install().await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains(ADVICE), "{ran:?}");
    let ran = device.machine.login(ALICE, "link status").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("survives neither logout nor reboot"), "{ran:?}");
    assert!(ran.stdout.contains(ADVICE), "{ran:?}");

    device.is_logged_out().await;
    assert_eq!((device.pid("link-guard").await, device.pid("link-agent").await), (None, None));
    device.machine.reboot().await;
    device.is_logged_out().await;
    assert_eq!(device.pid("link-guard").await, None);

    // The next login starts the agent again.
    let healthy = "for i in $(seq 300); do link status && exit; sleep 0.1; done; exit 1";
    let ran = device.machine.login(ALICE, healthy).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let as_owner = ADVICE.trim_start_matches("sudo ");
    assert_eq!(device.machine.root(as_owner).await.code, Some(0));
    survives_everything(&device).await;
    device.machine.reboot().await;
    is_back(&device).await;

    // Link must not take back what the owner of the machine has allowed.
    let ran = device.machine.login(ALICE, "link uninstall --yes").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(device.machine.root(&format!("rm {LINGER}")).await.code, Some(0));
    device.machine.reboot().await;
    device.has_no_traces().await;
}
