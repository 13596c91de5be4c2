//! The description of a classifier's model: what its author writes.

#![no_main]

#[expect(dead_code, reason = "each target uses one of the two checks")]
#[path = "../src/classifier.rs"]
mod classifier;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(classifier::check_settings(data)));
