//! What a Windows machine tells of itself.

#![expect(clippy::disallowed_methods, reason = "IO shell: the name stands in the environment")]

pub(super) fn hostname() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// Which drivers are installed is not looked at: an engine computes with the processor.
pub(super) const fn graphics() -> Vec<&'static str> {
    Vec::new()
}
