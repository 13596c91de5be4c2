//! How a simulated device reaches the backend. A transport makes links; a link is one connection
//! of one device, and whoever drops it cuts it.

pub mod http;
pub mod zenoh;

use std::time::Duration;

use link_protocol::{
    agent_api::{Hello, Poll, Welcome},
    envelope::Receipt,
    identity::Identity,
    report::CommandReport,
};

/// What the backend did with something that a device sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It is noted.
    Taken,
    /// It left; whether it is noted is not told. What is not comes again.
    Sent,
    /// It came too late, or is not wanted for another reason that stays.
    Refused(u16),
}

/// A connection ended, or something on it failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Lost {
    /// It may work again soon.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The backend does not know the device.
    #[error("the backend refused the device with status {0}")]
    Refused(u16),
}

/// A way to the backend.
pub trait Transport: Clone + Send + Sync + 'static {
    /// One connection of one device.
    type Link: Link;

    /// Connects a device.
    fn connect(&self, identity: &Identity)
    -> impl Future<Output = Result<Self::Link, Lost>> + Send;
}

/// One connection of one device; dropping it cuts it. Something can be told while a poll waits.
pub trait Link: Send + Sync {
    /// Says what the device has.
    fn hello(&self, hello: &Hello) -> impl Future<Output = Result<Welcome, Lost>> + Send;

    /// Waits for commands after the sequence number `after`.
    fn poll(&self, after: u64, wait: Duration) -> impl Future<Output = Result<Poll, Lost>> + Send;

    /// Answers a delivery.
    fn receipt(&self, receipt: &Receipt) -> impl Future<Output = Result<Answer, Lost>> + Send;

    /// Reports a result.
    fn result(&self, report: &CommandReport) -> impl Future<Output = Result<Answer, Lost>> + Send;
}
