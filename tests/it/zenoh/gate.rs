//! Attackers who try to keep others out of the built-in router: by silent connections, by many sessions with one
//! password, and by endless declarations.

#![expect(clippy::print_stderr, reason = "tells what an attack cost")]

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use link_client::zenoh::DeviceSession;
use link_protocol::{
    backend_api::deployment::Deployment,
    port::Port,
    registration::TransportType,
    report::CommandResult,
    zenoh::{Proof, Slot, Verb},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::{TestDevice, free_port},
    wait::until,
};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::JoinSet};
use tokio_rustls::TlsConnector;
use zenoh::Session;

use super::{
    backend_with_router, device_on,
    hostile::Hostile,
    wire::{Relay, batches},
};

/// More connections than the router admits at a time.
const MANY: usize = 80;
/// A device that takes longer than this to join was delayed.
const HELD_UP: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(5);

/// Joins as a device does, and sends hello. Returns the duration of both together.
async fn join(device: &Hostile) -> Result<(DeviceSession, Duration), String> {
    let began = Instant::now();
    let session = DeviceSession::join(&device.access, Arc::clone(&device.key)).await;
    let session = session.map_err(|error| error.to_string())?;
    let hello = session.ask(Verb::Post, "hello", device.hello(), PATIENCE).await;
    hello.map_err(|error| format!("{error:?}"))?;
    Ok((session, began.elapsed()))
}

async fn joins_soon(device: &Hostile) -> DeviceSession {
    let (session, took) = join(device).await.expect("a device with its password is let in");
    eprintln!("a device was let in after {took:?}");
    assert!(took < HELD_UP, "a device was let in after {took:?}");
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_say_nothing_keep_no_device_out() {
    for scheme in ["tls", "tcp"] {
        let port = free_port();
        let backend = backend_with_router(scheme, port, &[]).await;
        let device = Hostile::register(&backend, 1).await;
        let mut silent = Vec::new();
        for _ in 0..MANY {
            silent.push(connect(&device, scheme, port).await);
        }
        for _round in 0..3 {
            joins_soon(&device).await.close().await;
            // Refused connections try again.
            for _ in 0..MANY / 4 {
                silent.push(connect(&device, scheme, port).await);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_say_a_first_word_alone_keep_no_device_out_for_long() {
    let port = free_port();
    let backend = backend_with_router("tcp", port, &[]).await;
    let device = Hostile::register(&backend, 1).await;
    let first = first_word(&device, port).await;
    let _silent = half_open(port, &first, MANY).await;
    let (session, took) = join(&device).await.unwrap();
    eprintln!("behind {MANY} that said a first word alone, a device was let in after {took:?}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sessions_of_one_password_keep_nobody_out() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let (hostile, device) =
        (Hostile::register(&backend, 1).await, Hostile::register(&backend, 2).await);
    // A slow machine lets few of them in before they give up, which is not too often yet.
    let mut sessions = Vec::new();
    for _ in 0..10 {
        if backend.output().contains("again and again") {
            break;
        }
        let mut opening = JoinSet::new();
        for _ in 0..MANY + 20 {
            let hostile = hostile.clone();
            opening.spawn(async move { hostile.try_session().await.ok() });
        }
        sessions.extend(opening.join_all().await.into_iter().flatten());
    }
    eprintln!("{} sessions of one password were open at some time", sessions.len());
    let session = joins_soon(&device).await;
    let latecomer = Hostile::register(&backend, 3).await;
    joins_soon(&latecomer).await.close().await;
    // At most one of these sessions is left, and the log names the device.
    let mut asking = JoinSet::new();
    for open in sessions {
        let hostile = hostile.clone();
        asking.spawn(async move { is_heard(&open, &hostile).await });
    }
    let heard = asking.join_all().await.into_iter().filter(|heard| *heard).count();
    assert!(heard <= 1, "{heard} sessions of one password are heard");
    let log = backend.output();
    let id = hostile.client.device().to_string();
    let said = log.lines().filter(|line| line.contains("again and again")).collect::<Vec<_>>();
    assert!(said.iter().any(|line| line.contains(&id)), "{id}: {log}");
    assert!(said.len() <= 2, "a warning that repeats is said once a minute: {said:?}");
    session.ask(Verb::Post, "hello", device.hello(), PATIENCE).await.unwrap();
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_session_of_a_device_takes_the_place_of_the_one_before() {
    let port = free_port();
    let relay = Relay::to(port).await;
    let backend = backend_with_router("tls", port, &[]).await;
    let device = Hostile::register(&backend, 1).await;
    let mut there = device.clone();
    there.access.endpoints = vec![format!("tls/127.0.0.1:{}", relay.port)];
    let before = there.session().await;
    // The cut session does not come back by itself.
    relay.take_no_more().await;
    assert!(is_heard(&before, &device).await);
    let after = joins_soon(&device).await;
    until("the older session to end", || async {
        (!is_heard(&before, &device).await).then_some(())
    })
    .await;
    after.ask(Verb::Post, "hello", device.hello(), PATIENCE).await.unwrap();
    after.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_declares_without_end_is_ended_and_costs_the_router_little() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let (hostile, device) =
        (Hostile::register(&backend, 1).await, Hostile::register(&backend, 2).await);
    let honest = joins_soon(&device).await;
    let session = hostile.session().await;
    let slot = Slot::named(&hostile.access.username).unwrap();
    let before = processor_time(backend.pid());
    for number in 0..2_000 {
        let key = format!("link/v1/dev/{slot}/{number}");
        let declared = session.declare_queryable(key).callback(drop).background().await;
        if declared.is_err() {
            break;
        }
    }
    until("the session that declared without end to be ended", || async {
        (!is_heard(&session, &hostile).await).then_some(())
    })
    .await;
    let spent = processor_time(backend.pid()) - before;
    eprintln!("2,000 declarations cost the backend {spent:?}");
    assert!(spent < Duration::from_secs(3), "2,000 declarations cost the backend {spent:?}");
    honest.ask(Verb::Post, "hello", device.hello(), PATIENCE).await.unwrap();
    let id = hostile.client.device().to_string();
    let said = "declared more than a device does";
    until("the log to name the device", || async {
        let log = backend.output();
        log.lines().any(|line| line.contains(said) && line.contains(&id)).then_some(())
    })
    .await;
    honest.close().await;
}

/// It depends on the load of the machine whether the device waits for its turn or uses HTTP meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_whose_router_is_under_attack_is_served_and_who_is_in_notices_nothing() {
    let port = free_port();
    let backend = backend_with_router("tcp", port, &[]).await;
    let observer = Hostile::register(&backend, 1).await;
    let first = first_word(&observer, port).await;
    let inside = device_on(&backend, &json!({"type": "zenoh"})).await;
    let served = backend.serve_tiny(&inside).await;

    // More connections than the gate holds, from the devices' own address, and constantly renewed.
    let mut rounds = VecDeque::from([half_open(port, &first, 400).await]);
    let attack = tokio::spawn(async move {
        loop {
            rounds.push_back(half_open(port, &first, 5).await);
            // They stay open for longer than a device waits for its turn. A closed connection frees its turn.
            if rounds.len() > 100 {
                rounds.pop_front();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let device = device_on(&backend, &json!({"type": "zenoh", "fallback": true})).await;
    let deployment = backend.serve_tiny(&device).await;
    repairs(&backend, &device, &deployment).await;
    // A connected device is not affected.
    assert_eq!(inside.healthz().await.transport.r#type, TransportType::Zenoh);
    repairs(&backend, &inside, &served).await;
    attack.abort();
}

async fn repairs(backend: &TestBackend, device: &TestDevice, deployment: &Deployment) {
    for allowed in [&[OLD_ORIGIN, WORKSPACE][..], &[WORKSPACE]] {
        backend.allow(allowed).await;
        let began = Instant::now();
        let result = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
        eprintln!("a repair took {:?}", began.elapsed());
    }
}

/// Returns whether the backend answers a request of `session`.
pub(super) async fn is_heard(session: &Session, device: &Hostile) -> bool {
    let key = Slot::named(&device.access.username).unwrap().uplink("hello");
    let body = device.hello();
    let proof = Proof::sign(&device.key, Verb::Post, &key, &body);
    let asked = session
        .get(&key)
        .payload(body)
        .attachment(proof.to_text())
        .timeout(Duration::from_millis(500))
        .await;
    match asked {
        Ok(replies) => replies.recv_async().await.is_ok_and(|reply| reply.result().is_ok()),
        Err(_) => false,
    }
}

/// Returns the first message of a device, in the form in which the router reads it.
async fn first_word(device: &Hostile, port: Port) -> Vec<u8> {
    let relay = Relay::to(port).await;
    let mut access = device.access.clone();
    access.endpoints = vec![format!("tcp/127.0.0.1:{}", relay.port)];
    let session = DeviceSession::join(&access, Arc::clone(&device.key)).await.unwrap();
    session.close().await;
    batches(&relay.passed()[0].from_device, 1).remove(0)
}

/// Opens connections that send the first message of a device and nothing more.
async fn half_open(port: Port, first: &[u8], count: usize) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for _ in 0..count {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port.get())).await else { continue };
        if stream.write_all(first).await.is_ok() {
            open.push(stream);
        }
    }
    open
}

/// Opens a connection, proceeds as far as possible without a password, and then stays silent.
async fn connect(device: &Hostile, scheme: &str, port: Port) -> Box<dyn Send> {
    let stream = TcpStream::connect(("127.0.0.1", port.get())).await.unwrap();
    if scheme == "tcp" {
        return Box::new(stream);
    }
    let mut roots = RootCertStore::empty();
    let authority = device.access.root_ca.as_ref().unwrap();
    for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    Box::new(TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap())
}

/// Returns the CPU time of a process.
fn processor_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(2).map(|one| one.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}
