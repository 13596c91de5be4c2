//! Reads the logs on this machine: of the agent with its guard, and of each engine.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks at the files of the logs")]

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use link_client::local::LocalClient;
use link_installer::{
    layout::Layout,
    service::{self, Manager},
};
use link_platform::{
    fs,
    process::{self, Call},
};
use link_protocol::{exit_code::ExitCode, local_api::ModelHealth, shown};
use serde::Deserialize;

use crate::{
    args::Logs,
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    local_logs::{self, LocalRecord, Source, Wanted},
    output,
    wait::pause,
};

/// The part of a log that is read: its end. Bytes.
const END: u64 = 2 * 1024 * 1024;
/// The interval between two looks with `--follow`.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long `journalctl` may take.
const LIMIT: Duration = Duration::from_secs(20);
/// The most entries of the journal that are read at first.
const MOST_ENTRIES: usize = 10_000;
/// The name of the agent's log.
const AGENT: &str = "agent";

/// The logs of this machine.
struct Logbook {
    layout: Layout,
    /// Where the journal was read last. None if the agent writes a file.
    journal: Option<Option<String>>,
    files: Vec<LogFile>,
}

/// A log file, and how far it was read.
struct LogFile {
    source: String,
    path: PathBuf,
    /// When the file was created: an engine's log is a new file at each start.
    created: Option<SystemTime>,
    /// How far it was read, in bytes.
    read: u64,
    /// Whether it was read before.
    is_open: bool,
}

/// A line of `journalctl --output json`.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    microseconds: String,
    #[serde(rename = "__CURSOR")]
    cursor: String,
    /// A text, or the bytes of one that is no UTF-8.
    #[serde(rename = "MESSAGE", default)]
    message: serde_json::Value,
}

pub(super) async fn run(context: &Context, arguments: &Logs) -> Result<ExitCode, CliError> {
    let wanted = Wanted {
        severity: arguments.severity.map(Into::into),
        model: arguments.model.clone(),
        request: arguments.request.clone(),
    };
    let sources = sources(context).await;
    let mut logbook = Logbook::open(context, &sources)?;
    let most = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    // Lines that are not wanted do not count.
    let is_filtered = wanted != Wanted::default();
    let first = logbook.read(if is_filtered { usize::MAX } else { most }, arguments.follow)?;
    let records = local_logs::select(first, &wanted, &sources, most);
    if !arguments.follow {
        context.output.data(&records, |records| text(records))?;
        return Ok(ExitCode::Success);
    }
    let follow = async {
        let mut records = records;
        loop {
            for record in &records {
                let line =
                    if context.output.is_json() { json(record) } else { local_logs::line(record) };
                if !output::stream_stdout(&format!("{line}\n"))? {
                    return Ok(ExitCode::Success);
                }
            }
            pause(INTERVAL).await;
            logbook.find_new(context, &sources);
            records =
                local_logs::select(logbook.read(usize::MAX, true)?, &wanted, &sources, usize::MAX);
        }
    };
    tokio::select! {
        // Listens before the first line is shown: a reader may press Ctrl-C at once.
        biased;
        _interrupted = tokio::signal::ctrl_c() => Ok(ExitCode::Success),
        ended = follow => ended,
    }
}

fn text(records: &[LocalRecord]) -> String {
    if records.is_empty() {
        return "no matching lines".to_owned();
    }
    records.iter().map(local_logs::line).collect::<Vec<_>>().join("\n")
}

fn json(record: &LocalRecord) -> String {
    shown::json(&serde_json::to_string(record).expect("a record has only string keys"))
}

/// Returns the models of the agent with their other names. Without a running agent, nothing tells the models apart, and
/// the logs of engines have the names of their pipelines.
async fn sources(context: &Context) -> Vec<Source> {
    let health = LocalClient::of(&context.roots).healthz().await;
    let models = health.map(|health| health.models).unwrap_or_default();
    let source = |model: ModelHealth| Source {
        name: model.alias.to_string(),
        names: vec![model.pipeline_id.to_string(), model.model_id.to_string()],
    };
    models.into_iter().map(source).collect()
}

impl Logbook {
    fn open(context: &Context, sources: &[Source]) -> Result<Self, CliError> {
        let layout = Layout::new(context.roots.clone());
        let has_journal = has_journal(&layout);
        let mut logbook = Self { layout, journal: has_journal.then_some(None), files: Vec::new() };
        logbook.find_new(context, sources);
        let log = logbook.layout.agent_log();
        if !has_journal && !log.exists() {
            let message = format!("there is no log yet: `{}` does not exist", log.display());
            return Err(CliError::new(ExitCode::Failed, ErrorCode::File, message)
                .hint("start the agent with `link start`"));
        }
        Ok(logbook)
    }

    /// Adds the log files that were not there before.
    fn find_new(&mut self, context: &Context, sources: &[Source]) {
        let agent = self.layout.agent_log();
        let entries = std::fs::read_dir(context.roots.logs());
        let found = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        for path in found.filter(|path| path.extension().is_some_and(|end| end == "log")) {
            if self.files.iter().any(|file| file.path == path) {
                continue;
            }
            let source = if path == agent { AGENT.to_owned() } else { name_of(&path, sources) };
            self.files.push(LogFile { source, path, created: None, read: 0, is_open: false });
        }
    }

    /// Returns the lines since the last call, in each log its last `most` at least.
    fn read(&mut self, most: usize, follows: bool) -> Result<Vec<LocalRecord>, CliError> {
        let mut records = Vec::new();
        if let Some(cursor) = &mut self.journal {
            let entries = journal(cursor.as_deref(), most)?;
            if let Some(last) = entries.last() {
                *cursor = Some(last.cursor.clone());
            }
            records.extend(entries.iter().flat_map(Entry::records));
        }
        records.extend(self.files.iter_mut().flat_map(|file| file.read(follows)));
        Ok(records)
    }
}

/// Returns the name of the model whose engine writes the file.
fn name_of(path: &Path, sources: &[Source]) -> String {
    let pipeline = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let source = sources.iter().find(|source| source.names.contains(&pipeline));
    source.map_or(pipeline, |source| source.name.clone())
}

impl LogFile {
    /// Returns the lines that were written since the last call, with `follows` only the complete ones.
    fn read(&mut self, follows: bool) -> Vec<LocalRecord> {
        // A file that vanishes meanwhile has no lines.
        let Ok(found) = std::fs::metadata(&self.path) else { return Vec::new() };
        let (created, length) = (found.created().ok(), found.len());
        let mut records = Vec::new();
        if !self.is_open || created != self.created || length < self.read {
            records = self.read_before();
            (self.is_open, self.created, self.read) = (true, created, 0);
        }
        let unread = (length - self.read).min(END);
        let Ok(text) = fs::read_end(&self.path, unread) else { return records };
        // The last line may not be complete yet.
        let (whole, rest) = match text.rsplit_once('\n') {
            _ if !follows => (text.as_str(), ""),
            Some(split) => split,
            None => ("", text.as_str()),
        };
        self.read = length - u64::try_from(rest.len()).unwrap_or_default();
        records.extend(self.lines(whole, unread, &found));
        records
    }

    /// Returns the unread lines of the file before this one: a full log of an engine gets `.1` at the end of its name.
    fn read_before(&self) -> Vec<LocalRecord> {
        let mut path = self.path.clone().into_os_string();
        path.push(".1");
        let path = PathBuf::from(path);
        let Ok(found) = std::fs::metadata(&path) else { return Vec::new() };
        let read = match self.is_open {
            false => 0,
            true if self.created.is_some() && found.created().ok() == self.created => self.read,
            true => return Vec::new(),
        };
        let unread = found.len().saturating_sub(read).min(END);
        let text = fs::read_end(&path, unread).unwrap_or_default();
        self.lines(&text, unread, &found)
    }

    /// Reads the lines in the last `unread` bytes of a file.
    fn lines(&self, text: &str, unread: u64, found: &std::fs::Metadata) -> Vec<LocalRecord> {
        // The first line has lost its start.
        let whole =
            if unread == END { text.split_once('\n').map_or("", |(_, rest)| rest) } else { text };
        let changed = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        local_logs::read(&self.source, whole, changed.unwrap_or(Timestamp::UNIX_EPOCH))
    }
}

impl Entry {
    fn records(&self) -> Vec<LocalRecord> {
        let time =
            self.microseconds.parse().ok().and_then(|us| Timestamp::from_microsecond(us).ok());
        local_logs::read(AGENT, &self.text(), time.unwrap_or(Timestamp::UNIX_EPOCH))
    }

    fn text(&self) -> String {
        match &self.message {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Array(bytes) => {
                let byte = |value: &serde_json::Value| u8::try_from(value.as_u64()?).ok();
                let bytes: Vec<u8> = bytes.iter().filter_map(byte).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            serde_json::Value::Null
            | serde_json::Value::Bool(_)
            | serde_json::Value::Number(_)
            | serde_json::Value::Object(_) => String::new(),
        }
    }
}

/// Returns the newest entries of the agent's journal as text. None if the agent writes a file, or the journal cannot be
/// read.
pub(in crate::command) fn journal_text(layout: &Layout) -> Option<String> {
    if !has_journal(layout) {
        return None;
    }
    let entries = journal(None, MOST_ENTRIES).ok()?;
    let records = entries.iter().flat_map(Entry::records);
    Some(records.map(|record| local_logs::line(&record) + "\n").collect())
}

/// Returns whether the agent writes to the journal of the service manager instead of a file.
fn has_journal(layout: &Layout) -> bool {
    let manager = service::manager();
    manager == Manager::Systemd && manager.has_unit(layout)
}

/// Returns the entries of our unit after `cursor`, or the newest `most`.
fn journal(cursor: Option<&str>, most: usize) -> Result<Vec<Entry>, CliError> {
    let mut args =
        ["--user", "--unit", "link", "--output", "json", "--quiet"].map(str::to_owned).to_vec();
    match cursor {
        Some(cursor) => args.push(format!("--after-cursor={cursor}")),
        None => args.push(format!("--lines={}", most.min(MOST_ENTRIES))),
    }
    let args = args.into_iter().map(Into::into).collect();
    let call = Call { program: "journalctl".into(), args, env: None, limit: LIMIT };
    let failed = |why: String| {
        let message = format!("the journal cannot be read: {why}");
        CliError::new(ExitCode::Failed, ErrorCode::File, message)
            .hint("try `journalctl --user --unit link`")
    };
    let answer = process::call(&call).map_err(|error| failed(error.to_string()))?;
    if !answer.success {
        return Err(failed(answer.stderr));
    }
    Ok(answer.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
