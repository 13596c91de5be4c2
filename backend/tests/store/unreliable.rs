//! A network between the backend and its object store that fails on purpose a given number of times.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The faults of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// A proxy answers with this status.
    Status(u16),
    /// The connection is closed before the answer.
    Closed,
    /// The request to complete an upload arrives, and its answer is lost.
    AnswerLost,
}

/// Forwards connections to `to`, and fails `times` of them. Returns the address of the network.
pub(crate) async fn between(to: &str, fault: Fault, times: u32) -> String {
    let to = to.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let left = Arc::new(AtomicU32::new(times));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&to).await.unwrap();
            tokio::spawn(forward(client, server, fault, Arc::clone(&left)));
        }
    });
    format!("http://{address}")
}

async fn forward(mut client: TcpStream, server: TcpStream, fault: Fault, left: Arc<AtomicU32>) {
    let happens = || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
    match fault {
        Fault::Closed if happens().is_ok() => return,
        Fault::Status(status) if happens().is_ok() => {
            let mut asked = vec![0; 64 * 1024];
            if client.read(&mut asked).await.is_ok() {
                let answer = format!(
                    "HTTP/1.1 {status} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                );
                client.write_all(answer.as_bytes()).await.unwrap_or(());
            }
            return;
        }
        Fault::Closed | Fault::Status(_) | Fault::AnswerLost => {}
    }
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let mut asked = vec![0; 64 * 1024];
    let mut answered = vec![0; 64 * 1024];
    let mut is_assembly = false;
    loop {
        tokio::select! {
            read = from_client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let text = String::from_utf8_lossy(&asked[..length]);
                if text.starts_with("POST ") || text.starts_with("GET ") || text.starts_with("HEAD ") {
                    is_assembly = text.starts_with("POST ") && text.contains("uploadId=");
                }
                if to_server.write_all(&asked[..length]).await.is_err() {
                    return;
                }
            }
            read = from_server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                let is_lost = is_assembly && matches!(fault, Fault::AnswerLost);
                if is_lost && happens().is_ok() {
                    return;
                }
                if to_client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
