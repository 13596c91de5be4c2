//! From a fresh machine with curl to an answer by `link up` and `link run`, again after a logout, a reboot and a power
//! cut, until it is uninstalled without a trace.

use link_tests::{booted::Flavour, engines::TINY_REPLY, machine::Ran, wait::until};

use super::{ALICE, Device};

#[tokio::test]
async fn two_commands_lead_to_an_answer_that_outlives_reboots_and_leaves_nothing() {
    let Some(mut device) = Device::fresh(Flavour::Systemd).await else { return };
    let keys = device.install_with_backend().await;

    let up = device.machine.login(ALICE, &format!("{keys}; link up")).await;
    assert_eq!(up.code, Some(0), "{up:?}");
    assert!(up.stderr.contains("downloading the backend from https://"), "{up:?}");
    assert!(up.stdout.contains("http://127.0.0.1:8000/workspace"), "{up:?}");
    let get = "cd && curl -fsS https://get.example.test/tiny.gguf -o tiny.gguf && \
               link run ./tiny.gguf \"Hello?\"";
    answers(&device.machine.login(ALICE, get).await);

    device.is_logged_out().await;
    answers(&device.link("run tiny \"Hello?\"").await);
    device.machine.reboot().await;
    is_back(&device).await;
    device.machine.power_cut().await;
    device.machine.switch_on().await;
    is_back(&device).await;

    let down = device.machine.login(ALICE, "rm ~/tiny.gguf; link down --purge --yes").await;
    assert_eq!(down.code, Some(0), "{down:?}");
    let gone = device.machine.login(ALICE, "link uninstall --yes").await;
    assert_eq!(gone.code, Some(0), "{gone:?}");
    device.has_no_traces().await;
}

/// Checks that the backend and the agent run although nobody has logged in.
async fn is_back(device: &Device) {
    device.is_healthy().await;
    assert_eq!(device.sessions().await, "");
    until("the login", || async { (device.link("whoami").await.code == Some(0)).then_some(()) })
        .await;
    answers(&device.link("run tiny \"Hello?\"").await);
}

fn answers(ran: &Ran) {
    assert!(ran.code == Some(0) && ran.stdout.contains(TINY_REPLY.trim()), "{ran:?}");
}
