//! The guard: the parent of the agent, and the only program of Link that the system starts.
//!
//! On Windows it is a program without a console, because the task scheduler starts it at logon and every five minutes, and
//! a console window would open each time.

#![windows_subsystem = "windows"]
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    link_installer::guard_program::main()
}
