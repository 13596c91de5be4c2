//! The answers to a browser's cross-origin checks.
//!
//! Origins match exactly, never by `*`. Every response, errors included, names at most one allowed
//! origin and carries `Vary`; the engine's own CORS headers are dropped. If the path names a model,
//! that model's allowlist decides a preflight and the request itself; otherwise every allowlist of
//! the port counts.

use link_protocol::{allowlist::Allowlist, limits::PREFLIGHT_MAX_AGE};

/// The methods a page may use.
pub const METHODS: &str = "GET, POST, OPTIONS";

/// The request headers that any response may depend on.
pub const VARY: &str = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";

/// The response header that tells an allowed page which device answers: a page on one device can choose a model of
/// another one with the same name and port.
pub const DEVICE: &str = "link-device";

/// The preflight that a browser sends before the request itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preflight<'a> {
    pub origin: Option<&'a str>,
    pub method: Option<&'a str>,
    /// The names of the headers that the page wants to send.
    pub headers: Option<&'a str>,
    /// Whether the page comes from a more public network than this device.
    pub private_network: bool,
}

/// Names and values of response headers.
pub type Headers = Vec<(&'static str, String)>;

/// Returns the response headers for a preflight, or nothing if the origin is on none of the port's
/// allowlists.
pub fn preflight<'a>(
    asked: Preflight<'_>,
    allowlists: impl IntoIterator<Item = &'a Allowlist>,
) -> Option<Headers> {
    let origin = asked.origin?;
    if !allowlists.into_iter().any(|list| list.allows(origin)) {
        return None;
    }
    let mut headers = response(Some(origin));
    headers.push(("access-control-allow-methods", METHODS.to_owned()));
    let requested = asked.headers.filter(|names| is_header_list(names));
    let allowed = requested.unwrap_or("authorization, content-type").to_owned();
    headers.push(("access-control-allow-headers", allowed));
    headers.push(("access-control-max-age", PREFLIGHT_MAX_AGE.as_secs().to_string()));
    if asked.private_network {
        headers.push(("access-control-allow-private-network", "true".to_owned()));
    }
    Some(headers)
}

/// Returns the headers of any other response to a page from `origin`, which the caller has checked.
/// `None` means that the request does not come from a page.
#[must_use]
pub fn response(origin: Option<&str>) -> Headers {
    let mut headers = vec![("vary", VARY.to_owned())];
    if let Some(origin) = origin {
        headers.push(("access-control-allow-origin", origin.to_owned()));
        headers.push((
            "access-control-expose-headers",
            format!("x-request-id, retry-after, {DEVICE}"),
        ));
    }
    headers
}

/// Returns whether to drop a header of the engine's response because the proxy sets it.
#[must_use]
pub fn is_replaced(name: &str) -> bool {
    name == "vary" || name == DEVICE || name.starts_with("access-control-")
}

/// Returns whether `names` is a comma-separated list of valid HTTP header names.
fn is_header_list(names: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    names.len() <= 4096
        && names.split(',').all(|name| {
            let name = name.trim_matches([' ', '\t']);
            !name.is_empty() && name.bytes().all(token)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "https://workspace.example";

    #[test]
    fn an_allowed_origin_is_named_alone_and_may_be_remembered_for_ten_minutes() {
        let asked = Preflight {
            origin: Some(WORKSPACE),
            method: Some("POST"),
            headers: Some("content-type, x-stainless-os"),
            private_network: true,
        };
        let headers = preflight(asked, [&list(&["https://other.example"]), &list(&[WORKSPACE])]);
        let headers = headers.unwrap();
        assert_eq!(value(&headers, "access-control-allow-origin"), Some(WORKSPACE));
        let allowed = value(&headers, "access-control-allow-headers");
        assert_eq!(allowed, Some("content-type, x-stainless-os"));
        assert_eq!(value(&headers, "access-control-max-age"), Some("600"));
        assert_eq!(value(&headers, "access-control-allow-private-network"), Some("true"));
        assert_eq!(value(&headers, "vary"), Some(VARY));
    }

    #[test]
    fn any_other_origin_gets_nothing() {
        let lists = [&list(&[WORKSPACE])];
        for origin in [None, Some("null"), Some("*"), Some("https://workspace.example.evil")] {
            let asked = Preflight { origin, ..Preflight::default() };
            assert_eq!(preflight(asked, lists), None, "{origin:?}");
        }
    }

    #[test]
    fn header_names_that_are_none_are_not_echoed() {
        for bad in ["a b", "x\r\nset-cookie: a", "", "a,,b", "naïve"] {
            let asked =
                Preflight { origin: Some(WORKSPACE), headers: Some(bad), ..Preflight::default() };
            let headers = preflight(asked, [&list(&[WORKSPACE])]).unwrap();
            let allowed = value(&headers, "access-control-allow-headers");
            assert_eq!(allowed, Some("authorization, content-type"), "{bad:?}");
        }
    }

    fn list(origins: &[&str]) -> Allowlist {
        Allowlist::new(origins.iter().map(|origin| origin.parse().unwrap()))
    }

    fn value<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
        headers.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }
}
