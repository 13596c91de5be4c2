//! What this machine is.

#[cfg(unix)]
#[path = "facts/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "facts/windows.rs"]
mod system;

/// The operating system: `linux`, `macos` or `windows`.
#[must_use]
pub fn os() -> &'static str {
    std::env::consts::OS
}

/// The processor architecture, such as `x86_64`.
#[must_use]
pub fn arch() -> &'static str {
    std::env::consts::ARCH
}

/// The machine's name, or `unknown`.
#[must_use]
pub fn hostname() -> String {
    system::hostname().filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
