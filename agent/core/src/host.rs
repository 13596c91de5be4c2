//! Checks whether a request is meant for this device, by its Host and Origin headers.
//!
//! A web page can point a name of its choice at this device (DNS rebinding), and any page can send
//! requests to a local port. The Host header reveals the first attack, the Origin header the
//! second.

use link_protocol::problem::{Code, Problem};

/// The host names of this device; any other name is a rebinding attempt.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The reason why a request is not for this device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Misdirected {
    /// There are two `Host` headers, or a required one is missing.
    Unclear,
    /// An old client names no host.
    Unnamed,
    /// The request names another host.
    Foreign,
}

impl Misdirected {
    /// Returns the problem with which such a request is refused.
    #[must_use]
    pub fn problem(self) -> Problem {
        match self {
            Self::Unclear => {
                Problem::new(Code::MalformedRequest, "the request needs exactly one `Host` header")
            }
            Self::Unnamed => Problem::new(Code::HostNotAllowed, "the request names no host"),
            Self::Foreign => Problem::new(
                Code::HostNotAllowed,
                "the request names another host than this device",
            ),
        }
    }
}

/// Returns the host that a request names, if it is this device (RFC 9112, 3.2): the authority of
/// its `target` if there is one, otherwise its only `Host` header.
///
/// # Errors
/// [`Misdirected`] if the request names no host, an unclear host, or another host.
pub fn named<'a>(
    target: Option<&'a str>,
    hosts: &[&'a str],
    must_name: bool,
) -> Result<&'a str, Misdirected> {
    if hosts.len() > 1 || (must_name && hosts.is_empty()) {
        return Err(Misdirected::Unclear);
    }
    match target.or_else(|| hosts.first().copied()) {
        None => Err(Misdirected::Unnamed),
        Some(name) if is_ours(name) => Ok(name),
        Some(_) => Err(Misdirected::Foreign),
    }
}

/// Returns whether the Host header value `host` names this device, with any port: a tunnel may
/// forward another port to this one.
#[must_use]
pub fn is_ours(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Returns whether `host` names `port` of this device.
#[must_use]
pub fn is_port(host: &str, port: u16) -> bool {
    NAMES.iter().any(|name| host.eq_ignore_ascii_case(&format!("{name}:{port}")))
}

/// Returns whether a page from `origin` was served by `port` of this device.
#[must_use]
pub fn is_origin(origin: &str, port: u16) -> bool {
    origin.strip_prefix("http://").is_some_and(|host| is_port(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_page_made_up_is_not_ours() {
        for ours in
            ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LocalHost:1", "[::1]", "[::1]:8080"]
        {
            assert!(is_ours(ours), "{ours}");
        }
        for foreign in [
            "",
            ":8080",
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example:8080",
            "localhost:8080.evil.example",
            "127.0.0.1:80:80",
            "127.0.0.2",
            "[::1",
            "LOCALHOST ",
        ] {
            assert!(!is_ours(foreign), "{foreign}");
        }
    }

    #[test]
    fn the_authority_of_the_target_counts_before_the_host_and_two_hosts_are_none() {
        let (ours, evil) = ("127.0.0.1:8080", "evil.example");
        for (target, hosts, must_name, expected) in [
            (None, vec![ours], true, Ok(ours)),
            (Some(ours), vec![ours], true, Ok(ours)),
            (Some(ours), vec![evil], true, Ok(ours)),
            (Some(evil), vec![ours], true, Err(Misdirected::Foreign)),
            (Some("evil@127.0.0.1"), vec![ours], true, Err(Misdirected::Foreign)),
            (None, vec![evil], true, Err(Misdirected::Foreign)),
            (None, vec![ours, ours], true, Err(Misdirected::Unclear)),
            (Some(ours), vec![ours, evil], false, Err(Misdirected::Unclear)),
            (None, vec![], true, Err(Misdirected::Unclear)),
            (None, vec![], false, Err(Misdirected::Unnamed)),
        ] {
            assert_eq!(named(target, &hosts, must_name), expected, "{target:?} {hosts:?}");
        }
    }

    #[test]
    fn the_local_api_is_called_by_its_port_too() {
        assert!(is_port("localhost:20505", 20505) && is_port("[::1]:20505", 20505));
        for foreign in ["localhost", "localhost:2050", "localhost:205050", "evil:20505"] {
            assert!(!is_port(foreign, 20505), "{foreign}");
        }
    }

    #[test]
    fn only_its_own_pages_may_call_it() {
        assert!(is_origin("http://127.0.0.1:20505", 20505));
        for foreign in [
            "null",
            "",
            "https://127.0.0.1:20505",
            "http://127.0.0.1:8080",
            "http://127.0.0.1:20505.evil.example",
            "http://evil.example",
        ] {
            assert!(!is_origin(foreign, 20505), "{foreign}");
        }
    }
}
