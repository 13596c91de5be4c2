//! A real Chromium with a fresh profile, driven over the WebDriver protocol.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use link_platform::process::{Program, TiedChild};
use link_tests::{
    backend::{EMAIL, PASSWORD},
    wait::{PATIENCE, until},
};
use serde_json::{Value, json};
use thirtyfour::{WindowHandle, prelude::*};

const CHROMIUM: &str = "/usr/bin/chromium";
const CHROMEDRIVER: &str = "/usr/bin/chromedriver";

/// Flags that use none of the machine's settings, and no network except for the pages.
///
/// With the debugging pipe, the browser ends with its driver, however the driver ends.
const FLAGS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    "--window-size=1280,900",
];

/// Starts a driver, and returns its port. The driver takes a free port of IPv4, and ends if another program has the same
/// port of IPv6.
async fn start_driver(log: &Path) -> (TiedChild, u16) {
    for _ in 0..5 {
        let driver = TiedChild::start(&Program {
            path: CHROMEDRIVER.into(),
            args: vec!["--port=0".into()],
            env: vec![],
            log: Some(log.to_owned()),
        })
        .unwrap();
        let listening = until("chromedriver to listen or to end", || async {
            let text = std::fs::read_to_string(log).ok()?;
            match text.split_once("successfully on port ") {
                Some((_, rest)) => Some(Some(rest.split_once('.')?.0.parse::<u16>().ok()?)),
                None => text.contains("Exiting").then_some(None),
            }
        })
        .await;
        if let Some(port) = listening {
            return (driver, port);
        }
        std::fs::remove_file(log).unwrap();
    }
    panic!("chromedriver found no port that is free for IPv4 and IPv6");
}

/// A browser. Dropping the value kills it and its driver.
pub(super) struct Browser {
    _driver: TiedChild,
    driver_address: String,
    session: WebDriver,
    folder: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser.
    pub(super) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a browser with additional flags.
    pub(super) async fn start_with(more: &[&str]) -> Self {
        for program in [CHROMIUM, CHROMEDRIVER] {
            let found = std::path::Path::new(program).is_file();
            assert!(found, "{program} is missing: install `chromium` and `chromium-driver`");
        }
        let folder = tempfile::tempdir().unwrap();
        let (driver, port) = start_driver(&folder.path().join("chromedriver.log")).await;
        let mut capabilities = DesiredCapabilities::chrome();
        capabilities.set_binary(CHROMIUM).unwrap();
        let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
        for flag in FLAGS.iter().chain(more).copied().chain([profile.as_str()]) {
            capabilities.add_arg(flag).unwrap();
        }
        let address = format!("http://127.0.0.1:{port}");
        let session = WebDriver::new(&address, capabilities).await.unwrap();
        Self { _driver: driver, driver_address: address, session, folder }
    }

    /// Opens an address.
    pub(super) async fn open(&self, address: &str) {
        self.session.goto(address).await.unwrap();
    }

    /// Opens an address, if its server answers.
    pub(super) async fn try_to_open(&self, address: &str) -> bool {
        self.session.goto(address).await.is_ok()
    }

    /// Opens an address and logs in as the first account.
    pub(super) async fn open_logged_in(&self, address: &str) {
        self.open(address).await;
        self.find("#email").await.send_keys(EMAIL).await.unwrap();
        self.find("#password").await.send_keys(PASSWORD).await.unwrap();
        self.click("form.entry button[type=submit]").await;
    }

    /// Returns the name of the current tab.
    pub(super) async fn tab(&self) -> WindowHandle {
        self.session.window().await.unwrap()
    }

    /// Opens a tab and switches to it.
    pub(super) async fn new_tab(&self) {
        let tab = self.session.new_tab().await.unwrap();
        self.switch_to(&tab).await;
    }

    /// Switches to a tab.
    pub(super) async fn switch_to(&self, tab: &WindowHandle) {
        self.session.switch_to_window(tab.clone()).await.unwrap();
    }

    /// Closes a tab. Another one is to be chosen next.
    pub(super) async fn close(&self, tab: &WindowHandle) {
        self.switch_to(tab).await;
        self.session.close_window().await.unwrap();
    }

    /// Returns whether an element comes within a few seconds.
    pub(super) async fn has(&self, css: &str) -> bool {
        let query = self.session.query(By::Css(css)).and_displayed();
        query.wait(Duration::from_secs(5), Duration::from_millis(25)).exists().await.unwrap()
    }

    /// Waits for a visible element.
    pub(super) async fn find(&self, css: &str) -> WebElement {
        let query = self.session.query(By::Css(css)).and_displayed();
        let found = query.wait(PATIENCE, Duration::from_millis(25)).first().await;
        match found {
            Ok(element) => element,
            Err(_) => panic!("waited in vain for `{css}` on this page:\n{}", self.text().await),
        }
    }

    /// Waits until a visible element contains a text, and returns the whole text of the element.
    pub(super) async fn find_with(&self, css: &str, text: &str) -> String {
        let seen = || async {
            let elements = self.session.find_all(By::Css(css)).await.ok()?;
            for element in elements {
                let found = element.text().await.unwrap_or_default();
                if found.contains(text) {
                    return Some(found);
                }
            }
            None
        };
        let patience = tokio::time::timeout(PATIENCE, until(text, seen));
        match patience.await {
            Ok(found) => found,
            Err(_) => panic!("no `{css}` says `{text}` on this page:\n{}", self.text().await),
        }
    }

    /// Waits until no matching element is visible.
    pub(super) async fn gone(&self, css: &str) {
        until(&format!("`{css}` to go"), || async {
            for element in self.session.find_all(By::Css(css)).await.ok()? {
                // An element that the page has replaced since is looked for anew.
                if element.is_displayed().await.ok()? {
                    return None;
                }
            }
            Some(())
        })
        .await;
    }

    /// Clicks an element as soon as it is enabled.
    ///
    /// Retries, because the page may redraw the element between the search and the click.
    pub(super) async fn click(&self, css: &str) {
        until(&format!("a click on `{css}`"), || async {
            let element = self.session.find(By::Css(css)).await.ok()?;
            let usable = element.is_displayed().await.ok()? && element.is_enabled().await.ok()?;
            (usable && element.click().await.is_ok()).then_some(())
        })
        .await;
    }

    /// Types on the keyboard: the element that has the focus gets the keys.
    pub(super) async fn keys(&self, keys: impl Into<TypingData>) {
        let focused = self.session.active_element().await.unwrap();
        focused.send_keys(keys).await.unwrap();
    }

    /// Presses Tab. The driver takes what is typed at the field of a file for the name of one, so the browser is told.
    pub(super) async fn leave_file_field(&self) {
        for kind in ["keyDown", "keyUp"] {
            let key = json!({
                "type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9,
            });
            self.tell("Input.dispatchKeyEvent", key).await;
        }
    }

    /// Runs a script in the page, and waits for its promise.
    pub(super) async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.session.execute(script, arguments).await.unwrap().json().clone()
    }

    /// Returns all visible text of the page.
    pub(super) async fn text(&self) -> String {
        match self.session.find(By::Css("body")).await {
            Ok(body) => body.text().await.unwrap_or_default(),
            Err(error) => error.to_string(),
        }
    }

    /// Takes a screenshot. It is kept if `LINK_TEST_SCREENSHOTS` names a folder.
    pub(super) async fn picture(&self, name: &str) {
        let kept = std::env::var_os("LINK_TEST_SCREENSHOTS").map(PathBuf::from);
        let folder = kept.unwrap_or_else(|| self.folder.path().to_owned());
        self.session.screenshot(&folder.join(format!("{name}.png"))).await.unwrap();
    }

    /// Takes a screenshot in the size of a desktop and one in that of a phone, on which no element
    /// may be wider than the page.
    pub(super) async fn pictures(&self, name: &str) {
        for (width, height) in [(390, 844), (1280, 800)] {
            let size = json!({
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
            });
            self.tell("Emulation.setDeviceMetricsOverride", size).await;
            let overhang = "return document.documentElement.scrollWidth - innerWidth";
            let overhang = self.run(overhang, vec![]).await;
            assert!(overhang.as_i64().unwrap() <= 0, "{name} is {overhang} too wide for {width}");
            self.picture(&format!("{name}-{width}")).await;
        }
        self.tell("Emulation.clearDeviceMetricsOverride", json!({})).await;
    }

    /// Grants a permission to the pages of an origin, as a user who allows it does.
    pub(super) async fn grant(&self, permission: &str, origin: &str) {
        let granted = json!({
            "permission": { "name": permission }, "setting": "granted", "origin": origin,
        });
        self.tell("Browser.setPermission", granted).await;
    }

    /// Shows the pages in `light` or `dark` colours.
    pub(super) async fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.tell("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// Lets the pages send at most so many bytes in a second.
    pub(super) async fn sends_at_most(&self, bytes_per_second: u32) {
        let slow = json!({
            "offline": false, "latency": 0, "downloadThroughput": -1,
            "uploadThroughput": bytes_per_second,
        });
        self.tell("Network.enable", json!({})).await;
        self.tell("Network.emulateNetworkConditions", slow).await;
    }

    /// Loads the page again.
    pub(super) async fn reload(&self) {
        self.session.refresh().await.unwrap();
    }

    /// Sends the browser a command of its own protocol.
    async fn tell(&self, command: &str, parameters: Value) {
        let session = self.session.session_id();
        let url = format!("{}/session/{session}/goog/cdp/execute", self.driver_address);
        let body = json!({ "cmd": command, "params": parameters });
        let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
        assert!(answer.status().is_success(), "{command}: {}", answer.text().await.unwrap());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver and the browser are killed next. Closing the session would wait for the
        // driver.
        drop(self.session.clone().leak());
    }
}
