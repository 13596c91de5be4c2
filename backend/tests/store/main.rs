//! The stores by themselves: the schemas of the database, and how it is brought from each of them to
//! the newest; model files in each of their homes.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod cluster;
mod contents;
mod migrations;
mod object_store;
mod unreliable;
