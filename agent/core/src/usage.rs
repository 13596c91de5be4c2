//! Token usage out of a response, whole or streamed, fed in any chunks.
//!
//! The scanner only looks: the bytes go to the client as they came. Memory is bounded by one line
//! of a stream or the end of a whole answer. What an engine tells by itself is enough: `usage`, or
//! the `timings` of a stream whose client did not ask for `usage`; a stream that ends early is
//! counted by its pieces.

use link_protocol::report::Provenance;
use serde::Deserialize;

/// The longest line or end of an answer that is looked at, in bytes.
const WINDOW: usize = 64 * 1024;

/// How an answer is framed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Framing {
    /// One JSON document.
    Whole,
    /// Server-sent events.
    Events,
}

/// What is known of one inference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Usage {
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub provenance: Provenance,
}

/// Looks for usage in a response.
#[derive(Debug)]
pub struct Scanner {
    framing: Framing,
    buffer: Vec<u8>,
    /// The line at hand was longer than the window; the rest of it is passed over.
    overlong: bool,
    found: Option<Usage>,
    pieces: u64,
}

#[derive(Deserialize)]
struct Exact {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Timings {
    #[serde(default)]
    cache_n: u64,
    prompt_n: u64,
    predicted_n: u64,
}

impl Scanner {
    /// Makes a scanner for an answer that is framed like this.
    #[must_use]
    pub const fn new(framing: Framing) -> Self {
        Self { framing, buffer: Vec::new(), overlong: false, found: None, pieces: 0 }
    }

    /// Looks at the next bytes of the body.
    pub fn push(&mut self, chunk: &[u8]) {
        match self.framing {
            Framing::Whole => self.push_whole(chunk),
            Framing::Events => self.push_events(chunk),
        }
    }

    /// Tells whether a piece of the answer's text has been seen.
    #[must_use]
    pub const fn has_content(&self) -> bool {
        self.pieces > 0
    }

    /// Returns what is known at the end of the body, complete or not.
    #[must_use]
    pub fn finish(mut self) -> Usage {
        if self.framing == Framing::Whole {
            self.found = std::str::from_utf8(valid_end(&self.buffer)).ok().and_then(find);
        }
        match (self.found, self.pieces) {
            (Some(usage), _) => usage,
            (None, 0) => Usage {
                prompt_tokens: None,
                completion_tokens: None,
                provenance: Provenance::Absent,
            },
            (None, pieces) => Usage {
                prompt_tokens: None,
                completion_tokens: Some(pieces),
                provenance: Provenance::Counted,
            },
        }
    }

    fn push_whole(&mut self, chunk: &[u8]) {
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
        if text.contains("\"content\":\"") || text.contains("\"reasoning_content\":\"") {
            self.pieces += 1;
        }
        if let Some(usage) = find(text) {
            self.found = Some(usage);
        }
    }
}

/// The last usage in a text. Inside a JSON string the quotes would be escaped, so what an answer
/// says cannot be taken for it.
fn find(text: &str) -> Option<Usage> {
    let exact = last_object::<Exact>(text, "\"usage\":").and_then(|exact| {
        exact.completion_tokens.or(exact.prompt_tokens).map(|_| Usage {
            prompt_tokens: exact.prompt_tokens,
            completion_tokens: exact.completion_tokens,
            provenance: Provenance::Exact,
        })
    });
    exact.or_else(|| {
        last_object::<Timings>(text, "\"timings\":").map(|timings| Usage {
            prompt_tokens: Some(timings.cache_n + timings.prompt_n),
            completion_tokens: Some(timings.predicted_n),
            provenance: Provenance::Timings,
        })
    })
}

fn last_object<'a, T: Deserialize<'a>>(text: &'a str, key: &str) -> Option<T> {
    let start = text.rfind(key)? + key.len();
    serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()
}

/// Drops a first character that the window cut in two.
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
    const WHOLE: &str = include_str!("../tests/streams/whole.json");

    #[test]
    fn recorded_answers_of_a_real_engine_cut_at_every_byte_give_the_same_counts() {
        for (text, framing, provenance) in [
            (ASKED, Framing::Events, Provenance::Exact),
            (UNASKED, Framing::Events, Provenance::Timings),
            (WHOLE, Framing::Whole, Provenance::Exact),
        ] {
            for cut in 0..=text.len() {
                let (one, two) = text.as_bytes().split_at(cut);
                let mut scanner = Scanner::new(framing);
                scanner.push(one);
                scanner.push(two);
                let expected =
                    Usage { prompt_tokens: Some(6), completion_tokens: Some(4), provenance };
                assert_eq!(scanner.finish(), expected, "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_stream_that_ends_early_is_counted_and_says_so() {
        let half = &UNASKED[..UNASKED.rfind("\"finish_reason\":\"length\"").unwrap()];
        let mut scanner = Scanner::new(Framing::Events);
        scanner.push(half.as_bytes());
        let usage = scanner.finish();
        assert_eq!((usage.completion_tokens, usage.provenance), (Some(4), Provenance::Counted));
    }

    #[test]
    fn what_the_model_says_is_not_taken_for_usage() {
        let mut scanner = Scanner::new(Framing::Whole);
        scanner.push(br#"{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":9}"}}]}"#);
        assert_eq!(scanner.finish().provenance, Provenance::Absent);
    }

    #[test]
    fn a_line_longer_than_the_window_is_passed_over_and_the_next_is_read() {
        let mut scanner = Scanner::new(Framing::Events);
        scanner.push(b"data: ");
        for _ in 0..40 {
            scanner.push(&[b'x'; 4096]);
        }
        assert!(scanner.buffer.capacity() <= 4 * WINDOW);
        scanner.push(b"\ndata: {\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n");
        assert_eq!(scanner.finish().completion_tokens, Some(2));
    }

    proptest! {
        #[test]
        fn no_bytes_in_no_chunks_panic(chunks: Vec<Vec<u8>>, events: bool) {
            let framing = if events { Framing::Events } else { Framing::Whole };
            let mut scanner = Scanner::new(framing);
            for chunk in &chunks {
                scanner.push(chunk);
            }
            prop_assert!(scanner.finish().prompt_tokens.is_none_or(|count| count < u64::MAX));
        }
    }
}
