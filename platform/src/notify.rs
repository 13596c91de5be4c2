//! Reports of a service to its service manager: ready, alive, or stopping.
//!
//! Nothing is sent unless the service manager has requested reports.

use std::time::Duration;

#[cfg(target_os = "linux")]
#[path = "notify/systemd.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "notify/none.rs"]
mod system;

/// The environment variables with which the service manager requests reports. They are removed from the environment of
/// child processes.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// A report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Note {
    Ready,
    Alive,
    Stopping,
}

/// Sends a report to the service manager. A failure is ignored, because a service cannot repair its manager.
pub fn tell(note: Note) {
    system::tell(note);
}

/// Returns the interval in which the service manager expects [`Note::Alive`]. None if it expects none.
#[must_use]
pub fn watchdog() -> Option<Duration> {
    system::watchdog()
}
