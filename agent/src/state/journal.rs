//! The journal: one `SQLite` file that holds what must outlive the process.
//!
//! A set of changes is one transaction, on disk when [`Journal::apply`] returns.

use std::path::Path;

use anyhow::Context as _;
use link_agent_core::record::{Change, Snapshot};
use link_protocol::id::DeviceId;
use serde::{Serialize, de::DeserializeOwned};
use sqlx::{
    Row as _, Sqlite, SqlitePool, Transaction,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

/// The open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    pool: SqlitePool,
}

impl Journal {
    /// Opens the journal at `path`, and makes it when there is none.
    pub(crate) async fn open(path: &Path) -> anyhow::Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .with_context(|| format!("cannot open the journal `{}`", path.display()))?;
        // A version that was rolled back may have gone further: what it added is left alone.
        sqlx::migrate!("./migrations")
            .set_ignore_missing(true)
            .run(&pool)
            .await
            .with_context(|| format!("cannot prepare the journal `{}`", path.display()))?;
        Ok(Self { pool })
    }

    /// Copies the journal at `from`, which may be in use, to a new file.
    pub(crate) async fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
        let options = SqliteConnectOptions::new().filename(from).read_only(true);
        let failed = || format!("cannot read the journal `{}`", from.display());
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options);
        let pool = pool.await.with_context(failed)?;
        let to = to.to_str().context("the folder of the journal has no plain name")?;
        let copied = sqlx::query("VACUUM INTO $1").bind(to).execute(&pool).await;
        pool.close().await;
        copied.map(drop).with_context(failed)
    }

    /// Returns the device that the journal belongs to; a new journal becomes the one of `device`.
    pub(crate) async fn owner(&self, device: DeviceId) -> anyhow::Result<String> {
        let owner: Option<String> = sqlx::query_scalar("SELECT device_id FROM owner")
            .fetch_optional(&self.pool)
            .await
            .context("cannot read the journal")?;
        if let Some(owner) = owner {
            return Ok(owner);
        }
        sqlx::query("INSERT INTO owner (device_id) VALUES ($1)")
            .bind(device.to_string())
            .execute(&self.pool)
            .await
            .context("cannot write to the journal")?;
        Ok(device.to_string())
    }

    /// Closes the journal; everything is in its one file when this returns.
    pub(crate) async fn close(self) {
        self.pool.close().await;
    }

    /// Reads everything but the pipelines, which the session has.
    pub(crate) async fn load(&self) -> anyhow::Result<Snapshot> {
        let seq: Option<i64> = sqlx::query_scalar("SELECT value FROM counters WHERE name = 'seq'")
            .fetch_optional(&self.pool)
            .await
            .context("cannot read the journal")?;
        Ok(Snapshot {
            commands: self.bodies("SELECT body FROM commands ORDER BY seq").await?,
            pipelines: Vec::new(),
            outbox: self.bodies("SELECT body FROM outbox ORDER BY id").await?,
            last_seq: seq.unwrap_or(0).unsigned_abs(),
        })
    }

    /// Applies all changes, or none.
    pub(crate) async fn apply(&self, changes: &[Change]) -> anyhow::Result<()> {
        let mut transaction = self.pool.begin().await.context("cannot write to the journal")?;
        for change in changes {
            apply_one(&mut transaction, change).await.context("cannot write to the journal")?;
        }
        transaction.commit().await.context("cannot write to the journal")
    }

    async fn bodies<T: DeserializeOwned>(&self, query: &'static str) -> anyhow::Result<Vec<T>> {
        let rows =
            sqlx::query(query).fetch_all(&self.pool).await.context("cannot read the journal")?;
        let mut bodies = Vec::new();
        for row in rows {
            let body: String = row.try_get(0).context("the journal is damaged")?;
            match serde_json::from_str(&body) {
                Ok(body) => bodies.push(body),
                // A version that was rolled back may know more. It stays for one that does again.
                Err(error) => tracing::error!("a row of the journal is left alone: {error}"),
            }
        }
        Ok(bodies)
    }
}

async fn apply_one(
    transaction: &mut Transaction<'_, Sqlite>,
    change: &Change,
) -> anyhow::Result<()> {
    let query = match change {
        Change::PutCommand(entry) => {
            sqlx::query("INSERT OR REPLACE INTO commands (id, seq, body) VALUES ($1, $2, $3)")
                .bind(entry.command_id.to_string())
                .bind(entry.seq.cast_signed())
                .bind(text(entry)?)
        }
        Change::ForgetCommand(id) => {
            sqlx::query("DELETE FROM commands WHERE id = $1").bind(id.to_string())
        }
        Change::PutPipeline(_) | Change::RemovePipeline(_) => {
            anyhow::bail!("a pipeline belongs into the session, not into the journal")
        }
        Change::PutReport(entry) => sqlx::query("INSERT INTO outbox (id, body) VALUES ($1, $2)")
            .bind(entry.id.cast_signed())
            .bind(text(entry)?),
        Change::SetAside(entry) => sqlx::query("UPDATE outbox SET body = $2 WHERE id = $1")
            .bind(entry.id.cast_signed())
            .bind(text(entry)?),
        Change::RemoveReport(id) => {
            sqlx::query("DELETE FROM outbox WHERE id = $1").bind(id.cast_signed())
        }
        Change::BuryReport { entry, reason } => {
            sqlx::query("DELETE FROM outbox WHERE id = $1")
                .bind(entry.id.cast_signed())
                .execute(&mut **transaction)
                .await?;
            sqlx::query("INSERT INTO dead_letters (body, reason) VALUES ($1, $2)")
                .bind(text(entry)?)
                .bind(reason)
        }
        Change::SetLastSeq(seq) => {
            sqlx::query("INSERT OR REPLACE INTO counters (name, value) VALUES ('seq', $1)")
                .bind(seq.cast_signed())
        }
    };
    query.execute(&mut **transaction).await?;
    Ok(())
}

fn text<T: Serialize>(value: &T) -> anyhow::Result<String> {
    serde_json::to_string(value).context("cannot serialise a record")
}

#[cfg(test)]
mod tests {
    use link_agent_core::record::{LedgerEntry, OutboxEntry, Report};
    use link_protocol::{
        command::Lane,
        id::CommandId,
        report::{CommandReport, CommandResult},
    };

    use super::*;

    /// What a later version has written, which was rolled back.
    #[tokio::test]
    async fn a_row_that_this_version_does_not_know_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join("journal.db")).await.unwrap();
        journal.apply(&[Change::PutCommand(entry(7))]).await.unwrap();
        let later =
            "INSERT INTO commands (id, seq, body) VALUES ('cmd_1', 8, '{\"type\":\"NEW\"}')";
        sqlx::query(later).execute(&journal.pool).await.unwrap();
        assert_eq!(journal.load().await.unwrap().commands, [entry(7)]);
        let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM commands")
            .fetch_one(&journal.pool)
            .await
            .unwrap();
        assert_eq!(rows, 2);
    }

    #[tokio::test]
    async fn what_was_applied_is_there_after_the_journal_is_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        let (entry, report) = (entry(7), report(3));
        let journal = Journal::open(&path).await.unwrap();
        let changes = [
            Change::PutCommand(entry.clone()),
            Change::SetLastSeq(7),
            Change::PutReport(report.clone()),
        ];
        journal.apply(&changes).await.unwrap();
        drop(journal);
        let journal = Journal::open(&path).await.unwrap();
        let snapshot = journal.load().await.unwrap();
        assert_eq!((snapshot.commands, snapshot.outbox), (vec![entry], vec![report.clone()]));
        assert_eq!(snapshot.last_seq, 7);
        let aside = OutboxEntry { unauthorized: true, ..report.clone() };
        journal.apply(&[Change::SetAside(aside.clone())]).await.unwrap();
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

    fn entry(seq: u64) -> LedgerEntry {
        LedgerEntry {
            command_id: command(),
            seq,
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
