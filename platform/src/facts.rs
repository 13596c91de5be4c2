//! Facts about this machine: system, processor, name and accelerators.

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

/// The name of this system in a release. None if releases have no archive for it.
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

/// The graphics interfaces of this machine whose drivers are installed: `cuda`, `rocm`, `vulkan` or `metal`.
#[must_use]
pub fn graphics() -> Vec<&'static str> {
    system::graphics()
}

/// Returns the processor's features, by the names that compilers use. None if they are unknown.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn processor_features() -> Option<Vec<&'static str>> {
    let all = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512vnni", is_x86_feature_detected!("avx512vnni")),
    ];
    Some(all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect())
}

/// Returns the processor's features, by the names that compilers use. None if they are unknown.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn processor_features() -> Option<Vec<&'static str>> {
    None
}
