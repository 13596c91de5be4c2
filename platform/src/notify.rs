//! Reports of a service to its service manager: ready, alive, or stopping.
//!
//! Nothing is sent unless the service manager asked for reports.

use std::time::Duration;

#[cfg(target_os = "linux")]
#[path = "notify/systemd.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "notify/none.rs"]
mod system;

/// The variables in which the service manager says where to report. They are for this process, not for its
/// children.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// A report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Note {
    Ready,
    Alive,
    Stopping,
}

/// Reports to the service manager. A failure is ignored: a service cannot restore its manager.
pub fn tell(note: Note) {
    system::tell(note);
}

/// Returns the interval in which the service manager expects [`Note::Alive`], if it does.
#[must_use]
pub fn watchdog() -> Option<Duration> {
    system::watchdog()
}
