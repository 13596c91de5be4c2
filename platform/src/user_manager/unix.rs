//! The user of a process on Unix.

use std::time::Duration;

use crate::process::{self, Call};

/// Timeout for the program that knows the names of users.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn name() -> Option<String> {
    let asked = Call { program: "id".into(), args: vec!["-un".into()], env: None, limit: LIMIT };
    process::call(&asked).ok().filter(|answer| answer.success).map(|answer| answer.stdout)
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn id() -> Option<String> {
    Some(rustix::process::geteuid().as_raw().to_string())
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
