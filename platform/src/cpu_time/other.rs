//! On these systems CPU times are not implemented.

use std::time::Duration;

pub(super) const fn of(_pid: u32) -> Option<Duration> {
    None
}
