//! An answer of a model: printed while it arrives, stopped by Ctrl-C.

#![expect(clippy::disallowed_methods, reason = "IO shell: measures how fast an answer comes")]

use std::time::{Duration, Instant};

use link_client::{
    chat::{ChatClient, Part, Usage},
    http::Failure,
};
use link_protocol::shown;
use schemars::JsonSchema;
use serde::Serialize;

use super::conversation::Conversation;
use crate::{context::Context, error::CliError, output, progress::Progress};

/// The note on an answer that ended with [`Ended::Length`].
pub(crate) const CUT_OFF: &str = "cut off at the token limit";

/// An answer that has ended.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct Answered {
    pub(crate) text: String,
    pub(crate) ended: Ended,
    /// The token counts. Null if the engine does not report them.
    pub(crate) usage: Option<Usage>,
    /// Seconds from the question to the first piece of the answer.
    pub(crate) time_to_first_token_s: Option<f64>,
    /// Tokens per second from the first piece on.
    pub(crate) tokens_per_second: Option<f64>,
}

/// Why an answer has ended.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ended {
    /// The answer is complete.
    Whole,
    /// The answer reached `--max-tokens` or the end of the model's context.
    Length,
    /// The user has pressed Ctrl-C.
    Stopped,
}

/// Requests the answer to the last message, and prints it while it arrives unless the output is
/// JSON.
///
/// # Errors
/// If the model cannot be reached, the answer is interrupted, or stdout cannot be written.
pub(super) async fn stream(
    context: &Context,
    client: &ChatClient,
    conversation: &Conversation,
) -> Result<Answered, CliError> {
    let mut clock = Clock::start();
    let mut answered = Answered {
        text: String::new(),
        ended: Ended::Whole,
        usage: None,
        time_to_first_token_s: None,
        tokens_per_second: None,
    };
    let shows = !context.output.is_json();
    let waiting = Progress::waiting(context.output, "waiting for the first word");
    // A single listener for the whole answer: a signal between two listeners would be lost.
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let messages = conversation.messages();
    let asked = client.ask(&messages, conversation.sampling());
    let mut reply = tokio::select! {
        biased;
        _now = &mut interrupted => return Ok(answered.stopped(&clock)),
        reply = asked => reply.map_err(failed)?,
    };
    loop {
        let part = tokio::select! {
            biased;
            _now = &mut interrupted => {
                waiting.finish();
                if shows {
                    output::write_stdout("\n")?;
                }
                return Ok(answered.stopped(&clock));
            }
            part = reply.next() => part.map_err(failed)?,
        };
        match part {
            Some(Part::Text(text)) => {
                clock.piece();
                waiting.finish();
                if shows && !output::stream_stdout(&harmless(&text))? {
                    return Ok(answered.stopped(&clock));
                }
                answered.text.push_str(&text);
            }
            Some(Part::Thought(_)) => {
                clock.piece();
                waiting.show("thinking", 0, 0);
            }
            Some(Part::CutOff) => answered.ended = Ended::Length,
            Some(Part::Usage(usage)) => answered.usage = Some(usage),
            None => break,
        }
    }
    if shows {
        output::write_stdout("\n")?;
    }
    Ok(answered.timed(&clock))
}

/// Removes control characters that could control the terminal. Tabs stay, because code may need
/// them.
fn harmless(text: &str) -> String {
    text.split('\t').map(shown::lines).collect::<Vec<_>>().join("\t")
}

/// Explains why a model does not answer.
fn failed(failure: Failure) -> CliError {
    let has_own_words = failure.problem().is_some();
    let error = CliError::from(failure);
    if has_own_words { error } else { error.hint("`link status` shows the state of the model") }
}

impl Answered {
    /// Returns the speed of an answer, as text for a person.
    pub(super) fn in_words(&self) -> String {
        let mut words = Vec::new();
        if self.ended == Ended::Stopped {
            words.push("stopped".to_owned());
        }
        if let Some(Usage { completion_tokens, .. }) = self.usage {
            words.push(format!("{completion_tokens} tokens"));
        }
        if let Some(rate) = self.tokens_per_second {
            words.push(format!("{rate:.1} tokens/s"));
        }
        if let Some(first) = self.time_to_first_token_s {
            words.push(format!("first after {first:.2} s"));
        }
        if self.ended == Ended::Length {
            words.push(CUT_OFF.to_owned());
        }
        if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) }
    }

    fn stopped(self, clock: &Clock) -> Self {
        Self { ended: Ended::Stopped, ..self }.timed(clock)
    }

    fn timed(self, clock: &Clock) -> Self {
        let tokens = self.usage.map_or(clock.pieces, |usage| usage.completion_tokens);
        let time_to_first_token_s = clock.first.map(|first| first.as_secs_f64());
        Self { time_to_first_token_s, tokens_per_second: clock.rate(tokens), ..self }
    }
}

/// Arrival times of the pieces.
struct Clock {
    asked: Instant,
    first: Option<Duration>,
    last: Duration,
    pieces: u64,
}

impl Clock {
    fn start() -> Self {
        Self { asked: Instant::now(), first: None, last: Duration::ZERO, pieces: 0 }
    }

    fn piece(&mut self) {
        self.last = self.asked.elapsed();
        self.first.get_or_insert(self.last);
        self.pieces += 1;
    }

    /// Returns the tokens per second after the first token. None if there was only one.
    fn rate(&self, tokens: u64) -> Option<f64> {
        let took = self.last.saturating_sub(self.first?).as_secs_f64();
        let later = u32::try_from(tokens.saturating_sub(1)).ok().filter(|later| *later > 0)?;
        (took > 0.0).then(|| f64::from(later) / took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_stays_and_what_could_steer_the_terminal_does_not() {
        assert_eq!(harmless("all:\n\tcc x.c\n"), "all:\n\tcc x.c\n");
        assert!(!harmless("a\t\u{1b}[2J").contains('\u{1b}'));
    }

    #[test]
    fn the_rate_counts_what_came_after_the_first_piece() {
        let seconds = Duration::from_secs;
        let clock = |first, last| Clock {
            asked: Instant::now(),
            first: Some(seconds(first)),
            last: seconds(last),
            pieces: 3,
        };
        assert_eq!(clock(1, 3).rate(5), Some(2.0));
        assert_eq!(clock(1, 3).rate(1), None);
        assert_eq!(clock(1, 1).rate(5), None);
        let answered = Answered {
            text: "a".to_owned(),
            ended: Ended::Whole,
            usage: Some(Usage { prompt_tokens: 4, completion_tokens: 5 }),
            time_to_first_token_s: None,
            tokens_per_second: None,
        };
        let words = answered.clone().timed(&clock(1, 3)).in_words();
        assert_eq!(words, "(5 tokens, 2.0 tokens/s, first after 1.00 s)");
        let stopped = Answered { usage: None, ..answered }.stopped(&clock(1, 3)).in_words();
        assert_eq!(stopped, "(stopped, 1.0 tokens/s, first after 1.00 s)");
    }
}
