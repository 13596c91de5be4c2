//! Ten tabs of one browser, which opens six connections at most to a backend without HTTP/2, while their stream is cut and
//! the backend is killed.

use std::collections::BTreeSet;

use link_protocol::{
    backend_api::{
        deployment::Deployment,
        device::{ChangeDevice, Device},
        model::ChangeModel,
    },
    selector::DeviceState,
};
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    wait::{PATIENCE, until},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use super::chromium::Browser;
use crate::fault_proxy::FaultProxy;

const TABS: usize = 10;
const DEVICES: usize = 5;
/// The first devices, whose agents run: one serves a model, and the others have its file.
const RUNNING: usize = 3;
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

/// The same of the deployments: model, device, port, and whether it is shown as serving and as stale.
const TO_DEPLOYMENTS: &str = "document.querySelector('nav a[href=\"/deployments\"]').click()";
const DEPLOYMENTS: &str = "return [...document.querySelectorAll('.deployment-row')].filter((row) => row.querySelector('.list-cell.model a'))
    .map((row) => [
        row.querySelector('.list-cell.model a').textContent, row.querySelector('.list-cell.device a').textContent,
        row.querySelector('.list-cell.port').textContent,
        [...row.querySelectorAll('.list-cell.standing .badge')].some(({ textContent }) => textContent === 'Serving'),
        [...row.querySelectorAll('.list-cell.standing .badge')].some(({ textContent }) => textContent === 'Stale allowlist'),
    ].join(' | '))";

/// Whatever is cut, each tab shows in the end what the API says: of devices, of models and of deployments, one of which serves.
#[tokio::test(flavor = "multi_thread")]
async fn browser_keeps_ten_tabs_true_whatever_happens_to_their_stream() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let mut backend = TestBackend::start().await;
    let mut devices = Vec::new();
    for number in 0..DEVICES {
        devices.push(if number < RUNNING {
            TestDevice::start(&backend).await
        } else {
            TestDevice::register(&backend).await
        });
    }
    let served = backend.serve_tiny(&devices[0]).await;
    for device in &devices[1..RUNNING] {
        let rests = backend.deploy(served.model_id, device.id, free_port(), false).await;
        backend.ended(rests.deployment_id).await;
    }
    let mut repairs = Vec::new();
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
        match chance.random_range(0..3) {
            0 => backend.allow(&[&format!("https://page-{change}.example")]).await,
            1 => {
                let (device, key) =
                    (devices[chance.random_range(0..RUNNING)].id, change.to_string());
                let sent = backend.owner.repair_serving(served.model_id, device, None, &key).await;
                repairs.push(sent.unwrap().command_id);
            }
            _ => {}
        }
        let name = format!("model-{change}");
        match chance.random_range(0..3) {
            0 if !models.is_empty() => {
                let gone = models.swap_remove(chance.random_range(0..models.len()));
                backend.owner.delete_model(gone).await.unwrap();
            }
            1 if !models.is_empty() => {
                let wish = ChangeModel { name: Some(name), shared: None };
                let renamed = models[chance.random_range(0..models.len())];
                let renamed = if chance.random() { served.model_id } else { renamed };
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

    for repair in repairs {
        backend.result(repair).await;
    }
    for device in &devices[..RUNNING] {
        backend.online(device.id, true).await;
    }
    backend.serving(served.deployment_id, true).await;
    let deployed = backend.owner.current_deployments(None, None).await.unwrap();
    let deployed: BTreeSet<String> = deployed.iter().map(deployment_row).collect();
    let listed = backend.owner.devices().await.unwrap();
    let wanted: BTreeSet<String> = listed.iter().map(row).collect();
    let named = backend.owner.models().await.unwrap().into_iter().map(|model| model.name).collect();
    for (number, tab) in tabs.iter().enumerate() {
        browser.switch_to(tab).await;
        shows(&browser, ROWS, &wanted, &format!("tab {number}")).await;
        browser.run(TO_MODELS, vec![]).await;
        shows(&browser, MODELS, &named, &format!("tab {number}, of the models,")).await;
        browser.run(TO_DEPLOYMENTS, vec![]).await;
        shows(&browser, DEPLOYMENTS, &deployed, &format!("tab {number}, of the deployments,"))
            .await;
    }
}

/// Returns the row that a list shows for a device with at most one tag.
fn row(device: &Device) -> String {
    let tag = device.tags.first().map_or("", String::as_str);
    let state = DeviceState::of(device).as_str();
    format!("{} | {state} | {} | {tag}", device.name, device.agent_version)
}

/// Returns the row that the list shows for a deployment.
fn deployment_row(deployment: &Deployment) -> String {
    let Deployment { model_name, device_name, port, stale, serving, .. } = deployment;
    let (model, device) = (model_name.as_deref().unwrap(), device_name.as_deref().unwrap());
    let serves = serving.as_ref().is_some_and(|serving| serving.is_serving);
    format!("{model} | {device} | {port} | {serves} | {stale}")
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
