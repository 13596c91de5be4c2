//! A small proxy between devices or browsers and backends that breaks connections: after a while, after a
//! number of bytes, or all at once.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// The proxy. Dropping the value stops it.
pub(crate) struct FaultProxy {
    pub(crate) address: SocketAddr,
    /// Whether it breaks connections, and how often all connections were cut.
    mood: watch::Sender<(bool, u64)>,
    task: JoinHandle<()>,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lasts,
    CutAfter(Duration),
    /// The request arrives, but only this many bytes of the answer.
    LosesAnswersAfter(usize),
}

impl FaultProxy {
    /// Starts a proxy. `seed` decides to which of the `targets` each connection goes, and which connections break: this
    /// `share` of them.
    pub(crate) async fn start(targets: Vec<SocketAddr>, share: f64, seed: u64) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mood = watch::Sender::new((true, 0));
        let seen = mood.subscribe();
        let chance = Arc::new(Mutex::new(StdRng::seed_from_u64(seed)));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let breaks = seen.borrow().0;
                let (fate, target) = {
                    let mut chance = chance.lock().unwrap();
                    let breaks = breaks && chance.random_bool(share);
                    let fate = if breaks { Fate::draw(&mut chance) } else { Fate::Lasts };
                    (fate, targets[chance.random_range(0..targets.len())])
                };
                let mut seen = seen.clone();
                tokio::spawn(async move {
                    seen.borrow_and_update();
                    tokio::select! {
                        () = forward(stream, target, fate) => {}
                        _ = seen.changed() => {}
                    }
                });
            }
        });
        Self { address, mood, task }
    }

    /// Cuts every connection.
    pub(crate) fn cut(&self) {
        self.mood.send_modify(|(_, cuts)| *cuts += 1);
    }

    /// Cuts every connection, and breaks its share of the later ones.
    pub(crate) fn rough(&self) {
        self.mood.send_modify(|(breaks, _)| *breaks = true);
    }

    /// Cuts every connection, and breaks none afterwards.
    pub(crate) fn calm(&self) {
        self.mood.send_modify(|mood| *mood = (false, mood.1 + 1));
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fate {
    /// Draws how a connection breaks.
    fn draw(chance: &mut StdRng) -> Self {
        if chance.random_bool(0.6) {
            Self::CutAfter(Duration::from_millis(chance.random_range(5..1_500)))
        } else {
            Self::LosesAnswersAfter(chance.random_range(0..3_000))
        }
    }
}

async fn forward(mut client: TcpStream, target: SocketAddr, fate: Fate) {
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    match fate {
        Fate::Lasts => drop(tokio::io::copy_bidirectional(&mut client, &mut server).await),
        Fate::CutAfter(time) => {
            let copying = tokio::io::copy_bidirectional(&mut client, &mut server);
            drop(tokio::time::timeout(time, copying).await);
        }
        Fate::LosesAnswersAfter(mut left) => {
            let (mut from_client, mut to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let answers = async {
                let mut buffer = [0; 4_096];
                while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
                    let passed = count.min(left);
                    left -= passed;
                    let written = to_client.write_all(&buffer[..passed]).await;
                    if written.is_err() || passed < count {
                        return;
                    }
                }
            };
            tokio::select! {
                () = answers => {}
                _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
            }
        }
    }
}
