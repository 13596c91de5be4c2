//! The user of a process on Windows, as `whoami` tells it: no text in the language of the system is read.

#![expect(clippy::disallowed_methods, reason = "IO shell: the name stands in the environment")]

use std::time::Duration;

use crate::process::{self, Call};

/// Timeout for `whoami`.
const LIMIT: Duration = Duration::from_secs(10);
/// The group of a process with the rights of an administrator: high mandatory level.
const ELEVATED: &str = "S-1-16-12288";

pub(super) fn name() -> Option<String> {
    std::env::var("USERNAME").ok()
}

pub(super) const fn name_of(_id: &str) -> Option<String> {
    None
}

pub(super) fn id() -> Option<String> {
    whoami("/user")?.into_iter().next()
}

pub(super) fn is_root() -> bool {
    whoami("/groups").is_some_and(|groups| groups.iter().any(|group| group == ELEVATED))
}

/// Returns the security identifiers in the answer.
fn whoami(what: &str) -> Option<Vec<String>> {
    let args = [what, "/fo", "csv", "/nh"].map(Into::into).to_vec();
    let asked = Call { program: process::of_the_system("whoami"), args, env: None, limit: LIMIT };
    let answer = process::call(&asked).ok().filter(|answer| answer.success)?;
    let words = answer.stdout.split(['"', ',', '\r', '\n']);
    Some(words.filter(|word| word.starts_with("S-1-")).map(str::to_owned).collect())
}
