//! The single writer of SQLite: a task that owns the write connection and lends it to one caller after the other.
//!
//! Callers that wait while another one writes share its commit. Each caller has its own savepoint in one transaction,
//! so a caller that fails or goes away loses only its own changes. A caller learns of success only after the commit. If
//! the commit fails, all its callers fail, and the next transaction starts on a new connection.
//!
//! Starting and committing a transaction may block, so they run on the blocking thread pool. The turns between them run
//! on the threads of their callers.

use std::{
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::database::{StoreError, error::SqlError, lite};

/// The maximum number of callers that share a commit, so that the first does not wait for long.
const MOST_TOGETHER: usize = 64;
/// The maximum number of callers that wait for the connection.
const MOST_WAITING: usize = 1024;

/// Takes the write lock before the first read.
const BEGIN: &str = "BEGIN IMMEDIATE; SAVEPOINT turn";
const NEXT: [&str; 2] = ["RELEASE turn", "SAVEPOINT turn"];
const UNDO: &str = "ROLLBACK TO turn";
const COMMIT: &str = "COMMIT";

/// A handle to the writer task.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    asked: mpsc::Sender<Asked>,
    patience: Duration,
}

/// The connection, while a caller has it. Dropping the value rolls back the caller's changes.
#[derive(Debug)]
pub(crate) struct Lent(Option<Loan>);

#[derive(Debug)]
struct Loan {
    connection: Connection,
    back: oneshot::Sender<Returned>,
}

enum Asked {
    Lend(oneshot::Sender<Result<Lent, Shared>>),
    Close(oneshot::Sender<()>),
}

/// A connection that a transaction gives back. To keep the changes, it has a channel for the result of the commit.
#[derive(Debug)]
struct Returned {
    connection: Connection,
    keep: Option<Waiting>,
}

type Waiting = oneshot::Sender<Result<(), Shared>>;

/// One error for all callers of a failed transaction.
type Shared = Arc<NotStored>;

/// A transaction was not stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotStored {
    /// The database failed.
    #[error("the database could not store it")]
    Failed(#[from] SqlError),
    /// A failure in another caller's turn ended the shared transaction.
    #[error("it was undone together with another one")]
    Together(#[source] SqlError),
}

impl Writer {
    /// Starts the task with `connection`. After a failure the task opens a new connection to `file`. Waiting for the
    /// connection times out after `patience`.
    pub(crate) fn start(connection: Connection, file: PathBuf, patience: Duration) -> Self {
        let (asked, asking) = mpsc::channel(MOST_WAITING);
        tokio::spawn(serve(connection, file, asking));
        Self { asked, patience }
    }

    /// Waits for the connection.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] on a timeout, or if the database cannot be written.
    pub(crate) async fn lend(&self) -> Result<Lent, StoreError> {
        let (give, given) = oneshot::channel();
        let lent = tokio::time::timeout(self.patience, async {
            self.asked.send(Asked::Lend(give)).await.map_err(|_| SqlError::Closed)?;
            given.await.map_err(|_| SqlError::Closed)
        });
        match lent.await {
            Ok(Ok(lent)) => lent.map_err(unavailable),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(SqlError::TimedOut.into()),
        }
    }

    /// Ends the task once all waiting changes are stored.
    pub(crate) async fn close(&self) {
        let (tell, told) = oneshot::channel();
        if self.asked.send(Asked::Close(tell)).await.is_ok() {
            // An error means that the task has ended already.
            told.await.unwrap_or(());
        }
    }
}

impl Lent {
    /// Returns the connection and waits until the caller's changes are on disk.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the changes were not stored.
    pub(crate) async fn keep(mut self) -> Result<(), StoreError> {
        let Some(Loan { connection, back }) = self.0.take() else {
            return Err(SqlError::Closed.into());
        };
        let (tell, told) = oneshot::channel();
        let returned = Returned { connection, keep: Some(tell) };
        back.send(returned).map_err(|_| SqlError::Closed)?;
        told.await.map_err(|_| SqlError::Closed)?.map_err(unavailable)
    }
}

impl Deref for Lent {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0.as_ref().expect("it is given back only by value").connection
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0.as_mut().expect("it is given back only by value").connection
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(Loan { connection, back }) = self.0.take() {
            // Sending fails only if the task has ended with the backend.
            drop(back.send(Returned { connection, keep: None }));
        }
    }
}

async fn serve(connection: Connection, file: PathBuf, mut asked: mpsc::Receiver<Asked>) {
    let mut connection = Some(connection);
    let mut closing = None;
    while closing.is_none()
        && let Some(first) = asked.recv().await
    {
        let opened = match connection.take() {
            Some(open) => Ok(open),
            None => reopen(&file).await,
        };
        match (first, opened) {
            (Asked::Close(tell), opened) => {
                connection = opened.ok();
                closing = Some(tell);
            }
            (Asked::Lend(caller), Ok(open)) => {
                let mut waiting = Vec::new();
                let mut queue = Queue { asked: &mut asked, closing: &mut closing };
                let outcome = together(open, caller, &mut queue, &mut waiting).await;
                let told = match outcome {
                    Ok(open) => {
                        connection = Some(open);
                        Ok(())
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a transaction was not stored");
                        Err(Arc::new(error))
                    }
                };
                for caller in waiting {
                    // A caller that went away needs no answer.
                    caller.send(told.clone()).unwrap_or(());
                }
            }
            (Asked::Lend(caller), Err(error)) => drop(caller.send(Err(Arc::new(error.into())))),
        }
    }
    if let Some(open) = connection
        && let Err(error) = close(open).await
    {
        tracing::warn!(%error, "the database was not closed in an orderly way");
    }
    if let Some(tell) = closing {
        tell.send(()).unwrap_or(());
    }
}

/// The waiting callers.
struct Queue<'a> {
    asked: &'a mut mpsc::Receiver<Asked>,
    closing: &'a mut Option<oneshot::Sender<()>>,
}

impl Queue<'_> {
    fn next(&mut self) -> Option<oneshot::Sender<Result<Lent, Shared>>> {
        if self.closing.is_some() {
            return None;
        }
        match self.asked.try_recv().ok()? {
            Asked::Lend(caller) => Some(caller),
            Asked::Close(tell) => {
                *self.closing = Some(tell);
                None
            }
        }
    }
}

/// Runs one transaction: the turns of `first` and of the callers that arrive meanwhile, then the commit. The callers
/// that wait for the result are added to `waiting`, even if the transaction fails.
async fn together(
    connection: Connection,
    first: oneshot::Sender<Result<Lent, Shared>>,
    queue: &mut Queue<'_>,
    waiting: &mut Vec<Waiting>,
) -> Result<Connection, NotStored> {
    let mut connection = match batch(connection, BEGIN).await {
        Ok(begun) => begun,
        Err(error) => {
            drop(first.send(Err(Arc::new(error.into()))));
            return Err(SqlError::NotBegun.into());
        }
    };
    let mut caller = Some(first);
    let mut turns = 0_usize;
    while let Some(to) = caller {
        let (back, returned) = oneshot::channel();
        // The connection always comes back: a caller that is cancelled or no longer waits drops `Lent`, which returns
        // the connection.
        drop(to.send(Ok(Lent(Some(Loan { connection, back })))));
        let Returned { connection: open, keep } = returned.await.map_err(|_| SqlError::Closed)?;
        connection = open;
        turns += 1;
        // Take only callers that wait already. Waiting for more would delay the commit of the first.
        caller = if turns < MOST_TOGETHER { queue.next() } else { None };
        let kept = keep.is_some();
        waiting.extend(keep);
        let between: &[&str] = match (kept, &caller) {
            // The savepoint itself stays for the next turn or the commit.
            (false, _) => &[UNDO],
            (true, Some(_)) => &NEXT,
            // The commit releases the savepoint.
            (true, None) => &[],
        };
        for statement in between {
            // After a failure it is unknown which turns are in the transaction, so all of them fail.
            let done = connection.prepare_cached(statement).and_then(|mut it| it.execute([]));
            done.map_err(|error| NotStored::Together(error.into()))?;
        }
    }
    Ok(batch(connection, COMMIT).await?)
}

/// Runs statements that may block.
async fn batch(connection: Connection, statements: &'static str) -> Result<Connection, SqlError> {
    let ran = lite::blocking(move || connection.execute_batch(statements).map(|()| connection));
    Ok(ran.await??)
}

async fn reopen(file: &Path) -> Result<Connection, SqlError> {
    let file = file.to_owned();
    Ok(lite::blocking(move || lite::open(&file)).await??)
}

async fn close(connection: Connection) -> Result<(), SqlError> {
    let closed = lite::blocking(move || connection.close().map_err(|(_, error)| error));
    Ok(closed.await??)
}

fn unavailable(error: Shared) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}
