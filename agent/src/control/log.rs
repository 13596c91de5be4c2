//! The agent's log records, on the console and for the backend (specification, section 2.4).
//!
//! A record is `{message, severity, category}`. A record of lasting importance, such as one about
//! security, has a field `category`. Messages about sending records do not become records, and a
//! repeated warning becomes at most one record a minute.

use std::io::IsTerminal as _;

use link_platform::log::{self, Counted, Repeats, Text};
use link_protocol::{
    config::{Level, LogTarget, LoggingConfig, LoggingHandler},
    report::{LogRecord, Severity},
};
use tracing::{Event, Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer,
    filter::Targets,
    fmt::{format, layer},
    layer::Context,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::control::{
    handler::{Handler, Item, Sink, Target, console},
    queue::Queue,
    transport::Ways,
};

/// The longest message of a record, in characters.
const LONGEST: usize = 4000;

/// Messages with this target stay in the log of this machine.
pub(crate) const LOCAL: &str = "link_agent::local";

/// The category of security records.
pub(crate) const SECURITY: &str = "security";

/// The default category.
const OTHER: &str = "other";

/// The queues of records for the backend, one for each handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records(Vec<Taker>);

/// A handler that receives records.
#[derive(Clone, Debug)]
struct Taker {
    target: LogTarget,
    queue: Queue<Item>,
    over_zenoh: bool,
}

/// Starts logging. `filter` is a person's choice and overrides the console level.
pub(crate) fn start(config: &LoggingConfig, filter: Option<&str>) -> Records {
    let mut console = None;
    let mut records = Vec::new();
    for handler in &config.handlers {
        match handler {
            LoggingHandler::Console(target) => console = Some(level(target.level)),
            LoggingHandler::Http(target) | LoggingHandler::Zenoh(target) => {
                let over_zenoh = matches!(handler, LoggingHandler::Zenoh(_));
                records.push(Taker { target: target.clone(), queue: Handler::queue(), over_zenoh });
            }
        }
    }
    let records = Records(records);
    let shown = match (filter, console) {
        (Some(filter), _) => filter.parse().unwrap_or_else(|_| everything_at(LevelFilter::INFO)),
        (None, Some(level)) => everything_at(level),
        (None, None) => Targets::new(),
    };
    let colours = std::io::stderr().is_terminal();
    let lines = Counted::text(format().with_ansi(colours));
    let console = layer().with_writer(std::io::stderr).event_format(lines).with_filter(shown);
    let registry =
        tracing_subscriber::registry().with(console).with(records.clone()).with(Repeats::new());
    // If logging already runs in this process, as in tests, the first setup stays.
    let _already_logs = registry.try_init();
    records
}

fn everything_at(level: LevelFilter) -> Targets {
    Targets::new().with_default(level)
}

impl Records {
    /// Sends the queued records and all later ones by `ways`.
    pub(crate) fn deliver(&self, ways: &Ways) -> anyhow::Result<Vec<Handler>> {
        let handler = |taker: &Taker| {
            let way = if taker.over_zenoh { ways.zenoh() } else { ways.http() };
            let target = Target::of_logs(way, ways.device(), &taker.target);
            Handler::start("logs", Sink::Backend(Box::new(target)), taker.queue.clone())
        };
        self.0.iter().map(handler).collect()
    }

    /// Drops the queued records: the account they were meant for no longer owns this device.
    pub(crate) fn forget(&self) {
        self.0.iter().for_each(|taker| taker.queue.clear());
    }

    /// Returns the number of records lost because a queue was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.iter().map(|taker| taker.queue.dropped()).sum()
    }
}

impl<S: Subscriber> Layer<S> for Records {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let metadata = event.metadata();
        if !is_ours(metadata) {
            return;
        }
        let takers = self.0.iter().filter(|taker| *metadata.level() <= level(taker.target.level));
        let mut record = None;
        for taker in takers {
            let record = record.get_or_insert_with(|| record_of(event));
            taker.queue.push(Item::Log(record.clone()));
        }
    }
}

/// Returns whether a message becomes a record: it comes from the agent itself, is not local, and is
/// not about sending records.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    let of_a_handler =
        target.starts_with("link_agent::control::handler") || target == console::TARGET;
    target.starts_with("link_") && !of_a_handler && target != LOCAL
}

fn record_of(event: &Event<'_>) -> LogRecord {
    let text = Text::of(event);
    let mut message: String = text.message.chars().take(LONGEST).collect();
    message.extend(text.fields.chars().take(LONGEST));
    message.extend(log::suffix());
    LogRecord {
        message,
        severity: severity(*event.metadata().level()),
        category: text.category.unwrap_or_else(|| OTHER.to_owned()),
    }
}

fn severity(level: tracing::Level) -> Severity {
    match level {
        tracing::Level::ERROR => Severity::Error,
        tracing::Level::WARN => Severity::Warning,
        tracing::Level::INFO | tracing::Level::DEBUG | tracing::Level::TRACE => Severity::Info,
    }
}

const fn level(level: Level) -> LevelFilter {
    match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warning => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
    }
}

#[cfg(test)]
mod tests;
