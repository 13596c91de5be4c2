//! The terminal of this process: hides typed characters while the program asks for a secret, and finds an end of the input
//! that was typed ahead.

#[cfg(unix)]
#[path = "terminal/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "terminal/windows.rs"]
mod system;

/// Hides typed characters. Dropping the value shows them again.
#[derive(Debug)]
pub struct Hidden {
    _system: system::Hidden,
}

/// Hides typed characters. Call this before printing the prompt, so that a secret that is pasted or
/// sent as soon as the prompt appears stays hidden. None if there is no terminal.
#[must_use]
pub fn hide_input() -> Option<Hidden> {
    system::hide_input().map(|system| Hidden { _system: system })
}

/// Takes the end of the input (Ctrl-D) that was typed while no program read the terminal. Returns whether there was one. Call
/// this before an editor takes the terminal over: afterwards the system hands the end over as the character NUL.
#[must_use]
pub fn take_typed_end() -> bool {
    system::take_typed_end()
}
