//! The labels of a model: data of its author, kept as they are.
//!
//! A label is at most 200 characters long and contains no control character. Markup is not refused: answers are JSON,
//! and who shows a label escapes it.

use crate::limits::{LABEL_CHARACTERS, LABELS};

/// The names of a model's outputs, in the order of the outputs. Never empty.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Labels(Vec<String>);

/// Labels that a model cannot have.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidLabels {
    #[error("the model has no labels: add `labels` to model.json, or a file labels.txt")]
    Missing,
    #[error("{0} labels are more than {LABELS}")]
    TooMany(usize),
    #[error("label {0} is empty")]
    Empty(usize),
    #[error("label {0} is longer than {LABEL_CHARACTERS} characters")]
    TooLong(usize),
    #[error("label {0} contains a control character")]
    ControlCharacter(usize),
    #[error("labels.txt is not UTF-8")]
    NotText,
    #[error("labels stand in model.json and in labels.txt: remove one of them")]
    Twice,
    #[error("outputs of the model: {outputs}, labels: {labels}; each output needs one label")]
    Count { outputs: usize, labels: usize },
}

impl Labels {
    /// Takes the labels from `listed` in model.json, or from the lines of labels.txt.
    ///
    /// # Errors
    /// If both or neither have labels, or a label is invalid.
    pub fn choose(listed: Option<Self>, file: Option<&[u8]>) -> Result<Self, InvalidLabels> {
        match (listed, file) {
            (Some(_), Some(_)) => Err(InvalidLabels::Twice),
            (Some(listed), None) => Ok(listed),
            (None, Some(file)) => Self::from_lines(file),
            (None, None) => Err(InvalidLabels::Missing),
        }
    }

    /// Reads one label from each line.
    ///
    /// # Errors
    /// If `file` is not UTF-8, has no line, or a label is invalid.
    pub fn from_lines(file: &[u8]) -> Result<Self, InvalidLabels> {
        let text = std::str::from_utf8(file).map_err(|_| InvalidLabels::NotText)?;
        text.lines().map(str::to_owned).collect::<Vec<_>>().try_into()
    }

    /// Checks that each of the model's `outputs` has a label.
    ///
    /// # Errors
    /// If the numbers differ.
    pub fn fit(&self, outputs: usize) -> Result<(), InvalidLabels> {
        let labels = self.0.len();
        if labels == outputs { Ok(()) } else { Err(InvalidLabels::Count { outputs, labels }) }
    }

    /// Returns the label of an output.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }

    /// Returns the number of labels.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl TryFrom<Vec<String>> for Labels {
    type Error = InvalidLabels;

    fn try_from(labels: Vec<String>) -> Result<Self, InvalidLabels> {
        if labels.is_empty() {
            return Err(InvalidLabels::Missing);
        }
        if labels.len() > LABELS {
            return Err(InvalidLabels::TooMany(labels.len()));
        }
        for (index, label) in labels.iter().enumerate() {
            if label.is_empty() {
                return Err(InvalidLabels::Empty(index));
            }
            if label.chars().count() > LABEL_CHARACTERS {
                return Err(InvalidLabels::TooLong(index));
            }
            if label.chars().any(char::is_control) {
                return Err(InvalidLabels::ControlCharacter(index));
            }
        }
        Ok(Self(labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_labels_are_refused() {
        let of = |labels: &[&str]| {
            Labels::try_from(labels.iter().map(|&label| label.to_owned()).collect::<Vec<_>>())
        };
        let long = "ü".repeat(201);
        let cases: [(&[&str], InvalidLabels); 6] = [
            (&[], InvalidLabels::Missing),
            (&["a", ""], InvalidLabels::Empty(1)),
            (&[&long], InvalidLabels::TooLong(0)),
            (&["a\nb"], InvalidLabels::ControlCharacter(0)),
            (&["\u{1b}[31m"], InvalidLabels::ControlCharacter(0)),
            (&["a\u{85}"], InvalidLabels::ControlCharacter(0)),
        ];
        for (labels, fault) in cases {
            assert_eq!(of(labels), Err(fault), "{labels:?}");
        }
        assert!(of(&["ü".repeat(200).as_str()]).is_ok());
    }

    #[test]
    fn markup_is_kept() {
        let labels = Labels::from_lines(b"<script>alert(1)</script>\r\n\"&'\n").unwrap();
        assert_eq!((labels.get(0), labels.get(1)), ("<script>alert(1)</script>", "\"&'"));
        assert_eq!(labels.count(), 2);
    }

    #[test]
    fn labels_stand_in_one_place_and_fit_the_model() {
        let listed = || Some(Labels(vec!["a".to_owned()]));
        assert_eq!(Labels::choose(listed(), Some(b"a")), Err(InvalidLabels::Twice));
        assert_eq!(Labels::choose(None, None), Err(InvalidLabels::Missing));
        assert_eq!(Labels::choose(None, Some(b"\xff")), Err(InvalidLabels::NotText));
        assert_eq!(Labels::choose(None, Some(b"")), Err(InvalidLabels::Missing));
        let labels = Labels::choose(listed(), None).unwrap();
        assert_eq!(labels.fit(1), Ok(()));
        assert_eq!(labels.fit(2), Err(InvalidLabels::Count { outputs: 2, labels: 1 }));
    }
}
