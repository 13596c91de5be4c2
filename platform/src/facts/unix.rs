//! Facts about a Unix machine.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks for the devices of graphics cards")]

use std::path::Path;

pub(super) fn hostname() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

/// Detects drivers by the device files that they create.
pub(super) fn graphics() -> Vec<&'static str> {
    let mut found = Vec::new();
    if Path::new("/dev/nvidiactl").exists() {
        found.push("cuda");
    }
    if Path::new("/dev/kfd").exists() {
        found.push("rocm");
    }
    let is_render_node = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("renderD");
    let nodes = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    if nodes.take(1000).any(|node| is_render_node(&node.file_name())) {
        found.push("vulkan");
    }
    if (super::os(), super::arch()) == ("macos", "aarch64") {
        found.push("metal");
    }
    found
}
