//! Classifiers: real networks tell how a picture stands and where somebody speaks, through the proxy, and count images
//! and seconds.

use std::path::Path;

use link_protocol::{
    backend_api::{Page, deployment::Deployment, usage::Usage},
    report::CommandResult,
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::{TestDevice, free_port, is_free},
    engines,
    wait::until,
};
use reqwest::{Method, StatusCode};
use serde_json::Value;

const IMAGES: &str = "/v1/images/classifications";
const AUDIO: &str = "/v1/audio/classifications";

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_classified_for_a_page_and_counted_as_an_image() {
    let backend = TestBackend::start().await;
    let device = start(&backend, "image").await;
    let served = serve(&backend, &device, "image_classifier", "orientation.tar").await;
    let url = format!("http://127.0.0.1:{}{IMAGES}", served.port);
    let page = page();

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let preflight = |origin| {
        client
            .request(Method::OPTIONS, &url)
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .send()
    };
    assert_eq!(preflight(OLD_ORIGIN).await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(preflight(WORKSPACE).await.unwrap().status(), StatusCode::FORBIDDEN);
    let sent = client.post(format!("{url}?top_k=2")).header("origin", OLD_ORIGIN);
    let answer = sent.header("content-type", "image/png").body(page.clone()).send().await.unwrap();
    assert_eq!(answer.headers()["access-control-allow-origin"], OLD_ORIGIN);
    assert_eq!(answer.status(), StatusCode::OK);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["data"].as_array().unwrap().len(), 2, "{answer}");
    assert_eq!(answer["data"][0]["label"], "0", "{answer}");
    assert_eq!(answer["usage"]["images"], 1);

    // What is no picture is refused with a reason and is no inference.
    let refused = client.post(&url).body("no picture").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert!(refused.text().await.unwrap().contains("PNG"));
    // The engine's own paths stay closed.
    let props = format!("http://127.0.0.1:{}/props", served.port);
    assert_eq!(client.get(props).send().await.unwrap().status(), StatusCode::NOT_FOUND);

    counted(&backend, &device, |usage| (usage.inferences, usage.images, usage.audio_ms), (1, 1, 0))
        .await;

    // The allowlist changes in place, and the engine stays.
    let before = device.model().await.engine_pid;
    backend.allow(&[WORKSPACE]).await;
    backend.repair(served.model_id, device.id, None).await;
    assert_eq!(preflight(WORKSPACE).await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(device.model().await.engine_pid, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voice_is_found_in_a_recording_and_counted_in_seconds() {
    let backend = TestBackend::start().await;
    let device = start(&backend, "audio").await;
    let served = serve(&backend, &device, "audio_classifier", "voice.tar").await;
    let url = format!("http://127.0.0.1:{}{AUDIO}", served.port);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let speech = std::fs::read(engines::onnx("jfk.wav")).unwrap();
    let answer = client.post(&url).body(speech.clone()).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["summary"][0]["label"], "speech", "{answer}");
    assert!(answer["summary"][0]["share"].as_f64().unwrap() > 0.5, "{answer}");

    // Nobody speaks in silence.
    let silence = client.post(&url).body(silence(11)).send().await.unwrap();
    assert_eq!(silence.status(), StatusCode::OK);
    let answer: Value = silence.json().await.unwrap();
    assert_eq!(answer["data"].as_array().unwrap().len(), 0, "{answer}");
    let counts = |usage: &Usage| (usage.inferences, usage.images, usage.audio_ms);
    counted(&backend, &device, counts, (2, 0, 22_000)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_a_network_is_refused_by_the_engine_and_the_port_is_free_again() {
    let backend = TestBackend::start().await;
    let device = start(&backend, "image").await;
    // The voice model is an archive of the right form, for another classifier.
    let bytes = std::fs::read(engines::onnx("voice.tar")).unwrap();
    let model = backend.upload_for("image_classifier", "voice.tar", "voice", bytes).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    let result = backend.result(deployment.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Failed);
    assert!(result.output.contains("the engine ended"), "{}", result.output);
    assert!(is_free(port));
}

/// Starts a device with a classifier.
async fn start(backend: &TestBackend, kind: &str) -> TestDevice {
    let mut device = TestDevice::register(backend).await;
    engines::install_classifier(&device.home(), kind);
    device.run(&[]);
    backend.online(device.id, true).await;
    device
}

async fn serve(backend: &TestBackend, device: &TestDevice, plugin: &str, file: &str) -> Deployment {
    let bytes = std::fs::read(engines::onnx(file)).unwrap();
    let model = backend.upload_for(plugin, file, "classes", bytes).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    backend.serving(deployment.deployment_id, true).await
}

/// Returns a WAV file with silence: 16,000 samples a second, 16 bits each.
fn silence(seconds: u32) -> Vec<u8> {
    let size = seconds * 32_000;
    let mut file = b"RIFF".to_vec();
    file.extend_from_slice(&(size + 36).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend_from_slice(&16_000_u32.to_le_bytes());
    file.extend_from_slice(&32_000_u32.to_le_bytes());
    file.extend_from_slice(b"\x02\0\x10\0data");
    file.extend_from_slice(&size.to_le_bytes());
    file.resize(file.len() + size as usize, 0);
    file
}

/// Returns a page of text that stands upright.
fn page() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines/image_classifier/tests/it");
    std::fs::read(folder.join("page.png")).unwrap()
}

/// Waits until the backend has counted this much, summed over all hours.
async fn counted(
    backend: &TestBackend,
    device: &TestDevice,
    counts: impl Fn(&Usage) -> (u64, u64, u64),
    expected: (u64, u64, u64),
) {
    let url = format!("{}/api/v1/usage?device_id={}", backend.url, device.id);
    until("the inferences to be counted", || async {
        let token = backend.owner.access_token();
        let asked = reqwest::Client::new().get(&url).bearer_auth(token.expose());
        let page: Page<Usage> = asked.send().await.ok()?.json().await.ok()?;
        let sum = page
            .items
            .iter()
            .map(&counts)
            .fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
        (sum == expected).then_some(())
    })
    .await;
}
