//! The default allowlist: the origins that every account allows unless the configuration names others.
//!
//! A backend that other machines can reach allows no loopback names: for its visitors, a loopback name means a program
//! on their own machine.

use std::net::SocketAddr;

use http::Uri;
use link_protocol::allowlist::{Allowlist, Origin};

/// The addresses of the pages of a backend.
#[derive(Clone, Copy, Debug)]
pub struct Addresses<'a> {
    /// The address of the workspace, when another server has it.
    pub workspace_url: Option<&'a str>,
    /// The address at which people and devices reach the backend.
    pub public_url: Option<&'a str>,
    /// The address on which the backend listens.
    pub listener: Option<SocketAddr>,
}

/// Returns the defaults: the `configured` origins, else the origin of the workspace and, while only this machine
/// can reach the backend, the loopback names of the backend.
#[must_use]
pub fn defaults(configured: &[Origin], addresses: Addresses<'_>) -> Allowlist {
    if !configured.is_empty() {
        return Allowlist::new(configured.iter().cloned());
    }
    let url = addresses.workspace_url.or(addresses.public_url);
    let of_url = url.and_then(origin_of);
    let is_local = addresses.public_url.is_none_or(is_loopback_url);
    let listener = addresses.listener.filter(|listener| is_local && listener.ip().is_loopback());
    let of_listener = listener.into_iter().flat_map(|listener| {
        let names = [format!("http://localhost:{}", listener.port()), format!("http://{listener}")];
        names.into_iter().filter_map(|name| name.parse().ok())
    });
    Allowlist::new(of_url.into_iter().chain(of_listener))
}

/// Returns the origin of an address as a browser sends it.
fn origin_of(url: &str) -> Option<Origin> {
    let uri: Uri = url.parse().ok()?;
    let origin = format!("{}://{}", uri.scheme_str()?, uri.authority()?);
    origin.to_lowercase().parse().ok()
}

fn is_loopback_url(url: &str) -> bool {
    let uri: Option<Uri> = url.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: &str = "127.0.0.1:8000";
    const PUBLIC: &str = "https://Link.example:443/base";

    #[test]
    fn a_backend_of_this_machine_admits_its_own_names_with_its_port() {
        let local = ["http://127.0.0.1:8000", "http://localhost:8000"];
        assert_eq!(origins(None, None, LOCAL), local);
        assert_eq!(origins(None, Some("http://localhost:8000"), LOCAL), local);
        let six = ["http://[::1]:8000", "http://localhost:8000"];
        assert_eq!(origins(None, None, "[::1]:8000"), six);
        assert_eq!(origins(None, None, "127.0.0.1:80"), ["http://127.0.0.1", "http://localhost"]);
    }

    #[test]
    fn a_backend_that_others_reach_admits_no_page_of_a_visitors_own_machine() {
        for listener in ["0.0.0.0:8000", "[::]:8000", "192.0.2.7:8000"] {
            assert!(origins(None, None, listener).is_empty(), "{listener}");
            assert_eq!(origins(None, Some(PUBLIC), listener), ["https://link.example"]);
        }
        // It listens on loopback behind a proxy that other machines reach.
        assert_eq!(origins(None, Some(PUBLIC), LOCAL), ["https://link.example"]);
    }

    #[test]
    fn the_workspace_comes_before_the_public_address() {
        let workspace = Some("https://work.example/app");
        assert_eq!(origins(workspace, Some(PUBLIC), "0.0.0.0:8000"), ["https://work.example"]);
    }

    #[test]
    fn what_is_configured_takes_the_place_of_all_of_them() {
        let configured = ["https://old.example".parse().unwrap()];
        let addresses = addresses(None, Some(PUBLIC), LOCAL);
        assert_eq!(defaults(&configured, addresses), Allowlist::new(configured.clone()));
    }

    fn addresses<'a>(
        workspace_url: Option<&'a str>,
        public_url: Option<&'a str>,
        listener: &str,
    ) -> Addresses<'a> {
        Addresses { workspace_url, public_url, listener: Some(listener.parse().unwrap()) }
    }

    fn origins(workspace: Option<&str>, public: Option<&str>, listener: &str) -> Vec<String> {
        let list = defaults(&[], addresses(workspace, public, listener));
        list.origins().iter().map(ToString::to_string).collect()
    }
}
