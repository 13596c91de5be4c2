//! The error of a developer's command: what is wrong, the next step, and the exit code.

use std::fmt;

/// The exit code for invalid arguments.
const MISUSE: u8 = 2;

/// An error, and how to fix it.
#[derive(Debug)]
pub(super) struct Trouble {
    what: String,
    next: String,
    exit: u8,
}

impl Trouble {
    /// Creates an error with exit code 1.
    pub(super) fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: next.into(), exit: 1 }
    }

    /// Creates an error with the exit code for invalid arguments.
    pub(super) fn misuse(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { exit: MISUSE, ..Self::new(what, next) }
    }

    /// Uses the exit code of a failed program.
    pub(super) fn with_exit_of(self, code: Option<i32>) -> Self {
        let exit = code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code > 0);
        Self { exit: exit.unwrap_or(self.exit), ..self }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n next: {}", self.what, self.next)
    }
}

impl std::error::Error for Trouble {}

/// Returns the exit code for a failed task.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    error.downcast_ref::<Trouble>().map_or(1, |trouble| trouble.exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_program_that_failed() {
        let exit = |code| exit_code(&Trouble::new("it", "that").with_exit_of(code).into());
        assert_eq!([exit(Some(31)), exit(Some(0)), exit(None)], [31, 1, 1]);
        assert_eq!(exit_code(&Trouble::misuse("it", "that").into()), 2);
        assert_eq!(exit_code(&anyhow::anyhow!("something else")), 1);
    }
}
