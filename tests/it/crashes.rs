//! Power cuts: the agent is killed at each checkpoint, and the backend under load. Nothing is lost
//! or done twice.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use link_protocol::{
    deployment::DeploymentState,
    local_api::ConnectionState,
    report::{CommandResult, ModelState},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port, is_alive},
    engines::{self, TINY_REPLY},
    model_server::{Fault, ModelServer},
    wait::{PATIENCE, until, within},
};
use serde_json::json;
use tokio::{task::JoinSet, time::interval};

/// Chat requests of pages per second, each on its own connection.
const RATE: u32 = 200;

/// The number of requests. The engine is killed after a third of them.
const CHATS: u32 = 6 * RATE;

/// Every checkpoint that a deployment with serving passes, roughly in this order.
const CHECKPOINTS: [&str; 16] = [
    "before-persist",
    "after-persist",
    "command-stored",
    "seq-stored",
    "receipt",
    "download",
    "bytes-written",
    "verified",
    "downloaded",
    "session-written",
    "journal-written",
    "pipeline-stored",
    "reserve-port",
    "start-engine",
    "replace-route",
    "command-done",
];

// Holds: S3.1-4, S3.2-5
#[tokio::test]
async fn an_agent_killed_at_any_checkpoint_of_a_deployment_ends_it_after_its_restart() {
    let backend = TestBackend::start().await;
    let bytes = engines::model("tiny.gguf");
    for checkpoint in CHECKPOINTS {
        let mut device = TestDevice::register(&backend).await;
        let server = ModelServer::start(bytes.clone(), Fault::None).await;
        let name = format!("tiny-{checkpoint}");
        let model = backend.model_at(&name, &server.url, &bytes).await;
        let port = free_port();
        // The first change is the lifecycle status. The kill must come at a later one.
        let early = ["before-persist", "after-persist", "journal-written"].contains(&checkpoint);
        if early {
            device.run(&[]);
            backend.online(device.id, true).await;
            device.kill();
        }
        let deployment = backend.deploy(model.model_id, device.id, port, true).await;
        device.run_until(checkpoint);
        device.died().await;
        device.run(&[]);
        let ended = backend.ended(deployment.deployment_id).await;
        assert_eq!(ended.state, DeploymentState::Completed, "{checkpoint}: {:?}", ended.reason);
        let serving = backend.serving(deployment.deployment_id, true).await;
        assert_eq!(serving.port, port, "{checkpoint}");
        let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
        assert_eq!(text, TINY_REPLY, "{checkpoint}");
        let result = backend.result(deployment.command_id).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{checkpoint}: {}", result.output);
        assert_eq!(device.model_files().len(), 1, "{checkpoint}");
    }
}

/// Every checkpoint that a removal or a repair passes.
const OF_REMOVAL: [&str; 5] =
    ["command-stored", "session-written", "delete-model", "pipeline-removed", "command-done"];
const OF_REPAIR: [&str; 5] =
    ["command-stored", "session-written", "pipeline-stored", "replace-route", "command-done"];

// Holds: S3.2-3
#[tokio::test]
async fn an_agent_killed_at_any_checkpoint_of_a_removal_removes_the_model_after_its_restart() {
    let backend = TestBackend::start().await;
    for checkpoint in OF_REMOVAL {
        let mut device = TestDevice::start(&backend).await;
        let deployment = backend.serve_tiny(&device).await;
        device.kill();
        // Serving again passes the same checkpoints, so the command is sent after that.
        let sent = backend.owner.uninstall(deployment.model_id, device.id).await.unwrap();
        device.run_until(checkpoint);
        device.died().await;
        device.run(&[]);
        let result = backend.result(sent.command_id).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{checkpoint}: {}", result.output);
        until("the model to be gone", || async {
            let gone = device.healthz().await.models.is_empty() && device.model_files().is_empty();
            gone.then_some(())
        })
        .await;
        backend.serving(deployment.deployment_id, false).await;
    }
}

// Holds: S3.3-1
#[tokio::test]
async fn an_agent_killed_at_any_checkpoint_of_a_repair_has_the_new_allowlist_after_its_restart() {
    let backend = TestBackend::start().await;
    for checkpoint in OF_REPAIR {
        backend.allow(&[OLD_ORIGIN]).await;
        let mut device = TestDevice::start(&backend).await;
        let deployment = backend.serve_tiny(&device).await;
        backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
        let model = deployment.model_id;
        // The device is online for the backend, but frozen so that it cannot finish before it is
        // killed.
        device.freeze();
        let sent = backend.owner.repair_serving(model, device.id, None, checkpoint).await.unwrap();
        device.kill();
        device.run_until(checkpoint);
        device.died().await;
        device.run(&[]);
        let result = backend.result(sent.command_id).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{checkpoint}: {}", result.output);
        device.serves().await;
        assert_eq!(chat::preflight(deployment.port, WORKSPACE).await.status(), 204, "{checkpoint}");
    }
}

// Holds: S3.2-5
#[tokio::test]
async fn an_agent_killed_while_it_serves_takes_its_engine_along_and_serves_again() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    let engine = device.model().await.engine_pid.unwrap();

    device.kill();
    until("the engine to end with its agent", || async { (!is_alive(engine)).then_some(()) }).await;
    device.run(&[]);
    device.serves().await;
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
    // A new report: otherwise the backend would still show the previous state.
    backend.serving(deployment.deployment_id, true).await;
}

// Holds: S3.3-1
#[tokio::test]
async fn a_backend_killed_with_a_repair_on_its_way_loses_nothing() {
    let mut backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;

    // The agent dies while it records the command, and the backend dies right after.
    device.kill();
    device.run_until("command-stored");
    backend.online(device.id, true).await;
    let sent =
        backend.owner.repair_serving(deployment.model_id, device.id, None, "once").await.unwrap();
    device.died().await;
    backend.kill();
    backend.restart().await;
    device.run(&[]);
    let result = backend.result(sent.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    assert_eq!(chat::preflight(port, WORKSPACE).await.status(), 204);
}

// Holds: S4.3-3, S6-3
#[tokio::test]
async fn what_happens_while_the_backend_is_down_is_told_when_it_is_back() {
    let mut backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    backend.kill();
    // The engine cannot start again, because its model files are gone.
    for file in device.model_files() {
        std::fs::remove_file(file).unwrap();
    }
    kill_engine(&device).await;
    until("the agent to notice", || async {
        (device.model().await.state == ModelState::NotServing).then_some(())
    })
    .await;
    until("the agent to find no backend", || async {
        (device.healthz().await.transport.state == ConnectionState::Connecting).then_some(())
    })
    .await;
    backend.restart().await;
    until("the backend to know why it does not serve", || async {
        let shown = backend.owner.deployment(deployment.deployment_id).await.ok()?;
        let why = shown.serving.filter(|serving| !serving.is_serving)?.detail?;
        why.contains("restarting in").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_engine_that_dies_is_started_again_by_itself() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    let killed = kill_engine(&device).await;
    until("another engine to serve", || async {
        // From its first answer on, the port refuses no connection.
        chat::ask(port, None, false).await.unwrap();
        let model = device.model().await;
        let other = model.engine_pid.is_some_and(|pid| pid != killed);
        (model.state == ModelState::Serving && other).then_some(())
    })
    .await;
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
    backend.serving(deployment.deployment_id, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_killed_under_two_hundred_requests_a_second_refuses_no_connection() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let port = backend.serve_tiny(&device).await.port;
    let engine = device.model().await.engine_pid.unwrap();
    let url = format!("http://127.0.0.1:{port}/v1/chat/completions");
    let chat = json!({"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1});
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let (mut beat, mut asked) = (interval(Duration::from_secs(1) / RATE), JoinSet::new());
    let began = Instant::now();
    for number in 0..CHATS {
        beat.tick().await;
        if number == CHATS / 3 {
            signal(engine, "-KILL");
        }
        asked.spawn(client.post(&url).header("origin", OLD_ORIGIN).json(&chat).send());
    }
    let took = began.elapsed();
    let mut statuses = BTreeMap::new();
    for answer in asked.join_all().await {
        let answer = answer.unwrap_or_else(|error| panic!("no answer: {error:?}; {statuses:?}"));
        let status = answer.status().as_u16();
        let headers = answer.headers();
        assert!([200, 502, 503].contains(&status), "{status}");
        assert_eq!(headers["access-control-allow-origin"], OLD_ORIGIN, "{status}");
        assert_eq!(headers.contains_key("retry-after"), status == 503, "{status}");
        *statuses.entry(status).or_insert(0) += 1;
    }
    println!("{CHATS} chats in {took:?}, answers by status: {statuses:?}");
    assert!(statuses.contains_key(&200) && statuses.len() > 1, "{statuses:?}");
    device.serves().await;
    assert_ne!(device.model().await.engine_pid, Some(engine));
}

/// A hanging engine is killed only after a minute, so this runs only with `LINK_TEST_FULL`.
#[tokio::test]
async fn an_engine_that_is_stopped_while_it_serves_is_ended_and_started_again() {
    if std::env::var_os("LINK_TEST_FULL").is_none() {
        return;
    }
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let stopped = device.model().await.engine_pid.unwrap();
    let began = Instant::now();
    signal(stopped, "-STOP");
    let waiting = tokio::spawn(chat::ask(deployment.port, Some(OLD_ORIGIN), false));
    within(3 * PATIENCE, "the engine to be ended", || async { (!is_alive(stopped)).then_some(()) })
        .await;
    println!("an engine that was stopped is ended after {:?}", began.elapsed());
    // A waiting client gets an error that a page can read.
    let told = waiting.await.unwrap().unwrap();
    assert_eq!(told.status(), 502);
    assert_eq!(told.headers()["access-control-allow-origin"], OLD_ORIGIN);
    until("another engine to serve", || async {
        let model = device.model().await;
        let other = model.engine_pid.is_some_and(|pid| pid != stopped);
        (model.state == ModelState::Serving && other).then_some(())
    })
    .await;
    println!("and another serves after {:?}", began.elapsed());
    let answer = chat::ask(deployment.port, None, false).await.unwrap();
    assert_eq!(chat::whole(answer).await.0, TINY_REPLY);
    assert!(device.output().contains("did not answer for"), "{}", device.output());
    backend.serving(deployment.deployment_id, true).await;
}

async fn kill_engine(device: &TestDevice) -> u32 {
    let engine = device.model().await.engine_pid.unwrap();
    signal(engine, "-KILL");
    engine
}

fn signal(process: u32, signal: &str) {
    let sent = std::process::Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(sent.unwrap().success());
}
