//! Linux reports a hangup independently of unread bytes.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between two looks")]

use std::time::Duration;

use tokio::{io::Interest, net::TcpStream};

/// The delay after any other event, such as urgent data, which our clients never send.
const INTERVAL: Duration = Duration::from_secs(1);

pub(super) async fn hung_up(stream: &TcpStream) {
    while !stream.ready(Interest::PRIORITY).await.is_ok_and(|ready| ready.is_read_closed()) {
        tokio::time::sleep(INTERVAL).await;
    }
}
