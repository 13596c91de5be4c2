//! The announced properties of a model file, and the file's name in storage.

use link_protocol::{command::Sha256Hex, id::ModelId};

/// The announced properties of a file.
#[derive(Clone, Debug)]
pub struct Announced {
    pub model: ModelId,
    pub sha256: Option<Sha256Hex>,
    /// An expected size; the actual size may differ.
    pub size_bytes: Option<u64>,
}

/// Returns the name of a model's file: the model's id, a dot, and the checksum.
pub(super) fn name(model: ModelId, sha256: &Sha256Hex) -> String {
    format!("{model}.{sha256}")
}
