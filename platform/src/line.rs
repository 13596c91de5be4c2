//! The line between a parent and its child: text lines in both directions over the child's standard
//! input, which outlives the replacement of the child's image.

#![expect(clippy::disallowed_methods, reason = "IO shell: how this process was started")]

use std::io;

use crate::process::{Program, TiedChild};

#[cfg(unix)]
#[path = "line/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "line/windows.rs"]
mod system;

/// Tells a child that its standard input is a line.
const VARIABLE: &str = "LINK_GUARD_LINE";

/// One end of a line.
#[derive(Debug)]
pub struct Line(system::Line);

impl Line {
    /// Returns whether this system supports such a line.
    pub const WORKS: bool = system::WORKS;

    /// Starts `program` with the other end of a line. Must be called within a runtime.
    ///
    /// # Errors
    /// When the program does not exist or may not be run.
    pub fn start(program: &Program) -> io::Result<(TiedChild, Self)> {
        let mut program = program.clone();
        program.env.push((VARIABLE.into(), "1".into()));
        system::start(&program).map(|(child, line)| (child, Self(line)))
    }

    /// Returns the line to the parent. None if the parent gave none. Must be called within a
    /// runtime.
    #[must_use]
    pub fn of_parent() -> Option<Self> {
        let has_line = std::env::var_os(VARIABLE).is_some();
        if has_line { system::of_parent().map(Self) } else { None }
    }

    /// Returns the next line. None once the other end is closed. Cancel safe.
    pub async fn next(&mut self) -> Option<String> {
        self.0.next().await
    }

    /// Sends a line. If the reader is gone, the line is lost.
    pub async fn tell(&mut self, text: &str) {
        self.0.tell(text).await;
    }
}
