//! What is known of a model file before it arrives, and the name it is kept under.

use link_protocol::{command::Sha256Hex, id::ModelId};

/// What is known of a file before it is received.
#[derive(Clone, Debug)]
pub struct Announced {
    pub model: ModelId,
    pub sha256: Option<Sha256Hex>,
    /// A hint; the file may turn out to have another size.
    pub size_bytes: Option<u64>,
}

/// The name of a model's file: letters, digits and one character between its two parts.
pub(super) fn name(model: ModelId, sha256: &Sha256Hex) -> String {
    format!("{model}.{sha256}")
}
