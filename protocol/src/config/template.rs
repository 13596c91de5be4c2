//! Targets of reports: texts with placeholders that are filled in at run time.
//!
//! A template is parsed when the configuration is read, so an unknown placeholder is a fault of the file
//! and never a wrong address later.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{CommandId, DeviceId, ModelId};

/// A text with placeholders, such as `/agent/${identity.device_id}/commands/{cid}/status`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^/"))]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    Text(String),
    Place(Placeholder),
}

/// A placeholder of a template.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Placeholder {
    /// `${identity.device_id}`
    DeviceId,
    /// `{cid}`: the command that the report is about.
    CommandId,
    /// `{mid}`: the model that the report is about.
    ModelId,
}

/// The values of the placeholders. A report without a command or a model has no value for them, and a checked
/// configuration does not use them for such a report.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    pub device_id: DeviceId,
    pub command_id: Option<CommandId>,
    pub model_id: Option<ModelId>,
}

/// The text is not a template.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidTemplate {
    #[error("it does not start with `/`")]
    NoPath,
    #[error("`{0}` is not known: there are `${{identity.device_id}}`, `{{cid}}` and `{{mid}}`")]
    Unknown(String),
    #[error("a `{{` is not closed")]
    Open,
}

impl Placeholder {
    const ALL: [Self; 3] = [Self::DeviceId, Self::CommandId, Self::ModelId];

    const fn text(self) -> &'static str {
        match self {
            Self::DeviceId => "${identity.device_id}",
            Self::CommandId => "{cid}",
            Self::ModelId => "{mid}",
        }
    }
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// [`InvalidTemplate`] if the text does not start with `/`, or a placeholder is unknown or not closed.
    pub fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        if !text.starts_with('/') {
            return Err(InvalidTemplate::NoPath);
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let start = if rest[..open].ends_with('$') { open - 1 } else { open };
            let length = rest[start..].find('}').ok_or(InvalidTemplate::Open)? + 1;
            let found = &rest[start..start + length];
            let place = Placeholder::ALL.into_iter().find(|place| place.text() == found);
            let place = place.ok_or_else(|| InvalidTemplate::Unknown(found.to_owned()))?;
            parts.push(Part::Text(rest[..start].to_owned()));
            parts.push(Part::Place(place));
            rest = &rest[start + length..];
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self(parts))
    }

    /// Returns the placeholders of the template.
    pub fn placeholders(&self) -> impl Iterator<Item = Placeholder> {
        self.0.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Place(place) => Some(*place),
        })
    }

    /// Replaces the placeholders with their values. Ids contain no characters with a meaning in a path.
    #[must_use]
    pub fn fill(&self, values: &Values) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Place(Placeholder::DeviceId) => values.device_id.to_string(),
            Part::Place(Placeholder::CommandId) => {
                values.command_id.map(|id| id.to_string()).unwrap_or_default()
            }
            Part::Place(Placeholder::ModelId) => {
                values.model_id.map(|id| id.to_string()).unwrap_or_default()
            }
        });
        parts.collect()
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Place(place) => f.write_str(place.text()),
        })
    }
}

impl TryFrom<String> for Template {
    type Error = InvalidTemplate;

    fn try_from(text: String) -> Result<Self, InvalidTemplate> {
        Self::parse(&text)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.to_string()
    }
}
