//! Linux reports the end of a connection independently of unread bytes.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between two looks")]

use std::time::Duration;

use tokio::{io::Interest, net::TcpStream};

/// How long to wait after another event, such as urgent data, which no client of ours sends.
const INTERVAL: Duration = Duration::from_secs(1);

pub(super) async fn hung_up(stream: &TcpStream) {
    while !stream.ready(Interest::PRIORITY).await.is_ok_and(|ready| ready.is_read_closed()) {
        tokio::time::sleep(INTERVAL).await;
    }
}
