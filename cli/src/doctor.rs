//! The decisions of `link doctor`: what is wrong on this machine, and what mends it. Pure.
//!
//! Each module judges the facts of one area. `command::doctor` collects the facts, prints the findings and mends what is
//! safe to mend.

pub(crate) mod agent;
pub(crate) mod cell;
pub(crate) mod finding;
pub(crate) mod installation;
pub(crate) mod machine;
pub(crate) mod models;
pub(crate) mod network;
pub(crate) mod origin;
pub(crate) mod ports;
pub(crate) mod service;

pub(crate) use finding::{Area, Diagnosis, Finding, Fix};

#[cfg(test)]
mod tests;
