//! Commands: what a backend sends, signed or not.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(link_fuzz::command::check(data)));
