//! The storage layers alone: the migrations of the database from every schema, and both kinds of storage for model
//! files.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod cluster;
mod contents;
mod migrations;
mod object_store;
mod unreliable;
