//! Simulated devices over real sockets. They put a backend under load, and the recorded events show
//! whether any command was lost or carried out twice.
//!
//! [`device`], [`history`] and [`siege`] are pure; [`drive`] is the shell around one device,
//! [`fleet`] runs many of them in one process, [`shared`] holds what they have in common. A
//! [`transport`] carries a device's part of the protocol.

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
