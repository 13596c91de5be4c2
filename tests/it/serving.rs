//! Serving: ports, failing engines, and their states in the local API.

use std::{
    io::ErrorKind,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    time::{Duration, Instant},
};

use link_protocol::{
    local_api::EngineHealth,
    port::Port,
    report::{CommandResult, ModelState, TelemetryReport},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port, is_alive, is_free},
    engines::{self, TINY_REPLY},
    wait::until,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Limit for one preflight beside many clients: far above the usual time, even on a busy machine, but below the
/// timeouts of anything that could block it.
const SOON: Duration = Duration::from_secs(5);

/// Limit for the delay of the median preflight beside many clients.
const DELAY: Duration = Duration::from_millis(50);

// Holds: S2.2-1, S2.2-2, S2.2-3, S2.2-4, S2.2-5, S2.2-6, S3.2-2, S4.2-2a, S4.2-2b
#[tokio::test]
async fn models_lists_every_pipeline_whether_it_serves_or_not() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    assert!(device.pipelines().await.is_empty());
    let (one, two) = (free_port(), free_port());
    let tiny = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let still = backend.upload("still", engines::model("tiny-loop.gguf")).await;
    let serving = backend.deploy(tiny.model_id, device.id, one, true).await;
    let resting = backend.deploy(still.model_id, device.id, two, false).await;
    backend.serving(serving.deployment_id, true).await;
    backend.ended(resting.deployment_id).await;

    let mut entries = device.pipelines().await;
    entries.sort_by_key(|entry| entry.alias.to_string());
    let shown: Vec<_> = entries
        .iter()
        .map(|entry| (entry.alias.as_str(), entry.port, entry.host.as_str(), entry.is_serving))
        .collect();
    assert_eq!(shown, [("still", two, "127.0.0.1", false), ("tiny", one, "127.0.0.1", true)]);

    let stopped = backend.owner.stop(tiny.model_id, device.id).await.unwrap();
    backend.result(stopped.command_id).await;
    assert!(device.pipelines().await.iter().all(|entry| !entry.is_serving));
    assert!(is_free(one));
}

// Holds: S3.2-1b, S7-11
#[tokio::test]
async fn a_port_that_another_program_has_fails_the_start_at_once_and_names_the_program() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().try_into().unwrap();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    let result = backend.result(deployment.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Failed);
    let us = std::process::id();
    assert!(result.output.contains(&format!("port {port} is in use by")), "{}", result.output);
    assert!(result.output.contains(&format!("process {us}")), "{}", result.output);
    assert_eq!(device.model().await.state, ModelState::NotServing);

    // Another port is a way out, and so is the same one once it is free.
    let moved = free_port();
    let elsewhere = backend.owner.serve(model.model_id, device.id, Some(moved)).await.unwrap();
    let result = backend.result(elsewhere.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    let (text, _) = chat::whole(chat::ask(moved, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
    drop(taken);
    let again = backend.owner.serve(model.model_id, device.id, Some(port)).await.unwrap();
    let result = backend.result(again.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
}

// Holds: S7-10, S7-14
#[tokio::test]
async fn a_missing_engine_is_named_and_the_port_is_free_again() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    std::fs::remove_dir_all(device.home().join("data/engines")).unwrap();
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    let result = backend.result(deployment.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Failed);
    assert!(result.output.contains("has no inference engine"), "{}", result.output);
    assert!(result.output.contains("`link engine install FILE`"), "{}", result.output);
    let model = device.model().await;
    assert_eq!((model.state, model.health), (ModelState::NotServing, EngineHealth::Unhealthy));
    assert!(is_free(port));
}

// Holds: S7-14
#[tokio::test]
async fn an_engine_that_dies_leaves_no_process_and_its_port_answers_until_it_is_stopped() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    let engine = device.model().await.engine_pid.unwrap();
    // The engine restarts automatically, and must fail to do so in this test.
    device.model_files().into_iter().for_each(|file| std::fs::remove_file(file).unwrap());
    std::process::Command::new("kill").args(["-9", &engine.to_string()]).status().unwrap();

    until("the backend to know why it does not serve", || async {
        let shown = backend.owner.deployment(deployment.deployment_id).await.ok()?;
        let why = shown.serving.filter(|serving| !serving.is_serving)?.detail?;
        why.contains("the engine ended").then_some(())
    })
    .await;
    assert!(!is_alive(engine));
    until("the model to rest", || async {
        let shown = device.model().await;
        let rests = shown.state == ModelState::NotServing;
        rests.then(|| assert_eq!(shown.health, EngineHealth::Unhealthy))
    })
    .await;
    // No other program can take the port meanwhile, and a page learns the reason.
    let answer = chat::ask(port, Some(OLD_ORIGIN), false).await.unwrap();
    assert_eq!(answer.status(), 503);
    assert!(answer.headers().contains_key("retry-after"));
    assert_eq!(answer.headers()["access-control-allow-origin"], OLD_ORIGIN);

    let stopped = backend.owner.stop(deployment.model_id, device.id).await.unwrap();
    backend.result(stopped.command_id).await;
    assert!(is_free(port));
}

#[tokio::test]
async fn a_model_that_the_engine_does_not_know_fails_the_start_with_its_own_words() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let mut unknown = engines::model("tiny.gguf");
    let at = unknown.windows(5).position(|bytes| bytes == b"llama").unwrap();
    unknown[at..at + 5].copy_from_slice(b"never");
    let model = backend.upload("unknown", unknown).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    let result = backend.result(deployment.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Failed);
    assert!(result.output.contains("the engine ended"), "{}", result.output);
    assert!(is_free(port));
}

/// An engine that injects a fault: it listens on no port and never becomes healthy.
// Holds: S3.2-2
#[tokio::test]
async fn stopping_ends_an_engine_that_never_gets_healthy() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let fake = device.home().join("data/engines/llama-server/fake");
    std::fs::create_dir_all(&fake).unwrap();
    let program = fake.join("llama-server");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(fake.with_file_name("current"), "fake\n").unwrap();

    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    let engine = until("the engine to be started", || async {
        let health = device.healthz().await;
        health.models.first().and_then(|model| model.engine_pid)
    })
    .await;
    assert_eq!(device.model().await.health, EngineHealth::Starting);
    // The agent already holds the port, and answers with the reason for the delay, also to pages.
    let loading = chat::ask(port, Some(OLD_ORIGIN), false).await.unwrap();
    assert_eq!(loading.status(), 503);
    assert!(loading.headers().contains_key("retry-after"));
    assert!(loading.headers().contains_key("access-control-allow-origin"));

    // The deployment is complete once its file exists. The start of the model continues.
    backend.ended(deployment.deployment_id).await;
    let stop = backend.owner.stop(model.model_id, device.id).await.unwrap();
    assert_eq!(
        backend.result(stop.command_id).await.result.unwrap().status,
        CommandResult::Succeeded
    );
    let start = backend.result(deployment.command_id).await.result.unwrap();
    assert_eq!(start.status, CommandResult::Cancelled, "{}", start.output);
    until("the engine to be gone", || async { (!is_alive(engine)).then_some(()) }).await;
    assert!(is_free(port));
}

// Holds: S1-7d, S3.2-3, S6-5
#[tokio::test]
async fn models_share_a_port_and_uninstalling_one_stops_it_first() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let port = free_port();
    let tiny = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let twin = backend.upload("twin", engines::model("tiny.gguf")).await;
    for model in [&tiny, &twin] {
        let deployment = backend.deploy(model.model_id, device.id, port, true).await;
        backend.serving(deployment.deployment_id, true).await;
    }
    let unnamed = chat::ask(port, None, false).await.unwrap();
    assert_eq!(unnamed.status(), 404);
    assert!(unnamed.text().await.unwrap().contains("tiny, twin"));
    for alias in ["tiny", "twin", "twin"] {
        let url = format!("http://127.0.0.1:{port}/{alias}/v1/chat/completions");
        let body = serde_json::json!({"messages": [{"role": "user", "content": "hi"}]});
        let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
        assert_eq!(chat::whole(answer).await.0, TINY_REPLY);
    }
    // Each model has its own count, although the port is one.
    let counted = until("three records of usage", || async {
        let database = link_sqlite::open_to_read(&backend.data().join("link.db")).ok()?;
        let mut rows = database.prepare("SELECT report FROM telemetry").ok()?;
        let rows = rows.query_map([], |row| row.get(0)).ok()?;
        let rows: Vec<String> = rows.collect::<Result<_, _>>().ok()?;
        let rows: Vec<TelemetryReport> =
            rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
        (rows.len() == 3).then_some(rows)
    })
    .await;
    let of = |model| counted.iter().filter(|report| report.model_id == model).count();
    assert_eq!((of(tiny.model_id), of(twin.model_id)), (1, 2));
    let removal = backend.owner.uninstall(twin.model_id, device.id).await.unwrap();
    backend.result(removal.command_id).await;
    assert_eq!(device.pipelines().await.len(), 1);
    assert_eq!(device.model_files().len(), 1);
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
    // The model stays available and can be deployed again.
    let again = backend.deploy(twin.model_id, device.id, port, true).await;
    backend.serving(again.deployment_id, true).await;
}

// Holds: S1-7a
#[tokio::test]
async fn pages_reach_only_what_they_should() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    let client = reqwest::Client::new();
    let get = |port: u16, path: &str| client.get(format!("http://127.0.0.1:{port}{path}"));
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();

    // The engine's own control paths are closed, and its CORS headers are never passed on.
    for path in ["/props", "/slots", "/metrics", "/health", "/tiny/props"] {
        assert_eq!(status(get(port.get(), path)).await, 404, "{path}");
    }
    let answer = chat::ask(port, None, false).await.unwrap();
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
    // Neither port answers under a host name that a page has invented.
    for port in [port.get(), device.local_port] {
        let rebound = get(port, "/v1/models").header("host", format!("evil.example:{port}"));
        assert_eq!(status(rebound).await, 403);
    }
    let page = get(device.local_port, "/healthz").header("origin", WORKSPACE);
    assert_eq!(status(page).await, 403);
    assert_eq!(status(get(device.local_port, "/healthz")).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_idle_connections_and_stalled_bodies_delay_no_preflight() {
    link_platform::descriptors::raise_limit().unwrap();
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let port = backend.serve_tiny(&device).await.port;
    let alone = series_of_preflights(port).await;
    let mut crowd = Vec::new();
    for _ in 0..1_000 {
        crowd.push(TcpStream::connect(("127.0.0.1", port.get())).await.unwrap());
    }
    for _ in 0..64 {
        let mut stalled = TcpStream::connect(("127.0.0.1", port.get())).await.unwrap();
        let begun = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\norigin: {OLD_ORIGIN}\r\n\
             content-length: 1000000\r\n\r\n{{"
        );
        stalled.write_all(begun.as_bytes()).await.unwrap();
        crowd.push(stalled);
    }
    let beside = series_of_preflights(port).await;
    println!(
        "a preflight on a new connection, best median and longest of {SERIES} series of {PREFLIGHTS}: \
         {:?} and {:?} alone, {:?} and {:?} beside 1,000 idle connections and 64 stalled bodies",
        alone.0, alone.1, beside.0, beside.1,
    );
    assert!(beside.0 < alone.0 + DELAY, "{beside:?} beside the crowd, {alone:?} alone");
    assert!(beside.1 < SOON, "{beside:?}");
    // All clients stayed connected during the measurement: none was answered or disconnected.
    let is_there = |stream: &TcpStream| {
        stream.try_read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    assert_eq!(crowd.iter().filter(|stream| is_there(stream)).count(), 1_064);
}

const PREFLIGHTS: usize = 41;
/// Another program may use the processors during one series, but hardly during each.
const SERIES: usize = 5;

/// The best median of several series of preflights, and the maximum time of all of them.
async fn series_of_preflights(port: Port) -> (Duration, Duration) {
    let mut all = Vec::new();
    for _ in 0..SERIES {
        all.push(preflights(port).await);
    }
    let medians = all.iter().map(|(median, _)| *median);
    (medians.min().unwrap(), all.iter().map(|(_, longest)| *longest).max().unwrap())
}

/// The median and the maximum time of consecutive preflights.
async fn preflights(port: Port) -> (Duration, Duration) {
    let mut took = Vec::new();
    for _ in 0..PREFLIGHTS {
        let asked = Instant::now();
        let mut stream = TcpStream::connect(("127.0.0.1", port.get())).await.unwrap();
        let question = format!(
            "OPTIONS /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\norigin: {OLD_ORIGIN}\r\n\
             access-control-request-method: POST\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(question.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
        took.push(asked.elapsed());
    }
    took.sort();
    (took[PREFLIGHTS / 2], took[PREFLIGHTS - 1])
}
