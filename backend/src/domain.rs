//! The rules of the backend, as pure functions.
//!
//! This module uses no file, socket, thread, clock or random number: the time and new identifiers are arguments, and
//! every rule is a function from stored facts to a result or a [`refusal::Refusal`].

pub mod account;
pub mod alias;
pub mod allowance;
pub mod allowlist;
pub mod attempts;
pub mod audit;
pub mod cancel;
pub mod change;
pub mod checkup;
pub mod claim;
pub mod clock_offset;
pub mod command;
pub mod connections;
pub mod deploy;
pub mod deployment;
pub mod desired;
pub mod device;
pub mod device_flow;
pub mod device_log;
pub mod door;
pub mod explain;
pub mod feed;
pub mod key;
pub mod local_owner;
pub mod member;
pub mod model;
pub mod model_state;
pub mod name;
pub mod network;
pub mod operation;
pub mod outcome;
pub mod ownership;
pub mod permission;
pub mod quota;
pub mod refresh;
pub mod refusal;
pub mod registration;
pub mod retention;
pub mod retirement;
pub mod routers;
pub mod routes;
pub mod scan;
pub mod seat;
pub mod sharing;
pub mod slot;
pub mod summary;
pub mod tag;
pub mod token;
pub mod transfer;
pub mod wish;
