//! Facts about a Windows machine.

#![expect(clippy::disallowed_methods, reason = "IO shell: the name stands in the environment")]

pub(super) fn hostname() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// Installed drivers are not detected, so engines use the processor only.
pub(super) const fn graphics() -> Vec<&'static str> {
    Vec::new()
}
