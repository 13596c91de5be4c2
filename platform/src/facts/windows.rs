//! The machine's name on Windows.

#![expect(clippy::disallowed_methods, reason = "IO shell: the name stands in the environment")]

pub(super) fn hostname() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}
