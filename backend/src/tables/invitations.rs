//! Invitations to an account. They are stored by the digest of their token, and each can be
//! accepted once.

use jiff::Timestamp;
use link_protocol::id::{AccountId, InvitationId};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{broken, from_word, hex, ms, parse, small, time, word},
        read,
        sql::{self, row},
        write,
    },
    domain::{account::Email, audit::AuditRecord, member::InvitationRecord},
    tables::audit,
};

row! {
    struct InvitationRow {
        invitation_id: String,
        account_id: String,
        role: String,
        email: Option<String>,
        created_ms: i64,
        expires_ms: i64,
    }
}

impl Store {
    /// Lists the invitations of an account that can still be accepted, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn invitations(
        &self,
        account: AccountId,
        page: &Page,
        now: Timestamp,
    ) -> Result<Vec<InvitationRecord>, StoreError> {
        let rows: Vec<InvitationRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT * FROM invitations WHERE account_id = $1 AND expires_ms > $4 \
                 AND ($2 IS NULL OR invitation_id < $2) ORDER BY invitation_id DESC LIMIT $3",
            )
            .bind(account.to_string())
            .bind(&page.after)
            .bind(i64::from(page.limit))
            .bind(ms(now))
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(InvitationRecord::try_from).collect()
    }

    /// Deletes expired invitations and expired logins of the device flow.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn purge_expired(&self, now: Timestamp) -> Result<(), StoreError> {
        write!(self, [], |db| {
            for statement in [
                "DELETE FROM invitations WHERE expires_ms <= $1",
                "DELETE FROM device_codes WHERE expires_ms <= $1",
            ] {
                sql::query(statement).bind(ms(now)).execute(&mut *db).await?;
            }
        });
        Ok(())
    }

    /// Removes an invitation of an account.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the account has no such invitation.
    pub async fn remove_invitation(
        &self,
        account: AccountId,
        id: InvitationId,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        let removed = write!(self, [], |db| {
            let removed =
                sql::query("DELETE FROM invitations WHERE invitation_id = $1 AND account_id = $2")
                    .bind(id.to_string())
                    .bind(account.to_string())
                    .execute(&mut *db)
                    .await?
                    .rows_affected();
            audit::insert_if(db, removed > 0, entry).await?;
            removed
        });
        if removed == 0 { Err(StoreError::NotFound) } else { Ok(()) }
    }

    /// Returns the invitation with `digest`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn invitation(
        &self,
        digest: &[u8; 32],
    ) -> Result<Option<InvitationRecord>, StoreError> {
        Ok(read!(self, |db| find(db, digest).await?))
    }
}

/// Counts the invitations of an account that can be accepted at `now`.
pub(crate) async fn count_waiting(
    db: &mut Connection,
    account: AccountId,
    now: Timestamp,
) -> Result<u32, StoreError> {
    let waiting: i64 = sql::query_scalar(
        "SELECT COUNT(*) FROM invitations WHERE account_id = $1 AND expires_ms > $2",
    )
    .bind(account.to_string())
    .bind(ms(now))
    .fetch_one(db)
    .await?;
    Ok(small(waiting))
}

/// Deletes an invitation. Returns whether it existed.
pub(crate) async fn delete(db: &mut Connection, id: InvitationId) -> Result<bool, StoreError> {
    let deleted = sql::query("DELETE FROM invitations WHERE invitation_id = $1")
        .bind(id.to_string())
        .execute(db)
        .await?;
    Ok(deleted.rows_affected() > 0)
}

pub(crate) async fn find(
    db: &mut Connection,
    digest: &[u8; 32],
) -> Result<Option<InvitationRecord>, StoreError> {
    let row: Option<InvitationRow> = sql::query_as("SELECT * FROM invitations WHERE digest = $1")
        .bind(hex(digest))
        .fetch_optional(db)
        .await?;
    row.map(InvitationRecord::try_from).transpose()
}

pub(crate) async fn insert(
    db: &mut Connection,
    invitation: &InvitationRecord,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO invitations (invitation_id, account_id, digest, role, email, created_ms, \
         expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(invitation.id.to_string())
    .bind(invitation.account.to_string())
    .bind(hex(digest))
    .bind(word(&invitation.role)?)
    .bind(invitation.email.as_ref().map(Email::as_str))
    .bind(ms(invitation.created_at))
    .bind(ms(invitation.expires_at))
    .execute(db)
    .await?;
    Ok(())
}

impl TryFrom<InvitationRow> for InvitationRecord {
    type Error = StoreError;

    fn try_from(row: InvitationRow) -> Result<Self, StoreError> {
        let email = row.email.as_deref().map(Email::parse).transpose();
        Ok(Self {
            id: parse(&row.invitation_id)?,
            account: parse(&row.account_id)?,
            role: from_word(&row.role)?,
            email: email.map_err(broken)?,
            created_at: time(row.created_ms)?,
            expires_at: time(row.expires_ms)?,
        })
    }
}
