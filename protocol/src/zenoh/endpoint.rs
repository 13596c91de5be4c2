//! The endpoint of a router: `tls/host:port` or `tcp/host:port`, without parameters.
//!
//! The zenoh library interprets parameters after `#` and `?`, such as files, keys and network interfaces. A backend
//! must not choose these for a device, so endpoints with parameters are rejected.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

/// The endpoint of a router.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endpoint {
    is_tls: bool,
    host: String,
    port: u16,
}

/// The text is not an [`Endpoint`].
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not an endpoint such as `tls/link.example:7447` or `tcp/127.0.0.1:7447`")]
pub struct InvalidEndpoint(String);

/// The longest name of a host, in bytes.
const LONGEST_HOST: usize = 253;
/// The longest part of the text in a message, in characters.
const SHOWN: usize = 100;

impl Endpoint {
    /// Returns whether the connection uses TLS.
    #[must_use]
    pub const fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Returns the host's name or address, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the socket address as text, for binding or connecting.
    #[must_use]
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Returns whether the host is a loopback address of this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<IpAddr>().is_ok_and(|host| host.to_canonical().is_loopback())
    }

    /// Returns whether others in the network can read the traffic: without TLS, beyond this machine.
    #[must_use]
    pub fn is_open_to_others(&self) -> bool {
        !self.is_tls && !self.is_loopback()
    }
}

impl FromStr for Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || {
            let shown = text.chars().take(SHOWN).flat_map(char::escape_default);
            InvalidEndpoint(shown.collect())
        };
        let (scheme, address) = text.split_once('/').ok_or_else(invalid)?;
        let is_tls = match scheme {
            "tls" => true,
            "tcp" => false,
            _ => return Err(invalid()),
        };
        let (host, port) = address.rsplit_once(':').ok_or_else(invalid)?;
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| digits && *port != 0).ok_or_else(invalid)?;
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match inner {
            Some(host) => host.parse::<Ipv6Addr>().map_err(|_| invalid())?.to_string(),
            None if is_name(host) => host.to_owned(),
            None => return Err(invalid()),
        };
        Ok(Self { is_tls, host, port })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", if self.is_tls { "tls" } else { "tcp" }, self.address())
    }
}

fn is_name(host: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=LONGEST_HOST).contains(&host.len()) && host.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_endpoint_is_a_scheme_a_host_and_a_port() {
        for (text, tls, host, open) in [
            ("tls/link.example:7447", true, "link.example", false),
            ("tcp/127.0.0.1:7447", false, "127.0.0.1", false),
            ("tcp/localhost:1", false, "localhost", false),
            ("tcp/10.0.0.7:65535", false, "10.0.0.7", true),
            ("tcp/0.0.0.0:7447", false, "0.0.0.0", true),
            ("tls/[::1]:7447", true, "::1", false),
            ("tcp/[::ffff:127.0.0.1]:7447", false, "::ffff:127.0.0.1", false),
            ("tcp/[2001:db8::7]:7447", false, "2001:db8::7", true),
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!(endpoint.to_string(), text);
            assert_eq!((endpoint.is_tls(), endpoint.host()), (tls, host), "{text}");
            assert_eq!(endpoint.is_open_to_others(), open, "{text}");
        }
    }

    #[test]
    fn an_endpoint_has_no_parameters_and_no_other_scheme() {
        for text in [
            "",
            "tcp/",
            "127.0.0.1:7447",
            "tcp/host",
            "tls/:1",
            "tls/host:",
            "tls/host:0",
            "tls/host:+1",
            "tls/host:65536",
            "tls/::1:7447",
            "tls/[host]:7447",
            "quic/127.0.0.1:1",
            "unixsock-stream//run/router",
            "serial/dev/ttyS0:1",
            "TLS/host:1",
            "tls/host:7447#root_ca_certificate_file=/etc/passwd",
            "tls/127.0.0.1:28022#connect_private_key=/k;enable_mtls=true",
            "tls/host:7447?rel=0",
            "tls/host#x=1:7447",
            "tls/host?x=1:7447",
            "tls/a b:1",
            "tls/host/x:1",
            "tls/host\n:1",
        ] {
            let error = text.parse::<Endpoint>().unwrap_err().to_string();
            assert!(error.contains("is not an endpoint such as"), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(text in "(tls|tcp)/[a-z0-9.:\\[\\]#?;=/-]{0,30}:[0-9]{1,5}") {
            if let Ok(endpoint) = text.parse::<Endpoint>() {
                prop_assert!(!text.contains(['#', '?', ';', '=']));
                prop_assert_eq!(endpoint.to_string().parse::<Endpoint>().unwrap(), endpoint);
            }
        }
    }
}
