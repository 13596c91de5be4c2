//! Checks the database file, one table at a time. A database server checks its own files.

use std::{path::Path, time::Duration};

use crate::{
    database::{Store, StoreError, lite, read, sql},
    tables::upkeep,
};

impl Store {
    /// Lists the tables of the database file.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn tables(&self) -> Result<Vec<String>, StoreError> {
        Ok(read!(self, |db| {
            sql::query_scalar(
                "SELECT name FROM sqlite_master WHERE type = 'table' \
                 AND name NOT LIKE 'sqlite%' ORDER BY name",
            )
            .fetch_all(db)
            .await?
        }))
    }
}

/// Checks the pages of one table and its indexes, on a separate connection and for no longer than `patience`. Returns
/// the faults found.
///
/// # Errors
/// [`StoreError`], also if the time was not enough.
pub(crate) async fn check_table(
    data: &Path,
    table: &str,
    patience: Duration,
) -> Result<Vec<String>, StoreError> {
    let (file, table) = (upkeep::file(data), table.replace('"', "\"\""));
    let connection = lite::blocking(move || link_sqlite::open_to_read(&file)).await??;
    let interrupt = connection.get_interrupt_handle();
    let mut check = Box::pin(lite::blocking(move || {
        let mut statement = connection.prepare(&format!("PRAGMA quick_check(\"{table}\")"))?;
        let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
        lines.collect::<Result<Vec<String>, rusqlite::Error>>()
    }));
    let checked = match tokio::time::timeout(patience, &mut check).await {
        Ok(checked) => checked,
        Err(_elapsed) => {
            interrupt.interrupt();
            check.await
        }
    };
    let mut lines = checked??;
    lines.retain(|line| line != "ok");
    Ok(lines)
}
