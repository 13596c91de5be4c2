//! The transports of the control plane. Each is a source of events; what it needs of the core it
//! asks for through the inbox.

pub(crate) mod http;
