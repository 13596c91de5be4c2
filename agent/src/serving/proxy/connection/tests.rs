//! Tests that many or slow clients do not block a public port, and that their use of memory is bounded. Prints the
//! measurements.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use http::HeaderValue;
use link_agent_core::{effect::Route, run::Run};
use link_protocol::{allowlist::Allowlist, counter::Generation, port::Port, secret::Secret};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinSet,
    time::timeout,
};

use super::*;
use crate::serving::{
    engine::{Address, Channel, Line},
    proxy::{
        frontend::Frontend,
        route::Live,
        usage_queue::{UsageReceiver, usage_queue},
    },
};

const ORIGIN: &str = "https://workspace.example";
const PATH: &str = "/v1/chat/completions";

/// These tests measure the whole process, so they run one at a time.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// The first event of a stream.
const EVENT: &[u8; 9] = b"4\r\n: x\n\r\n";

/// The timeout of steps that must not be blocked: far above their duration on a busy machine, and below the timeouts of
/// anything that could block them.
const SOON: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_silent_and_slow_connections_and_open_streams_do_not_make_a_port_deaf() {
    let _alone = ALONE.lock().await;
    link_platform::descriptors::raise_limit().unwrap();
    let engine = Fake::start(Behaviour::Stream).await;
    let port = serve(&engine, 600).await;
    let before = descriptors();
    let mut streams = Vec::new();
    for _ in 0..256 {
        let mut stream = port.connect().await;
        stream.write_all(post(2, "").as_bytes()).await.unwrap();
        stream.write_all(b"{}").await.unwrap();
        // One at a time, because finding the owner of a port is slow.
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
        stream.read_exact(&mut [0; EVENT.len()]).await.unwrap();
        streams.push(stream);
    }
    let mut crowd = Vec::new();
    for number in 0..2_000_usize {
        let mut stream = port.connect().await;
        match number % 4 {
            0 => {}
            1 => drop(stream.write_all(b"GET /v1/models HTTP/1.1\r\nho").await),
            2 => drop(stream.write_all(post(10, "").as_bytes()).await),
            _ => drop(stream.write_all(preflight().as_bytes()).await),
        }
        crowd.push(stream);
    }
    let took = port.preflight().await;
    println!(
        "a preflight beside 256 streams and 2,000 others: {took:?}; descriptors {before} before, {} \
         with the ends of the clients; {} MB resident",
        descriptors(),
        resident() >> 20,
    );
    assert!(took < SOON, "{took:?}");
    // No connection with a request in progress was closed.
    for stream in &mut streams {
        stream.write_all(b" ").await.unwrap();
        let mut byte = [0; 1];
        assert!(timeout(Duration::from_millis(1), stream.read(&mut byte)).await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_whose_requests_fill_it_says_so_to_the_next_one_and_answers_preflights() {
    let _alone = ALONE.lock().await;
    let engine = Fake::start(Behaviour::Stream).await;
    let port = serve(&engine, 20).await;
    let mut streams = Vec::new();
    for _ in 0..10 {
        let mut stream = port.connect().await;
        stream.write_all(format!("{}{{}}", post(2, "")).as_bytes()).await.unwrap();
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
        streams.push(stream);
    }
    let mut further = port.connect().await;
    further.write_all(format!("{}{{}}", post(2, "")).as_bytes()).await.unwrap();
    let head = head(&mut further).await.to_lowercase();
    assert!(head.starts_with("http/1.1 503"), "{head}");
    assert!(head.contains("retry-after: "), "{head}");
    assert!(head.contains(&format!("access-control-allow-origin: {ORIGIN}")), "{head}");
    assert!(port.preflight().await < SOON);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_never_come_hold_up_no_other() {
    let _alone = ALONE.lock().await;
    let engine = Fake::start(Behaviour::Answer).await;
    let port = serve(&engine, 600).await;
    let mut stalled = Vec::new();
    for _ in 0..128 {
        let mut stream = port.connect().await;
        stream.write_all(post(1 << 20, "").as_bytes()).await.unwrap();
        stream.write_all(&[b' '; 1000]).await.unwrap();
        stalled.push(stream);
    }
    let asked = Instant::now();
    assert_eq!(port.post(b"{}").await, "HTTP/1.1 200 OK");
    println!("a small request beside 128 stalled bodies: {:?}", asked.elapsed());
    assert!(asked.elapsed() < SOON);
    // A stalled body times out.
    let head = timeout(Duration::from_secs(30), head(&mut stalled[0])).await.unwrap();
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_says_it_is_too_long_is_refused_before_a_byte_of_it() {
    let _alone = ALONE.lock().await;
    let engine = Fake::start(Behaviour::Answer).await;
    let port = serve(&engine, 600).await;
    for more in ["", "expect: 100-continue\r\n"] {
        let mut stream = port.connect().await;
        stream.write_all(post(33 << 20, more).as_bytes()).await.unwrap();
        let head = timeout(SOON, head(&mut stream)).await.unwrap();
        assert!(head.starts_with("HTTP/1.1 413"), "{head}");
        assert!(head.contains(ORIGIN), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        timeout(SOON, stream.read_exact(&mut body)).await.unwrap().unwrap();
        let body = String::from_utf8(body).unwrap();
        let said =
            "a request body may have at most 33554432 bytes; split it, or send less at a time";
        assert!(body.contains(said), "{body}");
    }
    // A client that sends the body anyway can still read the answer.
    let mut stream = port.connect().await;
    stream.write_all(post(33 << 20, "").as_bytes()).await.unwrap();
    for _ in 0..33 {
        stream.write_all(&vec![b' '; 1 << 20]).await.unwrap();
    }
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_take_bounded_memory_until_a_stopped_engine_has_them() {
    let _alone = ALONE.lock().await;
    let engine = Fake::start(Behaviour::Stopped).await;
    let port = serve(&engine, 600).await;
    let before = resident();
    let body: Arc<[u8]> = vec![b' '; 33_000_000].into();
    let own = resident();
    let mut sending = JoinSet::new();
    for _ in 0..16 {
        let (address, body) = (port.address, body.clone());
        sending.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(post(body.len(), "").as_bytes()).await.unwrap();
            let (mut read, mut write) = stream.split();
            let sending = async {
                // The proxy may refuse the body while it is being sent.
                let _refused = write.write_all(&body).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = sending => String::new(),
                head = head(&mut read) => head.to_lowercase(),
            }
        });
    }
    let mut peak = 0;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(4) {
        peak = peak.max(resident());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!(
        "16 bodies of 33 MB to an engine that does not read: {} MB more at most ({} MB before, {} MB \
         with the clients' copy)",
        peak.saturating_sub(own) >> 20,
        before >> 20,
        own >> 20,
    );
    assert!(peak.saturating_sub(own) < 300 << 20, "{} MB", peak.saturating_sub(own) >> 20);
    // A small request has its own room; large requests without room are refused until there is some.
    let mut small = port.connect().await;
    small.write_all(format!("{}{{}}", post(2, "")).as_bytes()).await.unwrap();
    assert!(engine.reached(7).await, "{:?}", engine.requests);
    for _ in 0..10 {
        let head = timeout(6 * SOON, sending.join_next()).await.unwrap().unwrap().unwrap();
        assert!(head.starts_with("http/1.1 503"), "{head}");
        assert!(head.contains("retry-after: ") && head.contains(ORIGIN), "{head}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_do_not_read_hold_little() {
    let _alone = ALONE.lock().await;
    // The flood would use the time that later connections need to reach the engine.
    let engine = Fake::start(Behaviour::FloodFrom(250)).await;
    let port = serve(&engine, 600).await;
    let before = resident();
    let mut clients = Vec::new();
    for _ in 0..250 {
        let mut stream = port.connect().await;
        stream.write_all(format!("{}{{}}", post(2, "")).as_bytes()).await.unwrap();
        clients.push(stream);
    }
    assert!(engine.reached(250).await, "every request reaches the engine");
    let more = resident_when_full().await.saturating_sub(before);
    println!("250 clients that do not read: {} MB more", more >> 20);
    assert!(more < 70 << 20, "{} MB", more >> 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sent_a_second_request_and_left_is_noticed() {
    let _alone = ALONE.lock().await;
    let engine = Fake::start(Behaviour::Stopped).await;
    let port = serve(&engine, 600).await;
    let mut clients = Vec::new();
    for _ in 0..4 {
        let mut stream = port.connect().await;
        let twice = format!("{}{{}}", post(2, "")).repeat(2);
        stream.write_all(twice.as_bytes()).await.unwrap();
        clients.push(stream);
    }
    assert!(engine.reached(4).await);
    assert_eq!(engine.open.load(Ordering::SeqCst), 4);
    let left = Instant::now();
    drop(clients);
    while engine.open.load(Ordering::SeqCst) > 0 {
        assert!(left.elapsed() < 2 * SOON, "the engine works for somebody who has left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("requests of 4 clients that left ended after {:?}", left.elapsed());
}

/// A public port with one model behind it.
struct Serving {
    address: std::net::SocketAddr,
    _frontend: Frontend,
    _usage: UsageReceiver,
}

impl Serving {
    async fn connect(&self) -> TcpStream {
        timeout(2 * SOON, TcpStream::connect(self.address)).await.unwrap().unwrap()
    }

    /// Returns the duration of a preflight on a new connection.
    async fn preflight(&self) -> Duration {
        let asked = Instant::now();
        let mut stream = self.connect().await;
        stream.write_all(preflight().as_bytes()).await.unwrap();
        let head = timeout(Duration::from_secs(60), head(&mut stream)).await.unwrap();
        assert!(head.starts_with("HTTP/1.1 204"), "{head}");
        asked.elapsed()
    }

    /// Returns the first line of the answer to a POST.
    async fn post(&self, body: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(post(body.len(), "").as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let head = timeout(Duration::from_secs(60), head(&mut stream)).await.unwrap();
        head.lines().next().unwrap_or_default().to_owned()
    }
}

async fn serve(engine: &Fake, connections: usize) -> Serving {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let handle = tokio::runtime::Handle::current();
    let shared = Arc::new(Engine::for_connections(
        connections,
        HeaderValue::from_static("dev_00000000000000000000000000000001"),
    ));
    let frontend = Frontend::open(&handle, listener, shared);
    let (usage, queue) = usage_queue();
    let route = Route {
        pipeline_id: "pip_00000000000000000000000000000001".parse().unwrap(),
        model_id: "mdl_00000000000000000000000000000001".parse().unwrap(),
        alias: "tiny".parse().unwrap(),
        plugin: "language_model".to_owned(),
        port: Port::try_from(address.port()).unwrap(),
        allowlist: Allowlist::new([ORIGIN.parse().unwrap()]),
        telemetry: true,
        generation: Generation(1),
        engine: Some(Run(1)),
    };
    // The engine of these tests listens in this process.
    let engine = Address {
        channel: Channel::Port(engine.port),
        base_path: String::new(),
        secret: Secret::new("secret"),
        pid: std::process::id(),
    };
    frontend.set(Live {
        route,
        plugin: crate::serving::plugins::language_model(),
        task: None,
        build: None,
        engine: Some(Line::new(engine)),
        usage,
    });
    Serving { address, _frontend: frontend, _usage: queue }
}

/// The behaviour of a test's engine.
#[derive(Clone, Copy, Debug)]
enum Behaviour {
    /// Reads the request and answers.
    Answer,
    /// Starts a stream that stalls.
    Stream,
    /// Reads only the beginning and does not answer.
    Stopped,
    /// Answers endlessly once it has received this many requests.
    FloodFrom(usize),
}

struct Fake {
    port: Port,
    requests: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
}

impl Fake {
    async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
        let (requests, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counters = (requests.clone(), open.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (requests, open) = counters.clone();
                tokio::spawn(async move {
                    open.fetch_add(1, Ordering::SeqCst);
                    let _broken_off = work(&mut stream, behaviour, &requests).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { port, requests, open }
    }

    /// Waits until the engine has received this many requests.
    async fn reached(&self, requests: usize) -> bool {
        let reached = async {
            while self.requests.load(Ordering::SeqCst) < requests {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(2 * SOON, reached).await.is_ok()
    }
}

async fn work(
    stream: &mut TcpStream,
    behaviour: Behaviour,
    requests: &AtomicUsize,
) -> std::io::Result<()> {
    let started = head(stream).await;
    if started.is_empty() {
        return Ok(());
    }
    requests.fetch_add(1, Ordering::SeqCst);
    let stream_head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
        transfer-encoding: chunked\r\n\r\n";
    match behaviour {
        Behaviour::Answer => {
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            stream.write_all(answer).await?;
        }
        Behaviour::Stream => {
            stream.write_all(stream_head).await?;
            stream.write_all(EVENT).await?;
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await?;
        }
        Behaviour::Stopped => {
            while !stream.ready(tokio::io::Interest::READABLE).await?.is_read_closed() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Behaviour::FloodFrom(count) => {
            stream.write_all(stream_head).await?;
            let events = EVENT.repeat(1_000);
            while requests.load(Ordering::SeqCst) < count {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            loop {
                stream.write_all(&events).await?;
            }
        }
    }
    Ok(())
}

fn post(length: usize, more: &str) -> String {
    format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\norigin: {ORIGIN}\r\n\
         content-length: {length}\r\n{more}\r\n"
    )
}

fn preflight() -> String {
    format!(
        "OPTIONS {PATH} HTTP/1.1\r\nhost: localhost\r\norigin: {ORIGIN}\r\n\
         access-control-request-method: POST\r\n\r\n"
    )
}

/// Reads only the head of an answer, or everything up to the end of the connection.
async fn head(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Waits until the memory of this process no longer grows, because every buffer is full, and returns it. If the memory
/// grows without end, this returns as soon as it is large enough to fail the test.
async fn resident_when_full() -> usize {
    let (mut most, mut unchanged) = (resident(), 0);
    for _ in 0..500 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = resident();
        unchanged = if now > most { 0 } else { unchanged + 1 };
        most = most.max(now);
        if unchanged == 50 {
            break;
        }
    }
    most
}

/// Returns the memory of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
