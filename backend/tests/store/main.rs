//! The store by itself: its schemas, and how it is brought from each of them to the newest.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod cluster;
mod migrations;
