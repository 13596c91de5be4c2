//! The control plane over zenoh: the built-in router, real agents, and attackers.

mod crowd;
mod deaf;
mod external;
mod gate;
mod hostile;
mod routers;
mod threads;
mod way;
mod wire;

use std::{path::Path, time::Duration};

use link_client::agent::AgentClient;
use link_protocol::{
    backend_api::command::CommandState, local_api::ConnectionState, port::Port,
    registration::TransportType, report::CommandResult,
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port},
    engines::TINY_REPLY,
    wait::until,
};
use serde_json::json;

/// The log message of a device that has a zenoh session.
const OVER_ZENOH: &str = "the command channel is ready, over zenoh";

/// Starts a backend with a built-in router.
async fn backend_with_router(scheme: &str, port: Port, more: &[&str]) -> TestBackend {
    let endpoint = format!("{scheme}/127.0.0.1:{port}");
    TestBackend::start_with(&[&["--zenoh-listen", &endpoint], more].concat()).await
}

/// Registers a device that reaches the control plane through `transport`, and starts its agent.
async fn device_on(backend: &TestBackend, transport: &serde_json::Value) -> TestDevice {
    let mut device = TestDevice::register(backend).await;
    configure(&device, transport);
    device.run(&[]);
    backend.online(device.id, true).await;
    device
}

fn configure(device: &TestDevice, transport: &serde_json::Value) {
    device.configure(&json!({"schema_version": "2.1", "transport": transport}));
}

// Holds: S2.3-5a, S5-4
#[tokio::test]
async fn the_configuration_can_say_where_the_router_is_and_who_the_device_is_there() {
    let port = free_port();
    let backend = backend_with_router("tls", port, &[]).await;
    let mut device = TestDevice::register(&backend).await;
    let identity = device.identity();
    let client = AgentClient::new(&backend.url, device.id, identity.device_token).unwrap();
    let access = client.zenoh_access().await.unwrap();
    let authority = device.home().join("router-ca.pem");
    std::fs::write(&authority, access.root_ca.unwrap()).unwrap();
    let settings = json!({
        "type": "zenoh",
        "endpoints": [format!("tls/localhost:{port}")],
        "tls_root_ca": authority,
        "username": access.username,
        "password": access.password.expose(),
    });
    configure(&device, &settings);
    device.run(&[]);
    backend.online(device.id, true).await;

    // A wrong password is refused, and the device logs the router's address.
    device.kill();
    let mut wrong = settings;
    wrong["password"] = json!("wrong");
    configure(&device, &wrong);
    device.run(&[]);
    until("the device to say that it was not let in", || async {
        device
            .output()
            .contains(&format!("no router at tls/localhost:{port} admitted this device"))
            .then_some(())
    })
    .await;
    assert!(!device.output().contains("wrong"), "no password in the log");
}

// Holds: S2.3-4, S2.3-5c, S5-4, S6-7
#[tokio::test]
async fn the_main_job_works_over_zenoh_with_and_without_tls() {
    for scheme in ["tls", "tcp"] {
        let backend = backend_with_router(scheme, free_port(), &[]).await;
        let device = device_on(&backend, &json!({"type": "zenoh"})).await;
        let health = until("the device to say that it is connected", || async {
            let health = device.healthz().await;
            (health.transport.state == ConnectionState::Connected).then_some(health)
        })
        .await;
        assert_eq!(health.transport.r#type, TransportType::Zenoh);

        let deployment = backend.serve_tiny(&device).await;
        assert_eq!(chat::preflight(deployment.port, WORKSPACE).await.status(), 403);
        let before = device.model().await;
        backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
        let repaired = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
        assert_eq!(repaired.status, CommandResult::Succeeded, "{}", repaired.output);
        let response = chat::ask(deployment.port, Some(WORKSPACE), false).await.unwrap();
        assert_eq!(chat::whole(response).await.0, TINY_REPLY);
        assert_eq!(device.model().await.engine_pid, before.engine_pid);
        until("the backend to hear of the new allowlist", || async {
            let found = backend.owner.deployment(deployment.deployment_id).await.ok()?;
            (!found.stale).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn routers_that_run_beside_let_in_whom_the_backend_names() {
    let folder = tempfile::tempdir().unwrap();
    let (backend, config) = backend_beside_a_router(folder.path(), free_port()).await;
    let router = zenoh::open(config).await.unwrap();

    let device = device_on(&backend, &json!({"type": "zenoh"})).await;
    let deployment = backend.serve_tiny(&device).await;
    let stopped = backend.owner.stop(deployment.model_id, device.id).await.unwrap();
    let result = backend.result(stopped.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    router.close().await.unwrap();
}

/// Starts a backend with a router beside it, and returns the configuration with which to open that
/// router.
async fn backend_beside_a_router(folder: &Path, port: Port) -> (TestBackend, zenoh::Config) {
    let endpoint = format!("tcp/127.0.0.1:{port}");
    let file = folder.join("backend.toml");
    let text = format!("[zenoh]\nrouters = [\"{endpoint}\"]\nfiles = \"routers\"\n");
    std::fs::write(&file, text).unwrap();
    let backend = TestBackend::start_with(&["--config", file.to_str().unwrap()]).await;
    let written = folder.join("routers/zenohd.json5");
    until("the files for the routers", || async { written.exists().then_some(()) }).await;
    let mut config = zenoh::Config::from_file(written).unwrap();
    config.insert_json5("listen/endpoints", &json!([endpoint]).to_string()).unwrap();
    (backend, config)
}

/// The router ends, and another program on its port accepts every connection and sends nothing: to
/// the device, that looks like a router without room. The device retries after a minute, so this
/// runs only with `LINK_TEST_FULL`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_whose_router_takes_it_nowhere_works_over_http_and_returns() {
    if std::env::var_os("LINK_TEST_FULL").is_none() {
        return;
    }
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let (backend, config) = backend_beside_a_router(folder.path(), port).await;
    let router = zenoh::open(config.clone()).await.unwrap();
    let device = device_on(&backend, &json!({"type": "zenoh", "fallback": true})).await;
    let deployment = backend.serve_tiny(&device).await;
    assert_eq!(device.output().matches(OVER_ZENOH).count(), 1, "{}", device.output());

    router.close().await.unwrap();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.get())).await.unwrap();
    let silent = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    until("the device to use HTTP", || async {
        device.output().contains("using HTTP for a while").then_some(())
    })
    .await;
    let began = std::time::Instant::now();
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let repaired = backend.repair(deployment.model_id, device.id, None).await;
    eprintln!("without its router, a repair took {:?}", began.elapsed());
    let result = repaired.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    assert_eq!(repaired.state, CommandState::Processed);
    assert_eq!(device.output().matches(OVER_ZENOH).count(), 1, "{}", device.output());

    silent.abort();
    drop(silent.await);
    let router = zenoh::open(config).await.unwrap();
    returns_to_zenoh(&device, 2).await;
    backend.allow(&[WORKSPACE]).await;
    let repaired = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
    assert_eq!(repaired.status, CommandResult::Succeeded, "{}", repaired.output);
    router.close().await.unwrap();
}

/// Waits until a device has had `sessions` zenoh sessions.
async fn returns_to_zenoh(device: &TestDevice, sessions: usize) {
    let returned = async {
        while device.output().matches(OVER_ZENOH).count() < sessions {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(150), returned).await.expect("it returns");
}

#[tokio::test]
async fn what_was_accepted_before_a_crash_of_the_backend_is_done_after_it() {
    let mut backend = backend_with_router("tls", free_port(), &[]).await;
    let mut device = device_on(&backend, &json!({"type": "zenoh"})).await;
    let deployment = backend.serve_tiny(&device).await;
    device.kill();
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let stopped = backend.owner.stop(deployment.model_id, device.id).await.unwrap();
    backend.kill();
    backend.restart().await;
    device.run(&[]);
    let result = backend.result(stopped.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
}

#[tokio::test]
async fn a_device_whose_router_dies_comes_back_by_itself() {
    let mut backend = backend_with_router("tls", free_port(), &[]).await;
    let device = device_on(&backend, &json!({"type": "zenoh"})).await;
    let deployment = backend.serve_tiny(&device).await;
    for _round in 0..2 {
        backend.kill();
        backend.restart().await;
        let began = std::time::Instant::now();
        backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
        backend.online(device.id, true).await;
        eprintln!("online {:?} after its router was back", began.elapsed());
        let repaired = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
        assert_eq!(repaired.status, CommandResult::Succeeded, "{}", repaired.output);
    }
}

#[tokio::test]
async fn a_device_without_a_router_falls_back_to_http_and_loses_nothing() {
    let backend = TestBackend::start().await;
    let device = device_on(&backend, &json!({"type": "zenoh", "fallback": true})).await;
    let deployment = backend.serve_tiny(&device).await;
    assert_eq!(device.healthz().await.transport.r#type, TransportType::Http);
    let doctor = device.link().arg("doctor").output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("over HTTP, because its zenoh router does not answer"), "{said}");
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let repaired = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
    assert_eq!(repaired.status, CommandResult::Succeeded, "{}", repaired.output);
}

/// The device retries after a minute, so this runs only with `LINK_TEST_FULL`.
#[tokio::test]
async fn a_device_that_fell_back_to_http_returns_to_its_router() {
    if std::env::var_os("LINK_TEST_FULL").is_none() {
        return;
    }
    let (router, way) = (free_port(), free_port());
    let endpoint = format!("tcp/127.0.0.1:{way}");
    let backend = backend_with_router("tcp", router, &["--zenoh-endpoint", &endpoint]).await;
    let device = device_on(&backend, &json!({"type": "zenoh", "fallback": true})).await;
    let deployment = backend.serve_tiny(&device).await;
    assert!(device.output().contains("using HTTP for a while"), "{}", device.output());

    let listener = tokio::net::TcpListener::bind(("127.0.0.1", way.get())).await.unwrap();
    let forwards = tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let server = tokio::net::TcpStream::connect(("127.0.0.1", router.get())).await;
                tokio::io::copy_bidirectional(&mut client, &mut server.unwrap()).await
            });
        }
    });
    returns_to_zenoh(&device, 1).await;
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let repaired = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
    assert_eq!(repaired.status, CommandResult::Succeeded, "{}", repaired.output);
    forwards.abort();
}

#[tokio::test]
async fn switching_the_transport_loses_no_command() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let mut device = device_on(&backend, &json!({"type": "http"})).await;
    let deployment = backend.serve_tiny(&device).await;
    for transport in ["zenoh", "http", "zenoh"] {
        device.kill();
        let stopped = backend.owner.stop(deployment.model_id, device.id).await.unwrap();
        configure(&device, &json!({"type": transport}));
        device.run(&[]);
        let result = backend.result(stopped.command_id).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{transport}: {}", result.output);
        let served = backend.owner.serve(deployment.model_id, device.id, None).await.unwrap();
        let result = backend.result(served.command_id).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{transport}: {}", result.output);
    }
}
