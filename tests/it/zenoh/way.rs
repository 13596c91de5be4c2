//! An attacker between a device and its router: what can be read and replayed there, and what a
//! device sends to a false router.

use std::{sync::Arc, time::Duration};

use link_client::{http::Failure, zenoh::DeviceSession};
use link_protocol::zenoh::{Proof, Slot, Verb};
use link_tests::device::free_port;
use rcgen::KeyPair;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use zenoh::query::ConsolidationMode;

use super::{
    backend_with_router,
    hostile::Hostile,
    wire::{Relay, batches},
};

const PATIENCE: Duration = Duration::from_secs(5);

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_tls_the_password_is_not_read_on_the_way_and_everything_else_is() {
    for (scheme, is_open) in [("tcp", true), ("tls", false)] {
        let port = free_port();
        let relay = Relay::to(port).await;
        let endpoint = format!("{scheme}/127.0.0.1:{}", relay.port);
        let backend = backend_with_router(scheme, port, &["--zenoh-endpoint", &endpoint]).await;
        let device = Hostile::register(&backend, 1).await;
        let session = DeviceSession::join(&device.access, Arc::clone(&device.key)).await.unwrap();
        session.ask(Verb::Post, "hello", device.hello(), PATIENCE).await.unwrap();
        session.close().await;
        let passed = relay.passed().remove(0);
        let both = [passed.from_device, passed.from_router].concat();
        assert!(!holds(&both, device.access.password.expose()), "{scheme}: the password");
        let slot = Slot::named(&device.access.username).unwrap();
        // The slot's name alone is two bytes, which random bytes contain by chance.
        assert_eq!(holds(&both, &slot.uplink("hello")), is_open, "{scheme}: the slot");
        assert_eq!(holds(&both, "boot_id"), is_open, "{scheme}: what the device says");
        assert_eq!(holds(&both, "server_time"), is_open, "{scheme}: what it is answered");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_heard_on_the_way_lets_nobody_in_later() {
    let port = free_port();
    let relay = Relay::to(port).await;
    let endpoint = format!("tcp/127.0.0.1:{}", relay.port);
    let backend = backend_with_router("tcp", port, &["--zenoh-endpoint", &endpoint]).await;
    let device = Hostile::register(&backend, 1).await;
    let session = DeviceSession::join(&device.access, Arc::clone(&device.key)).await.unwrap();
    session.close().await;
    let passed = relay.passed().remove(0);
    let said = batches(&passed.from_device, 2);
    assert!(holds(&said[1], &device.access.username), "the second word names the user");

    let mut thief = TcpStream::connect(("127.0.0.1", port.get())).await.unwrap();
    thief.write_all(&said[0]).await.unwrap();
    let mut answer = [0; 4_096];
    let read = timeout(PATIENCE, thief.read(&mut answer)).await.unwrap().unwrap();
    // The router answers the first message with its own: 0x21.
    assert!(read > 2 && answer[2] & 0x3f == 0x21, "{:?}", &answer[..read]);
    thief.write_all(&said[1]).await.unwrap();
    let mut rest = Vec::new();
    let _broken = timeout(PATIENCE, thief.read_to_end(&mut rest)).await.expect("it is closed");
    // It sends at most a goodbye (0x03), and never an acceptance (0x22).
    assert!(rest.get(2).is_none_or(|head| head & 0x1f == 0x03), "{rest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_device_said_counts_for_no_other_and_a_late_repetition_for_nothing_new() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let (device, other) =
        (Hostile::register(&backend, 1).await, Hostile::register(&backend, 2).await);
    let slot = |of: &Hostile| Slot::named(&of.access.username).unwrap();
    let body = device.hello();
    let recorded = Proof::sign(&device.key, Verb::Post, &slot(&device).uplink("hello"), &body);
    let session = DeviceSession::join(&device.access, Arc::clone(&device.key)).await.unwrap();
    session.ask(Verb::Post, "hello", body.clone(), PATIENCE).await.unwrap();
    session.close().await;

    // On the other device's key expression, with the other's password, and as the answer to another
    // request.
    let there = other.session().await;
    let elsewhere = [slot(&other).uplink("hello"), slot(&other).uplink("commands")];
    for key in elsewhere {
        let replies = there
            .get(&key)
            .payload(body.clone())
            .attachment(recorded.to_text())
            .consolidation(ConsolidationMode::None)
            .timeout(PATIENCE)
            .await
            .unwrap();
        let refused = replies.recv_async().await.unwrap().into_result().unwrap_err();
        assert!(holds(&refused.payload().to_bytes(), "unauthorized"), "{key}");
    }
    // A user has one seat: if this session stayed, it would reconnect and take it from the next.
    there.close().await.unwrap();
    // Messages that were recorded before the removal of the device have no effect after it.
    backend.owner.remove_device(device.client.device()).await.unwrap();
    let late = device.session().await;
    let replies = late
        .get(slot(&device).uplink("hello"))
        .payload(body)
        .attachment(recorded.to_text())
        .timeout(PATIENCE)
        .await
        .unwrap();
    let refused = replies.recv_async().await.unwrap().into_result();
    assert!(refused.is_err());
    let mine = DeviceSession::join(&other.access, Arc::clone(&other.key)).await.unwrap();
    let forged = mine.ask(Verb::Post, "nowhere", b"{}".to_vec(), PATIENCE).await;
    assert!(
        matches!(&forged, Err(Failure::Refused(refused)) if refused.status == 404),
        "{forged:?}"
    );
    mine.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_that_was_told_tls_says_nothing_to_whoever_is_not_its_router() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let device = Hostile::register(&backend, 1).await;
    let key = KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(certificate.der().to_vec())],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let impostor = TlsAcceptor::from(Arc::new(config));
    for speaks_tls in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut access = device.access.clone();
        access.endpoints = vec![format!("tls/{}", listener.local_addr().unwrap())];
        let joining = tokio::spawn({
            let key = Arc::clone(&device.key);
            async move { DeviceSession::join(&access, key).await.is_ok() }
        });
        let (mut stream, _) = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
        if speaks_tls {
            assert!(impostor.accept(stream).await.is_err(), "another certificate is refused");
        } else {
            let mut said = [0; 4_096];
            let read = timeout(PATIENCE, stream.read(&mut said)).await.unwrap().unwrap();
            assert_eq!(said[0], 0x16, "a handshake of TLS and nothing else");
            assert!(!holds(&said[..read], &device.access.username));
            // An answer without TLS is invalid.
            stream.write_all(&[6, 0, 0x21, 9, 0, 0, 0, 0]).await.unwrap();
            let mut rest = Vec::new();
            let _broken = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
            assert!(!holds(&rest, &device.access.username));
        }
        drop(listener);
        assert!(!joining.await.unwrap(), "it joins nobody");
    }
}
