//! Checks the state folder before its contents are trusted: no other user could write there, and
//! the agent's files are regular files.

use link_platform::{
    fs::{self, FileError},
    paths::Roots,
};

/// Creates the state folder, or checks the existing one.
///
/// # Errors
/// If another user owns the folder or something in it, or one of the agent's files is not a regular
/// file.
pub(crate) fn take(roots: &Roots) -> Result<(), FileError> {
    let folders = [roots.state.clone(), roots.state.join("run"), roots.sessions()];
    for folder in folders {
        fs::create_private_dir(&folder)?;
        if fs::keep_to_owner(&folder)? {
            tracing::warn!(
                category = "security",
                "`{}` was accessible to other users; it is now private",
                folder.display()
            );
        }
    }
    for file in [roots.agent_lock(), roots.identity(), roots.journal()] {
        fs::ensure_plain(&file)?;
    }
    Ok(())
}
