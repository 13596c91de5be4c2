//! Lanes: commands of the same lane run one after another.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{id::ModelId, limits};

/// A lane of commands. The commands of one model run one after another. The control lane overtakes
/// all others. The agent lane waits for all others, and no later command overtakes it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Lane {
    Control,
    Model(ModelId),
    Agent,
}

impl Lane {
    /// Returns the queue length, in commands, below which a command of this lane is accepted.
    #[must_use]
    pub const fn queue_limit(self) -> usize {
        match self {
            Self::Control => limits::QUEUE_LIMIT + limits::CONTROL_RESERVE,
            Self::Model(_) | Self::Agent => limits::QUEUE_LIMIT,
        }
    }
}

/// The text is not the name of a lane.
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
