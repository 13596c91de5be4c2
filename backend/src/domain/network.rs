//! IP networks: which addresses belong to one host, and which hosts are neighbours.
//!
//! A machine has one IPv4 address or a whole IPv6 /64, so either counts as one host. The other hosts of a wider network
//! are its neighbours, and may belong to other people.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// The prefix lengths of IPv4, from a host to the widest network.
const PREFIXES_V4: [u8; LEVELS] = [32, 24, 16];
/// The prefix lengths of IPv6.
const PREFIXES_V6: [u8; LEVELS] = [64, 56, 48];

/// The number of prefix lengths.
pub const LEVELS: usize = 3;

/// A network.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Network {
    V4 { prefix: u8, address: Ipv4Addr },
    V6 { prefix: u8, address: Ipv6Addr },
}

impl Network {
    /// Returns the host of `address`, followed by the networks around it, from the narrowest to the widest.
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

    /// Returns the host of `address`.
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
