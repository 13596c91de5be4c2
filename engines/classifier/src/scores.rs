//! From the numbers of a network to scores of labels. Pure.

use serde::{Deserialize, Serialize};

use crate::{labels::Labels, refusal::Refusal};

/// What turns the numbers of a network into scores.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// The numbers are scores.
    #[default]
    None,
    /// The scores of all labels add up to 1.
    Softmax,
}

impl Activation {
    /// Turns `numbers` into scores, in place.
    pub fn apply(self, numbers: &mut [f32]) {
        match self {
            Self::None => {}
            Self::Softmax => {
                let highest = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                for number in &mut *numbers {
                    *number = (*number - highest).exp();
                }
                let sum: f32 = numbers.iter().sum();
                for number in numbers {
                    *number /= sum;
                }
            }
        }
    }
}

/// A label with its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scored {
    pub label: String,
    /// The number of the output, from 0.
    pub index: usize,
    pub score: f32,
}

/// The number of labels in an answer that asks for none.
pub const DEFAULT_TOP_K: usize = 5;

/// Reads the value of `top_k`: a decimal number from 1. Numbers above every model's labels are as good as the largest.
///
/// # Errors
/// If the text is 0 or not a number.
pub fn parse_top_k(text: &str) -> Result<usize, Refusal> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && text.bytes().any(|byte| byte != b'0') {
        return Ok(text.parse().unwrap_or(usize::MAX));
    }
    let message = "`top_k` is not a number from 1. Send how many labels the answer should have.";
    Err(Refusal::bad_request("invalid_top_k", message))
}

/// Returns the `top_k` labels with the highest scores, the highest first; equal scores in the order of the outputs.
/// Scores that are no numbers come last, as 0.
#[must_use]
pub fn top_k(scores: &[f32], labels: &Labels, top_k: usize) -> Vec<Scored> {
    let mut scored: Vec<(usize, f32)> = scores
        .iter()
        .map(|score| if score.is_finite() { *score } else { 0.0 })
        .enumerate()
        .collect();
    scored.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    scored.truncate(top_k);
    scored
        .into_iter()
        .map(|(index, score)| Scored { label: labels.get(index).to_owned(), index, score })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_softmax_adds_up_to_one_for_numbers_of_any_size() {
        for numbers in [[1.0_f32, 2.0, 3.0], [1000.0, 1001.0, 1002.0], [-1e30, 0.0, 1e30]] {
            let mut scores = numbers;
            Activation::Softmax.apply(&mut scores);
            assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{scores:?}");
            assert!(scores.is_sorted());
        }
        let mut scores = [0.25, 0.5];
        Activation::None.apply(&mut scores);
        assert_eq!(scores, [0.25, 0.5]);
    }

    #[test]
    fn top_k_is_a_number_from_one() {
        for (text, wanted) in
            [("1", 1), ("007", 7), ("1000", 1000), ("99999999999999999999999", usize::MAX)]
        {
            assert_eq!(parse_top_k(text), Ok(wanted), "{text}");
        }
        for text in ["", "0", "00", "-1", "+1", "1.5", "five", " 5", "0x5", "٣"] {
            assert_eq!(parse_top_k(text).unwrap_err().status, 400, "{text}");
        }
    }

    #[test]
    fn the_highest_scores_come_first() {
        let labels = Labels::from_lines(b"a\nb\nc\nd").unwrap();
        let names = |scores: &[f32], count| -> String {
            top_k(scores, &labels, count).into_iter().map(|scored| scored.label).collect()
        };
        assert_eq!(names(&[0.1, 0.4, 0.3, 0.2], 2), "bc");
        assert_eq!(names(&[0.1, 0.4, 0.3, 0.2], 9), "bcda");
        assert_eq!(names(&[0.25, 0.25, 0.25, 0.25], 4), "abcd", "a stable order");
        assert_eq!(names(&[f32::NAN, 0.4, f32::INFINITY, 0.2], 4), "bdac");
    }
}
