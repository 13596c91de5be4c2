//! Values that must not reach a log, an error or a terminal by accident.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A secret text. `Debug` prints stars; only [`Secret::expose`] returns the text.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = String)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for the one place that must send or store it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_the_text() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "***");
    }
}
