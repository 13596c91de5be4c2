//! Plugins: what a person may install from a stranger's folder.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(link_fuzz::plugin::check(data)));
