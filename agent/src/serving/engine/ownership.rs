//! The proof that a port belongs to an engine.
//!
//! Each look goes through all sockets of the engine's process. Connections that are opened at the
//! same time share a look, so a burst of requests costs few of them instead of two each.

#![expect(clippy::disallowed_methods, reason = "IO shell: the order of looks")]

use std::time::Instant;

use link_platform::port_owner::{self, Listener};
use link_protocol::port::Port;
use tokio::sync::Mutex;

/// The port of one engine process.
#[derive(Debug)]
pub(super) struct Ownership {
    port: Port,
    pid: u32,
    last: Mutex<Option<Look>>,
}

#[derive(Debug)]
struct Look {
    began: Instant,
    found: Option<Listener>,
}

impl Ownership {
    pub(super) fn new(port: Port, pid: u32) -> Self {
        Self { port, pid, last: Mutex::default() }
    }

    pub(super) const fn port(&self) -> Port {
        self.port
    }

    /// Returns the socket on which the process listens at the port, or `None` if another process
    /// listens there. The look began after this call.
    pub(super) async fn listener(&self) -> Option<Listener> {
        let asked = Instant::now();
        let mut last = self.last.lock().await;
        if let Some(look) = last.as_ref().filter(|look| look.began >= asked) {
            return look.found.clone();
        }
        let (port, pid) = (self.port.get(), self.pid);
        let began = Instant::now();
        let look = tokio::task::spawn_blocking(move || port_owner::listener_of(pid, port));
        let found = look.await.ok().flatten();
        *last = Some(Look { began, found: found.clone() });
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn callers_at_the_same_time_share_a_look_and_none_gets_an_earlier_one() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
        let ownership = Arc::new(Ownership::new(port, std::process::id()));
        let ours = ownership.listener().await;
        assert!(ours.is_some());
        let began = ownership.last.lock().await.as_ref().unwrap().began;
        let mut callers = JoinSet::new();
        for _ in 0..100 {
            let ownership = Arc::clone(&ownership);
            callers.spawn(async move {
                let found = ownership.listener().await;
                let last = ownership.last.lock().await;
                (found, last.as_ref().unwrap().began)
            });
        }
        let mut looks = std::collections::BTreeSet::new();
        for (found, look) in callers.join_all().await {
            assert_eq!(found, ours);
            looks.insert(look);
        }
        assert!(!looks.contains(&began), "a look from before the call proves nothing");
        assert!(looks.len() <= 3, "{} looks for 100 callers", looks.len());
        drop(listener);
        assert_eq!(ownership.listener().await, None);
    }
}
