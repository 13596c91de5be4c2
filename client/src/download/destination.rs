//! The permitted destinations of a download: the named server, and public servers.
//!
//! Neither the person who enters an address nor the server behind it may make a device send
//! requests into the device's own network. A numeric address is checked before a redirect is
//! followed. A host name is checked at each connection by the addresses that it resolves to, so a
//! name whose address changes is checked again.

#![expect(clippy::disallowed_methods, reason = "IO shell: names, and the environment's proxies")]

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

/// The environment variables that name a proxy.
const PROXY_VARIABLES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Returns whether a redirect from `from` to `to` is permitted.
pub(super) fn may_follow(from: &Url, to: &Url) -> bool {
    let same_scheme = from.scheme() == to.scheme();
    same_scheme && (from.origin() == to.origin() || !is_private(to))
}

/// Returns whether the host of a URL is this machine or in a private network, without resolving
/// names.
fn is_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let name = host.trim_end_matches('.');
    name.is_empty()
        || name == "localhost"
        || name.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(is_private_address)
}

/// Returns whether an IP address is outside the public internet.
fn is_private_address(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_private_v4(v4),
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || embedded(v6).is_some_and(is_private_v4)
        }
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || first == 0
        // Shared by the customers of a provider (RFC 6598).
        || (first == 100 && (64..128).contains(&second))
        // Protocol assignments (RFC 6890) and benchmarks (RFC 2544).
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && (second == 18 || second == 19))
}

/// Returns the IPv4 address inside an IPv6 address of a translator (RFC 6052), of a 6to4 router
/// (RFC 3056), or in the deprecated IPv4-compatible form.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(one, two, three, four)
    };
    match [a, b, c, d, e, f] {
        [0x0064, 0xff9b, 0, 0, 0, 0] | [0, 0, 0, 0, 0, 0] => Some(v4(g, h)),
        [0x2002, high, low, _, _, _] => Some(v4(high, low)),
        _ => None,
    }
}

/// A DNS resolver that omits private addresses, unless the user named the host.
#[derive(Debug)]
pub(super) struct Resolver {
    named: Arc<[String]>,
}

impl Resolver {
    /// Returns a resolver for a download from `url`. The proxies in this process's environment
    /// count as named by the user.
    pub(super) fn new(url: &Url) -> Self {
        let proxies = PROXY_VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
        let proxies = proxies.filter_map(|proxy| host_of_proxy(&proxy));
        let named = url.host_str().map(str::to_owned).into_iter().chain(proxies);
        Self { named: named.map(|host| host.to_lowercase()).collect() }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let is_named = self.named.contains(&host.to_lowercase());
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let found = found.filter(|found| is_named || !is_private_address(found.ip()));
            let found: Vec<SocketAddr> = found.collect();
            if found.is_empty() {
                let reason = format!("`{host}` has no address outside of private networks");
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Returns the host of a proxy, which may be written without a scheme.
fn host_of_proxy(proxy: &str) -> Option<String> {
    let url = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    Url::parse(&url).ok()?.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_leads_neither_to_plain_http_nor_into_a_private_network() {
        for (from, to, allowed) in [
            ("https://a.example/m", "https://cdn.example/m", true),
            ("https://a.example/m", "https://1.1.1.1/m", true),
            ("https://a.example/m", "https://[2606:4700::1111]/m", true),
            ("https://a.example/m", "http://a.example/m", false),
            ("http://a.example/m", "http://127.0.0.1:20505/healthz", false),
            ("https://a.example/m", "https://localhost/m", false),
            ("https://a.example/m", "https://localhost./m", false),
            ("https://a.example/m", "https://x.localhost./m", false),
            ("https://a.example/m", "https://10.0.0.1/m", false),
            ("https://a.example/m", "https://0.0.0.0/m", false),
            ("https://a.example/m", "https://0x7f.1/m", false),
            ("https://a.example/m", "https://100.64.0.1/m", false),
            ("https://a.example/m", "https://169.254.169.254/m", false),
            ("https://a.example/m", "https://[::1]/m", false),
            ("https://a.example/m", "https://[::ffff:127.0.0.1]/m", false),
            ("https://a.example/m", "https://[::ffff:a9fe:a9fe]/m", false),
            ("https://a.example/m", "https://[::7f00:1]/m", false),
            ("https://a.example/m", "https://[64:ff9b::10.0.0.1]/m", false),
            ("https://a.example/m", "https://[2002:c0a8:1::1]/m", false),
            ("https://a.example/m", "https://[fe80::1]/m", false),
            ("https://a.example/m", "https://[fd00::1]/m", false),
            ("http://127.0.0.1:9/m", "http://127.0.0.1:9/n", true),
            ("http://127.0.0.1:9/m", "http://127.0.0.1:10/n", false),
        ] {
            let [from_url, to_url] = [from, to].map(|text| Url::parse(text).unwrap());
            assert_eq!(may_follow(&from_url, &to_url), allowed, "{from} to {to}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_into_this_machine_is_looked_up_only_when_it_was_named() {
        let lookup = async |url: &str, name: &str| {
            let resolver = Resolver::new(&Url::parse(url).unwrap());
            resolver.resolve(name.parse().unwrap()).await.map(Iterator::count)
        };
        assert!(lookup("http://localhost:9/m", "localhost").await.unwrap() > 0);
        let refused = lookup("https://a.example/m", "localhost").await.unwrap_err();
        assert!(
            refused.to_string().contains("no address outside of private networks"),
            "{refused}"
        );
    }

    #[test]
    fn a_proxy_is_named_with_a_scheme_and_without_one() {
        for proxy in ["http://Proxy.corp:3128", "proxy.corp:3128", "user:word@proxy.corp:3128"] {
            let host = host_of_proxy(proxy).map(|host| host.to_lowercase());
            assert_eq!(host.as_deref(), Some("proxy.corp"), "{proxy}");
        }
    }
}
