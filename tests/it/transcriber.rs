//! Speech to text: a real engine transcribes a real recording through the proxy, and the seconds are counted.

use std::time::Duration;

use link_protocol::{
    backend_api::{Page, deployment::Deployment, usage::Usage},
    port::Port,
    report::CommandResult,
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::{TestDevice, free_port, is_free},
    engines,
    wait::until,
};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

const PLUGIN: &str = "audio_transcriber";
const TRANSCRIPTIONS: &str = "/v1/audio/transcriptions";
const TRANSLATIONS: &str = "/v1/audio/translations";

/// The length of the recording.
const SPEECH_MS: u64 = 11_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_is_transcribed_for_a_page_and_its_seconds_are_counted() {
    let backend = TestBackend::start().await;
    let device = start(&backend).await;
    let port = serve(&backend, &device, "ggml-tiny.en.bin").await.port;

    assert_eq!(preflight(port, OLD_ORIGIN).await.status(), StatusCode::NO_CONTENT);
    assert_eq!(preflight(port, WORKSPACE).await.status(), StatusCode::FORBIDDEN);
    let speech = engines::speech();
    let page = send(port, TRANSCRIPTIONS, Some(OLD_ORIGIN), &[], &speech).await;
    // The engine allows every origin. Exactly one header arrives, and it is ours.
    let allowed = page.headers().get_all("access-control-allow-origin");
    assert_eq!(allowed.iter().collect::<Vec<_>>(), [OLD_ORIGIN]);
    let (status, text) = transcript(page).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    assert!(text.contains("ask not what your country"), "{text}");
    let other = send(port, TRANSCRIPTIONS, Some(WORKSPACE), &[], &speech).await;
    assert_eq!(other.status(), StatusCode::FORBIDDEN);

    // A client of OpenAI's names a model and sends fields that the engine does not know.
    let fields = [
        ("model", "whisper-1"),
        ("temperature", "0"),
        ("timestamp_granularities[]", "word"),
        ("response_format", "srt"),
    ];
    let subtitles = send(port, TRANSLATIONS, None, &fields, &speech).await;
    assert!(!subtitles.headers().contains_key("access-control-allow-origin"));
    let subtitles = subtitles.text().await.unwrap();
    assert!(subtitles.contains("00:00:00,000 --> "), "{subtitles}");

    // The engine would answer a stream whole, and a client of OpenAI's would find no event in it.
    let streamed = send(port, TRANSCRIPTIONS, None, &[("stream", "true")], &speech).await;
    assert_eq!(streamed.status(), StatusCode::BAD_REQUEST);
    assert!(streamed.text().await.unwrap().contains("`stream=true`"));

    // The length counts in every format of the answer, also where the engine does not tell it.
    until("the seconds to be counted", || async {
        let usage = usage(&backend, &device).await?;
        let sum = |count: fn(&Usage) -> u64| usage.iter().map(count).sum::<u64>();
        let found = (sum(|usage| usage.inferences), sum(|usage| usage.audio_ms));
        (found == (2, 2 * SPEECH_MS)).then_some(())
    })
    .await;
    for usage in usage(&backend, &device).await.unwrap() {
        assert_eq!((usage.uncounted, usage.prompt_tokens, usage.completion_tokens), (0, 0, 0));
    }

    // The engine has no secret. Whoever guesses its port still does not know the path below which it answers.
    let engine = device.model().await.engine_pid.unwrap();
    let line = std::fs::read_to_string(format!("/proc/{engine}/cmdline")).unwrap();
    let words: Vec<&str> = line.split('\0').collect();
    let after = |flag| words[words.iter().position(|word| *word == flag).unwrap() + 1];
    let (own, base) = (after("--port"), after("--request-path"));
    assert_eq!(base.len(), 33, "{base}");
    let status = async |path: String| reqwest::get(path).await.unwrap().status();
    assert_eq!(status(format!("http://127.0.0.1:{own}/health")).await, StatusCode::NOT_FOUND);
    assert_eq!(status(format!("http://127.0.0.1:{own}{base}/health")).await, StatusCode::OK);

    // The engine's own paths stay closed. `/load` would replace the model by any file.
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for path in ["/inference", "/load", "/health", "/"] {
        let answer = client.post(format!("http://127.0.0.1:{port}{path}")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_is_none_is_refused_and_the_engine_serves_the_next_one() {
    let backend = TestBackend::start().await;
    let device = start(&backend).await;
    // Without weights, the engine reads a recording and finds no words in it.
    let port = serve(&backend, &device, "ggml-empty.bin").await.port;
    let engine = device.model().await.engine_pid.unwrap();
    let speech = engines::speech();
    let not_audio = engines::model("tiny.gguf");
    for (what, file) in [
        ("no bytes", b"".as_slice()),
        ("only a header", &speech[..44]),
        ("a model", &not_audio[..50_000]),
        ("zeros", &[0; 50_000][..]),
    ] {
        let answer = send(port, TRANSCRIPTIONS, None, &[], file).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{what}");
    }
    // A form without a body. The engine would wait for it if it did not know the length.
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let empty = client.post(format!("http://127.0.0.1:{port}{TRANSCRIPTIONS}"));
    let empty = empty.header("content-type", "multipart/form-data; boundary=x");
    let answer = empty.timeout(Duration::from_secs(5)).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    let (status, text) =
        transcript(send(port, TRANSCRIPTIONS, None, &[], &speech[..100_000]).await).await;
    assert_eq!((status, text.as_str()), (StatusCode::OK, ""), "half a recording");
    assert_eq!(device.model().await.engine_pid, Some(engine));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_for_text_is_no_model_for_speech() {
    let backend = TestBackend::start().await;
    let device = start(&backend).await;
    let port = free_port();
    let bytes = engines::model("tiny.gguf");
    let model = backend.upload_for(PLUGIN, "wrong.bin", "wrong", bytes).await;
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    let why = backend.ended(deployment.deployment_id).await.reason.unwrap_or_default();
    let result = backend.result(deployment.command_id).await.result;
    assert!(why.contains("the file is no ggml model of whisper.cpp"), "{why} {result:?}");
    assert!(device.model_files().is_empty());

    // The right mark before a model that is cut: the engine itself refuses the file.
    let mut broken = engines::model("ggml-tiny.en.bin");
    broken.truncate(1_000_000);
    let model = backend.upload_for(PLUGIN, "broken.bin", "broken", broken).await;
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    let result = backend.result(deployment.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Failed);
    assert!(result.output.contains("the engine ended"), "{}", result.output);
    assert!(is_free(port));
}

/// Starts a device with the engine for speech.
async fn start(backend: &TestBackend) -> TestDevice {
    let mut device = TestDevice::register(backend).await;
    engines::install_transcriber(&device.home());
    device.run(&[]);
    backend.online(device.id, true).await;
    device
}

async fn serve(backend: &TestBackend, device: &TestDevice, file: &str) -> Deployment {
    let model = backend.upload_for(PLUGIN, file, "ears", engines::model(file)).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    backend.serving(deployment.deployment_id, true).await
}

async fn preflight(port: Port, origin: &str) -> Response {
    reqwest::Client::new()
        .request(Method::OPTIONS, format!("http://127.0.0.1:{port}{TRANSCRIPTIONS}"))
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .send()
        .await
        .unwrap()
}

/// Sends a form with text fields and a file, as a browser or a client of OpenAI's does.
async fn send(
    port: Port,
    path: &str,
    origin: Option<&str>,
    fields: &[(&str, &str)],
    file: &[u8],
) -> Response {
    const BOUNDARY: &str = "----WebKitFormBoundaryx7mKq2";
    let mut body = Vec::new();
    for (name, value) in fields {
        let part = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"speech.wav\"\r\n\
         Content-Type: audio/wav\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(file);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    let mut request = reqwest::Client::new()
        .post(format!("http://127.0.0.1:{port}{path}"))
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
        .body(body);
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    request.send().await.unwrap()
}

/// Returns the status and the text of an answer in JSON.
async fn transcript(response: Response) -> (StatusCode, String) {
    let status = response.status();
    let answer: Value = response.json().await.unwrap();
    (status, answer["text"].as_str().unwrap_or_default().to_owned())
}

async fn usage(backend: &TestBackend, device: &TestDevice) -> Option<Vec<Usage>> {
    let url = format!("{}/api/v1/usage?device_id={}", backend.url, device.id);
    let token = backend.owner.access_token();
    let asked = reqwest::Client::new().get(url).bearer_auth(token.expose()).send().await.ok()?;
    Some(asked.json::<Page<Usage>>().await.ok()?.items)
}
