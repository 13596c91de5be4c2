//! The file with which a plugin is tested: a sample model, and requests with an answer.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{InvalidPlugin, LIST_LIMIT, Manifest, ensure};
use crate::build_name::is_build_name;

/// The file name of the samples in a plugin's folder.
pub const SAMPLE_FILE: &str = "check.toml";

/// What `link plugin check` starts an engine with, and sends to it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    /// A model file of the plugin's folder.
    pub model: String,
    /// The requests, each of which the engine must answer with 200: at most 64.
    #[serde(default, rename = "request")]
    pub requests: Vec<SampleRequest>,
}

/// A request that the engine answers with 200.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleRequest {
    /// A served path.
    pub path: String,
    #[serde(default = "json")]
    pub content_type: String,
    /// The body as text.
    #[serde(default)]
    pub body: Option<String>,
    /// A file of the plugin's folder with the body.
    #[serde(default)]
    pub file: Option<String>,
}

fn json() -> String {
    "application/json".to_owned()
}

impl Samples {
    /// Reads the samples of the plugin with this manifest.
    ///
    /// # Errors
    /// [`InvalidPlugin`].
    pub fn read(text: &str, plugin: &Manifest) -> Result<Self, InvalidPlugin> {
        let syntax = |source| InvalidPlugin::Syntax { file: SAMPLE_FILE.to_owned(), source };
        let samples: Self = toml::from_str(text).map_err(syntax)?;
        if !is_build_name(&samples.model) {
            return Err(InvalidPlugin::OutsideFolder(super::shown(&samples.model)));
        }
        ensure(samples.requests.len() <= LIST_LIMIT, "request", "up to 64 requests")?;
        for request in &samples.requests {
            let is_served = plugin.adapter.served(&request.path).is_some();
            ensure(is_served, "request.path", "a path that the adapter serves")?;
            let has_one = request.body.is_some() != request.file.is_some();
            ensure(has_one, "request", "a request with either `body` or `file`")?;
            let is_type = super::is_line(&request.content_type);
            ensure(is_type, "request.content_type", "one line of text")?;
            if let Some(file) = request.file.as_ref().filter(|file| !is_build_name(file)) {
                return Err(InvalidPlugin::OutsideFolder(super::shown(file)));
            }
        }
        Ok(samples)
    }
}
