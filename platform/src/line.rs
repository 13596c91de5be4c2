//! A connection between a parent process and its child: text lines in both directions over the
//! child's standard input. It stays open when the child replaces its image.

#![expect(clippy::disallowed_methods, reason = "IO shell: how this process was started")]

use std::io;

use crate::process::{Program, TiedChild};

#[cfg(unix)]
#[path = "line/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "line/windows.rs"]
mod system;

/// The environment variable that tells a child that its standard input is such a connection.
const VARIABLE: &str = "LINK_GUARD_LINE";

/// One end of the connection.
#[derive(Debug)]
pub struct Line(system::Line);

impl Line {
    /// Whether this system supports such a connection.
    pub const WORKS: bool = system::WORKS;

    /// Starts `program` with the other end of the connection. Must be called within a runtime.
    ///
    /// # Errors
    /// If the program does not exist or may not be run.
    pub fn start(program: &Program) -> io::Result<(TiedChild, Self)> {
        let mut program = program.clone();
        program.env.push((VARIABLE.into(), "1".into()));
        system::start(&program).map(|(child, line)| (child, Self(line)))
    }

    /// Returns the connection to the parent. None if the parent has not created one. Must be called
    /// within a runtime.
    #[must_use]
    pub fn of_parent() -> Option<Self> {
        let has_line = std::env::var_os(VARIABLE).is_some();
        if has_line { system::of_parent().map(Self) } else { None }
    }

    /// Returns the next line. None after the other end was closed. Cancel safe.
    pub async fn next(&mut self) -> Option<String> {
        self.0.next().await
    }

    /// Sends a line. The line is lost if the reader has ended.
    pub async fn tell(&mut self, text: &str) {
        self.0.tell(text).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns what the other end says next. None once it has ended.
    async fn said(line: &mut Line) -> Option<String> {
        tokio::time::timeout(Duration::from_secs(20), line.next()).await.unwrap()
    }

    #[tokio::test]
    async fn parent_and_child_hear_each_other() {
        let program = Program {
            path: std::env::current_exe().unwrap(),
            args: vec!["--exact".into(), "line::tests::the_child_of_another_test".into()],
            env: vec![],
            log: None,
        };
        let (_child, mut line) = Line::start(&program).unwrap();
        assert_eq!(said(&mut line).await.as_deref(), Some("I am here"));
        line.tell("are you well?").await;
        assert_eq!(said(&mut line).await.as_deref(), Some("to `are you well?`: yes"));
        assert_eq!(said(&mut line).await, None, "the child has ended");
    }

    /// Does nothing unless the test above has started it.
    #[tokio::test]
    async fn the_child_of_another_test() {
        let Some(mut line) = Line::of_parent() else { return };
        line.tell("I am here").await;
        let asked = said(&mut line).await.unwrap();
        line.tell(&format!("to `{asked}`: yes")).await;
    }
}
