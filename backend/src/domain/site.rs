//! Which addresses are the backend's own, and which requests may use the cookie of a browser.
//!
//! A cookie is sent by every page of a browser that calls this host, so the cookie alone proves nothing. It counts only
//! for the backend's own names, from its own origin, and with a header that only its own pages can send. Cookies ignore
//! ports: over plain http on loopback the header therefore contains a secret, which every request needs.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::{
    Uri,
    uri::{Authority, Scheme},
};

use crate::domain::refusal::Refusal;

/// The cookie over https. Browsers accept this name only with `Secure`, with `Path=/`, and for this host alone.
const SECURE_COOKIE: &str = "__Host-link";
/// How the cookies over plain http on loopback begin. The port follows, because backends on other ports share the cookies.
const LOOPBACK_COOKIE: &str = "link-";

/// An own address of the backend, as the browser sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Site {
    /// The origin of the pages, as a browser sends it.
    pub origin: String,
    /// The name of the cookie.
    pub cookie: String,
    pub is_secure: bool,
}

/// The cookie of a session, as a browser presents it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cookie<'a> {
    pub name: &'a str,
    pub secret: &'a str,
}

impl Cookie<'_> {
    /// Returns the text whose digest is stored. It contains the name, so that the cookie of one address of the backend
    /// is worth nothing at another: the page secret is demanded on loopback, where any port reads the cookie, and not
    /// for reads over https.
    #[must_use]
    pub fn bound(&self) -> String {
        format!("{}={}", self.name, self.secret)
    }
}

/// What a request with a cookie says about the page that sent it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims<'a> {
    /// Whether the method changes nothing.
    pub is_safe: bool,
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<&'a str>,
    pub origin: Option<&'a str>,
    /// `X-Link-Csrf`.
    pub csrf: Option<&'a str>,
}

impl Site {
    /// Returns the address that `host`, the `Host` header, names.
    ///
    /// # Errors
    /// [`Refusal::UnknownHost`] if the host is neither that of `public_url` nor a name of the loopback interface,
    /// [`Refusal::PlainHttp`] if the backend has no https address at all.
    pub fn of(host: &str, public_url: Option<&str>) -> Result<Self, Refusal> {
        let host: Authority = host.parse().map_err(|_| Refusal::UnknownHost)?;
        if host.as_str().contains('@') {
            return Err(Refusal::UnknownHost);
        }
        let public: Option<Uri> = public_url.and_then(|url| url.parse().ok());
        let https = public.filter(|url| url.scheme() == Some(&Scheme::HTTPS));
        if let Some(url) = &https
            && let Some(own) = url.authority()
            && own.host().eq_ignore_ascii_case(host.host())
        {
            let port = own.port_u16().filter(|port| *port != 443);
            return Ok(Self {
                origin: origin("https", own.host(), port),
                cookie: SECURE_COOKIE.to_owned(),
                is_secure: true,
            });
        }
        if is_loopback(host.host()) {
            let port = host.port_u16().unwrap_or(80);
            return Ok(Self {
                origin: origin("http", host.host(), Some(port).filter(|port| *port != 80)),
                cookie: format!("{LOOPBACK_COOKIE}{port}"),
                is_secure: false,
            });
        }
        Err(if https.is_some() { Refusal::UnknownHost } else { Refusal::PlainHttp })
    }

    /// Checks that a page of this site has sent a request with a cookie.
    ///
    /// # Errors
    /// [`Refusal::CrossSite`]; [`Refusal::PlainHttp`] if the page was loaded over plain http from an https address.
    pub fn check(&self, claims: Claims<'_>) -> Result<(), Refusal> {
        if let Some(origin) = claims.origin
            && !origin.eq_ignore_ascii_case(&self.origin)
        {
            let plain = self.origin.replacen("https://", "http://", 1);
            let is_plain = self.is_secure && origin.eq_ignore_ascii_case(&plain);
            return Err(if is_plain { Refusal::PlainHttp } else { Refusal::CrossSite });
        }
        let comes_from_here = match claims.fetch_site {
            Some("same-origin") => true,
            // A person has opened the address; a page cannot cause this.
            Some("none") => claims.is_safe,
            Some(_) => false,
            None => claims.is_safe || claims.origin.is_some(),
        };
        let needs_header = !claims.is_safe || !self.is_secure;
        if comes_from_here && (!needs_header || claims.csrf.is_some()) {
            Ok(())
        } else {
            Err(Refusal::CrossSite)
        }
    }

    /// Returns the value of `Set-Cookie` for `secret`, which ends after `seconds`.
    #[must_use]
    pub fn set_cookie(&self, secret: &str, seconds: i64) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let name = &self.cookie;
        format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
    }

    /// Returns the secret in the `Cookie` headers of a request.
    ///
    /// # Errors
    /// [`Refusal::AmbiguousSession`] if there are two: another page of this host has set one of them.
    pub fn secret<'a>(
        &self,
        cookies: impl Iterator<Item = &'a str>,
    ) -> Result<Option<&'a str>, Refusal> {
        let mut own = cookies.flat_map(pairs).filter(|(name, _)| *name == self.cookie);
        let first = own.next();
        if own.next().is_some() {
            return Err(Refusal::AmbiguousSession);
        }
        Ok(first.map(|(_, secret)| secret))
    }
}

/// Tells whether one of the cookies may be that of a session.
pub fn has_session<'a>(cookies: impl Iterator<Item = &'a str>) -> bool {
    let mut names = cookies.flat_map(pairs).map(|(name, _)| name);
    names.any(|name| {
        let port = name.strip_prefix(LOOPBACK_COOKIE);
        name == SECURE_COOKIE || port.is_some_and(|port| port.parse::<u16>().is_ok())
    })
}

fn pairs(header: &str) -> impl Iterator<Item = (&str, &str)> {
    header.split(';').filter_map(|pair| pair.trim().split_once('='))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || bare.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback())
}

fn origin(scheme: &str, host: &str, port: Option<u16>) -> String {
    let port = port.map_or(String::new(), |port| format!(":{port}"));
    format!("{scheme}://{}{port}", host.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: Option<&str> = Some("https://link.example.org:8443/");

    #[test]
    fn only_the_public_https_address_and_loopback_names_are_own_addresses() {
        for (host, public, origin, cookie) in [
            ("link.example.org", PUBLIC, "https://link.example.org:8443", "__Host-link"),
            ("LINK.example.org:8443", PUBLIC, "https://link.example.org:8443", "__Host-link"),
            ("127.0.0.1:8000", PUBLIC, "http://127.0.0.1:8000", "link-8000"),
            ("127.0.0.1", None, "http://127.0.0.1", "link-80"),
            ("LocalHost:8000", None, "http://localhost:8000", "link-8000"),
            ("[::1]:8000", None, "http://[::1]:8000", "link-8000"),
            ("localhost", Some("https://localhost"), "https://localhost", "__Host-link"),
        ] {
            let site = Site::of(host, public).unwrap();
            assert_eq!((site.origin.as_str(), site.cookie.as_str()), (origin, cookie), "{host}");
            assert_eq!(site.is_secure, cookie == "__Host-link");
        }
        for host in ["192.168.0.7:8000", "evil.example", "localhost.evil.example", "0.0.0.0:8000"] {
            assert_eq!(Site::of(host, PUBLIC), Err(Refusal::UnknownHost), "{host}");
            assert_eq!(Site::of(host, None), Err(Refusal::PlainHttp), "{host}");
            let plain = Some("http://192.168.0.7:8000");
            assert_eq!(Site::of(host, plain), Err(Refusal::PlainHttp), "{host}");
        }
        for host in ["", "a b", "x@localhost", "localhost:x:1"] {
            assert!(Site::of(host, None).is_err(), "{host}");
        }
    }

    #[test]
    fn a_request_that_changes_something_comes_from_a_page_of_the_site_and_has_the_header() {
        let site = Site::of("link.example.org", PUBLIC).unwrap();
        let own = Some("https://link.example.org:8443");
        let check = |fetch_site, origin, csrf| {
            site.check(Claims { is_safe: false, fetch_site, origin, csrf })
        };
        assert_eq!(check(Some("same-origin"), own, Some("1")), Ok(()));
        assert_eq!(check(Some("same-origin"), None, Some("1")), Ok(()));
        assert_eq!(check(None, own, Some("1")), Ok(()));
        for (fetch_site, origin, csrf) in [
            (Some("same-origin"), own, None),
            (None, own, None),
            (None, None, Some("1")),
            (Some("none"), None, Some("1")),
            (Some("same-site"), own, Some("1")),
            (Some("cross-site"), own, Some("1")),
            (Some("same-origin"), Some("https://evil.example"), Some("1")),
            (Some("same-origin"), Some("null"), Some("1")),
            (None, Some("https://link.example.org"), Some("1")),
        ] {
            let place = format!("{fetch_site:?} {origin:?} {csrf:?}");
            assert_eq!(check(fetch_site, origin, csrf), Err(Refusal::CrossSite), "{place}");
        }
        let plain = Some("http://link.example.org:8443");
        assert_eq!(check(None, plain, Some("1")), Err(Refusal::PlainHttp));
    }

    #[test]
    fn a_request_that_reads_needs_the_header_only_over_plain_http() {
        let secure = Site::of("link.example.org", PUBLIC).unwrap();
        let loopback = Site::of("localhost:8000", None).unwrap();
        let read = Claims { is_safe: true, ..Claims::default() };
        assert_eq!(secure.check(read), Ok(()));
        assert_eq!(secure.check(Claims { fetch_site: Some("none"), ..read }), Ok(()));
        assert_eq!(loopback.check(read), Err(Refusal::CrossSite));
        assert_eq!(loopback.check(Claims { csrf: Some("x"), ..read }), Ok(()));
        for foreign in ["same-site", "cross-site"] {
            let claims = Claims { fetch_site: Some(foreign), csrf: Some("x"), ..read };
            assert_eq!(secure.check(claims), Err(Refusal::CrossSite), "{foreign}");
            assert_eq!(loopback.check(claims), Err(Refusal::CrossSite), "{foreign}");
        }
    }

    #[test]
    fn a_cookie_that_is_there_twice_is_refused() {
        let site = Site::of("localhost:8000", None).unwrap();
        let secret = |headers: &[&'static str]| site.secret(headers.iter().copied());
        assert_eq!(secret(&["a=b; link-8000=x; link-8001=y"]), Ok(Some("x")));
        assert_eq!(secret(&["link-8001=y", "__Host-link=z"]), Ok(None));
        assert_eq!(secret(&["link-8000=x; link-8000=y"]), Err(Refusal::AmbiguousSession));
        assert_eq!(secret(&["link-8000=x", "link-8000=x"]), Err(Refusal::AmbiguousSession));
        assert!(has_session(["link-8001=y"].into_iter()));
        assert!(!has_session(["a=b; c"].into_iter()));
    }

    #[test]
    fn a_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        let secure = Site::of("link.example.org", PUBLIC).unwrap();
        assert_eq!(
            secure.set_cookie("x", 60),
            "__Host-link=x; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure"
        );
        let loopback = Site::of("localhost:8000", None).unwrap();
        assert_eq!(
            loopback.set_cookie("", 0),
            "link-8000=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
        );
    }
}
