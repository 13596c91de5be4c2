//! Models: a description, and a file that is uploaded or fetched from an address.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{account_name::AccountName, command::Sha256Hex, file_name::FileName, id::ModelId};

/// `POST /api/v1/models`. With `url`, `sha256` and `size_bytes` devices fetch the file from there
/// and the backend keeps no copy; without `url` the file is uploaded next.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateModel {
    /// 1 to 100 characters.
    pub name: String,
    pub file_name: FileName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256Hex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The plugin whose engine runs it.
    #[serde(default = "language_model")]
    pub plugin: String,
    /// Whether every account may deploy it on its own devices. Only accounts that the backend's
    /// configuration names may say so; on a backend with one account, that one.
    #[serde(default)]
    pub shared: bool,
}

/// `PATCH /api/v1/models/{model_id}`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeModel {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
}

/// A model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Model {
    pub model_id: ModelId,
    pub name: String,
    pub file_name: FileName,
    pub url: Option<String>,
    pub sha256: Option<Sha256Hex>,
    pub size_bytes: Option<u64>,
    pub plugin: String,
    /// Whether every account may deploy it on its own devices.
    pub shared: bool,
    /// Whether its file can be deployed: uploaded, or at an address.
    pub ready: bool,
    /// What its file says of itself, where the backend has looked at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<ModelFacts>,
    /// Whether the caller's account owns it.
    pub owned: bool,
    /// The name of the account that owns it: `publisher/name` is how others call it.
    #[serde(default)]
    pub publisher: Option<AccountName>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What the file of a language model says of itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ModelFacts {
    /// Such as `llama`.
    pub architecture: String,
    /// Such as `Q4_K_M`, where the file says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
    /// Numbers in its tensors.
    pub parameters: u64,
    /// Tokens of the longest context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    /// About how much memory it needs: its weights, and the cache of a context of 4,096 tokens.
    pub memory_bytes: u64,
}

/// The plugin of language models, whose files are looked at.
pub const LANGUAGE_MODEL: &str = "language_model";

fn language_model() -> String {
    LANGUAGE_MODEL.to_owned()
}
