//! The web origins that may call a serving pipeline from a browser.
//!
//! The allowlist is part of the pipeline's configuration and contains exact origins, never a
//! wildcard. A comparison of digests shows whether a deployment has the current allowlist.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};
use sha2::{Digest as _, Sha256};

/// A web origin as a browser sends it: `scheme://host`, with the port unless it is the default
/// port.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, utoipa::ToSchema)]
#[schema(value_type = String)]
pub struct Origin(String);

/// The text is not an exact http or https origin.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "an origin has the form `https://host` or `https://host:port`, in lower case and without a path"
)]
pub struct InvalidOrigin;

impl Origin {
    /// Returns the origin as a browser sends it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Origin {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Self, InvalidOrigin> {
        let (authority, default_port) = if let Some(rest) = text.strip_prefix("https://") {
            (rest, ":443")
        } else if let Some(rest) = text.strip_prefix("http://") {
            (rest, ":80")
        } else {
            return Err(InvalidOrigin);
        };
        let authority = authority.strip_suffix(default_port).unwrap_or(authority);
        if !is_authority(authority) {
            return Err(InvalidOrigin);
        }
        let scheme = if default_port == ":443" { "https" } else { "http" };
        Ok(Self(format!("{scheme}://{authority}")))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The origins that may call a pipeline, sorted and without duplicates, and their digest.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Allowlist {
    origins: Vec<Origin>,
    /// `sha256:` and the hexadecimal SHA-256 of the origins, one per line.
    digest: String,
}

impl Allowlist {
    /// Creates the allowlist of `origins`. Their order and duplicates do not matter.
    #[must_use]
    pub fn new(origins: impl IntoIterator<Item = Origin>) -> Self {
        let mut origins: Vec<_> = origins.into_iter().collect();
        origins.sort();
        origins.dedup();
        let digest = digest(&origins);
        Self { origins, digest }
    }

    /// Returns the origins, sorted.
    #[must_use]
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Returns the digest. Equal allowlists have the same digest.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns whether a web page of `origin` may call the pipeline. The comparison is exact.
    #[must_use]
    pub fn allows(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed.as_str() == origin)
    }
}

impl<'de> Deserialize<'de> for Allowlist {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            origins: Vec<Origin>,
            digest: String,
        }
        let raw = Raw::deserialize(deserializer)?;
        let list = Self::new(raw.origins);
        if list.digest == raw.digest {
            Ok(list)
        } else {
            Err(de::Error::custom("the digest is not that of the origins"))
        }
    }
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    };
    let port_fits = port.is_none_or(|port| {
        !port.starts_with('0') && port.parse::<u16>().is_ok_and(|number| number > 0)
    });
    port_fits && (is_ipv6(host) || is_host(host))
}

fn is_ipv6(host: &str) -> bool {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|address| {
        address.parse::<std::net::Ipv6Addr>().is_ok_and(|parsed| parsed.to_string() == address)
    })
}

/// Tells whether `host` is a name of the domain name system: at most 253 bytes, in labels of at most 63 (RFC 1035, section 2.3.4).
fn is_host(host: &str) -> bool {
    (1..=253).contains(&host.len())
        && host.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && label
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        })
}

fn digest(origins: &[Origin]) -> String {
    use fmt::Write as _;

    let mut hasher = Sha256::new();
    for origin in origins {
        hasher.update(origin.as_str());
        hasher.update("\n");
    }
    hasher.finalize().iter().fold("sha256:".to_owned(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_http_origins_are_accepted() {
        for good in ["https://work.example", "http://localhost:4000", "http://[::1]:8080"] {
            assert_eq!(good.parse::<Origin>().unwrap().as_str(), good);
        }
        assert_eq!(
            "https://a.example:443".parse::<Origin>().unwrap().as_str(),
            "https://a.example"
        );
        for bad in [
            "*",
            "null",
            "",
            "https://*.example",
            "https://Work.example",
            "https://work.example/",
            "https://user@work.example",
            "https://work.example:0",
            "https://work.example:070",
            "ftp://work.example",
            "https://",
            &format!("https://{}.example", "a".repeat(64)),
            &format!("https://{}.example", ["a"; 124].join(".")),
        ] {
            assert_eq!(bad.parse::<Origin>(), Err(InvalidOrigin), "{bad}");
        }
    }

    #[test]
    fn order_and_doubles_do_not_change_the_digest() {
        let [a, b] =
            ["https://a.example", "https://b.example"].map(|o| o.parse::<Origin>().unwrap());
        let one = Allowlist::new([a.clone(), b.clone()]);
        let other = Allowlist::new([b, a.clone(), a]);
        assert_eq!(one, other);
        assert_ne!(one.digest(), Allowlist::new([]).digest());
    }

    #[test]
    fn a_list_whose_digest_lies_is_refused() {
        let list = Allowlist::new(["https://a.example".parse().unwrap()]);
        let mut json = serde_json::to_value(&list).unwrap();
        assert_eq!(serde_json::from_value::<Allowlist>(json.clone()).unwrap(), list);
        json["origins"][0] = "https://evil.example".into();
        assert!(serde_json::from_value::<Allowlist>(json).is_err());
    }
}
