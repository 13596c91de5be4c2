//! Lanes: which commands keep their order among each other.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{id::ModelId, limits};

/// What keeps its order: commands of one model run one after another; the control lane overtakes
/// all; the agent lane waits for all and lets none pass.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Lane {
    Control,
    Model(ModelId),
    Agent,
}

impl Lane {
    /// How many commands may wait when one of this lane is added.
    #[must_use]
    pub const fn queue_limit(self) -> usize {
        match self {
            Self::Control => limits::QUEUE_LIMIT + limits::CONTROL_RESERVE,
            Self::Model(_) | Self::Agent => limits::QUEUE_LIMIT,
        }
    }
}

/// A text names no lane.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a lane is `control`, `agent` or `model:` and a model id")]
pub struct InvalidLane;

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Control => f.write_str("control"),
            Self::Model(model) => write!(f, "model:{model}"),
            Self::Agent => f.write_str("agent"),
        }
    }
}

impl FromStr for Lane {
    type Err = InvalidLane;

    fn from_str(text: &str) -> Result<Self, InvalidLane> {
        match text {
            "control" => Ok(Self::Control),
            "agent" => Ok(Self::Agent),
            other => {
                let model = other.strip_prefix("model:").ok_or(InvalidLane)?;
                model.parse().map(Self::Model).map_err(|_| InvalidLane)
            }
        }
    }
}

impl Serialize for Lane {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Lane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
