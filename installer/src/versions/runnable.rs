//! The path at which a program of the current version can be run.

use std::path::PathBuf;

use link_platform::pointer;

use crate::layout::Layout;

/// Returns the path of a program of the current version, to run it. The pointer to that version may be a regular file, so a
/// path through the pointer is not enough.
#[must_use]
pub fn program(layout: &Layout, name: &str) -> PathBuf {
    pointer::follow(&layout.current()).join(name)
}
