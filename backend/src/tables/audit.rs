//! The audit log. The transaction that changes an account also writes the entry.

use link_protocol::{backend_api::audit::Actor, id::AccountId};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{from_word, ms, parse, time, word},
        read,
        sql::{self, row},
        write,
    },
    domain::audit::{AuditFilter, AuditRecord},
    tables::paging::begin,
};

row! {
    struct AuditRow {
        entry_id: String,
        account_id: String,
        at_ms: i64,
        actor_kind: String,
        actor: Option<String>,
        action: String,
        subject: String,
        address: Option<String>,
        outcome: String,
        detail: String,
    }
}

impl Store {
    /// Lists entries of an account, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn audit(
        &self,
        account: AccountId,
        filter: &AuditFilter,
        page: &Page,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let rows: Vec<AuditRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT * FROM audit WHERE account_id = $1 AND entry_id < $2 \
                 AND ($4 IS NULL OR action = $4 OR action LIKE $4 || '.%') \
                 AND ($5 IS NULL OR actor = $5) AND ($6 IS NULL OR subject = $6) \
                 AND ($7 IS NULL OR at_ms >= $7) AND ($8 IS NULL OR at_ms < $8) \
                 ORDER BY entry_id DESC LIMIT $3",
            )
            .bind(account.to_string())
            .bind(begin(page.after.as_ref()))
            .bind(i64::from(page.limit))
            .bind(&filter.action)
            .bind(&filter.actor)
            .bind(&filter.subject)
            .bind(filter.since.map(ms))
            .bind(filter.until.map(ms))
            .maybe_slow()
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(AuditRecord::try_from).collect()
    }

    /// Records an action that changed no table of the account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn record(&self, entry: &AuditRecord) -> Result<(), StoreError> {
        write!(self, [], |db| { insert(db, entry).await? });
        Ok(())
    }
}

/// Writes an entry if its action had an effect.
pub(crate) async fn insert_if(
    db: &mut Connection,
    done: bool,
    entry: &AuditRecord,
) -> Result<(), StoreError> {
    if done { insert(db, entry).await } else { Ok(()) }
}

pub(crate) async fn insert(db: &mut Connection, entry: &AuditRecord) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO audit (entry_id, account_id, at_ms, actor_kind, actor, action, subject, \
         address, outcome, detail) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(entry.id.to_string())
    .bind(entry.account.to_string())
    .bind(ms(entry.at))
    .bind(word(&entry.actor.kind)?)
    .bind(&entry.actor.id)
    .bind(&entry.action)
    .bind(&entry.subject)
    .bind(&entry.address)
    .bind(word(&entry.outcome)?)
    .bind(&entry.detail)
    .execute(db)
    .await?;
    Ok(())
}

impl TryFrom<AuditRow> for AuditRecord {
    type Error = StoreError;

    fn try_from(row: AuditRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: parse(&row.entry_id)?,
            account: parse(&row.account_id)?,
            at: time(row.at_ms)?,
            actor: Actor { kind: from_word(&row.actor_kind)?, id: row.actor },
            action: row.action,
            subject: row.subject,
            address: row.address,
            outcome: from_word(&row.outcome)?,
            detail: row.detail,
        })
    }
}
