//! A server of model files with injected faults.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// The fault of the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// No fault.
    None,
    /// The first answer is cut in the middle. Later answers honour the requested range.
    CutOnce,
    /// Announces and sends fewer bytes than the file should have.
    Short,
    /// Sends the right number of wrong bytes.
    Wrong,
    /// Sends slowly, so that a test has time to cancel the download.
    Slow,
}

/// The server. Dropping the value stops the server.
pub struct ModelServer {
    pub url: String,
    requests: Arc<AtomicUsize>,
    ranged: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl ModelServer {
    /// Serves `bytes` under every path.
    ///
    /// # Panics
    /// Panics if no port is free.
    pub async fn start(bytes: Vec<u8>, fault: Fault) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let url = format!("http://{}/model.gguf", listener.local_addr().unwrap());
        let (requests, ranged) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let bytes = Arc::new(bytes);
        let counters = (requests.clone(), ranged.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (bytes, counters) = (bytes.clone(), counters.clone());
                tokio::spawn(async move { drop(serve(stream, &bytes, fault, counters).await) });
            }
        });
        Self { url, requests, ranged, task }
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Returns the number of requests for the rest of a file.
    #[must_use]
    pub fn resumed(&self) -> usize {
        self.ranged.load(Ordering::SeqCst)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    stream: TcpStream,
    bytes: &[u8],
    fault: Fault,
    (requests, ranged): (Arc<AtomicUsize>, Arc<AtomicUsize>),
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut start = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        if line.trim().is_empty() {
            break;
        }
        let lower = line.to_lowercase();
        if let Some(range) = lower.strip_prefix("range: bytes=") {
            start = range.trim().trim_end_matches('-').parse().unwrap_or(0);
        }
    }
    let number = requests.fetch_add(1, Ordering::SeqCst);
    ranged.fetch_add(usize::from(start > 0), Ordering::SeqCst);
    let mut body = bytes[start.min(bytes.len())..].to_vec();
    match fault {
        Fault::Short => body.truncate(body.len() / 2),
        Fault::Wrong => body.iter_mut().for_each(|byte| *byte ^= 1),
        Fault::None | Fault::CutOnce | Fault::Slow => {}
    }
    let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
    let range = format!("content-range: bytes {start}-{}/{}\r\n", bytes.len() - 1, bytes.len());
    let range = if start > 0 { range } else { String::new() };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{range}connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    if fault == Fault::CutOnce && number == 0 {
        body.truncate(body.len() / 2);
    }
    for chunk in body.chunks(16 * 1024) {
        stream.write_all(chunk).await?;
        if fault == Fault::Slow {
            stream.flush().await?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    stream.flush().await
}
