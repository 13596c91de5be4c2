//! The journal: a single `SQLite` file for the state that must outlive the process.
//!
//! A set of changes is one transaction, which is on disk when [`Journal::apply`] returns. File
//! access runs on the blocking pool, so a hanging disk blocks the caller but no other task.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use link_agent_core::record::{Change, Snapshot};
use link_protocol::{counter::Seq, id::DeviceId};
use link_sqlite::migrate::{Migration, Unknown, migrate};
use rusqlite::{Connection, OptionalExtension as _, types::Value};
use serde::{Serialize, de::DeserializeOwned};

const MIGRATIONS: [Migration<'_>; 3] = [
    Migration {
        version: 1,
        description: "journal",
        text: include_str!("../../migrations/0001_journal.sql"),
    },
    Migration {
        version: 2,
        description: "owner",
        text: include_str!("../../migrations/0002_owner.sql"),
    },
    Migration {
        version: 3,
        description: "sessions",
        text: include_str!("../../migrations/0003_sessions.sql"),
    },
];

/// The open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    /// `None` once the journal is closed.
    connection: Arc<Mutex<Option<Connection>>>,
}

/// A writing statement, with the values of its parameters.
struct Statement {
    text: &'static str,
    values: Vec<Value>,
}

impl Journal {
    /// Opens the journal at `path`; creates it if there is none.
    pub(crate) async fn open(path: &Path) -> anyhow::Result<Self> {
        let path = path.to_owned();
        let connection = tokio::task::spawn_blocking(move || {
            let mut connection = link_sqlite::create(&path)
                .with_context(|| format!("cannot open the journal `{}`", path.display()))?;
            // A newer version that was rolled back may have added migrations; ignore them.
            migrate(&mut connection, &MIGRATIONS, Unknown::LeaveAlone)
                .with_context(|| format!("cannot prepare the journal `{}`", path.display()))?;
            anyhow::Ok(connection)
        });
        Ok(Self { connection: Arc::new(Mutex::new(Some(connection.await??))) })
    }

    /// Copies the journal at `from`, which may be in use, to a new file.
    pub(crate) async fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
        let (from, to) = (from.to_owned(), to.to_owned());
        let copied = tokio::task::spawn_blocking(move || {
            let to = to.to_str().context("the path of the journal is not valid UTF-8")?;
            link_sqlite::open_to_read(&from)
                .and_then(|journal| journal.execute("VACUUM INTO ?1", [to]))
                .with_context(|| format!("cannot read the journal `{}`", from.display()))
        });
        copied.await?.map(drop)
    }

    /// Returns the device that owns the journal; `device` becomes the owner of a new journal.
    pub(crate) async fn owner(&self, device: DeviceId) -> anyhow::Result<String> {
        self.run(move |journal| {
            let owner = journal.query_row("SELECT device_id FROM owner", [], |row| row.get(0));
            if let Some(owner) = owner.optional().context("cannot read the journal")? {
                return Ok(owner);
            }
            let owner = device.to_string();
            journal
                .execute("INSERT INTO owner (device_id) VALUES (?1)", [&owner])
                .context("cannot write to the journal")?;
            Ok(owner)
        })
        .await
    }

    /// Closes the journal. Afterwards its single file contains everything.
    pub(crate) async fn close(self) {
        let connection = self.connection;
        let closed = tokio::task::spawn_blocking(move || {
            drop(connection.lock().unwrap_or_else(PoisonError::into_inner).take());
        });
        if let Err(error) = closed.await {
            tracing::warn!(%error, "the journal was not closed in an orderly way");
        }
    }

    /// Reads everything except the pipelines, which are in the session.
    pub(crate) async fn load(&self) -> anyhow::Result<Snapshot> {
        self.run(|journal| {
            let seq =
                journal.query_row("SELECT value FROM counters WHERE name = 'seq'", [], |row| {
                    row.get::<_, i64>(0)
                });
            Ok(Snapshot {
                last_seq: seq
                    .optional()
                    .context("cannot read the journal")?
                    .map_or(Seq::default(), |seq| Seq(seq.unsigned_abs())),
                commands: bodies(journal, "SELECT body FROM commands ORDER BY seq")?,
                pipelines: Vec::new(),
                outbox: bodies(journal, "SELECT body FROM outbox ORDER BY id")?,
                last_report: last_report(journal)?,
            })
        })
        .await
    }

    /// Applies all changes or none.
    pub(crate) async fn apply(&self, changes: &[Change]) -> anyhow::Result<()> {
        let statements: Vec<_> = changes.iter().map(statements).collect::<Result<_, _>>()?;
        self.run(move |journal| {
            write(journal, statements.into_iter().flatten()).context("cannot write to the journal")
        })
        .await
    }

    /// Runs `work` on the blocking pool, after earlier work. If the caller stops waiting, `work`
    /// continues.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let connection = Arc::clone(&self.connection);
        tokio::task::spawn_blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(connection.as_mut().context("the journal is closed")?)
        })
        .await?
    }
}

fn bodies<T: DeserializeOwned>(journal: &Connection, query: &str) -> anyhow::Result<Vec<T>> {
    let mut statement = journal.prepare_cached(query).context("cannot read the journal")?;
    let mut rows = statement.query([]).context("cannot read the journal")?;
    let mut bodies = Vec::new();
    while let Some(row) = rows.next().context("cannot read the journal")? {
        let body: String = row.get(0).context("the journal is damaged")?;
        match serde_json::from_str(&body) {
            Ok(body) => bodies.push(body),
            // A newer version that was rolled back may have written this row. Keep it for its
            // return.
            Err(error) => {
                tracing::error!("a row of the journal cannot be read and is kept: {error}");
            }
        }
    }
    Ok(bodies)
}

/// Returns the highest number of a report, also of a row that is kept for a newer version.
fn last_report(journal: &Connection) -> anyhow::Result<u64> {
    let last = journal.query_row("SELECT coalesce(max(id), 0) FROM outbox", [], |row| row.get(0));
    last.map(i64::unsigned_abs).context("cannot read the journal")
}

/// Runs all statements in one transaction.
fn write(
    journal: &mut Connection,
    statements: impl Iterator<Item = Statement>,
) -> Result<(), rusqlite::Error> {
    let transaction = journal.transaction()?;
    for Statement { text, values } in statements {
        transaction.prepare_cached(text)?.execute(rusqlite::params_from_iter(values))?;
    }
    transaction.commit()
}

/// Returns the statements that write `change`.
fn statements(change: &Change) -> anyhow::Result<Vec<Statement>> {
    let id = |id: u64| Value::from(id.cast_signed());
    Ok(match change {
        Change::PutCommand(entry) => vec![statement(
            "INSERT OR REPLACE INTO commands (id, seq, body) VALUES (?1, ?2, ?3)",
            [entry.command_id.to_string().into(), id(entry.seq.0), text(entry)?],
        )],
        Change::ForgetCommand(command) => {
            vec![statement("DELETE FROM commands WHERE id = ?1", [command.to_string().into()])]
        }
        Change::PutPipeline(_) | Change::RemovePipeline(_) => {
            anyhow::bail!("a pipeline belongs in the session, not in the journal")
        }
        Change::PutReport(entry) => vec![statement(
            "INSERT INTO outbox (id, body) VALUES (?1, ?2)",
            [id(entry.id), text(entry)?],
        )],
        Change::HoldReport(entry) => vec![statement(
            "UPDATE outbox SET body = ?2 WHERE id = ?1",
            [id(entry.id), text(entry)?],
        )],
        Change::RemoveReport(report) => {
            vec![statement("DELETE FROM outbox WHERE id = ?1", [id(*report)])]
        }
        Change::BuryReport { entry, reason } => vec![
            statement("DELETE FROM outbox WHERE id = ?1", [id(entry.id)]),
            statement(
                "INSERT INTO dead_letters (body, reason) VALUES (?1, ?2)",
                [text(entry)?, reason.clone().into()],
            ),
        ],
        Change::SetLastSeq(seq) => vec![statement(
            "INSERT OR REPLACE INTO counters (name, value) VALUES ('seq', ?1)",
            [id(seq.0)],
        )],
    })
}

fn statement<const N: usize>(text: &'static str, values: [Value; N]) -> Statement {
    Statement { text, values: values.into() }
}

fn text<T: Serialize>(value: &T) -> anyhow::Result<Value> {
    serde_json::to_string(value).map(Value::from).context("cannot serialise a record")
}

#[cfg(test)]
mod tests {
    use link_agent_core::{
        outbox::Outbox,
        record::{LedgerEntry, OutboxEntry, Report},
    };
    use link_protocol::{
        command::Lane,
        id::CommandId,
        report::{CommandReport, CommandResult},
    };

    use super::*;

    /// A row written by a newer version that was rolled back.
    #[tokio::test]
    async fn a_row_that_this_version_does_not_know_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join("journal.db")).await.unwrap();
        journal.apply(&[Change::PutCommand(entry(7))]).await.unwrap();
        let later =
            "INSERT INTO commands (id, seq, body) VALUES ('cmd_1', 8, '{\"type\":\"NEW\"}')";
        execute(&journal, later).await;
        assert_eq!(journal.load().await.unwrap().commands, [entry(7)]);
        let rows = journal.run(|journal| {
            let count = "SELECT count(*) FROM commands";
            Ok(journal.query_row(count, [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(rows.await.unwrap(), 2);
    }

    /// The next report must not get the number of a report that is kept for a newer version: its row could never be written.
    #[tokio::test]
    async fn a_report_that_this_version_does_not_know_keeps_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join("journal.db")).await.unwrap();
        execute(&journal, "INSERT INTO outbox (id, body) VALUES (1, '{\"kind\":\"NEW\"}')").await;
        let snapshot = journal.load().await.unwrap();
        assert_eq!((snapshot.outbox.len(), snapshot.last_report), (0, 1));
        let mut changes = Vec::new();
        let mut outbox = Outbox::restore(snapshot.outbox, snapshot.last_report, &mut changes);
        outbox.push(report(9).report, &mut changes);
        journal.apply(&changes).await.unwrap();
        assert_eq!(journal.load().await.unwrap().last_report, 2);
    }

    #[tokio::test]
    async fn a_journal_of_the_former_driver_is_read_and_stays_readable_for_that_driver() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        let former = Connection::open(&path).unwrap();
        former.execute_batch(include_str!("journal/of_version_1_3.sql")).unwrap();
        let before = bookkeeping(&former);
        drop(former);
        let journal = Journal::open(&path).await.unwrap();
        let snapshot = journal.load().await.unwrap();
        assert_eq!((snapshot.commands, snapshot.outbox), (vec![entry(7)], vec![report(3)]));
        assert_eq!(snapshot.last_seq, Seq(7));
        journal.close().await;
        assert_eq!(bookkeeping(&Connection::open(&path).unwrap()), before);

        let path = dir.path().join("new.db");
        Journal::open(&path).await.unwrap().close().await;
        assert_eq!(bookkeeping(&Connection::open(&path).unwrap()), before, "of a new journal");
    }

    #[tokio::test]
    async fn a_journal_that_a_newer_version_went_further_with_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        let journal = Journal::open(&path).await.unwrap();
        let later = "INSERT INTO _sqlx_migrations (version, description, success, checksum, \
             execution_time) VALUES (9, 'later', TRUE, x'00', 0)";
        execute(&journal, later).await;
        journal.close().await;
        Journal::open(&path).await.unwrap().load().await.unwrap();
    }

    #[tokio::test]
    async fn a_closed_journal_is_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join("journal.db")).await.unwrap();
        journal.apply(&[Change::PutCommand(entry(7))]).await.unwrap();
        journal.close().await;
        let files: Vec<_> = dir.path().read_dir().unwrap().collect();
        assert_eq!(files.len(), 1, "{files:?}");
    }

    #[tokio::test]
    async fn what_was_applied_is_there_after_the_journal_is_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        let (entry, report) = (entry(7), report(3));
        let journal = Journal::open(&path).await.unwrap();
        let changes = [
            Change::PutCommand(entry.clone()),
            Change::SetLastSeq(Seq(7)),
            Change::PutReport(report.clone()),
        ];
        journal.apply(&changes).await.unwrap();
        drop(journal);
        let journal = Journal::open(&path).await.unwrap();
        let snapshot = journal.load().await.unwrap();
        assert_eq!((snapshot.commands, snapshot.outbox), (vec![entry], vec![report.clone()]));
        assert_eq!(snapshot.last_seq, Seq(7));
        let aside = OutboxEntry { unauthorized: true, ..report.clone() };
        journal.apply(&[Change::HoldReport(aside.clone())]).await.unwrap();
        assert_eq!(journal.load().await.unwrap().outbox, [aside]);
        let bury = Change::BuryReport { entry: report, reason: "410".to_owned() };
        journal.apply(&[bury]).await.unwrap();
        assert!(journal.load().await.unwrap().outbox.is_empty());
    }

    #[tokio::test]
    async fn a_set_of_changes_is_applied_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join("journal.db")).await.unwrap();
        let twice = [Change::PutReport(report(1)), Change::PutReport(report(1))];
        assert!(journal.apply(&twice).await.is_err());
        assert!(journal.load().await.unwrap().outbox.is_empty());
    }

    /// Returns the columns that the database driver compares with its own migrations.
    fn bookkeeping(journal: &Connection) -> Vec<(i64, String, bool, Vec<u8>)> {
        let query = "SELECT version, description, success, checksum FROM _sqlx_migrations";
        let mut statement = journal.prepare(query).unwrap();
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    async fn execute(journal: &Journal, statement: &'static str) {
        journal.run(|journal| Ok(journal.execute_batch(statement)?)).await.unwrap();
    }

    fn entry(seq: u64) -> LedgerEntry {
        LedgerEntry {
            command_id: command(),
            seq: Seq(seq),
            attempt: 1,
            lane: Lane::Control,
            command: None,
            exec_deadline_s: 10,
            result: None,
        }
    }

    fn report(id: u64) -> OutboxEntry {
        let report = CommandReport {
            command_id: command(),
            status: CommandResult::Succeeded,
            output: "done".to_owned(),
            attempt: 1,
        };
        OutboxEntry { id, report: Report::Command(report), unauthorized: false }
    }

    fn command() -> CommandId {
        "cmd_00000000000000000000000000000001".parse().unwrap()
    }
}
