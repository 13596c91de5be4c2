//! The archive of a classifier's model: what somebody uploads, or a device has downloaded.

#![no_main]

#[expect(dead_code, reason = "each target uses one of the two checks")]
#[path = "../src/classifier.rs"]
mod classifier;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(classifier::check_archive(data)));
