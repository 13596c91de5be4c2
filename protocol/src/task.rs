//! What a model is for, as the metadata of its file says.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a model is for.
#[derive(
    Clone,
    Copy,
    Debug,
    Deserialize,
    Eq,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
    utoipa::ToSchema,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Continues a text or a conversation.
    Chat,
    /// Turns a text into a vector.
    Embeddings,
    /// Ranks documents for a query.
    Rerank,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chat => "chat",
            Self::Embeddings => "embeddings",
            Self::Rerank => "rerank",
        })
    }
}
