//! The backend's HTTP API, in process, with a clock that tests move; one file for each subject.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod account;
mod agent;
mod allowlist;
mod audit;
mod bucket_upload;
#[path = "../store/cluster.rs"]
mod cluster;
mod command;
mod content;
mod contention;
mod deployment;
mod device;
mod device_flow;
mod document;
mod documented;
mod ended;
mod events;
mod explain;
mod faults;
mod fleet;
mod flood;
mod growth;
mod harness;
mod key;
mod lists;
mod local_owner;
mod long_texts;
mod matrix;
mod member;
mod metric;
mod model;
mod model_file;
#[path = "../store/object_store.rs"]
mod object_store;
mod operation;
mod operation_kinds;
mod operation_restart;
mod orders;
mod postgres;
mod presence;
mod quota;
mod registration;
mod repair;
mod replicas;
mod restart;
mod retention;
mod retire;
mod scene;
mod serving;
mod session;
mod sharing;
mod stolen;
mod stolen_session;
mod system;
mod token;
mod trace;
mod transfer;
mod usage;
mod web;
