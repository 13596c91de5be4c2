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

/// The name of this system among the archives of a release; nothing when there are none for it.
#[must_use]
pub fn target() -> Option<&'static str> {
    Some(match (os(), arch()) {
        ("linux", "x86_64") => "x86_64-unknown-linux-gnu",
        ("linux", "aarch64") => "aarch64-unknown-linux-gnu",
        ("macos", "x86_64") => "x86_64-apple-darwin",
        ("macos", "aarch64") => "aarch64-apple-darwin",
        ("windows", "x86_64") => "x86_64-pc-windows-msvc",
        _ => return None,
    })
}

/// The machine's name, or `unknown`.
#[must_use]
pub fn hostname() -> String {
    system::hostname().filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
