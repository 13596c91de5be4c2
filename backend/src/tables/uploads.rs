//! Models with incomplete files: the time of the last bytes, and the removal of abandoned models.

use jiff::Timestamp;
use link_protocol::id::{AccountId, ModelId};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{ms, parse, unsigned},
        read, sql, write,
    },
    domain::change::Subject,
    tables::locks,
};

impl Store {
    /// Returns the size in bytes of all complete and incomplete files of an account, except the file of one model.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn model_bytes(&self, account: AccountId, but: ModelId) -> Result<u64, StoreError> {
        Ok(read!(self, |db| bytes(db, account, but).await?))
    }

    /// Stores when the last bytes of a model's file arrived, or that no bytes are stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn touch_upload(
        &self,
        model: ModelId,
        now: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        write!(self, [], |db| {
            touch(db, model, now).await?;
        });
        Ok(())
    }

    /// Lists models without a complete file for which no bytes have arrived since `before`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn incomplete_models(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<ModelId>, StoreError> {
        let ids: Vec<String> = read!(self, |db| {
            sql::query_scalar(
                "SELECT model_id FROM models WHERE url IS NULL AND NOT uploaded \
                 AND COALESCE(upload_ms, created_ms) < $1 LIMIT $2",
            )
            .bind(ms(before))
            .bind(i64::from(most))
            .fetch_all(db)
            .await?
        });
        ids.iter().map(|id| parse(id)).collect()
    }

    /// Removes a model that still has no complete file and for which no bytes have arrived since `before`. Returns
    /// whether it was removed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn remove_incomplete(
        &self,
        model: ModelId,
        before: Timestamp,
    ) -> Result<bool, StoreError> {
        let removed = write!(self, [locks::model(model)], |db| {
            let removed: Option<(String, bool)> = sql::query_as(
                "DELETE FROM models WHERE model_id = $1 AND url IS NULL AND NOT uploaded \
                 AND COALESCE(upload_ms, created_ms) < $2 RETURNING account_id, shared",
            )
            .bind(model.to_string())
            .bind(ms(before))
            .fetch_optional(&mut *db)
            .await?;
            if let Some((account, shared)) = &removed {
                let account = if *shared { None } else { Some(parse(account)?) };
                db.changed(account, Subject::Model(model));
            }
            removed.is_some()
        });
        Ok(removed)
    }
}

/// Returns the size in bytes of all complete and incomplete files of an account, except the file of one model.
pub(crate) async fn bytes(
    db: &mut Connection,
    account: AccountId,
    but: ModelId,
) -> Result<u64, StoreError> {
    let bytes: i64 = sql::query_scalar(
        "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM models \
         WHERE account_id = $1 AND (uploaded OR upload_ms IS NOT NULL) AND model_id <> $2",
    )
    .bind(account.to_string())
    .bind(but.to_string())
    .fetch_one(db)
    .await?;
    Ok(unsigned(bytes))
}

/// Stores when the last bytes of a model's file arrived, or that no bytes are stored.
pub(crate) async fn touch(
    db: &mut Connection,
    model: ModelId,
    now: Option<Timestamp>,
) -> Result<(), StoreError> {
    sql::query("UPDATE models SET upload_ms = $2 WHERE model_id = $1")
        .bind(model.to_string())
        .bind(now.map(ms))
        .execute(db)
        .await?;
    Ok(())
}
