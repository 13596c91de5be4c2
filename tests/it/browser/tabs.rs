//! Ten tabs of one browser, which opens six connections at most to a backend without HTTP/2, while their stream is cut and
//! the backend is killed.

use std::collections::BTreeSet;

use link_protocol::{
    backend_api::{
        device::{ChangeDevice, Device},
        model::ChangeModel,
    },
    selector::DeviceState,
};
use link_tests::{
    backend::TestBackend,
    device::TestDevice,
    wait::{PATIENCE, until},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use super::chromium::Browser;
use crate::fault_proxy::FaultProxy;

const TABS: usize = 10;
const DEVICES: usize = 5;
const CHANGES: usize = 30;
/// The share of connections that break by themselves.
const BREAKS: f64 = 0.2;

/// What each row of a tab shows: name, state, version and tags.
const ROWS: &str = "return [...document.querySelectorAll('.device-row[data-state]')].map((row) => [
    row.querySelector('.name a').textContent, row.dataset.state,
    row.querySelector('.cell.version').textContent, row.querySelector('.cell.tags').textContent,
].join(' | '))";

/// The same of the models: their names. The tab goes there by itself, so the page is not loaded anew.
const TO_MODELS: &str = "document.querySelector('nav a[href=\"/models\"]').click()";
const MODELS: &str = "return [...document.querySelectorAll('.catalogue-row .strong')].map(({ textContent }) => textContent)";

/// Whatever is cut, each tab shows in the end what the API says.
#[tokio::test(flavor = "multi_thread")]
async fn browser_keeps_ten_tabs_true_whatever_happens_to_their_stream() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let mut backend = TestBackend::start().await;
    let mut devices = Vec::new();
    for _ in 0..DEVICES {
        devices.push(TestDevice::register(&backend).await);
    }
    let address = backend.url.trim_start_matches("http://").parse().unwrap();
    let proxy = FaultProxy::start(vec![address], BREAKS, seed).await;
    proxy.calm();
    let page = format!("http://{}/devices", proxy.address);
    let browser = Browser::start().await;
    browser.open_logged_in(&page).await;
    browser.find(".device-row .name").await;
    let mut tabs = vec![browser.tab().await];
    while tabs.len() < TABS {
        browser.new_tab().await;
        open(&browser, &page).await;
        tabs.push(browser.tab().await);
    }

    proxy.rough();
    let mut tags = vec![None; DEVICES];
    let mut models = Vec::new();
    for change in 0..CHANGES {
        let device = chance.random_range(0..DEVICES);
        let tag = format!("tag-{change}");
        let wish = ChangeDevice {
            add_tags: vec![tag.clone()],
            remove_tags: tags[device].replace(tag).into_iter().collect(),
            name: Some(format!("device-{change}")),
        };
        backend.owner.change_device(devices[device].id, &wish).await.unwrap();
        let name = format!("model-{change}");
        match chance.random_range(0..3) {
            0 if !models.is_empty() => {
                let gone = models.swap_remove(chance.random_range(0..models.len()));
                backend.owner.delete_model(gone).await.unwrap();
            }
            1 if !models.is_empty() => {
                let wish = ChangeModel { name: Some(name), shared: None };
                let renamed = models[chance.random_range(0..models.len())];
                backend.owner.change_model(renamed, &wish).await.unwrap();
            }
            _ => {
                let url = "http://127.0.0.1:9/nowhere";
                models.push(backend.model_at(&name, url, name.as_bytes()).await.model_id);
            }
        }
        match chance.random_range(0..10) {
            0 => backend.restart().await,
            1 | 2 => proxy.cut(),
            // The tab that reads the stream for the others may be this one.
            3 => {
                let first = tabs.remove(0);
                browser.close(&first).await;
                browser.switch_to(&tabs[0]).await;
                browser.new_tab().await;
                open(&browser, &page).await;
                tabs.push(browser.tab().await);
            }
            _ => {}
        }
    }
    proxy.calm();

    let listed = backend.owner.devices().await.unwrap();
    let wanted: BTreeSet<String> = listed.iter().map(row).collect();
    let named = backend.owner.models().await.unwrap().into_iter().map(|model| model.name).collect();
    for (number, tab) in tabs.iter().enumerate() {
        browser.switch_to(tab).await;
        shows(&browser, ROWS, &wanted, &format!("tab {number}")).await;
        browser.run(TO_MODELS, vec![]).await;
        shows(&browser, MODELS, &named, &format!("tab {number}, of the models,")).await;
    }
}

/// Returns the row that a list shows for a device with at most one tag.
fn row(device: &Device) -> String {
    let tag = device.tags.first().map_or("", String::as_str);
    let state = DeviceState::of(device).as_str();
    format!("{} | {state} | {} | {tag}", device.name, device.agent_version)
}

/// Opens the page in this tab. A connection that the proxy breaks is not the page's fault.
async fn open(browser: &Browser, page: &str) {
    until("the page in a new tab", || async {
        browser.try_to_open(page).await.then_some(())?;
        browser.has(".device-row .name").await.then_some(())
    })
    .await;
}

async fn shows(browser: &Browser, script: &str, wanted: &BTreeSet<String>, what: &str) {
    let mut last = BTreeSet::new();
    let seen = async {
        loop {
            let rows = browser.run(script, vec![]).await;
            last =
                rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap().into()).collect();
            if last == *wanted {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let seen = tokio::time::timeout(PATIENCE, seen).await;
    assert!(seen.is_ok(), "{what} shows {last:#?}\nthe API says {wanted:#?}");
}
