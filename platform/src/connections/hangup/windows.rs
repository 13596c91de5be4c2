//! Asks Windows at intervals whether a connection has ended. The runtime hears of an end only after all bytes were read.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between two looks")]

use std::{os::windows::io::AsRawSocket as _, time::Duration};

use tokio::net::TcpStream;
use windows_sys::Win32::Networking::WinSock::{
    POLLERR, POLLHUP, POLLNVAL, POLLRDNORM, SOCKET, WSAPOLLFD, WSAPoll,
};

/// The time between two polls.
const INTERVAL: Duration = Duration::from_secs(1);

pub(super) async fn hung_up(stream: &TcpStream) {
    while !has_ended(stream) {
        tokio::time::sleep(INTERVAL).await;
    }
}

fn has_ended(stream: &TcpStream) -> bool {
    let Ok(fd) = SOCKET::try_from(stream.as_raw_socket()) else { return false };
    let mut asked = WSAPOLLFD { fd, events: POLLRDNORM, revents: 0 };
    #[expect(unsafe_code, reason = "a system call with a socket of ours")]
    // SAFETY: the socket is open while `stream` is borrowed, and the call writes to `asked` alone, whose length is 1.
    let _count = unsafe { WSAPoll(&raw mut asked, 1, 0) };
    asked.revents & (POLLHUP | POLLERR | POLLNVAL) != 0
}
