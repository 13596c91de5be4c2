//! The wire contract between the backend, the agent and the `link` command.
//!
//! Every type that crosses a process boundary is here, and only here. No IO, no clock, no async.
//! Agent-facing readers tolerate unknown fields, so that versions can mix; requests that a person
//! or a script writes refuse them. Golden files in `tests/golden` hold every JSON body.

#![forbid(unsafe_code)]

pub mod account_name;
pub mod agent_api;
pub mod allowlist;
pub mod backend_api;
pub mod catalogue;
pub mod command;
pub mod config;
pub mod deployment;
pub mod engine_index;
pub mod envelope;
pub mod error_chain;
pub mod exit_code;
pub mod file_name;
pub mod gguf;
pub mod guard_line;
pub mod handover;
pub mod id;
pub mod identity;
pub mod key;
pub mod limits;
pub mod local_api;
pub mod permission;
pub mod personal_token;
pub mod port;
pub mod problem;
pub mod registration;
pub mod release;
pub mod report;
pub mod retire;
pub mod secret;
pub mod selector;
pub mod shown;
pub mod signed_document;
pub mod signing;
pub mod system;
pub mod update;
pub mod zenoh;
