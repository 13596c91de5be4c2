//! `link open` logs the browser of the user of `link up` in, without a password.

use link_tests::person::Person;
use serde_json::json;

use super::chromium::Browser;

#[tokio::test]
async fn browser_is_logged_in_by_link_open_once() {
    let ann = Person::new();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let address = ann.does(&["open", "--print"]).out.trim().to_owned();
    let browser = Browser::start().await;
    browser.open(&address).await;
    let who = browser.find_with(".account .email", "@localhost").await;
    browser.find("#content").await;
    browser.pictures("own-backend").await;
    // Neither the address nor the history contains the code.
    assert_eq!(browser.run("return location.hash", vec![]).await, json!(""));
    assert_eq!(browser.run("return location.pathname", vec![]).await, json!("/workspace"));
    browser.run("location.reload()", vec![]).await;
    assert_eq!(browser.find_with(".account .email", "@localhost").await, who);

    // The address is useless for anybody who finds it later.
    let other = Browser::start().await;
    other.open(&address).await;
    other.find_with("[role=alert]", "one-time code").await;
    other.pictures("own-backend-used").await;
}

/// `link open` passes the browser a private page. Command-line arguments, which others can read, do not contain the
/// code.
#[tokio::test]
async fn browser_is_led_by_a_private_page_that_its_arguments_do_not_give_away() {
    let ann = Person::new();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let opener = ann.place().join("xdg-open");
    let opened = ann.place().join("opened");
    std::fs::write(&opener, format!("#!/bin/sh\nprintf '%s' \"$*\" > '{}'\n", opened.display()))
        .unwrap();
    std::fs::set_permissions(&opener, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut open = ann.link(&["open"]);
    open.env("DISPLAY", ":0").env("PATH", format!("{}:/usr/bin:/bin", ann.place().display()));
    let said = open.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let argument = link_tests::wait::until("the page to be opened", || async {
        std::fs::read_to_string(&opened).ok().filter(|text| !text.is_empty())
    })
    .await;
    assert!(!argument.contains("loc_") && argument.ends_with("open.html"), "{argument}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(&argument).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let browser = Browser::start().await;
    browser.open(&format!("file://{argument}")).await;
    browser.find_with(".account .email", "@localhost").await;
}
