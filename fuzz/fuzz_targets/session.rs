//! Session files, one or several, and the agent that takes one up.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(link_fuzz::session::check(data)));
