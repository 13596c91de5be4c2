//! `model.json` of an audio classifier.
//!
//! ```json
//! {"task": "audio", "kind": "sequence", "sample_rate": 16000, "window": 512, "context": 64, "threshold": 0.5,
//!  "labels": ["speech"]}
//! ```
//!
//! | member | meaning | default |
//! |---|---|---|
//! | `task` | `audio` | |
//! | `kind` | `sequence`: inputs `input` [frames, context + window], `h` and `c` [1, 1, 128]; outputs `speech_probs` (a score for each frame), `hn` and `cn`, which are the next `h` and `c`. `window`: one input [1, context + window], one output [1, labels] | |
//! | `sample_rate` | samples in a second, 4000 to 192,000; sound is mixed to mono and resampled to it | |
//! | `window` | samples of a window, 16 to 1,920,000 | |
//! | `context` | samples before the window that the network reads too, up to `window` | 0 |
//! | `hop` | samples from one window to the next, from a hundredth of a second to `window`; for `sequence` equal to it | `window` |
//! | `threshold` | scores below are left out of the answer, 0 to 1 | 0.5 |
//! | `activation` | `softmax`, or `none` if the outputs are scores | `none` |
//! | `labels` | a name for each output; for `sequence` one | labels.txt |

use serde::Deserialize;

use super::{InvalidSettings, parse_json, within};
use crate::{labels::Labels, scores::Activation};

/// How sound is cut before a network reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct AudioSettings {
    pub kind: Kind,
    /// Samples in a second.
    pub sample_rate: usize,
    /// Samples.
    pub window: usize,
    /// Samples.
    pub context: usize,
    /// Samples.
    pub hop: usize,
    /// 0 to 1.
    pub threshold: f32,
    pub activation: Activation,
    pub labels: Option<Labels>,
}

/// The inputs and outputs of a network.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Many windows at once, with a state that goes in and comes out.
    Sequence,
    /// One window at a time, each for itself.
    Window,
}

impl AudioSettings {
    /// Reads `model.json`.
    ///
    /// # Errors
    /// If the bytes are no JSON of the schema above, or a number is outside its bounds.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidSettings> {
        let json: Json = parse_json(bytes)?;
        let Json { task: Task::Audio, .. } = json;
        let sample_rate =
            within("sample_rate", json.sample_rate, 4000..=192_000, "4000 to 192000")?;
        let window = within("window", json.window, 16..=1_920_000, "16 to 1920000")?;
        let context = within("context", json.context, 0..=json.window, "0 to `window`")?;
        // A window every hundredth of a second bounds the work and the answer.
        let least = (json.sample_rate / 100).min(json.window);
        let allowed = "a hundredth of a second to `window`";
        let hop = within("hop", json.hop.unwrap_or(json.window), least..=json.window, allowed)?;
        let labels =
            json.labels.map(Labels::try_from).transpose().map_err(InvalidSettings::Labels)?;
        if json.kind == Kind::Sequence {
            if hop != window {
                let fault = "differs from `window`: windows of a sequence follow each other";
                return Err(InvalidSettings::Conflict { member: "hop", fault });
            }
            if json.activation != Activation::None {
                let fault = "is not for a sequence, whose outputs are scores";
                return Err(InvalidSettings::Conflict { member: "activation", fault });
            }
        }
        if !(0.0..=1.0).contains(&json.threshold) {
            let (found, allowed) = (json.threshold.to_string(), "0 to 1");
            return Err(InvalidSettings::Range { member: "threshold", found, allowed });
        }
        let (kind, threshold, activation) = (json.kind, json.threshold, json.activation);
        Ok(Self { kind, sample_rate, window, context, hop, threshold, activation, labels })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    task: Task,
    kind: Kind,
    sample_rate: u32,
    window: u32,
    #[serde(default)]
    context: u32,
    hop: Option<u32>,
    #[serde(default = "half")]
    threshold: f32,
    #[serde(default)]
    activation: Activation,
    labels: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    Audio,
}

const fn half() -> f32 {
    0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read() {
        let settings = AudioSettings::parse(
            br#"{"task":"audio","kind":"sequence","sample_rate":16000,"window":512,"context":64,"labels":["speech"]}"#,
        )
        .unwrap();
        assert_eq!((settings.kind, settings.sample_rate), (Kind::Sequence, 16000));
        assert_eq!((settings.window, settings.context, settings.hop), (512, 64, 512));
        assert!((settings.threshold - 0.5).abs() < f32::EPSILON);
    }

    #[test]
    fn a_wrong_description_names_its_fault() {
        let with = |kind: &str, more: &str| {
            let text = format!(
                r#"{{"task":"audio","kind":"{kind}","sample_rate":16000,"window":512{more}}}"#
            );
            AudioSettings::parse(text.as_bytes())
        };
        assert!(with("window", r#","hop":160,"threshold":1"#).is_ok());
        for (kind, more, word) in [
            ("frame", "", "not the JSON"),
            ("window", r#","rate":1"#, "not the JSON"),
            ("window", r#","hop":-1"#, "not the JSON"),
            ("window", r#","hop":0"#, "`hop`"),
            ("window", r#","hop":159"#, "`hop`"),
            ("window", r#","hop":513"#, "`hop`"),
            ("sequence", r#","hop":256"#, "`hop`"),
            ("sequence", r#","activation":"softmax""#, "`activation`"),
            ("window", r#","context":513"#, "`context`"),
            ("window", r#","threshold":1.01"#, "`threshold`"),
            ("window", r#","threshold":-0.1"#, "`threshold`"),
            ("window", r#","labels":[""]"#, "`labels`"),
        ] {
            let fault = with(kind, more).unwrap_err().to_string();
            assert!(fault.contains(word), "{kind} {more}: {fault}");
        }
        for numbers in [(0, 512), (3999, 512), (200_000, 512), (16000, 15), (16000, 1_920_001)] {
            let (rate, window) = numbers;
            let text = format!(
                r#"{{"task":"audio","kind":"window","sample_rate":{rate},"window":{window}}}"#
            );
            assert!(AudioSettings::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
