//! `scripts/install.sh` with real programs, in every shell that is here: whatever goes wrong, the
//! exit code is the documented one, and nothing is left behind.
//!
//! As much as possible runs in a scratch home; what needs a full or read-only disk runs in mounts
//! of its own, and says so where it cannot have them.

#![expect(clippy::print_stderr, reason = "a test says why it is skipped")]

mod again;
mod backend;
mod canary;
mod cuts;
mod disks;
mod faults;
mod kills;
mod network;
mod places;
mod plan;
mod release;
mod scratch;
mod shells;
mod signals;
mod tools;
