//! The wire contract between the backend, the agent and the `link` command.
//!
//! Every type that crosses a process boundary is here, and only here. The crate uses no IO, no
//! clock and no async. Messages between agent and backend may contain unknown fields, so that
//! versions can mix. Requests of a person or a script may not. The golden files in `tests/golden`
//! contain every JSON body.

#![forbid(unsafe_code)]

pub mod account_name;
pub mod agent_api;
pub mod allowlist;
pub mod backend_api;
pub mod bounded;
pub mod build_name;
pub mod catalogue;
pub mod command;
pub mod config;
pub mod counter;
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
pub mod install_line;
pub mod install_script;
pub mod key;
pub mod limits;
pub mod local_api;
pub mod permission;
pub mod personal_token;
pub mod plugin;
pub mod plugin_archive;
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
pub mod task;
pub mod update;
pub mod zenoh;
