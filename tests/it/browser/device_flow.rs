//! A machine without a terminal requests a login, and a person approves it in a browser.

use std::{os::unix::fs::PermissionsExt as _, process::Command};

use link_tests::{
    backend::{EMAIL, TestBackend},
    program::{self, Running},
    wait::until,
};

use super::chromium::Browser;

/// A machine that runs `link login --device` as a service manager would. Its "browser" only records the address, which
/// the test opens in a real browser.
struct Machine {
    home: tempfile::TempDir,
    waiting: Running,
}

impl Machine {
    fn begin(backend: &TestBackend) -> Self {
        let home = tempfile::tempdir().unwrap();
        let opener = home.path().join("xdg-open");
        let opened = home.path().join("opened");
        let script = format!("#!/bin/sh\nprintf '%s' \"$1\" > '{}'\n", opened.display());
        std::fs::write(&opener, script).unwrap();
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(program::path("link"));
        command
            .args(["login", "--device", "--backend", &backend.url])
            .env("LINK_HOME", home.path())
            .env("PATH", format!("{}:/usr/bin:/bin", home.path().display()));
        let waiting = Running::start(command, &home.path().join("said"));
        Self { home, waiting }
    }

    /// Waits for the recorded address.
    async fn opened(&self) -> String {
        until("the address to be opened", || async {
            let text = std::fs::read_to_string(self.home.path().join("opened")).ok()?;
            (!text.is_empty()).then_some(text)
        })
        .await
    }

    /// Waits for the end of the command, and returns its output.
    async fn ended(mut self) -> (String, tempfile::TempDir) {
        for _ in 0..2400 {
            if self.waiting.reap() {
                return (self.waiting.output(), self.home);
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("it still waits: {}", self.waiting.output());
    }
}

#[tokio::test]
async fn browser_lets_a_machine_in_that_has_no_terminal() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    let machine = Machine::begin(&backend);
    let address = machine.opened().await;
    let (page, code) = address.split_once('#').unwrap();
    assert_eq!(page, format!("{}/device", backend.url));

    // A person who is not logged in does that first. The page still has the code afterwards.
    browser.open_logged_in(&address).await;
    let typed = browser.find("#user-code").await;
    assert_eq!(typed.value().await.unwrap().as_deref(), Some(code));
    browser.pictures("device-code").await;
    browser.click("form.entry button[type=submit]").await;

    // The page shows the requesting machine, its address, the account and the code. Nothing is approved yet.
    let asked = browser.find_with(".entry", "Is this your machine?").await;
    for part in ["link on ", EMAIL, code, "127.0.0.1"] {
        assert!(asked.contains(part), "`{part}` is missing: {asked}");
    }
    assert!(!machine.home.path().join("config/credentials.json").exists());
    browser.pictures("device-decide").await;
    browser.click(".choice .primary").await;
    browser.find_with(".entry", "The machine is logged in").await;
    browser.pictures("device-allowed").await;

    let (said, home) = machine.ended().await;
    assert!(said.contains(&format!("logged in: {EMAIL}")), "{said}");
    let who = Command::new(program::path("link"))
        .args(["whoami", "--json"])
        .env("LINK_HOME", home.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&who.stdout).contains(EMAIL), "{who:?}");
    let log = backend.owner.audit(&link_protocol::backend_api::audit::AuditQuery::default()).await;
    assert_eq!(log.unwrap().items[0].action, "login.device");
}

#[tokio::test]
async fn browser_refuses_a_machine_and_a_code_that_nobody_waits_for() {
    let backend = TestBackend::start().await;
    let browser = Browser::start().await;
    browser.open_logged_in(&format!("{}/device", backend.url)).await;
    let typed = browser.find("#user-code").await;
    typed.send_keys("bcdf-ghjk").await.unwrap();
    browser.click("form.entry button[type=submit]").await;
    browser.find_with("[role=alert]", "code").await;
    browser.pictures("device-unknown").await;

    let machine = Machine::begin(&backend);
    let address = machine.opened().await;
    let (_, code) = address.split_once('#').unwrap();
    typed.clear().await.unwrap();
    // The code as a person may type it after reading it from another screen.
    typed.send_keys(code.to_lowercase().replace('-', " ")).await.unwrap();
    browser.click("form.entry button[type=submit]").await;
    browser.find_with(".entry", "Is this your machine?").await;
    browser.click(".choice button:not(.primary)").await;
    browser.find_with(".entry", "The machine was refused").await;
    browser.pictures("device-refused").await;
    let (said, home) = machine.ended().await;
    assert!(said.contains("refused"), "{said}");
    assert!(!home.path().join("config/credentials.json").exists());
}
