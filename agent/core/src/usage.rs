//! The usage of an inference from its response, whole or streamed, in chunks of any size.
//!
//! The scanner only reads: the bytes reach the client unchanged. It keeps at most one line of a
//! stream or the end of a whole answer, plus the counts of each choice. It reads the fields that an
//! engine sends anyway: `usage`, or the `timings` of a stream whose client did not ask for `usage`.
//! If a stream ends early, the scanner counts its pieces. `llama-server` reports each choice of a
//! stream separately, so each choice is counted separately (decision 0037).

use std::time::Duration;

use link_protocol::{plugin::Unit, report::Provenance};
use serde::Deserialize;

/// The longest line of a stream, and the longest end of a whole answer, that is scanned, in bytes.
const WINDOW: usize = 64 * 1024;

/// The length of the beginning of a whole answer that is scanned, in bytes. Engines report the usage of embeddings there.
const BEGINNING: usize = 4 * 1024;

/// The number of choices counted separately; further choices count with the last.
const CHOICES: u64 = 128;

/// The members of an event that carry a piece of the answer, up to the opening quote.
const PIECES: [&str; 4] =
    ["\"content\":\"", "\"reasoning_content\":\"", "\"text\":\"", "\"arguments\":\""];

/// The beginning of an event of the Responses API. Its pieces are deltas, and other events repeat the text.
const RESPONSES: &str = "{\"type\":\"response.";

/// The framing of a response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Framing {
    /// One JSON document.
    Whole,
    /// Server-sent events.
    Events,
}

/// The known usage of one inference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Usage {
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    /// The length of the audio, in milliseconds.
    pub audio_ms: Option<u64>,
    pub images: Option<u64>,
    pub provenance: Provenance,
    /// How long the engine took to generate the answer, from the first token to the last.
    pub generation: Option<Duration>,
}

/// Looks for usage in a response.
#[derive(Debug)]
pub struct Scanner {
    framing: Framing,
    unit: Unit,
    buffer: Vec<u8>,
    /// The beginning of a whole answer that is longer than the buffer.
    beginning: Vec<u8>,
    /// The current line is longer than the window; the rest of it is skipped.
    overlong: bool,
    choices: Vec<Choice>,
    /// The position in `choices` of the choice that an event named last. An event that names no
    /// choice, such as the one with the requested `usage`, belongs to this one.
    last: usize,
    /// The most recent usage that the engine reported.
    latest: Option<Usage>,
    /// The stream is complete.
    done: bool,
}

/// One choice of a stream.
#[derive(Debug)]
struct Choice {
    index: u64,
    pieces: u64,
    reported: Option<Usage>,
}

#[derive(Deserialize)]
struct Exact {
    #[serde(alias = "input_tokens")]
    prompt_tokens: Option<u64>,
    #[serde(alias = "output_tokens")]
    completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Seconds {
    seconds: f64,
}

#[derive(Deserialize)]
struct Images {
    images: u64,
}

#[derive(Deserialize)]
struct Timings {
    #[serde(default)]
    cache_n: u64,
    prompt_n: u64,
    predicted_n: u64,
    predicted_ms: Option<f64>,
}

impl Scanner {
    /// Creates a scanner for a response with this framing, of an engine that counts in `unit`.
    #[must_use]
    pub const fn new(framing: Framing, unit: Unit) -> Self {
        Self {
            framing,
            unit,
            buffer: Vec::new(),
            beginning: Vec::new(),
            overlong: false,
            choices: Vec::new(),
            last: 0,
            latest: None,
            done: false,
        }
    }

    /// Scans the next bytes of the body.
    pub fn push(&mut self, chunk: &[u8]) {
        match self.framing {
            Framing::Whole => self.push_whole(chunk),
            Framing::Events => self.push_events(chunk),
        }
    }

    /// Returns whether any text of the answer has arrived.
    #[must_use]
    pub fn has_content(&self) -> bool {
        self.choices.iter().any(|choice| choice.pieces > 0)
    }

    /// Returns the usage known at the end of the body, which may be incomplete.
    #[must_use]
    pub fn finish(self) -> Usage {
        match self.framing {
            Framing::Whole => std::str::from_utf8(valid_end(&self.buffer))
                .ok()
                .and_then(|text| find(text, self.unit))
                .or_else(|| find(valid_beginning(&self.beginning), self.unit))
                .unwrap_or(Usage::ABSENT),
            Framing::Events => self.sum(),
        }
    }

    fn push_whole(&mut self, chunk: &[u8]) {
        let missing = BEGINNING.saturating_sub(self.beginning.len()).min(chunk.len());
        self.beginning.extend_from_slice(&chunk[..missing]);
        self.buffer.extend_from_slice(&chunk[chunk.len().saturating_sub(WINDOW)..]);
        if self.buffer.len() > 2 * WINDOW {
            self.buffer.drain(..self.buffer.len() - WINDOW);
        }
    }

    fn push_events(&mut self, mut chunk: &[u8]) {
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = chunk.split_at(end);
            chunk = &rest[1..];
            if self.overlong {
                self.overlong = false;
            } else if self.buffer.is_empty() {
                self.line(line);
            } else {
                self.buffer.extend_from_slice(line);
                let whole = std::mem::take(&mut self.buffer);
                self.line(&whole);
            }
            self.buffer.clear();
        }
        if self.buffer.len() + chunk.len() > WINDOW {
            self.overlong = true;
            self.buffer.clear();
        }
        if !self.overlong {
            self.buffer.extend_from_slice(chunk);
        }
    }

    fn line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:") else { return };
        let Ok(text) = std::str::from_utf8(data) else { return };
        if text.trim() == "[DONE]" {
            self.done = true;
            return;
        }
        let has_piece = match text.trim_start().starts_with(RESPONSES) {
            true => opens(text, "\"delta\":\""),
            false => PIECES.iter().any(|piece| opens(text, piece)),
        };
        let reported = find(text, self.unit).map(|usage| Usage { generation: None, ..usage });
        if !has_piece && reported.is_none() {
            return;
        }
        let choice = self.choice(text);
        choice.pieces += u64::from(has_piece);
        choice.reported = reported.or(choice.reported);
        self.latest = reported.or(self.latest);
    }

    /// Returns the choice that an event belongs to.
    fn choice(&mut self, text: &str) -> &mut Choice {
        if let Some(index) = index(text) {
            let known = self.choices.iter().position(|choice| choice.index == index);
            self.last = known.unwrap_or(self.choices.len());
        }
        if self.last == self.choices.len() {
            let index = index(text).unwrap_or(0);
            self.choices.push(Choice { index, pieces: 0, reported: None });
        }
        &mut self.choices[self.last]
    }

    /// Adds up the choices. They share the prompt.
    fn sum(self) -> Usage {
        let all_reported = self.choices.iter().all(|choice| choice.reported.is_some());
        if let (Some(total), true, false) = (self.latest, self.done, all_reported) {
            // In a complete stream, a single usage report covers all choices.
            return total;
        }
        let parts = self.choices.iter().map(|choice| {
            choice.reported.unwrap_or(Usage {
                completion_tokens: Some(choice.pieces),
                provenance: Provenance::Counted,
                ..Usage::ABSENT
            })
        });
        parts.reduce(Usage::plus).unwrap_or(Usage::ABSENT)
    }
}

impl Usage {
    /// The usage if nothing is known.
    const ABSENT: Self = Self {
        prompt_tokens: None,
        completion_tokens: None,
        audio_ms: None,
        images: None,
        provenance: Provenance::Absent,
        generation: None,
    };

    /// Counts the length of the uploaded audio, if the engine did not report it.
    #[must_use]
    pub fn or_uploaded(self, uploaded: Option<Duration>) -> Self {
        match (self.audio_ms, uploaded) {
            (None, Some(uploaded)) => Self {
                audio_ms: u64::try_from(uploaded.as_millis()).ok(),
                provenance: Provenance::Counted,
                ..self
            },
            (Some(_), _) | (None, None) => self,
        }
    }

    /// Adds the usage of another choice of the same answer. The result has the less reliable
    /// provenance of the two.
    fn plus(self, other: Self) -> Self {
        let certainty = |provenance| match provenance {
            Provenance::Absent => 0,
            Provenance::Counted => 1,
            Provenance::Timings => 2,
            Provenance::Exact => 3,
        };
        let completions = [self.completion_tokens, other.completion_tokens];
        Self {
            prompt_tokens: self.prompt_tokens.max(other.prompt_tokens),
            completion_tokens: completions.into_iter().flatten().reduce(u64::saturating_add),
            audio_ms: self.audio_ms.max(other.audio_ms),
            images: self.images.max(other.images),
            provenance: std::cmp::min_by_key(self.provenance, other.provenance, |provenance| {
                certainty(*provenance)
            }),
            generation: None,
        }
    }
}

/// Returns whether an event contains the member `piece` with a non-empty text.
fn opens(text: &str, piece: &str) -> bool {
    text.match_indices(piece).any(|(start, _)| !text[start + piece.len()..].starts_with('"'))
}

/// Returns the index of the choice that an event belongs to: the first `index` in the event, which
/// precedes the generated text.
fn index(text: &str) -> Option<u64> {
    let key = "\"index\":";
    let rest = &text[text.find(key)? + key.len()..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok().map(|index: u64| index.min(CHOICES - 1))
}

/// Returns the last usage in a text. Quotes inside a JSON string are escaped, so generated text
/// cannot imitate a usage member.
fn find(text: &str, unit: Unit) -> Option<Usage> {
    match unit {
        Unit::Tokens => find_tokens(text),
        Unit::Seconds => {
            let seconds = last_object::<Seconds>(text, "\"usage\":")?.seconds;
            let audio = Duration::try_from_secs_f64(seconds).ok()?;
            let audio_ms = u64::try_from(audio.as_millis()).ok();
            Some(Usage { audio_ms, provenance: Provenance::Exact, ..Usage::ABSENT })
        }
        Unit::Images => {
            let images = Some(last_object::<Images>(text, "\"usage\":")?.images);
            Some(Usage { images, provenance: Provenance::Exact, ..Usage::ABSENT })
        }
    }
}

fn find_tokens(text: &str) -> Option<Usage> {
    let timings = last_object::<Timings>(text, "\"timings\":");
    let generation = timings
        .as_ref()
        .and_then(|timings| Duration::try_from_secs_f64(timings.predicted_ms? / 1000.0).ok());
    let exact = last_object::<Exact>(text, "\"usage\":").and_then(|exact| {
        exact.completion_tokens.or(exact.prompt_tokens).map(|_| Usage {
            prompt_tokens: exact.prompt_tokens,
            completion_tokens: exact.completion_tokens,
            provenance: Provenance::Exact,
            generation,
            ..Usage::ABSENT
        })
    });
    exact.or_else(|| {
        timings.map(|timings| Usage {
            prompt_tokens: Some(timings.cache_n.saturating_add(timings.prompt_n)),
            completion_tokens: Some(timings.predicted_n),
            provenance: Provenance::Timings,
            generation,
            ..Usage::ABSENT
        })
    })
}

fn last_object<'a, T: Deserialize<'a>>(text: &'a str, key: &str) -> Option<T> {
    let start = text.rfind(key)? + key.len();
    serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()
}

/// Leaves out a character that the end of the beginning cut in two.
fn valid_beginning(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Skips the rest of a character that the window cut in two.
fn valid_end(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().take(4).position(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
    &bytes[start..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ASKED: &str = include_str!("../tests/streams/asked.sse");
    const UNASKED: &str = include_str!("../tests/streams/unasked.sse");
    const RESPONSE: &str = include_str!("../tests/streams/responses.json");
    const RESPONSE_EVENTS: &str = include_str!("../tests/streams/responses.sse");
    const WHOLE: &str = include_str!("../tests/streams/whole.json");
    const THREE: &str = include_str!("../tests/streams/three.sse");
    const THREE_ASKED: &str = include_str!("../tests/streams/three-asked.sse");
    const COMPLETIONS: &str = include_str!("../tests/streams/completions-two.sse");

    #[test]
    fn recorded_answers_of_a_real_engine_cut_at_every_byte_give_the_same_counts() {
        for (text, framing, provenance) in [
            (ASKED, Framing::Events, Provenance::Exact),
            (UNASKED, Framing::Events, Provenance::Timings),
            (WHOLE, Framing::Whole, Provenance::Exact),
            (RESPONSE, Framing::Whole, Provenance::Exact),
            (RESPONSE_EVENTS, Framing::Events, Provenance::Exact),
        ] {
            for cut in 0..=text.len() {
                let (one, two) = text.as_bytes().split_at(cut);
                let mut scanner = Scanner::new(framing, Unit::Tokens);
                scanner.push(one);
                scanner.push(two);
                assert_eq!(
                    counts(scanner.finish()),
                    (Some(6), Some(4), provenance),
                    "cut at {cut}"
                );
            }
        }
    }

    #[test]
    fn audio_and_images_count_in_their_own_unit() {
        let scan = |unit, text: &str| {
            let mut scanner = Scanner::new(Framing::Whole, unit);
            text.as_bytes().chunks(3).for_each(|chunk| scanner.push(chunk));
            let Usage { audio_ms, images, provenance, .. } = scanner.finish();
            (audio_ms, images, provenance)
        };
        let audio = r#"{"data":[{"label":"\"usage\":{\"seconds\":9}"}],"usage":{"type":"duration","seconds":11.25}}"#;
        assert_eq!(scan(Unit::Seconds, audio), (Some(11_250), None, Provenance::Exact));
        let image = r#"{"data":[],"usage":{"type":"images","images":2}}"#;
        assert_eq!(scan(Unit::Images, image), (None, Some(2), Provenance::Exact));
        let nothing = (None, None, Provenance::Absent);
        for (unit, text) in [
            (Unit::Images, audio),
            (Unit::Seconds, image),
            (Unit::Tokens, image),
            (Unit::Seconds, r#"{"usage":{"seconds":-1}}"#),
            (Unit::Seconds, r#"{"usage":{"seconds":1e300}}"#),
            (Unit::Images, r#"{"usage":{"images":1.5}}"#),
        ] {
            assert_eq!(scan(unit, text), nothing, "{text}");
        }
    }

    #[test]
    fn a_stream_of_the_responses_api_that_is_cut_counts_its_deltas() {
        let end = RESPONSE_EVENTS.find("event: response.completed").unwrap();
        let cut = counts(scan(Framing::Events, &RESPONSE_EVENTS[..end]));
        assert_eq!(cut, (None, Some(4), Provenance::Counted), "each text is repeated at its end");
    }

    #[test]
    fn every_choice_of_a_stream_counts() {
        for (text, expected) in [
            (THREE, (Some(6), Some(12), Provenance::Timings)),
            (THREE_ASKED, (Some(6), Some(12), Provenance::Exact)),
            (COMPLETIONS, (Some(3), Some(6), Provenance::Exact)),
        ] {
            assert_eq!(counts(scan(Framing::Events, text)), expected, "{text}");
        }
    }

    #[test]
    fn one_usage_at_the_end_of_a_stream_is_that_of_all_its_choices() {
        let text = concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n",
            "data: [DONE]\n\n",
        );
        let expected = (Some(5), Some(2), Provenance::Exact);
        assert_eq!(counts(scan(Framing::Events, text)), expected);
    }

    #[test]
    fn a_stream_of_completions_that_ends_early_is_counted() {
        let half = &COMPLETIONS[..COMPLETIONS.find("\"text\":\"\"").unwrap()];
        let expected = (None, Some(half.matches("\"text\"").count() as u64), Provenance::Counted);
        assert_eq!(counts(scan(Framing::Events, half)), expected);
        let mut scanner = Scanner::new(Framing::Events, Unit::Tokens);
        assert!(!scanner.has_content());
        scanner.push(half.as_bytes());
        assert!(scanner.has_content(), "the time to the first token is known");
    }

    #[test]
    fn a_choice_that_ended_and_one_that_did_not_are_added_up_as_counted() {
        // The first choice to end has reported its four tokens; four pieces of each other choice
        // arrived.
        let half = &THREE[..THREE.find("\"timings\"").unwrap()];
        let half = &THREE[..half.len() + THREE[half.len()..].find('\n').unwrap() + 1];
        let pieces = half.matches("\"content\":\"").count() as u64;
        let expected = (Some(6), Some(pieces), Provenance::Counted);
        assert_eq!(counts(scan(Framing::Events, half)), expected);
    }

    #[test]
    fn how_long_a_whole_answer_was_generated_is_what_the_engine_says() {
        let generation = scan(Framing::Whole, WHOLE).generation;
        assert_eq!(generation, Some(Duration::from_micros(287)));
    }

    #[test]
    fn a_stream_that_ends_early_is_counted_and_says_so() {
        let half = &UNASKED[..UNASKED.rfind("\"finish_reason\":\"length\"").unwrap()];
        let expected = (None, Some(4), Provenance::Counted);
        assert_eq!(counts(scan(Framing::Events, half)), expected);
    }

    #[test]
    fn what_the_model_says_is_not_taken_for_usage() {
        let mut scanner = Scanner::new(Framing::Whole, Unit::Tokens);
        scanner.push(br#"{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":9}"}}]}"#);
        assert_eq!(scanner.finish().provenance, Provenance::Absent);
    }

    #[test]
    fn usage_before_a_long_list_of_vectors_is_found() {
        let vectors = "0.123456,".repeat(4 * WINDOW / 9);
        let answer = format!(
            "{{\"usage\":{{\"prompt_tokens\":19,\"total_tokens\":19}},\"data\":[{vectors}0]}}"
        );
        for piece in [1000, WINDOW, answer.len()] {
            let mut scanner = Scanner::new(Framing::Whole, Unit::Tokens);
            answer.as_bytes().chunks(piece).for_each(|chunk| scanner.push(chunk));
            assert_eq!(counts(scanner.finish()), (Some(19), None, Provenance::Exact), "{piece}");
        }
    }

    #[test]
    fn a_line_longer_than_the_window_is_passed_over_and_the_next_is_read() {
        let mut scanner = Scanner::new(Framing::Events, Unit::Tokens);
        scanner.push(b"data: ");
        for _ in 0..40 {
            scanner.push(&[b'x'; 4096]);
        }
        assert!(scanner.buffer.capacity() <= 4 * WINDOW);
        scanner.push(b"\ndata: {\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n");
        assert_eq!(scanner.finish().completion_tokens, Some(2));
    }

    fn scan(framing: Framing, text: &str) -> Usage {
        let mut scanner = Scanner::new(framing, Unit::Tokens);
        scanner.push(text.as_bytes());
        scanner.finish()
    }

    fn counts(usage: Usage) -> (Option<u64>, Option<u64>, Provenance) {
        (usage.prompt_tokens, usage.completion_tokens, usage.provenance)
    }

    proptest! {
        #[test]
        fn no_bytes_in_no_chunks_panic(chunks: Vec<Vec<u8>>, events: bool) {
            let framing = if events { Framing::Events } else { Framing::Whole };
            let mut scanner = Scanner::new(framing, Unit::Tokens);
            for chunk in &chunks {
                scanner.push(chunk);
            }
            prop_assert!(scanner.finish().prompt_tokens.is_none_or(|count| count < u64::MAX));
        }
    }
}
