//! The stores alone: the migrations of the database from every schema, and model files in each of their homes.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod cluster;
mod contents;
mod migrations;
mod object_store;
mod unreliable;
