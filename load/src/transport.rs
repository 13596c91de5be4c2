//! The transports between a simulated device and the backend. A transport creates links. A link is
//! one connection of one device; dropping the link cuts the connection.

pub mod http;
pub mod zenoh;

use std::time::Duration;

use link_protocol::{
    agent_api::{Hello, Poll, Welcome},
    counter::Seq,
    envelope::Receipt,
    identity::Identity,
    report::CommandReport,
};

/// The outcome of a message from a device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The backend confirmed the message.
    Taken,
    /// The message was sent without a confirmation. A lost message is repeated.
    Sent,
    /// The backend refused the message permanently, for example because it came too late.
    Refused(u16),
}

/// A connection ended or failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Lost {
    /// A retry may succeed soon.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The backend does not know the device.
    #[error("the backend refused the device with status {0}")]
    Refused(u16),
}

/// A transport to the backend.
pub trait Transport: Clone + Send + Sync + 'static {
    /// The type of its connections.
    type Link: Link;

    /// Connects a device.
    fn connect(&self, identity: &Identity)
    -> impl Future<Output = Result<Self::Link, Lost>> + Send;
}

/// One connection of one device; dropping it cuts it. Messages can be sent while a poll waits.
pub trait Link: Send + Sync {
    /// Sends the device's hello.
    fn hello(&self, hello: &Hello) -> impl Future<Output = Result<Welcome, Lost>> + Send;

    /// Waits for commands after the sequence number `after`.
    fn poll(&self, after: Seq, wait: Duration) -> impl Future<Output = Result<Poll, Lost>> + Send;

    /// Answers a delivery.
    fn receipt(&self, receipt: &Receipt) -> impl Future<Output = Result<Answer, Lost>> + Send;

    /// Reports a result.
    fn result(&self, report: &CommandReport) -> impl Future<Output = Result<Answer, Lost>> + Send;
}
