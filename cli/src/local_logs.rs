//! The lines of the logs on this machine: what each line says of itself, which lines a person wants, and their order.
//! Pure.
//!
//! The agent writes its time and level at the start of each line. A line without a time belongs to the line before it.

use jiff::Timestamp;
use link_protocol::{report::Severity, shown};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Component;

/// A line of a log on this machine.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub(crate) struct LocalRecord {
    /// When the line was written. For an engine that writes no times, when its log was changed last.
    #[schemars(with = "String")]
    pub(crate) time: Timestamp,
    #[schemars(with = "Component<Severity>")]
    pub(crate) severity: Severity,
    /// `agent` (with its guard), or the name of the model whose engine wrote the line.
    pub(crate) source: String,
    pub(crate) message: String,
}

/// A log, with what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    /// The texts by which lines of the agent name the model: its name, its id, the id of its pipeline.
    pub(crate) names: Vec<String>,
}

/// Which lines to show.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) severity: Option<Severity>,
    /// A model, by its name, its id or the id of its pipeline.
    pub(crate) model: Option<String>,
    pub(crate) request: Option<String>,
}

/// Reads the lines of one log. `known` is the time of lines before the first time.
pub(crate) fn read(source: &str, text: &str, known: Timestamp) -> Vec<LocalRecord> {
    let (mut time, mut severity) = (known, Severity::Info);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let records = lines.map(|line| {
        let (at, rest) = split_time(line);
        time = at.unwrap_or(time);
        match split_level(rest) {
            Some((level, message)) => {
                severity = level;
                record(time, severity, source, message)
            }
            None => {
                // A line with its own time does not continue a record.
                if at.is_some() {
                    severity = Severity::Info;
                }
                record(time, severity, source, rest)
            }
        }
    });
    records.collect()
}

/// Returns the newest `most` of the wanted lines, in the order of their times. `sources` are all known models.
pub(crate) fn select(
    mut records: Vec<LocalRecord>,
    wanted: &Wanted,
    sources: &[Source],
    most: usize,
) -> Vec<LocalRecord> {
    let names = wanted.model.as_ref().map(|model| names_of(model, sources));
    records.retain(|record| {
        wanted.severity.is_none_or(|least| record.severity >= least)
            && wanted.request.as_ref().is_none_or(|id| record.message.contains(id.as_str()))
            && names.as_ref().is_none_or(|names| is_of(record, names))
    });
    // Lines of one log with the same time keep their order.
    records.sort_by_key(|record| record.time);
    records.split_off(records.len().saturating_sub(most))
}

/// Returns the record as one line for a person.
pub(crate) fn line(record: &LocalRecord) -> String {
    let LocalRecord { time, severity, source, message } = record;
    let time = time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ");
    shown::one_line(&format!("{time} {:<8} {source}  {message}", severity.as_str()))
}

fn names_of<'a>(model: &'a str, sources: &'a [Source]) -> Vec<&'a str> {
    let is_it =
        |source: &&Source| source.name == model || source.names.iter().any(|one| one == model);
    match sources.iter().find(is_it) {
        Some(source) => {
            source.names.iter().map(String::as_str).chain([source.name.as_str()]).collect()
        }
        None => vec![model],
    }
}

fn is_of(record: &LocalRecord, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let mut words = record
            .message
            .split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')));
        record.source == *name || words.any(|word| word == *name)
    })
}

fn record(time: Timestamp, severity: Severity, source: &str, message: &str) -> LocalRecord {
    let (source, message) = (source.to_owned(), message.to_owned());
    LocalRecord { time, severity, source, message }
}

/// Splits a line that begins with a time.
fn split_time(line: &str) -> (Option<Timestamp>, &str) {
    let found = line.split_once(' ').and_then(|(time, rest)| Some((time.parse().ok()?, rest)));
    found.map_or((None, line), |(time, rest)| (Some(time), rest.trim_start()))
}

/// Splits a line that begins with a level: a word, as the agent prints it, or a letter after the seconds since the start,
/// as llama.cpp prints it. The latter stays in the message.
fn split_level(line: &str) -> Option<(Severity, &str)> {
    let (first, rest) = line.split_once(' ')?;
    let is_elapsed = first.contains('.') && first.chars().all(|c| c == '.' || c.is_ascii_digit());
    let (level, message) = if is_elapsed { (rest.split_once(' ')?.0, line) } else { (first, rest) };
    let severity = match level {
        "TRACE" | "DEBUG" | "INFO" => Severity::Info,
        "WARN" => Severity::Warning,
        "ERROR" => Severity::Error,
        "D" | "I" if is_elapsed => Severity::Info,
        "W" if is_elapsed => Severity::Warning,
        "E" if is_elapsed => Severity::Error,
        _ => return None,
    };
    Some((severity, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: &str = "\
        2026-10-01T12:00:00.5Z  INFO link_agent: serving model=smollm request=req_1\n\
        2026-10-01T12:00:02Z  WARN link_agent: the engine of pip_7 ended\n\
        caused by: a signal\n\
        link-guard: the agent ended\n";

    #[test]
    fn a_line_without_a_time_belongs_to_the_line_before_it() {
        let records = read("agent", AGENT, Timestamp::UNIX_EPOCH);
        let seen: Vec<_> = records.iter().map(line).collect();
        let wanted = [
            "2026-10-01T12:00:00.500Z info     agent  link_agent: serving model=smollm request=req_1",
            "2026-10-01T12:00:02.000Z warning  agent  link_agent: the engine of pip_7 ended",
            "2026-10-01T12:00:02.000Z warning  agent  caused by: a signal",
            "2026-10-01T12:00:02.000Z warning  agent  link-guard: the agent ended",
        ];
        assert_eq!(seen, wanted);
        let engine = read("smollm", "loading\n", "2026-10-01T12:00:01Z".parse().unwrap());
        assert_eq!(line(&engine[0]), "2026-10-01T12:00:01.000Z info     smollm  loading");
    }

    #[test]
    fn the_letter_of_an_engine_is_its_severity() {
        let lines =
            "0.00.034.944 W srv: unauthorized\n0.00.1 E it broke\n1.2 I fine\n1.2 X no\n7 W no\n";
        let records = read("smollm", lines, Timestamp::UNIX_EPOCH);
        let seen: Vec<_> = records.iter().map(|record| record.severity).collect();
        let (info, warning, error) = (Severity::Info, Severity::Warning, Severity::Error);
        // A line without a level continues the one before it.
        assert_eq!(seen, [warning, error, info, info, info]);
        assert_eq!(records[0].message, "0.00.034.944 W srv: unauthorized");
    }

    #[test]
    fn logs_are_merged_by_time_and_the_newest_lines_stay() {
        let engine = read("smollm", "loading\n", "2026-10-01T12:00:01Z".parse().unwrap());
        let all = [read("agent", AGENT, Timestamp::UNIX_EPOCH), engine].concat();
        let merged = select(all.clone(), &Wanted::default(), &[], 4);
        let sources: Vec<_> = merged.iter().map(|record| record.source.as_str()).collect();
        assert_eq!(sources, ["smollm", "agent", "agent", "agent"]);
        assert_eq!(select(all, &Wanted::default(), &[], 100).len(), 5);
    }

    #[test]
    fn lines_are_chosen_by_severity_request_and_every_name_of_a_model() {
        let engine = read("smollm", "loading\n", "2026-10-01T12:00:01Z".parse().unwrap());
        let all = [read("agent", AGENT, Timestamp::UNIX_EPOCH), engine].concat();
        let names = ["mdl_3", "pip_7"].map(str::to_owned).to_vec();
        let sources = [Source { name: "smollm".into(), names }];
        let count = |wanted: Wanted| select(all.clone(), &wanted, &sources, 100).len();
        let severity = Some(Severity::Warning);
        assert_eq!(count(Wanted { severity, ..Wanted::default() }), 3);
        assert_eq!(count(Wanted { request: Some("req_1".into()), ..Wanted::default() }), 1);
        for name in ["smollm", "pip_7", "mdl_3"] {
            assert_eq!(
                count(Wanted { model: Some(name.into()), ..Wanted::default() }),
                3,
                "{name}"
            );
        }
        assert_eq!(count(Wanted { model: Some("smol".into()), ..Wanted::default() }), 0);
    }
}
