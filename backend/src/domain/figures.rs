//! Sums and histograms of usage, in groups with every hour or day of a period.
//!
//! All numbers of one sum stand in one array, in the order of the columns of the table: sums of two spans are added
//! number by number.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use link_protocol::{
    backend_api::usage::{Distribution, UsageFigures, UsageGroup, UsageStep},
    report::TelemetryReport,
};

/// The number of classes of a histogram.
const CLASSES: usize = 10;
/// The upper bounds of the classes of time to first token, in milliseconds. The last class has none.
pub const FIRST_TOKEN_MS: [u64; CLASSES - 1] =
    [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
/// The upper bounds of the classes of tokens per second. The last class has none.
pub const TOKEN_RATES: [u64; CLASSES - 1] = [2, 5, 10, 20, 30, 50, 100, 200, 500];
/// The numbers before the histograms.
const PLAIN: usize = 7;
/// The numbers of one sum.
pub const NUMBERS: usize = PLAIN + 2 * CLASSES;
/// The maximum number of groups in an answer.
pub const GROUPS: usize = 20;
/// The maximum number of sums that one answer is made of.
pub const SUMS: usize = 100_000;
/// The maximum that one report adds to a sum, so that no sum overflows its column.
const MOST: u64 = 1_000_000_000;

/// A sum of usage: inferences, uncounted inferences, prompt tokens, completion tokens, audio in milliseconds, images,
/// duration in milliseconds, and the classes of both histograms.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sum(pub [i64; NUMBERS]);

/// The sums of one group by the beginning of a span in milliseconds.
pub type Spans = BTreeMap<i64, Sum>;

/// The sums of groups by their key.
pub type Sums = BTreeMap<Option<String>, Spans>;

impl Default for Sum {
    fn default() -> Self {
        Self([0; NUMBERS])
    }
}

impl Sum {
    /// Makes the sum of one report.
    #[must_use]
    pub fn of(report: &TelemetryReport) -> Self {
        let counts =
            [report.prompt_tokens, report.completion_tokens, report.audio_ms, report.images];
        let known = counts.iter().any(Option::is_some);
        let [prompt, completion, audio, images] = counts.map(|count| capped(count.unwrap_or(0)));
        let plain =
            [1, i64::from(!known), prompt, completion, audio, images, capped(report.duration_ms)];
        let mut sum = Self::default();
        for (place, number) in sum.0.iter_mut().zip(plain) {
            *place = number;
        }
        if let Some(waited) = report.time_to_first_token_ms {
            sum.0[PLAIN + class(&FIRST_TOKEN_MS, waited, 1)] = 1;
            let generating = report.duration_ms.saturating_sub(waited);
            // The first token ends the wait, so it is not generated in the time that follows.
            if let Some(tokens) = report.completion_tokens
                && tokens > 1
                && generating > 0
            {
                let thousandfold = (tokens - 1).saturating_mul(1_000_000) / generating;
                sum.0[PLAIN + CLASSES + class(&TOKEN_RATES, thousandfold, 1_000)] = 1;
            }
        }
        sum
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = mine.saturating_add(theirs);
        }
    }

    /// Returns the sum as it is shown.
    #[must_use]
    pub fn figures(&self) -> UsageFigures {
        let numbers = self.0.map(|number| u64::try_from(number).unwrap_or(0));
        let [
            inferences,
            uncounted,
            prompt_tokens,
            completion_tokens,
            audio_ms,
            images,
            duration_ms,
            ..,
        ] = numbers;
        let (first, rates) = numbers[PLAIN..].split_at(CLASSES);
        UsageFigures {
            inferences,
            counted: inferences.saturating_sub(uncounted),
            uncounted,
            prompt_tokens,
            completion_tokens,
            audio_ms,
            images,
            duration_ms,
            first_token_ms: distribution(first, &FIRST_TOKEN_MS),
            token_rate: distribution(rates, &TOKEN_RATES),
        }
    }
}

/// Splits the sums of devices, whose keys are the JSON arrays of their tags, into the sums of tags. Returns `None` if
/// the tags have more than [`SUMS`] sums: a few devices with many tags each would take much memory.
#[must_use]
pub fn by_tag(sums: Sums) -> Option<Sums> {
    let mut all = Sums::new();
    let mut count = 0;
    for (tags, spans) in sums {
        let tags: BTreeSet<String> =
            tags.and_then(|tags| serde_json::from_str(&tags).ok()).unwrap_or_default();
        let mut keys: Vec<Option<String>> = tags.into_iter().map(Some).collect();
        if keys.is_empty() {
            keys.push(None);
        }
        for key in keys {
            let group = all.entry(key).or_default();
            let before = group.len();
            for (begin, sum) in &spans {
                group.entry(*begin).or_default().add(sum);
            }
            count += group.len() - before;
            if count > SUMS {
                return None;
            }
        }
    }
    Some(all)
}

/// Returns the groups with the most inferences, and the sum of all others.
#[must_use]
pub fn largest(sums: Sums) -> (Vec<(Option<String>, Spans)>, Spans) {
    let inferences = |spans: &Spans| spans.values().map(|sum| sum.0[0]).sum::<i64>();
    let mut groups: Vec<_> = sums.into_iter().collect();
    groups.sort_by_key(|(_, spans)| std::cmp::Reverse(inferences(spans)));
    let rest = groups.split_off(GROUPS.min(groups.len()));
    let mut others = Spans::new();
    for (begin, sum) in rest.iter().flat_map(|(_, spans)| spans) {
        others.entry(*begin).or_default().add(sum);
    }
    (groups, others)
}

/// Makes a group with a step for each of the spans of `width` from `from` to `to`, in milliseconds.
///
/// # Errors
/// [`jiff::Error`] if a time is out of range.
pub fn filled(
    key: Option<String>,
    name: Option<String>,
    spans: &Spans,
    (from, to, width): (i64, i64, i64),
) -> Result<UsageGroup, jiff::Error> {
    let mut total = Sum::default();
    let mut buckets = Vec::new();
    let mut begin = from;
    while begin < to {
        let sum = spans.get(&begin).copied().unwrap_or_default();
        total.add(&sum);
        buckets
            .push(UsageStep { begin: Timestamp::from_millisecond(begin)?, figures: sum.figures() });
        begin += width;
    }
    Ok(UsageGroup { key, name, total: total.figures(), buckets })
}

/// Returns the class of a value that is `unit` times as large as the bounds count.
fn class(bounds: &[u64], value: u64, unit: u64) -> usize {
    bounds.iter().position(|bound| value <= bound * unit).unwrap_or(bounds.len())
}

fn distribution(counts: &[u64], bounds: &[u64]) -> Distribution {
    Distribution {
        counts: counts.to_vec(),
        p50: quantile(counts, bounds, 0.50),
        p95: quantile(counts, bounds, 0.95),
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate needs fewer digits")]
fn quantile(counts: &[u64], bounds: &[u64], share: f64) -> Option<f64> {
    let all: u64 = counts.iter().sum();
    let wanted = share * all as f64;
    let mut below = 0.0;
    let mut lower = 0.0;
    for (place, count) in counts.iter().enumerate() {
        let count = *count as f64;
        let Some(upper) = bounds.get(place).map(|bound| *bound as f64) else { break };
        if count > 0.0 && below + count >= wanted {
            let value = lower + (upper - lower) * (wanted - below) / count;
            return Some((value * 10.0).round() / 10.0);
        }
        below += count;
        lower = upper;
    }
    (all > 0).then_some(lower)
}

fn capped(number: u64) -> i64 {
    i64::try_from(number.min(MOST)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> TelemetryReport {
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        value["inference_id"] = format!("inf_{:032x}", 1).into();
        value["model_id"] = format!("mdl_{:032x}", 1).into();
        value["provenance"] = "exact".into();
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_report_is_counted_in_the_classes_of_its_times() {
        let timed = r#"{"completion_tokens":41,"duration_ms":2100,"time_to_first_token_ms":100}"#;
        let mut sum = Sum::of(&report(timed));
        let figures = sum.figures();
        assert_eq!(figures.first_token_ms.counts[1], 1, "100 ms is not above its bound");
        assert_eq!(figures.token_rate.counts[3], 1, "40 tokens in 2 s are 20 a second");
        assert_eq!((figures.counted, figures.uncounted), (1, 0));
        sum.add(&Sum::of(&report(r#"{"duration_ms":18446744073709551615}"#)));
        let figures = sum.figures();
        assert_eq!((figures.inferences, figures.counted, figures.uncounted), (2, 1, 1));
        assert_eq!(figures.first_token_ms.counts.iter().sum::<u64>(), 1);
        let at_once = r#"{"completion_tokens":1,"duration_ms":5,"time_to_first_token_ms":9}"#;
        let figures = Sum::of(&report(at_once)).figures();
        assert_eq!(figures.token_rate.p50, None);
    }

    #[test]
    fn quantiles_are_linear_inside_a_class_and_end_at_the_last_bound() {
        let bounds = [10, 20];
        assert_eq!(quantile(&[0, 0, 0], &bounds, 0.5), None);
        assert_eq!(quantile(&[0, 4, 0], &bounds, 0.5), Some(15.0));
        assert_eq!(quantile(&[4, 0, 4], &bounds, 0.5), Some(10.0));
        assert_eq!(quantile(&[0, 0, 7], &bounds, 0.95), Some(20.0));
        assert_eq!(quantile(&[10, 10, 0], &bounds, 0.95), Some(19.0));
    }

    #[test]
    fn a_device_counts_in_each_of_its_tags_and_small_groups_become_others() {
        let spans = |inferences: i64| {
            let mut sum = Sum::default();
            sum.0[0] = inferences;
            BTreeMap::from([(0, sum)])
        };
        let tagged = |tags: &str, count| (Some(tags.to_owned()), spans(count));
        let sums = Sums::from([tagged(r#"["a","b"]"#, 2), tagged(r#"["b"]"#, 3), (None, spans(1))]);
        let tags = by_tag(sums).unwrap();
        let count = |key: Option<&str>| tags[&key.map(str::to_owned)][&0].0[0];
        assert_eq!((count(Some("a")), count(Some("b")), count(None)), (2, 5, 1));

        let long = |tags: usize| {
            let tags: Vec<String> = (0..tags).map(|tag| tag.to_string()).collect();
            let spans: Spans = (0..400).map(|begin| (begin, Sum::default())).collect();
            by_tag(Sums::from([(Some(serde_json::to_string(&tags).unwrap()), spans)]))
        };
        assert_eq!(long(SUMS / 400).map(|tags| tags.len()), Some(SUMS / 400));
        assert!(long(SUMS / 400 + 1).is_none());

        let many: Sums = (0..25).map(|number| tagged(&number.to_string(), number)).collect();
        let (groups, others) = largest(many);
        assert_eq!((groups.len(), groups[0].0.as_deref()), (20, Some("24")));
        assert_eq!(others[&0].0[0], 1 + 2 + 3 + 4);
        let group = filled(None, None, &others, (-10, 20, 10)).unwrap();
        assert_eq!(group.buckets.len(), 3);
        assert_eq!((group.total.inferences, group.buckets[1].figures.inferences), (10, 10));
    }
}
