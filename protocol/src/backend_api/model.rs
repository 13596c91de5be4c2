//! Models. A model is a description and a file, which is uploaded or downloaded from a URL.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    account_name::AccountName, command::Sha256Hex, file_name::FileName, id::ModelId, task::Task,
};

/// `POST /api/v1/models`. With `url`, `sha256` and `size_bytes`, devices download the file from the
/// URL and the backend keeps no copy. Without `url`, the next request uploads the file.
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
    /// The plugin whose engine runs the model.
    #[serde(default = "language_model")]
    pub plugin: String,
    /// Whether every account may deploy the model on its own devices. Only the accounts that the
    /// backend's configuration names can share models; on a backend with one account, that account
    /// can.
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

/// The order of a list of models. A leading `-` reverses it. Models with the same name or size are listed oldest first, or
/// newest first with `-`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub enum ModelSort {
    /// The newest first.
    #[default]
    #[serde(rename = "-created")]
    Newest,
    /// The oldest first.
    #[serde(rename = "created")]
    Oldest,
    /// By name. Upper and lower case are treated alike; for letters outside ASCII this depends on the database.
    #[serde(rename = "name")]
    Name,
    /// By name, in reverse.
    #[serde(rename = "-name")]
    NameDescending,
    /// Models of unknown size first, then the smallest.
    #[serde(rename = "size")]
    Size,
    /// The largest first.
    #[serde(rename = "-size")]
    SizeDescending,
}

impl ModelSort {
    /// Returns the order's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "-created",
            Self::Oldest => "created",
            Self::Name => "name",
            Self::NameDescending => "-name",
            Self::Size => "size",
            Self::SizeDescending => "-size",
        }
    }
}

/// The filter, the order and the page of a list of models.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ModelQuery {
    /// Only models whose name contains this text, or whose id begins with it (with or without `mdl_`). Upper and
    /// lower case are treated alike; for letters outside ASCII this depends on the database. 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// The order of the list.
    #[serde(default)]
    #[param(default = "-created")]
    pub sort: ModelSort,
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
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
    /// Whether every account may deploy the model on its own devices.
    pub shared: bool,
    /// Whether the model can be deployed: its file is uploaded, or has a URL.
    pub ready: bool,
    /// The metadata of the file, if the backend has read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<ModelFacts>,
    /// Whether the caller's account owns the model.
    pub owned: bool,
    /// The name of the account that owns the model. Other accounts call the model `publisher/name`.
    #[serde(default)]
    pub publisher: Option<AccountName>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// The metadata in the file of a language model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ModelFacts {
    /// The architecture, such as `llama`.
    pub architecture: String,
    /// The quantization, such as `Q4_K_M`, if the file names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
    /// The number of parameters: of values in the tensors.
    pub parameters: u64,
    /// The longest context, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    /// What the model is for. Absent if the file was read by an older backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// The approximate memory that the model needs: its weights, and the cache of a context of
    /// 4,096 tokens.
    pub memory_bytes: u64,
}

/// The plugin of language models. The backend inspects the files of its models.
pub const LANGUAGE_MODEL: &str = "language_model";

fn language_model() -> String {
    LANGUAGE_MODEL.to_owned()
}
