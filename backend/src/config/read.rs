//! Parses the values of the configuration file. A fault names the expected form of its value.

use std::net::SocketAddr;

use serde::{Deserialize as _, Deserializer, de};

pub(super) const SECONDS_LIMIT: u32 = 600;

pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    parsed(deserializer, "an address and a port, such as 127.0.0.1:8000", |text| text.parse().ok())
}

pub(super) fn some_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let expected = "an address and a port, such as 127.0.0.1:9464";
    parsed(deserializer, expected, |text| text.parse().ok()).map(Some)
}

pub(super) fn web_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let expected = "an address such as https://link.example.org";
    let read = |text: &str| {
        let uri: http::Uri = text.parse().ok()?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let names_nobody = !uri.authority()?.as_str().contains('@');
        (is_web && names_nobody).then(|| text.trim_end_matches('/').to_owned())
    };
    parsed(deserializer, expected, read).map(Some)
}

pub(super) fn filter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let expected = "a level or a filter, such as info or link_backend=debug";
    let read = |text: &str| {
        tracing_subscriber::EnvFilter::try_new(text).ok()?;
        Some(text.to_owned())
    };
    parsed(deserializer, expected, read)
}

/// The message omits the value, because an address may contain a password by mistake.
pub(super) fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    read(&text).ok_or_else(|| de::Error::custom(format!("expected {expected}")))
}

pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    number(deserializer, 1, u32::MAX)
}

pub(super) fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    number(deserializer, 0, u32::MAX)
}

pub(super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    number(deserializer, 0, SECONDS_LIMIT)
}

pub(super) fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    min: u32,
    max: u32,
) -> Result<u32, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let fits = u32::try_from(number).ok().filter(|number| (min..=max).contains(number));
    let expected = || format!("expected a whole number from {min} to {max}, found {number}");
    fits.ok_or_else(|| de::Error::custom(expected()))
}
