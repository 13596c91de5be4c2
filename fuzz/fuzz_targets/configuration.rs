//! Configuration files.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(link_fuzz::configuration::check(data)));
