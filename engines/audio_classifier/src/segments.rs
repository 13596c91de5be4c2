//! From the scores of windows to labels with times. Pure.
//!
//! Windows of a label that touch or overlap are one segment. Segments of a label never overlap, so their lengths add up
//! to the time in which the label was found.

use link_plugin_classifier::{labels::Labels, refusal::Refusal};
use serde::Serialize;

/// Segments of an answer.
const MOST: usize = 100_000;

/// A time in which a label was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Segment {
    pub(crate) label: String,
    /// Seconds from the beginning of the sound.
    pub(crate) start: f64,
    /// Seconds from the beginning of the sound.
    pub(crate) end: f64,
    /// The mean of the scores of its windows, 0 to 1.
    pub(crate) score: f64,
}

/// How much of the sound has a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Share {
    pub(crate) label: String,
    pub(crate) seconds: f64,
    /// 0 to 1.
    pub(crate) share: f64,
}

/// Collects the windows that have a label.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    window: u64,
    hop: u64,
    rate: f64,
    threshold: f32,
    /// The segment of each label that may still grow.
    open: Vec<Option<Found>>,
    closed: Vec<Found>,
    windows: u64,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    label: usize,
    /// Samples.
    start: u64,
    /// Samples.
    end: u64,
    scores: f64,
    windows: u32,
}

impl Segments {
    /// Creates an empty collection for this number of labels. `window` and `hop` are in samples, `rate` in samples in a
    /// second.
    pub(crate) fn new(
        labels: usize,
        window: usize,
        hop: usize,
        rate: usize,
        threshold: f32,
    ) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "rates are small")]
        let rate = rate as f64;
        let (window, hop) = (window as u64, hop as u64);
        let open = vec![None; labels];
        Self { window, hop, rate, threshold, open, closed: Vec::new(), windows: 0 }
    }

    /// Adds the scores of the next window, one for each label.
    ///
    /// # Errors
    /// If there are more segments than an answer holds.
    pub(crate) fn push(&mut self, scores: &[f32]) -> Result<(), Refusal> {
        let start = self.windows * self.hop;
        let end = start + self.window;
        self.windows += 1;
        for (label, (open, score)) in self.open.iter_mut().zip(scores).enumerate() {
            if !score.is_finite() || *score < self.threshold {
                continue;
            }
            let score = f64::from(*score);
            match open {
                Some(found) if start <= found.end => {
                    found.end = end;
                    found.scores += score;
                    found.windows += 1;
                }
                Some(_) | None => {
                    let new = Found { label, start, end, scores: score, windows: 1 };
                    self.closed.extend(open.replace(new));
                    if self.closed.len() > MOST {
                        let message =
                            "The labels change too often for one answer. Send a shorter file.";
                        return Err(Refusal::too_large("too_many_segments", message));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the segments by their start, and the sum of each label that was found, the largest first. Nothing lasts
    /// longer than the sound, whose length is in seconds.
    pub(crate) fn finish(self, labels: &Labels, duration: f64) -> (Vec<Segment>, Vec<Share>) {
        let mut found = self.closed;
        let mut seconds = vec![0.0; self.open.len()];
        found.extend(self.open.into_iter().flatten());
        found.sort_by_key(|found| (found.start, found.label));
        let mut segments = Vec::new();
        for found in found {
            #[expect(clippy::cast_precision_loss, reason = "hours of samples are exact")]
            let time = |samples: u64| (samples as f64 / self.rate).min(duration);
            let (start, end) = (time(found.start), time(found.end));
            seconds[found.label] += end - start;
            segments.push(Segment {
                label: labels.get(found.label).to_owned(),
                start: rounded(start),
                end: rounded(end),
                score: rounded(found.scores / f64::from(found.windows)),
            });
        }
        let mut shares: Vec<Share> = seconds
            .into_iter()
            .enumerate()
            .filter(|(_label, seconds)| *seconds > 0.0)
            .map(|(label, seconds)| Share {
                label: labels.get(label).to_owned(),
                seconds: rounded(seconds),
                share: rounded(seconds / duration),
            })
            .collect();
        shares.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        (segments, shares)
    }
}

/// Rounds to thousandths.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_windows_of_a_label_are_one_segment() {
        // One window a second, without overlap.
        let (segments, shares) = of(10, &["a.", "ab", ".b", "..", "a."], 4.5);
        let found: Vec<_> = segments.iter().map(|s| (&*s.label, s.start, s.end)).collect();
        assert_eq!(found, [("a", 0.0, 2.0), ("b", 1.0, 3.0), ("a", 4.0, 4.5)]);
        let found: Vec<_> = shares.iter().map(|s| (&*s.label, s.seconds, s.share)).collect();
        assert_eq!(found, [("a", 2.5, 0.556), ("b", 2.0, 0.444)]);
    }

    #[test]
    fn overlapping_windows_count_once() {
        // Two windows a second, each a second long.
        let (segments, shares) = of(5, &["a.", "..", "a.", "..", "..", "a."], 3.5);
        let found: Vec<_> = segments.iter().map(|s| (s.start, s.end)).collect();
        assert_eq!(found, [(0.0, 2.0), (2.5, 3.5)]);
        assert!((shares[0].seconds - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_score_is_the_mean_of_the_windows_from_the_threshold_on() {
        let mut segments = Segments::new(1, 10, 10, 10, 0.5);
        for score in [0.5, 0.9, 0.49, f32::NAN, 1.0] {
            segments.push(&[score]).unwrap();
        }
        let (found, _) = segments.finish(&Labels::from_lines(b"a").unwrap(), 5.0);
        let scores: Vec<f64> = found.iter().map(|segment| segment.score).collect();
        assert_eq!(scores, [0.7, 1.0]);
    }

    #[test]
    fn nothing_found_is_nothing() {
        assert_eq!(of(10, &["..", ".."], 2.0), (vec![], vec![]));
        assert_eq!(of(10, &[], 0.0), (vec![], vec![]));
    }

    #[test]
    fn an_endless_answer_is_refused() {
        let mut segments = Segments::new(1, 1, 1, 1, 0.5);
        let outcome = (0..300_000_u32).try_for_each(|at| segments.push(&[(at % 2) as f32]));
        assert_eq!(outcome.unwrap_err().code, "too_many_segments");
    }

    /// Finds `a` and `b` in windows of ten samples, one second each.
    fn of(hop: usize, windows: &[&str], duration: f64) -> (Vec<Segment>, Vec<Share>) {
        let mut segments = Segments::new(2, 10, hop, 10, 0.5);
        for window in windows {
            let scores: Vec<f32> =
                window.chars().map(|label| if label == '.' { 0.1 } else { 0.9 }).collect();
            segments.push(&scores).unwrap();
        }
        segments.finish(&Labels::from_lines(b"a\nb").unwrap(), duration)
    }
}
