//! Incomplete uploads into a bucket: the standing of each, and the tags of the parts that the object store has.

use jiff::Timestamp;
use link_protocol::id::ModelId;

use crate::{
    content::Standing,
    database::{
        Store, StoreError,
        column::{ms, parse, signed, unsigned},
        read,
        sql::{self, row},
        write,
    },
};

row! {
    struct UploadRow {
        object_key: String,
        upload_id: String,
        offset_bytes: i64,
        state: String,
    }
}

impl Store {
    /// Returns the standing of the upload of a model's file, if one has started.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bucket_upload(&self, model: ModelId) -> Result<Option<Standing>, StoreError> {
        let found: Option<(UploadRow, Vec<String>)> = read!(self, |db| {
            let row: Option<UploadRow> = sql::query_as(
                "SELECT object_key, upload_id, offset_bytes, state FROM bucket_uploads \
                 WHERE model_id = $1",
            )
            .bind(model.to_string())
            .fetch_optional(&mut *db)
            .await?;
            match row {
                None => None,
                Some(row) => {
                    let tags = sql::query_scalar(
                        "SELECT tag FROM bucket_parts WHERE model_id = $1 ORDER BY number",
                    )
                    .bind(model.to_string())
                    .fetch_all(db)
                    .await?;
                    Some((row, tags))
                }
            }
        });
        Ok(found.map(|(row, tags)| {
            let UploadRow { object_key: key, upload_id, offset_bytes, state } = row;
            Standing { key, upload_id, tags, offset: unsigned(offset_bytes), state }
        }))
    }

    /// Stores the standing of the upload of a model's file. Only its last part can be new.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn keep_bucket_upload(
        &self,
        model: ModelId,
        standing: &Standing,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write!(self, [], |db| {
            sql::query(
                "INSERT INTO bucket_uploads \
                 (model_id, object_key, upload_id, offset_bytes, state, touched_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (model_id) DO UPDATE SET \
                 offset_bytes = excluded.offset_bytes, state = excluded.state, \
                 touched_ms = excluded.touched_ms",
            )
            .bind(model.to_string())
            .bind(standing.key.clone())
            .bind(standing.upload_id.clone())
            .bind(signed(standing.offset))
            .bind(standing.state.clone())
            .bind(ms(now))
            .execute(&mut *db)
            .await?;
            if let Some(tag) = standing.tags.last() {
                sql::query(
                    "INSERT INTO bucket_parts (model_id, number, tag) VALUES ($1, $2, $3) \
                     ON CONFLICT (model_id, number) DO UPDATE SET tag = excluded.tag",
                )
                .bind(model.to_string())
                .bind(signed(standing.tags.len() as u64))
                .bind(tag.clone())
                .execute(db)
                .await?;
            }
        });
        Ok(())
    }

    /// Deletes the rows about the upload of a model's file.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget_bucket_upload(&self, model: ModelId) -> Result<(), StoreError> {
        write!(self, [], |db| {
            sql::query("DELETE FROM bucket_uploads WHERE model_id = $1")
                .bind(model.to_string())
                .execute(db)
                .await?;
        });
        Ok(())
    }

    /// Lists uploads without a new part since `before`, and uploads of models that are complete or deleted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn abandoned_bucket_uploads(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<ModelId>, StoreError> {
        let ids: Vec<String> = read!(self, |db| {
            sql::query_scalar(
                "SELECT u.model_id FROM bucket_uploads u \
                 LEFT JOIN models m ON m.model_id = u.model_id \
                 WHERE u.touched_ms < $1 OR m.model_id IS NULL OR m.uploaded \
                 ORDER BY u.touched_ms LIMIT $2",
            )
            .bind(ms(before))
            .bind(i64::from(most))
            .fetch_all(db)
            .await?
        });
        ids.iter().map(|id| parse(id)).collect()
    }
}
