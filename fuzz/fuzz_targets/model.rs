//! Model files: what somebody uploads, or a device has downloaded.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(link_fuzz::model::check(data)));
