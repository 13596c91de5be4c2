//! Typed calls to the backend and to the local API of the agent.
//!
//! The pure module [`retry`] decides which failures may be retried; [`http`] sends requests. `link_protocol` defines
//! the types of all answers.

#![forbid(unsafe_code)]

pub mod agent;
pub mod backend;
pub mod chat;
pub mod containment;
pub mod download;
pub mod engine;
pub mod enrolment;
mod event_stream;
mod exchange;
pub mod http;
pub mod local;
pub mod model_file;
pub mod page;
pub mod pin;
pub mod reach;
pub mod remote;
pub mod retry;
pub mod roots;
pub mod transfer;
#[cfg(feature = "zenoh")]
pub mod zenoh;

/// Makes ring the crypto provider of this process. Each `main` calls this first. Further calls do
/// nothing.
pub fn install_crypto() {
    let installed = rustls::crypto::ring::default_provider().install_default();
    debug_assert!(installed.is_ok() || rustls::crypto::CryptoProvider::get_default().is_some());
}
