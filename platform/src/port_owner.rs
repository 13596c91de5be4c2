//! Finds the process that listens on a port, if the system reports it.

#[cfg(target_os = "linux")]
#[path = "port_owner/linux.rs"]
mod system;
#[cfg(windows)]
#[path = "port_owner/windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "port_owner/other.rs"]
mod system;

/// A process that listens on a port.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PortOwner {
    pub pid: u32,
    /// The short name of its program.
    pub program: String,
}

/// Whether this system reports which process listens on a port.
pub const KNOWS: bool = system::KNOWS;

/// Returns the process that listens on TCP `port` of this machine. None if the process belongs to
/// another user or cannot be found.
#[must_use]
pub fn find(port: u16) -> Option<PortOwner> {
    system::find(port)
}

/// Returns whether a port could not be bound because something else has it. Windows answers "access denied" for a port that a
/// program holds alone, and for a port in a range that the system keeps.
#[must_use]
pub fn is_taken(error: &std::io::Error) -> bool {
    let kind = error.kind();
    kind == std::io::ErrorKind::AddrInUse || is_reserved(error)
}

fn is_reserved(error: &std::io::Error) -> bool {
    system::RESERVES && error.kind() == std::io::ErrorKind::PermissionDenied
}

/// Returns why `port` cannot be bound and how to look into it, if the system may keep the port for itself: Windows reserves
/// ranges of ports, for example for Hyper-V.
#[must_use]
pub fn reserved(port: u16, error: &std::io::Error) -> Option<String> {
    is_reserved(error).then(|| {
        format!(
            "Windows keeps port {port}, or a program holds it alone: `netsh interface ipv4 show \
             excludedportrange protocol=tcp` lists the kept ones"
        )
    })
}

/// Returns the name of the user whose process listens on TCP `port` of this machine. None if no process listens there,
/// or if the system does not report it.
#[must_use]
pub fn user_of(port: u16) -> Option<String> {
    system::user_of(port)
}

/// A listening socket, identified by its inode number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listener(String);

/// Returns the socket on which process `pid` of this user listens at 127.0.0.1 and TCP `port`. None if another process
/// or no process listens there, or if the system does not report it.
#[must_use]
pub fn listener_of(pid: u32, port: u16) -> Option<Listener> {
    system::listener_of(pid, port).map(Listener)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn our_own_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(find(port).map(|owner| owner.pid), Some(std::process::id()));
        assert_eq!(user_of(port), crate::user_manager::user_name());
        drop(listener);
        // Another program may listen there by now.
        assert_ne!(find(port).map(|owner| owner.pid), Some(std::process::id()));
    }

    #[test]
    fn a_listener_is_told_by_its_process_and_its_address() {
        let us = std::process::id();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ours = listener_of(us, port);
        assert!(ours.is_some());
        assert_eq!(listener_of(us, port), ours, "it stays the same one");
        assert_eq!(listener_of(1, port), None, "another process has none");
        drop(listener);
        assert_eq!(listener_of(us, port), None);
        // The same port at another address is a different socket.
        let elsewhere = std::net::TcpListener::bind(("127.0.0.2", port)).unwrap();
        assert_eq!(listener_of(us, elsewhere.local_addr().unwrap().port()), None);
    }
}
