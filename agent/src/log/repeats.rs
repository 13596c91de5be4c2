//! Warnings that repeat: each is said at once, and then once a minute with how often it was said.
//!
//! One that came with every poll would fill the log of the machine, and the backend's, and hide what
//! else is said. What is not a warning or an error passes.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the clock")]

use std::{
    cell::Cell,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    Layer,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    layer::Context,
    registry::LookupSpan,
};

use super::Text;

/// How long a warning that was said is not said again.
const WINDOW: Duration = Duration::from_secs(60);

/// Different warnings that are remembered; the oldest is forgotten first.
const REMEMBERED: usize = 64;

thread_local! {
    /// How often the event that this thread says was held back before.
    static HELD_BACK: Cell<u64> = const { Cell::new(0) };
}

/// Holds back what repeats; it decides for every other layer.
#[derive(Clone, Debug)]
pub(super) struct Repeats {
    said: Arc<Mutex<Said>>,
    started: Instant,
}

/// When each warning was said last, and how often it was held back since.
#[derive(Debug, Default)]
struct Said(BTreeMap<String, (Duration, u64)>);

/// Writes an event as `F` does, and how often it was held back.
#[derive(Debug)]
pub(super) struct Counted<F>(pub(super) F);

impl Repeats {
    pub(super) fn new() -> Self {
        Self { said: Arc::default(), started: Instant::now() }
    }
}

impl Said {
    /// Tells how often `text` was held back before, if it is to be said at `now`.
    fn passes(&mut self, text: &str, now: Duration) -> Option<u64> {
        if let Some((at, held_back)) = self.0.get_mut(text) {
            if now < *at + WINDOW {
                *held_back += 1;
                return None;
            }
            *at = now;
            return Some(std::mem::take(held_back));
        }
        if self.0.len() >= REMEMBERED {
            let oldest = self.0.iter().min_by_key(|(_, (at, _))| *at);
            let oldest = oldest.map(|(text, _)| text.clone());
            oldest.and_then(|text| self.0.remove(&text));
        }
        self.0.insert(text.to_owned(), (now, 0));
        Some(0)
    }
}

/// What is added to an event that was held back before.
pub(super) fn suffix() -> Option<String> {
    let count = HELD_BACK.get();
    (count > 0).then(|| format!(" (and {count} times more since this was said last)"))
}

impl<S: Subscriber> Layer<S> for Repeats {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        HELD_BACK.set(0);
        if *event.metadata().level() > Level::WARN {
            return true;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let key = format!("{} {}{}", event.metadata().target(), text.message, text.fields);
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let passes = said.passes(&key, self.started.elapsed());
        HELD_BACK.set(passes.unwrap_or(0));
        passes.is_some()
    }
}

impl<S, N, F> FormatEvent<S, N> for Counted<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(suffix) = suffix() else { return self.0.format_event(context, writer, event) };
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        writeln!(writer, "{}{suffix}", line.trim_end_matches('\n'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_that_repeats_is_said_once_a_minute_with_its_count() {
        let mut said = Said::default();
        assert_eq!(said.passes("lost", seconds(0)), Some(0));
        for second in 1..60 {
            assert_eq!(said.passes("lost", seconds(second)), None);
        }
        assert_eq!(said.passes("another", seconds(59)), Some(0));
        assert_eq!(said.passes("lost", seconds(60)), Some(59));
        assert_eq!(said.passes("lost", seconds(119)), None);
        assert_eq!(said.passes("lost", seconds(200)), Some(1));
    }

    #[test]
    fn warnings_that_are_all_different_take_a_bounded_room() {
        let mut said = Said::default();
        (0..1000).for_each(|number| {
            assert_eq!(said.passes(&number.to_string(), seconds(number)), Some(0));
        });
        assert_eq!(said.0.len(), REMEMBERED);
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }
}
