//! The folders of versions that can be deleted.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the folder of versions")]

use semver::Version;

use super::{ChangeError, load_state};
use crate::layout::Layout;

/// Returns the names of the folders of versions that are neither `current`, nor previous, nor
/// pending.
///
/// # Errors
/// If the state of updates is damaged.
pub fn outdated(layout: &Layout, current: &Version) -> Result<Vec<String>, ChangeError> {
    let state = load_state(layout)?;
    let kept = state.kept(current);
    let entries = std::fs::read_dir(layout.versions()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // A name that is not a version is the temporary folder of an interrupted installation.
    let is_needed = |name: &String| name.parse().is_ok_and(|version| kept.contains(&&version));
    let mut outdated: Vec<_> = names.filter(|name| !is_needed(name)).collect();
    outdated.sort();
    Ok(outdated)
}
