//! Suppresses repeated warnings: each is logged at once, and then at most once a minute with the number of suppressed
//! repetitions.
//!
//! A warning for every request would fill the machine's log and hide everything else. Only warnings and errors are
//! suppressed.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the clock")]

use std::{
    cell::Cell,
    collections::BTreeMap,
    fmt::{self, Write as _},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    layer::Context,
    registry::LookupSpan,
};

/// How long a warning is suppressed after it was logged.
const WINDOW: Duration = Duration::from_secs(60);

/// The maximum number of different warnings to remember. The oldest is forgotten first.
const REMEMBERED: usize = 64;

thread_local! {
    /// The number of suppressed repetitions of the event that this thread is logging.
    static HELD_BACK: Cell<u64> = const { Cell::new(0) };
}

/// A layer that suppresses repeated warnings for all other layers too.
#[derive(Clone, Debug)]
pub struct Repeats {
    said: Arc<Mutex<Said>>,
    started: Instant,
}

/// For each warning, when it was last logged, and how often it was suppressed since then.
#[derive(Debug, Default)]
struct Said(BTreeMap<String, (Duration, u64)>);

/// Formats an event with `F`, and adds the number of suppressed repetitions.
#[derive(Debug)]
pub struct Counted<F> {
    format: F,
    ending: Ending,
}

/// Where the count is written in a line.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// After the text.
    Text,
    /// In the field `held_back` of the JSON object of the line.
    Json,
}

/// The parts of an event.
#[derive(Debug, Default)]
pub struct Text {
    pub message: String,
    /// All other fields as ` name=value`, except `category`.
    pub fields: String,
    pub category: Option<String>,
    /// The text that identifies repetitions of an event: everything except the request id.
    alike: String,
}

impl Repeats {
    /// Starts with an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self { said: Arc::default(), started: Instant::now() }
    }
}

impl Default for Repeats {
    fn default() -> Self {
        Self::new()
    }
}

impl Said {
    /// Returns how often `text` was suppressed. None if it must be suppressed at `now` too.
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

impl Text {
    /// Reads the fields of an event.
    #[must_use]
    pub fn of(event: &Event<'_>) -> Self {
        let mut text = Self::default();
        event.record(&mut text);
        text
    }
}

/// Returns the text to append to an event that was suppressed before.
#[must_use]
pub fn suffix() -> Option<String> {
    let count = HELD_BACK.get();
    (count > 0).then(|| format!(" (and {count} times more since this was said last)"))
}

impl<F> Counted<F> {
    /// Appends counts to the lines that `format` writes.
    pub const fn text(format: F) -> Self {
        Self { format, ending: Ending::Text }
    }

    /// Adds counts to the JSON objects that `format` writes, one per line.
    pub const fn json(format: F) -> Self {
        Self { format, ending: Ending::Json }
    }
}

impl Ending {
    /// Returns `line` with the number of suppressed repetitions of the event that this thread logs.
    fn with_count(self, line: &str) -> String {
        let line = line.trim_end_matches('\n');
        match (self, line.strip_suffix('}')) {
            (Self::Json, Some(open)) => format!("{open},\"held_back\":{}}}", HELD_BACK.get()),
            (Self::Json | Self::Text, _) => format!("{line}{}", suffix().unwrap_or_default()),
        }
    }
}

impl<S: Subscriber> Layer<S> for Repeats {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        HELD_BACK.set(0);
        if *event.metadata().level() > Level::WARN {
            return true;
        }
        let text = Text::of(event);
        let key = format!("{}{}", event.metadata().target(), text.alike);
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
        if HELD_BACK.get() == 0 {
            return self.format.format_event(context, writer, event);
        }
        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        writeln!(writer, "{}", self.ending.with_count(&line))
    }
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "category" {
            self.category = Some(value.to_owned());
        } else {
            self.record_debug(field, &format_args!("{value}"));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let (wrote, wrote_alike) = match field.name() {
            "message" => (write!(self.message, "{value:?}"), write!(self.alike, " {value:?}")),
            "request" => (write!(self.fields, " request={value:?}"), Ok(())),
            name => {
                (write!(self.fields, " {name}={value:?}"), write!(self.alike, " {name}={value:?}"))
            }
        };
        wrote.and(wrote_alike).expect("writing to a string cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

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
    fn the_record_that_passes_again_knows_how_many_were_held_back() {
        #[derive(Clone, Default)]
        struct Seen(Arc<Mutex<Vec<Option<String>>>>);

        impl<S: Subscriber> Layer<S> for Seen {
            fn on_event(&self, _event: &Event<'_>, _context: Context<'_, S>) {
                self.0.lock().unwrap().push(suffix());
            }
        }

        let seen = Seen::default();
        let started = Instant::now();
        let Some(earlier) = started.checked_sub(WINDOW) else { return };
        let repeats = Repeats { said: Arc::default(), started };
        // The same warnings, one minute later.
        let later = Repeats { said: Arc::clone(&repeats.said), started: earlier };
        for repeats in [repeats, later] {
            let all = tracing_subscriber::registry().with(seen.clone()).with(repeats);
            tracing::subscriber::with_default(all, || {
                (0..3).for_each(|_| tracing::warn!("lost"));
            });
        }
        let again = " (and 2 times more since this was said last)".to_owned();
        assert_eq!(*seen.0.lock().unwrap(), [None, Some(again)]);
    }

    #[test]
    fn warnings_that_are_all_different_take_a_bounded_room() {
        let mut said = Said::default();
        (0..1000).for_each(|number| {
            assert_eq!(said.passes(&number.to_string(), seconds(number)), Some(0));
        });
        assert_eq!(said.0.len(), REMEMBERED);
    }

    #[test]
    fn the_count_stands_behind_a_text_and_in_an_object() {
        HELD_BACK.set(59);
        let text = Ending::Text.with_count("WARN lost\n");
        assert_eq!(text, "WARN lost (and 59 times more since this was said last)");
        let object = Ending::Json.with_count("{\"level\":\"WARN\"}\n");
        assert_eq!(object, "{\"level\":\"WARN\",\"held_back\":59}");
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }
}
