//! The notification socket, which systemd names in the environment.

use std::time::Duration;

use sd_notify::NotifyState;

use super::Note;

pub(super) fn tell(note: Note) {
    let state = match note {
        Note::Ready => NotifyState::Ready,
        Note::Alive => NotifyState::Watchdog,
        Note::Stopping => NotifyState::Stopping,
    };
    let _gone = sd_notify::notify(&[state]);
}

pub(super) fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().filter(|time| !time.is_zero())
}
