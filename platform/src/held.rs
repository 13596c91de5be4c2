//! Files that another program has open on Windows: a running program, or a file that a virus scanner looks at.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: renames files, and waits between attempts"
)]

use std::{io, path::Path, time::Duration};

/// Delays between attempts to rename or delete a file that a virus scanner has just opened.
const DELAYS: [Duration; 5] = [
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
];

/// `ERROR_ACCESS_DENIED` and `ERROR_SHARING_VIOLATION`.
const HELD: [i32; 2] = [5, 32];

/// Renames a file. Retries for about a second if another program has it open.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    patiently(|| std::fs::rename(from, to))
}

/// Does something to a file. Retries for about a second if another program has it open.
pub(crate) fn patiently(mut act: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for delay in DELAYS {
        match act() {
            Err(error) if is_held(&error) => std::thread::sleep(delay),
            done => return done,
        }
    }
    act()
}

/// Returns whether another program has the file open.
pub(crate) fn is_held(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| HELD.contains(&code))
}
