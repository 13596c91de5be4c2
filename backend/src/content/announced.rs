//! What is known about a model file before it arrives, and the name under which it is kept.

use link_protocol::{command::Sha256Hex, id::ModelId};

/// What is known about a file before it arrives.
#[derive(Clone, Debug)]
pub struct Announced {
    pub model: ModelId,
    pub sha256: Option<Sha256Hex>,
    /// A hint: the file may have another size.
    pub size_bytes: Option<u64>,
}

/// Returns the name of a model's file: the model's id, a dot, and the checksum.
pub(super) fn name(model: ModelId, sha256: &Sha256Hex) -> String {
    format!("{model}.{sha256}")
}
