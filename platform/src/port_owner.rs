//! Who listens on a port, when that can be known.

#[cfg(target_os = "linux")]
#[path = "port_owner/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "port_owner/other.rs"]
mod system;

/// A process that listens on a port.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PortOwner {
    pub pid: u32,
    /// The program's short name.
    pub program: String,
}

/// Returns the process that listens on TCP `port` of this machine; nothing when it belongs to
/// another user or cannot be found.
#[must_use]
pub fn find(port: u16) -> Option<PortOwner> {
    system::find(port)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn our_own_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(find(port).map(|owner| owner.pid), Some(std::process::id()));
    }
}
