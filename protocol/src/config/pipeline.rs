//! The agent's own pipelines.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    fault::Faults,
    reader::{Name, Node, Object, Text},
};

/// A pipeline: a source whose output goes to a sink, on a thread of its own.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct PipelineConfig {
    /// The unique name of the pipeline in logs and metrics.
    #[schemars(regex(pattern = "^[a-z0-9_-]{1,64}$"))]
    pub id: String,
    /// The name of a registered source.
    pub source: String,
    /// The name of a registered sink.
    pub sink: String,
    /// Whether the pipeline runs. Default: `true`.
    #[serde(default = "active")]
    pub active: bool,
}

const fn active() -> bool {
    true
}

impl PipelineConfig {
    pub(super) fn read(node: &Node<'_>, faults: &mut Faults) -> Option<Self> {
        let mut object = Object::open(node, faults)?;
        let id: Option<Name> = object.required("id", faults);
        let source: Option<Text> = object.required("source", faults);
        let sink: Option<Text> = object.required("sink", faults);
        let active = object.optional("active", faults).unwrap_or(true);
        object.close(faults);
        Some(Self { id: id?.0, source: source?.0, sink: sink?.0, active })
    }
}

/// Returns the pipelines of an agent whose configuration lists none.
pub(super) fn defaults() -> Vec<PipelineConfig> {
    let pipeline = |id: &str, source: &str, sink: &str| PipelineConfig {
        id: id.to_owned(),
        source: source.to_owned(),
        sink: sink.to_owned(),
        active: true,
    };
    vec![
        pipeline("control", "commands", "command_handler"),
        pipeline("system", "system_monitor", "reports"),
    ]
}
