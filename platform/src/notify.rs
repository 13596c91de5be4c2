//! What a service reports to its service manager: that it is ready, alive, or stopping.
//!
//! Nothing is sent unless the service manager asked for reports.

use std::time::Duration;

#[cfg(target_os = "linux")]
#[path = "notify/systemd.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "notify/none.rs"]
mod system;

/// The variables by which the service manager says how it is told: they are for this process and
/// for none that it starts.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// A report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Note {
    Ready,
    Alive,
    Stopping,
}

/// Tells the service manager; it may be gone, which is nothing that a service could help.
pub fn tell(note: Note) {
    system::tell(note);
}

/// Returns the time within which the service manager wants to hear [`Note::Alive`], if it does.
#[must_use]
pub fn watchdog() -> Option<Duration> {
    system::watchdog()
}
