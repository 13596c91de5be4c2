//! Properties that every parser of Link has for any input.
//!
//! Each module has one `check`: it panics if a property is broken, and returns which part of the parser the input has
//! reached. The fuzz targets call it with the inputs of the fuzzer, and `agent/core/tests/corpus.rs` with the stored
//! inputs.

pub mod command;
pub mod configuration;
pub mod model;
mod play;
pub mod plugin;
pub mod session;
