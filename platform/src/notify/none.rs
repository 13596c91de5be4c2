//! Systems whose service managers ask for nothing.

use std::time::Duration;

use super::Note;

pub(super) const fn tell(_note: Note) {}

pub(super) const fn watchdog() -> Option<Duration> {
    None
}
