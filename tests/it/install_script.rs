//! `scripts/install.sh` with real programs, in every shell of this machine: each failure has its
//! documented exit code and leaves nothing behind.
//!
//! Most tests run in a temporary home. A test that needs a full or read-only disk runs in its own
//! mounts, and says so if it cannot create them.

#![expect(clippy::print_stderr, reason = "a test says why it is skipped")]

mod again;
mod backend;
mod canary;
mod cuts;
mod disks;
mod faults;
mod kills;
mod managers;
mod network;
mod places;
mod plan;
mod prove;
mod release;
mod scratch;
mod shells;
mod signals;
mod tools;
