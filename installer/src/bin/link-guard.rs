//! The guard: the parent of the agent, and the only program of Link that the system starts.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    link_installer::guard_program::main()
}
