//! Networks of the internet, as far as they tell who is near whom.
//!
//! One machine has one address of IPv4 and a whole /64 of IPv6, so these count as one host. A wider
//! network is that of its neighbours, who may be strangers to each other.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// The lengths of prefixes of IPv4, from a host to the widest network that counts.
const PREFIXES_V4: [u8; LEVELS] = [32, 24, 16];
/// The same of IPv6.
const PREFIXES_V6: [u8; LEVELS] = [64, 56, 48];

/// How many widths of networks there are.
pub const LEVELS: usize = 3;

/// A network.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Network {
    V4 { prefix: u8, address: Ipv4Addr },
    V6 { prefix: u8, address: Ipv6Addr },
}

impl Network {
    /// Returns the host that `address` belongs to, and the networks around it, each wider than the
    /// one before.
    #[must_use]
    pub fn around(address: IpAddr) -> [Self; LEVELS] {
        match address.to_canonical() {
            IpAddr::V4(address) => PREFIXES_V4.map(|prefix| {
                let mask = u32::MAX << (32 - u32::from(prefix));
                Self::V4 { prefix, address: Ipv4Addr::from(u32::from(address) & mask) }
            }),
            IpAddr::V6(address) => PREFIXES_V6.map(|prefix| {
                let mask = u128::MAX << (128 - u32::from(prefix));
                Self::V6 { prefix, address: Ipv6Addr::from(u128::from(address) & mask) }
            }),
        }
    }

    /// Returns the host that `address` belongs to.
    #[must_use]
    pub fn host(address: IpAddr) -> Self {
        let [host, ..] = Self::around(address);
        host
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4 { prefix, address } => write!(f, "{address}/{prefix}"),
            Self::V6 { prefix, address } => write!(f, "{address}/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str) -> [String; LEVELS] {
        Network::around(text.parse().unwrap()).map(|network| network.to_string())
    }

    #[test]
    fn a_host_is_an_address_of_ipv4_and_a_network_of_ipv6() {
        assert_eq!(around("192.0.2.7"), ["192.0.2.7/32", "192.0.2.0/24", "192.0.0.0/16"]);
        let wide = ["2001:db8:1:2::/64", "2001:db8:1::/56", "2001:db8:1::/48"];
        assert_eq!(around("2001:db8:1:2:3:4:5:6"), wide);
        assert_eq!(around("::ffff:192.0.2.7"), around("192.0.2.7"), "the same host");
        assert_ne!(around("192.0.2.7")[0], around("192.0.2.8")[0]);
    }
}
