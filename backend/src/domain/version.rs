//! Checks a version that somebody asks for.

use link_protocol::{bounded, limits};
use semver::Version;

use crate::domain::refusal::Refusal;

/// Refuses a version that is too long to be stored for each device.
///
/// # Errors
/// [`Refusal::Invalid`].
pub fn check(version: &Version) -> Result<(), Refusal> {
    if bounded::is_short(version) {
        return Ok(());
    }
    Err(Refusal::invalid(format!("version: has at most {} characters", limits::VERSION_LENGTH)))
}
