//! An error with its causes, as one line for a person or a log. Pure.
//!
//! No error of ours repeats its cause in its own words, so the line says each of them once.

use std::{error::Error, iter::successors};

/// Returns the message of `error` and that of each cause.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let causes = successors(error.source(), |cause| (**cause).source());
    causes.fold(error.to_string(), |line, cause| format!("{line}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("failed to write `a`")]
    struct Outer(#[source] Middle);

    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    struct Middle(#[from] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("the disk is full")]
    struct Inner;

    #[test]
    fn every_cause_is_said_once() {
        assert_eq!(chain(&Outer(Middle(Inner))), "failed to write `a`: the disk is full");
        assert_eq!(chain(&Inner), "the disk is full");
    }
}
