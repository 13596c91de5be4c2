//! Token usage, from an inference on a device to the totals of the backend.

use std::time::Duration;

use futures_util::StreamExt as _;
use link_protocol::{
    backend_api::{Page, usage::Usage},
    port::Port,
};
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    engines,
    wait::until,
};
use serde_json::json;

/// The number of inferences in the burst, and how many of them run concurrently.
const BURST: usize = 3000;
const AT_ONCE: usize = 64;

/// The count is final after this many reads in a row found the same number.
const STEADY: u32 = 200;

// Holds: S6-5
#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_inferences_is_counted_to_the_last() {
    let backend = TestBackend::start().await;
    let (device, port) = serving(&backend).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = |_| ask(&client, port);
    let asked = futures_util::stream::iter(0..BURST).map(ask).buffer_unordered(AT_ONCE);
    asked.for_each(async |()| {}).await;

    let counted = async || counted(&client, &backend, &device).await;
    // If the count stays the same although it is too low, no more will arrive.
    let all = Some((BURST as u64, 2 * BURST as u64));
    let (mut found, mut same) = (None, 0);
    while found != all && same < STEADY {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let looked = counted().await;
        same = if looked == found { same + 1 } else { 0 };
        found = looked;
    }
    assert_eq!(found, all, "inferences and their tokens");
}

/// Devices serve while their backend is restarted, and what they served is counted afterwards (decision 0054).
#[tokio::test(flavor = "multi_thread")]
async fn what_was_served_while_the_backend_was_away_is_counted_once_it_is_back() {
    let mut backend = TestBackend::start().await;
    let (device, port) = serving(&backend).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    backend.kill();
    for _ in 0..10 {
        ask(&client, port).await;
    }
    // Longer than the two retries of an attempt.
    tokio::time::sleep(Duration::from_secs(4)).await;
    backend.restart().await;
    until("the usage to be counted", async || {
        let (inferences, _tokens) = counted(&client, &backend, &device).await?;
        (inferences == 10).then_some(())
    })
    .await;
}

/// Serves a model on a device, and returns the device and the model's port.
async fn serving(backend: &TestBackend) -> (TestDevice, Port) {
    let device = TestDevice::start(backend).await;
    engines::install_stand_in(&device.home());
    let port = free_port();
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    backend.serving(deployment.deployment_id, true).await;
    (device, port)
}

async fn ask(client: &reqwest::Client, port: Port) {
    let url = format!("http://127.0.0.1:{port}/v1/chat/completions");
    let request = json!({"messages": [{"role": "user", "content": "hi"}]});
    let answer = client.post(&url).json(&request).send().await.unwrap();
    assert!(answer.status().is_success());
    answer.bytes().await.unwrap();
}

/// Returns how many inferences of the device are counted, and how many tokens of their answers.
async fn counted(
    client: &reqwest::Client,
    backend: &TestBackend,
    device: &TestDevice,
) -> Option<(u64, u64)> {
    let url = format!("{}/api/v1/usage?device_id={}", backend.url, device.id);
    let token = backend.owner.access_token();
    let asked = client.get(url).bearer_auth(token.expose()).send().await.ok()?;
    let page: Page<Usage> = asked.json().await.ok()?;
    let each = page.items.iter().map(|usage| (usage.inferences, usage.completion_tokens));
    Some(each.fold((0, 0), |sum, usage| (sum.0 + usage.0, sum.1 + usage.1)))
}
