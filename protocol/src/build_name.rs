//! Names of the builds of an engine, which become names of folders.

use crate::limits;

/// Returns whether `name` can be the name of a build, and thus of its folder.
#[must_use]
pub fn is_build_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let length = 1..=limits::ENGINE_INDEX_WORD;
    length.contains(&name.len())
        && !name.starts_with('.')
        && name != "current"
        && name.chars().all(usual)
}
