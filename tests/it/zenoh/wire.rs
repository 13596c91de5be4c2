//! A relay between a device and its router that records the traffic.

use std::sync::{Arc, Mutex};

use link_protocol::port::Port;
use link_tests::device::free_port;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// The traffic of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Passed {
    pub(super) from_device: Vec<u8>,
    pub(super) from_router: Vec<u8>,
}

/// Forwards every connection. Accepts new ones until it is dropped.
pub(super) struct Relay {
    pub(super) port: Port,
    passed: Arc<Mutex<Vec<Arc<Mutex<Passed>>>>>,
    forwards: JoinSet<()>,
}

impl Relay {
    /// Listens on a new port, and forwards to `router`.
    pub(super) async fn to(router: Port) -> Self {
        let port = free_port();
        let listener = TcpListener::bind(("127.0.0.1", port.get())).await.unwrap();
        let passed = Arc::<Mutex<Vec<Arc<Mutex<Passed>>>>>::default();
        let all = Arc::clone(&passed);
        let mut forwards = JoinSet::new();
        forwards.spawn(async move {
            while let Ok((device, _)) = listener.accept().await {
                let here = Arc::<Mutex<Passed>>::default();
                all.lock().unwrap().push(Arc::clone(&here));
                tokio::spawn(async move { forward(device, router, &here).await });
            }
        });
        Self { port, passed, forwards }
    }

    /// Returns the traffic of each connection so far.
    pub(super) fn passed(&self) -> Vec<Passed> {
        self.passed.lock().unwrap().iter().map(|one| one.lock().unwrap().clone()).collect()
    }

    /// Accepts no further connections. The open ones stay.
    pub(super) async fn take_no_more(mut self) {
        self.forwards.shutdown().await;
    }
}

async fn forward(device: TcpStream, router: Port, passed: &Mutex<Passed>) {
    let Ok(router) = TcpStream::connect(("127.0.0.1", router.get())).await else { return };
    let (mut from_device, mut to_device) = device.into_split();
    let (mut from_router, mut to_router) = router.into_split();
    let up = async {
        let mut buffer = [0; 4_096];
        while let Ok(read @ 1..) = from_device.read(&mut buffer).await {
            passed.lock().unwrap().from_device.extend_from_slice(&buffer[..read]);
            if to_router.write_all(&buffer[..read]).await.is_err() {
                return;
            }
        }
    };
    let down = async {
        let mut buffer = [0; 4_096];
        while let Ok(read @ 1..) = from_router.read(&mut buffer).await {
            passed.lock().unwrap().from_router.extend_from_slice(&buffer[..read]);
            if to_device.write_all(&buffer[..read]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}

/// Returns the first `count` batches of a stream, each with its length prefix.
pub(super) fn batches(stream: &[u8], count: usize) -> Vec<Vec<u8>> {
    let mut rest = stream;
    let mut found = Vec::new();
    while found.len() < count {
        let length = usize::from(u16::from_le_bytes([rest[0], rest[1]])) + 2;
        found.push(rest[..length].to_vec());
        rest = &rest[length..];
    }
    found
}
