//! The controlling terminal, through its line settings.

#![expect(clippy::disallowed_types, reason = "IO shell: opens the terminal")]

use std::fs::File;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// The terminal and its previous settings.
#[derive(Debug)]
pub(super) struct Hidden {
    terminal: File,
    before: Termios,
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // The terminal may be gone. Then it shows nothing anyway.
        let _restored = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

pub(super) fn hide_input() -> Option<Hidden> {
    let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
    let before = tcgetattr(&terminal).ok()?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    hidden.local_modes.insert(LocalModes::ECHONL);
    // Input that was typed before stays in the buffer, and is read.
    tcsetattr(&terminal, OptionalActions::Now, &hidden).ok()?;
    Some(Hidden { terminal, before })
}
