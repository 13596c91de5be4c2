//! The number of threads of the router library.
//!
//! The library reads and writes a TLS link in two threads at the same time, through one rustls connection that does not
//! allow this (zenoh issue 2557, open in 1.10). The result is undefined: for example, a link in use fails with
//! "handshake not complete". On one thread, reads and writes take turns, so each program restricts the library to one
//! thread before it opens a session.

/// The environment variable that configures the library, which reads it once.
const VARIABLE: &str = "ZENOH_RUNTIME";

/// The setting for one thread: the application's thread does all work.
const ONE_THREAD: &str = "(app: (worker_threads: 1), acc: (handover: app), tx: (handover: app), \
                          rx: (handover: app), net: (handover: app))";

/// Restricts the router library to one thread, and overrides the environment. Must be called once, before the program
/// starts a thread or opens a session.
pub fn keep_to_one() {
    #[expect(
        unsafe_code,
        clippy::disallowed_methods,
        reason = "the library takes it from the environment only, and there is no other thread"
    )]
    // SAFETY: the caller has no other thread that could read or change the environment.
    unsafe {
        std::env::set_var(VARIABLE, ONE_THREAD);
    }
}
