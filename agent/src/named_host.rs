//! The host that a request names, in the form of HTTP that both listeners of the agent read.

use http::{HeaderMap, Uri, Version, header, uri::Authority};
use link_agent_core::host::{self, Misdirected};

/// Returns the host that a request names, if it is this device.
///
/// # Errors
/// [`Misdirected`].
pub(crate) fn named_host<'a>(
    target: &'a Uri,
    headers: &'a HeaderMap,
    version: Version,
) -> Result<&'a str, Misdirected> {
    let hosts = headers.get_all(header::HOST).iter();
    let hosts: Vec<&str> = hosts.map(|host| host.to_str().unwrap_or_default()).collect();
    host::named(target.authority().map(Authority::as_str), &hosts, version >= Version::HTTP_11)
}
