//! The foundation of the black-box tests: real programs, temporary homes, free ports, injected
//! faults.
//!
//! No test sleeps for a fixed time: [`wait::until`] waits for a condition, with a deadline.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test harness is all effects, and a failed step ends the test"
)]

pub mod backend;
pub mod booted;
pub mod chat;
pub mod device;
pub mod disk;
pub mod engine_index;
pub mod engines;
pub mod installed;
pub mod internet;
pub mod machine;
pub mod model_server;
pub mod namespace;
pub mod person;
pub mod program;
pub mod readme;
pub mod release;
pub mod release_server;
pub mod schema;
pub mod terminal;
pub mod tree;
pub mod wait;
