//! The clock of a database server, which all backends on that server share.

use jiff::Timestamp;

use crate::database::{Db, Store, StoreError, column::time, error::SqlError};

const CLOCK: &str = "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

impl Store {
    /// Reads the clock of the database server. Returns `None` if the database is a local file.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn server_time(&self) -> Result<Option<Timestamp>, StoreError> {
        let Db::Pg(pool) = &self.db else { return Ok(None) };
        let told: i64 = sqlx::query_scalar(CLOCK).fetch_one(pool).await.map_err(SqlError::from)?;
        time(told).map(Some)
    }
}
