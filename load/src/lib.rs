//! Simulated devices over real sockets: what holds a backend under load and what checks, from
//! everything that was seen, that nothing was lost and nothing done twice.
//!
//! [`device`], [`history`] and [`siege`] are pure; [`drive`] is the shell around one device, [`fleet`] many of
//! them in one process, [`shared`] what these have in common. A [`transport`] carries a device's part of the protocol.

#![forbid(unsafe_code)]

pub mod clock;
pub mod device;
pub mod drive;
pub mod fleet;
pub mod history;
pub mod identities;
pub mod record;
pub mod shared;
pub mod siege;
pub mod transport;
