//! Polls for the end of a connection at intervals while there are unread bytes.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between two looks")]

use std::time::Duration;

use tokio::{io::Interest, net::TcpStream};

/// The time between two polls.
const INTERVAL: Duration = Duration::from_secs(1);

pub(super) async fn hung_up(stream: &TcpStream) {
    while !stream.ready(Interest::READABLE).await.is_ok_and(|ready| ready.is_read_closed()) {
        tokio::time::sleep(INTERVAL).await;
    }
}
