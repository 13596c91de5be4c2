//! The folder of the state, before anything in it is believed: no other user can have put something
//! there, and what stands where a file of ours should be is a file.

use link_platform::{
    fs::{self, FileError},
    paths::Roots,
};

/// Makes the folder of the state, or takes the one that is there.
///
/// # Errors
/// When another user owns the folder or something in it, or a file of ours is no plain file.
pub(crate) fn take(roots: &Roots) -> Result<(), FileError> {
    let folders = [roots.state.clone(), roots.state.join("run"), roots.sessions()];
    for folder in folders {
        fs::create_private_dir(&folder)?;
        if fs::keep_to_owner(&folder)? {
            tracing::warn!(
                category = "security",
                "other users could enter `{}`; it is private now",
                folder.display()
            );
        }
    }
    for file in [roots.agent_lock(), roots.identity(), roots.journal()] {
        fs::ensure_plain(&file)?;
    }
    Ok(())
}
