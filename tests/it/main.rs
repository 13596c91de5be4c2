//! Black-box tests: real programs, a real engine, and deliberate faults, in a single test binary.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests work on files, processes and time"
)]

mod backend_service;
mod booted;
mod browser;
mod bucket;
mod chat;
mod classifiers;
mod clients;
#[path = "../../backend/tests/store/cluster.rs"]
mod cluster;
mod configuration;
mod containment;
mod crashes;
mod deployment;
mod desired;
mod developer;
mod device_update;
mod doctor;
mod encoders;
mod engine_download;
mod engine_line;
mod examples;
mod expiry;
mod fault_proxy;
mod faults;
mod first_process;
mod guard;
mod history;
mod hostile_plugin;
mod install_script;
mod interrupted;
mod local_api;
mod local_logs;
mod main_job;
mod model_files;
mod network;
#[path = "../../backend/tests/store/object_store.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod object_store;
mod other_user;
mod people;
mod plugin_archives;
mod plugin_authors;
mod plugin_lives;
mod plugins;
mod published;
mod readme;
mod registration;
mod secrets;
mod service;
mod serving;
mod simulation;
mod state_folder;
mod support;
mod transcriber;
mod transfer;
mod uninstall;
mod up;
mod update;
mod usage;
mod zenoh;
