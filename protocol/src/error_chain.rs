//! An error with its causes, as one line for a person or a log. Pure.
//!
//! No error of this project repeats its cause in its own message. Some libraries do, so a cause that ends with the
//! message before it is left out, and the line contains each cause once.

use std::{error::Error, iter::successors};

/// Returns the message of `error` and that of each cause.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let mut last = error.to_string();
    let mut line = last.clone();
    for cause in successors(error.source(), |cause| (**cause).source()) {
        let message = cause.to_string();
        if !message.ends_with(&last) {
            line.push_str(&format!(": {message}"));
            last = message;
        }
    }
    line
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

    #[derive(Debug, thiserror::Error)]
    #[error("the disk is full")]
    struct Repeated(#[source] Coded);

    #[derive(Debug, thiserror::Error)]
    #[error("code 13: the disk is full")]
    struct Coded;

    #[test]
    fn every_cause_is_said_once() {
        assert_eq!(chain(&Outer(Middle(Inner))), "failed to write `a`: the disk is full");
        assert_eq!(chain(&Inner), "the disk is full");
        assert_eq!(chain(&Repeated(Coded)), "the disk is full");
    }
}
