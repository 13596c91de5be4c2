//! Everything that differs between operating systems, and a few primitives that must be exact, such
//! as files that are never half written and processes that do not outlive their parent.
//!
//! `cfg(target_os)`, `cfg(unix)` and `cfg(windows)` are used only here.

#![deny(unsafe_code)]

pub mod awake;
pub mod checkpoint;
pub mod connections;
pub mod contain;
pub mod cpu_time;
pub mod descriptors;
pub mod disk;
pub mod facts;
pub mod first_process;
pub mod fs;
#[cfg(windows)]
mod held;
pub mod line;
pub mod log;
pub mod memory;
pub mod names;
pub mod notify;
pub mod path_env;
pub mod paths;
pub mod pointer;
pub mod port_owner;
pub mod private_socket;
pub mod process;
pub mod process_view;
pub mod program;
pub mod router_socket;
pub mod router_threads;
pub mod signal;
#[cfg(windows)]
mod stop_request;
pub mod terminal;
pub mod user_manager;
pub mod user_path;
