//! How many threads the router library works with.
//!
//! Its TLS links are read by one thread and written by another at the same time, through one rustls
//! connection that allows neither (zenoh issue 2557, open in 1.10). What that does is undefined: a
//! link that breaks with "handshake not complete" while it is used, or worse. On one thread reading
//! and writing take turns, so each program that opens a session sees to that first.

/// The variable that the library reads, once.
const VARIABLE: &str = "ZENOH_RUNTIME";

/// Everything is done by the thread of the application.
const ONE_THREAD: &str = "(app: (worker_threads: 1), acc: (handover: app), tx: (handover: app), \
                          rx: (handover: app), net: (handover: app))";

/// Keeps the router library to one thread, whatever the environment says. To be called once, before
/// there are threads and before a session is opened.
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
