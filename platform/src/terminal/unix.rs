//! The controlling terminal, through its line settings.

#![expect(clippy::disallowed_types, reason = "IO shell: opens the terminal")]

use std::fs::File;

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{ioctl_fionread, read},
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};

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

pub(super) fn take_typed_end() -> bool {
    let input = std::io::stdin();
    let mut look = [PollFd::new(&input, PollFlags::IN)];
    let is_typed = poll(&mut look, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
    // There is something to read, but no byte: the end. A read takes it, so the next program does not meet it.
    is_typed
        && ioctl_fionread(&input).is_ok_and(|bytes| bytes == 0)
        && read(&input, &mut [0; 1]).is_ok_and(|bytes| bytes == 0)
}
