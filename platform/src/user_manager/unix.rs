//! The user of a process on Unix.

use std::{ffi::OsString, time::Duration};

use crate::process::{self, Call};

/// Timeout for the program that knows the names of users.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn name() -> Option<String> {
    ask(vec!["-un".into()])
}

pub(super) fn name_of(id: &str) -> Option<String> {
    ask(vec!["-un".into(), id.into()])
}

fn ask(args: Vec<OsString>) -> Option<String> {
    let asked = Call { program: "id".into(), args, env: None, limit: LIMIT };
    process::call(&asked).ok().filter(|answer| answer.success).map(|answer| answer.stdout)
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn id() -> Option<String> {
    Some(rustix::process::geteuid().as_raw().to_string())
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
