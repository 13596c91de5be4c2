//! Named places where a test may kill the process, as a power cut would.
//!
//! Development builds only: in a release build a checkpoint does nothing.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads which place to die at, once")]

use std::sync::OnceLock;

/// The environment variable with the name of the checkpoint at which the process kills itself.
pub const KILL_AT: &str = "LINK_TEST_KILL_AT";

/// The environment variable with the path of a folder that the process creates before it kills itself. If the folder
/// already exists, the process continues. So a process that is restarted kills itself only once.
pub const KILLED_ONCE: &str = "LINK_TEST_KILLED_ONCE";

/// Marks the checkpoint `name`. Kills the process here if a test has requested it.
pub fn reach(name: &str) {
    static TARGET: OnceLock<Option<String>> = OnceLock::new();
    if cfg!(debug_assertions)
        && TARGET.get_or_init(|| std::env::var(KILL_AT).ok()).as_deref() == Some(name)
        && std::env::var_os(KILLED_ONCE).is_none_or(|mark| std::fs::create_dir(mark).is_ok())
    {
        crate::process::kill_self();
    }
}
