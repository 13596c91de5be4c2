//! The cells of the matrix that `link doctor --origin` fills.

use schemars::JsonSchema;
use serde::Serialize;

/// A request that a page makes.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// The question of OpenAI's npm client: a POST with a token and headers of its own.
    Chat,
    /// A plain GET of the model, which the browser sends at once.
    Model,
    /// The same GET with a token, for which the browser asks first.
    ModelWithToken,
}

impl Request {
    pub(crate) const ALL: [Self; 3] = [Self::Chat, Self::Model, Self::ModelWithToken];
}

/// One cell of the matrix: a request of a page of one origin to one model.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub(crate) struct Cell {
    pub(crate) model: String,
    pub(crate) port: u16,
    /// The origin of the page, or `null` for a file or a page in a sandbox.
    pub(crate) origin: String,
    pub(crate) request: Request,
    /// Whether the browser lets the page see the answer.
    pub(crate) allowed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}
