//! Parses `/proc/PID/stat`, whose times are in hundredths of a second on every architecture.

#![expect(clippy::disallowed_methods, reason = "IO shell: what the kernel says of a process")]

use std::{fs, time::Duration};

/// Number of fields between the name of the program and the two times.
const BEFORE_TIMES: usize = 11;

pub(super) fn of(pid: u32) -> Option<Duration> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain any character, even a parenthesis.
    let (_name, fields) = line.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(BEFORE_TIMES);
    let mut next = || times.next()?.parse::<u64>().ok();
    let hundredths = next()?.checked_add(next()?)?;
    Some(Duration::from_millis(hundredths.checked_mul(10)?))
}
