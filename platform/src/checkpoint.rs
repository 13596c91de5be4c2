//! Named places where a test may kill the process, as a power cut would.
//!
//! Development builds only: in a release build a checkpoint is nothing.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads which place to die at, once")]

use std::sync::OnceLock;

/// The variable that names the checkpoint at which the process kills itself.
pub const KILL_AT: &str = "LINK_TEST_KILL_AT";

/// Marks the place `name`; kills the process here when a test asked for it.
pub fn reach(name: &str) {
    static TARGET: OnceLock<Option<String>> = OnceLock::new();
    if cfg!(debug_assertions)
        && TARGET.get_or_init(|| std::env::var(KILL_AT).ok()).as_deref() == Some(name)
    {
        crate::process::kill_self();
    }
}
