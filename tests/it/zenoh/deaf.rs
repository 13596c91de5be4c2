//! A registered device that sends but does not read: its connection fills up, and no other device is delayed.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use link_protocol::{
    port::Port,
    report::CommandResult,
    zenoh::{Proof, Slot, Verb},
};
use link_tests::{
    backend::{OLD_ORIGIN, WORKSPACE},
    device::free_port,
    wait::until,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy},
    net::{TcpListener, TcpSocket},
    task::JoinHandle,
};
use zenoh::qos::CongestionControl;

use super::{backend_with_router, device_on, hostile::Hostile};

/// A socket whose unread bytes stand still for so long is full.
const STANDS_STILL: Duration = Duration::from_millis(300);
/// The wait between two repairs, which spreads them over the seconds in which the connection is full and over those
/// after its end. Without it, all of them could meet the same moment of the flood.
const LOAD_WINDOW: Duration = Duration::from_millis(500);
/// The wait between two messages of the device once its connection is full. It keeps the connection full; without it, the
/// messages would take a processor from the repairs, also after the connection has ended.
const KEEPS_FULL: Duration = Duration::from_millis(5);
/// A repair that takes longer than this was delayed. The router's thread may wait a quarter of a second for the reply that is
/// being sent to the device, and as long for one of its own.
const HELD_UP: Duration = Duration::from_secs(2);
/// The messages that make a flood.
const FLOOD: u64 = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_that_does_not_read_holds_up_nobody() {
    let port = free_port();
    let backend = backend_with_router("tcp", port, &[]).await;
    let victim = device_on(&backend, &json!({"type": "zenoh"})).await;
    let deployment = backend.serve_tiny(&victim).await;

    let mut hostile = Hostile::register(&backend, 9).await;
    let deaf = Arc::new(AtomicBool::new(false));
    let (wire, unread) = wire(SocketAddr::from(([127, 0, 0, 1], port.get())), &deaf).await;
    hostile.access.endpoints = vec![format!("tcp/{wire}")];
    let slot = Slot::named(&hostile.access.username).unwrap();
    let key = slot.uplink("hello");
    let session = hostile.session().await;
    deaf.store(true, Ordering::SeqCst);
    let (sent, full) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let flood: JoinHandle<()> = tokio::spawn({
        let (sent, full, session) = (Arc::clone(&sent), Arc::clone(&full), session.clone());
        let body = hostile.hello();
        let proof = Proof::sign(&hostile.key, Verb::Post, &key, &body).to_text();
        async move {
            loop {
                let asked = session
                    .get(&key)
                    .payload(body.clone())
                    .attachment(proof.clone())
                    .congestion_control(CongestionControl::Block)
                    .timeout(Duration::from_secs(1))
                    .callback(drop)
                    .await;
                if asked.is_ok() {
                    sent.fetch_add(1, Ordering::Relaxed);
                }
                if full.load(Ordering::SeqCst) {
                    tokio::time::sleep(KEEPS_FULL).await;
                } else {
                    tokio::task::yield_now().await;
                }
            }
        }
    });
    fills(port, &sent).await;
    full.store(true, Ordering::SeqCst);
    let sent_before = sent.load(Ordering::Relaxed);

    let mut longest = Duration::ZERO;
    for round in 0..8 {
        let allowed = if round % 2 == 0 { &[OLD_ORIGIN, WORKSPACE][..] } else { &[OLD_ORIGIN] };
        backend.allow(allowed).await;
        let began = Instant::now();
        let result = backend.repair(deployment.model_id, victim.id, None).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
        longest = longest.max(began.elapsed());
        tokio::time::sleep(LOAD_WINDOW).await;
    }
    flood.abort();
    let (sent, unread) = (sent.load(Ordering::Relaxed), unread.load(Ordering::Relaxed));
    eprintln!("the longest repair took {longest:?} beside {sent} messages");
    assert!(sent_before > FLOOD, "the flood was one: {sent_before}");
    assert!(longest < HELD_UP, "a repair took {longest:?} beside {sent} messages, {unread} passed");
    drop(session);
}

/// Waits until the backend can send no more answers to the device after a flood of messages. A few seconds later, that connection ends, so the
/// repairs must begin at once.
async fn fills(router: Port, sent: &AtomicU64) {
    let (mut unread, mut since) = (0, Instant::now());
    until("the answers to fill the buffer of the device", || {
        let now = unread_bytes(router);
        if now != unread {
            (unread, since) = (now, Instant::now());
        }
        let is_flooded = sent.load(Ordering::Relaxed) > FLOOD;
        let is_full = is_flooded && unread > 0 && since.elapsed() > STANDS_STILL;
        async move { is_full.then_some(()) }
    })
    .await;
}

/// Returns how many bytes of the router wait in that client's socket that holds the most.
fn unread_bytes(router: Port) -> u64 {
    let remote = format!(":{:04X}", router.get());
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let unread = sockets.lines().filter_map(|socket| {
        let mut fields = socket.split_whitespace().skip(2);
        let is_to_router = fields.next()?.ends_with(&remote);
        let (_unsent, unread) = fields.nth(1)?.split_once(':')?;
        u64::from_str_radix(unread, 16).ok().filter(|_| is_to_router)
    });
    unread.max().unwrap_or_default()
}

/// Forwards to `router`, and stops reading its answers once `deaf` is set. Counts the bytes read.
async fn wire(router: SocketAddr, deaf: &Arc<AtomicBool>) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (deaf, passed) = (Arc::clone(deaf), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&passed);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (deaf, count) = (Arc::clone(&deaf), Arc::clone(&count));
            tokio::spawn(async move {
                let socket = TcpSocket::new_v4().unwrap();
                socket.set_recv_buffer_size(16 * 1024).unwrap();
                let Ok(mut server) = socket.connect(router).await else { return };
                let (mut from_client, mut to_client) = client.split();
                let (mut from_server, mut to_server) = server.split();
                let answers = async {
                    let mut buffer = [0; 4_096];
                    while !deaf.load(Ordering::SeqCst) {
                        match from_server.read(&mut buffer).await {
                            Ok(read @ 1..) => {
                                count.fetch_add(read as u64, Ordering::Relaxed);
                                if to_client.write_all(&buffer[..read]).await.is_err() {
                                    return;
                                }
                            }
                            Ok(0) | Err(_) => return,
                        }
                    }
                    std::future::pending::<()>().await;
                };
                tokio::join!(answers, async { drop(copy(&mut from_client, &mut to_server).await) });
            });
        }
    });
    (address, passed)
}
