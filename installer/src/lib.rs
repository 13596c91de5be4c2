//! Installs, checks, repairs, updates and uninstalls Link from unpacked releases.
//!
//! A version is complete once its `ok` file exists, which is written last. After that, the pointer to the current
//! version changes atomically. The receipt lists every file of an installation, and no other file is ever deleted.

#![forbid(unsafe_code)]

pub mod catalogue;
pub mod decide;
pub mod engine_download;
pub mod engine_index;
pub mod engines;
pub mod guard_program;
pub mod install;
pub mod intact;
pub mod key_file;
pub mod layout;
pub mod owner_keys;
pub mod path_files;
pub mod plugins;
pub mod receipt;
pub mod service;
pub mod shared;
pub mod source;
pub mod stage;
pub mod state_file;
pub mod trust;
pub mod uninstall;
pub mod uninstall_backend;
pub mod unpacked;
pub mod versions;

mod observe;
mod signers;

pub use decide::{engine, guard, update};
