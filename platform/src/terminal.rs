//! The terminal of this process: what is typed into it is not shown while a secret is asked for.

#[cfg(unix)]
#[path = "terminal/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "terminal/windows.rs"]
mod system;

/// The terminal shows nothing of what is typed; dropping it lets the terminal show it again.
#[derive(Debug)]
pub struct Hidden {
    _system: system::Hidden,
}

/// Stops the terminal from showing what is typed, so that a prompt may be printed: a secret that is
/// pasted or sent as soon as the prompt is there is not shown. Nothing when there is no terminal.
#[must_use]
pub fn hide_input() -> Option<Hidden> {
    system::hide_input().map(|system| Hidden { _system: system })
}
