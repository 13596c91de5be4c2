//! Tests that the bytes of an answer pass unchanged, however they are split, with and without a
//! meter.

mod letter;

use futures_util::StreamExt as _;
use http::HeaderValue;
use link_agent_core::{effect::Route, run::Run};
use link_protocol::{
    allowlist::Allowlist, counter::Generation, report::Provenance, secret::Secret,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use super::*;
use crate::serving::engine::{Address, Channel};

const RECORDED: [(&str, &[u8], Provenance); 3] = [
    (
        "text/event-stream",
        include_bytes!("../../../core/tests/streams/asked.sse"),
        Provenance::Exact,
    ),
    (
        "text/event-stream",
        include_bytes!("../../../core/tests/streams/unasked.sse"),
        Provenance::Timings,
    ),
    (
        "application/json; charset=utf-8",
        include_bytes!("../../../core/tests/streams/whole.json"),
        Provenance::Exact,
    ),
];

// Holds: S1-7c, S1-7b
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_answers_cut_at_every_byte_pass_unchanged_with_telemetry_on_and_off() {
    for (kind, bytes, provenance) in RECORDED {
        let engine = replay(kind, bytes).await;
        for telemetry in [true, false] {
            let (port, _frontend, mut usage) = serve(engine, telemetry).await;
            let client = reqwest_client();
            let cuts = futures_util::stream::iter(0..bytes.len());
            let wrong: Vec<usize> = cuts
                .map(|cut| {
                    let client = client.clone();
                    async move { (cut, ask(&client, port, cut).await) }
                })
                .buffer_unordered(8)
                .filter_map(async |(cut, answer)| (answer != bytes).then_some(cut))
                .collect()
                .await;
            assert!(wrong.is_empty(), "{kind}, telemetry {telemetry}: changed at {wrong:?}");
            let mut counted = 0;
            while let Some(report) = usage.at_hand() {
                assert_eq!(report.provenance, provenance);
                assert_eq!((report.prompt_tokens, report.completion_tokens), (Some(6), Some(4)));
                assert!(report.time_to_first_token_ms <= Some(report.duration_ms));
                assert!(report.time_to_first_token_ms.is_some(), "{kind}");
                counted += 1;
            }
            // The queue is bounded: usage that does not fit is dropped, and nothing waits.
            assert_eq!(counted > 0, telemetry);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_engine_says_about_origins_is_replaced() {
    let (kind, bytes, _) = RECORDED[0];
    let engine = replay(kind, bytes).await;
    let (port, _frontend, _usage) = serve(engine, true).await;
    let url = format!("http://127.0.0.1:{port}/v1/chat/completions");
    let request = reqwest_client().post(url).header("origin", ORIGIN).header("cut", "7").body("{}");
    let response = request.send().await.unwrap();
    let origins: Vec<_> =
        response.headers().get_all("access-control-allow-origin").iter().collect();
    assert_eq!(origins, [ORIGIN]);
    assert_eq!(response.headers().get_all("vary").iter().count(), 1);
    let devices: Vec<_> = response.headers().get_all("link-device").iter().collect();
    assert_eq!(devices, [DEVICE]);
}

/// The id of the device that serves.
const DEVICE: &str = "dev_00000000000000000000000000000001";
const ORIGIN: &str = "https://workspace.example";

async fn serve(engine: Port, telemetry: bool) -> (Port, Frontend, UsageReceiver) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
    let handle = tokio::runtime::Handle::current();
    let client = Arc::new(Engine::new(HeaderValue::from_static(DEVICE)));
    let frontend = Frontend::open(&handle, listener, client);
    let (usage, queue) = usage_queue();
    let route = Route {
        pipeline_id: "pip_00000000000000000000000000000001".parse().unwrap(),
        model_id: "mdl_00000000000000000000000000000001".parse().unwrap(),
        alias: "tiny".parse().unwrap(),
        plugin: "language_model".to_owned(),
        port,
        allowlist: Allowlist::new([ORIGIN.parse().unwrap()]),
        telemetry,
        generation: Generation(1),
        engine: Some(Run(1)),
    };
    // The engine of these tests listens in this process.
    let address = Address {
        channel: Channel::Port(engine),
        base_path: String::new(),
        secret: Secret::new("secret"),
        pid: std::process::id(),
    };
    frontend.set(Live {
        route,
        plugin: crate::serving::plugins::language_model(),
        task: None,
        build: None,
        engine: Some(Line::new(address)),
        usage,
    });
    (port, frontend, queue)
}

async fn ask(client: &reqwest::Client, port: Port, cut: usize) -> Vec<u8> {
    let url = format!("http://127.0.0.1:{port}/v1/chat/completions");
    let request = client.post(url).header("cut", cut.to_string()).body("{}");
    let response = request.send().await.unwrap();
    assert!(response.status().is_success());
    response.bytes().await.unwrap().to_vec()
}

fn reqwest_client() -> reqwest::Client {
    link_client::install_crypto();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A fault-injecting engine: answers every request with `bytes` in two pieces, split at the
/// request's `cut` header, and with CORS headers that the proxy must remove.
async fn replay(kind: &'static str, bytes: &'static [u8]) -> Port {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                while let Some(cut) = read_request(&mut stream).await {
                    let (one, two) = bytes.split_at(cut);
                    let mut answer = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\naccess-control-allow-origin: *\r\n\
                         link-device: dev_2\r\nvary: Accept\r\ntransfer-encoding: chunked\r\n\r\n"
                    )
                    .into_bytes();
                    for piece in [one, two].into_iter().filter(|piece| !piece.is_empty()) {
                        answer.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                        answer.extend_from_slice(piece);
                        answer.extend_from_slice(b"\r\n");
                    }
                    answer.extend_from_slice(b"0\r\n\r\n");
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

async fn read_request(stream: &mut BufReader<tokio::net::TcpStream>) -> Option<usize> {
    let (mut cut, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("cut:") {
            cut = value.trim().parse().ok()?;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(cut)
}
