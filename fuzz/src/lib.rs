//! What must hold for any bytes that reach a parser of Link.
//!
//! Each module has one `check`: it panics when a property is broken, and says what of the parser
//! the bytes have reached. The fuzz targets call it with what the fuzzer makes up, and
//! `agent/core/tests/corpus.rs` with what was found worth keeping.

pub mod command;
pub mod configuration;
pub mod model;
mod play;
pub mod plugin;
pub mod session;
