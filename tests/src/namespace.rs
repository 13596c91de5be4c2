//! A network namespace for a device. A virtual wire, which a test can cut, connects it to this machine's network.

use std::{
    net::Ipv4Addr,
    process::Command,
    sync::atomic::{AtomicU8, Ordering},
};

/// The number of wires that this process has created.
static WIRES: AtomicU8 = AtomicU8::new(0);

/// A network namespace with a loopback interface and one end of a wire. Dropping the value removes the namespace.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    /// This machine's address on the wire.
    pub host: Ipv4Addr,
}

impl Namespace {
    /// Creates a namespace.
    ///
    /// # Errors
    /// The reason why there is no namespace: it was not requested, or the system does not allow it.
    pub fn make() -> Result<Self, &'static str> {
        if std::env::var_os("LINK_TEST_MACHINES").is_none_or(|value| value != "1") {
            return Err("networks are made with LINK_TEST_MACHINES=1 only");
        }
        if !rustix::process::getuid().is_root() {
            return Err("only root can make a network");
        }
        let number = WIRES.fetch_add(1, Ordering::Relaxed);
        let [_, _, high, low] = std::process::id().to_be_bytes();
        let name = format!("link{high:02x}{low:02x}{number}");
        let host = Ipv4Addr::new(10, 213, high ^ low, number.wrapping_mul(4).wrapping_add(1));
        let [a, b, c, d] = host.octets();
        let device = Ipv4Addr::new(a, b, c, d + 1);
        let made = Self { name, host };
        let (name, outer, inner) = (&made.name, made.end('h'), made.end('d'));
        for line in [
            format!("netns add {name}"),
            format!("link add {outer} type veth peer name {inner} netns {name}"),
            format!("addr add {host}/30 dev {outer}"),
            format!("link set {outer} up"),
            format!("-n {name} addr add {device}/30 dev {inner}"),
            format!("-n {name} link set {inner} up"),
            format!("-n {name} link set lo up"),
        ] {
            ip(&line);
        }
        Ok(made)
    }

    /// Returns the command prefix that runs a program inside the namespace.
    #[must_use]
    pub fn prefix(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.name].map(str::to_owned).to_vec()
    }

    /// Cuts the wire. Neither side is notified, and packets are lost.
    pub fn cut(&self) {
        ip(&format!("link set {} down", self.end('h')));
    }

    /// Mends the wire.
    pub fn mend(&self) {
        ip(&format!("link set {} up", self.end('h')));
    }

    fn end(&self, side: char) -> String {
        format!("{}{side}", self.name)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // This also removes the wire, one end of which is in the namespace.
        drop(Command::new("ip").args(["netns", "del", &self.name]).status());
    }
}

fn ip(line: &str) {
    let output = Command::new("ip").args(line.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "ip {line}: {}", String::from_utf8_lossy(&output.stderr));
}
