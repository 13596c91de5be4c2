//! Personal access tokens, stored by their SHA-256 digests.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::member::Role,
    id::{AccountId, TokenId, UserId},
};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{from_json, from_word, hex, json, ms, optional_time, parse, small, time},
        error::SqlError,
        read,
        sql::{self, Columns, Row, row},
        write,
    },
    domain::{audit::AuditRecord, token::TokenRecord},
    tables::audit,
};

/// The resolution of the stored time of a token's last use.
const LAST_USED_STEP: SignedDuration = SignedDuration::from_mins(1);

row! {
    struct TokenRow {
        token_id: String,
        account_id: String,
        user_id: String,
        name: String,
        scopes: String,
        created_ms: i64,
        expires_ms: i64,
        last_used_ms: Option<i64>,
    }
}

struct UsedRow {
    role: String,
    token: TokenRow,
}

impl Row for UsedRow {
    fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
        Ok(Self { role: columns.get("role")?, token: TokenRow::read(columns)? })
    }
}

impl Store {
    /// Lists the tokens of a member, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn tokens(
        &self,
        account: AccountId,
        user: UserId,
        page: &Page,
    ) -> Result<Vec<TokenRecord>, StoreError> {
        let rows: Vec<TokenRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT * FROM personal_tokens WHERE account_id = $1 AND user_id = $4 \
                 AND ($2 IS NULL OR token_id < $2) ORDER BY token_id DESC LIMIT $3",
            )
            .bind(account.to_string())
            .bind(&page.after)
            .bind(i64::from(page.limit))
            .bind(user.to_string())
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(TokenRecord::try_from).collect()
    }

    /// Finds the token with `digest`, and the current role of its owner.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn token_by_digest(
        &self,
        digest: &[u8; 32],
    ) -> Result<Option<(TokenRecord, Role)>, StoreError> {
        let row: Option<UsedRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT personal_tokens.*, members.role FROM personal_tokens JOIN members \
                 ON members.account_id = personal_tokens.account_id \
                 AND members.user_id = personal_tokens.user_id WHERE personal_tokens.digest = $1",
            )
            .bind(hex(digest))
            .fetch_optional(pool)
            .await?
        });
        row.map(|row| Ok((row.token.try_into()?, from_word(&row.role)?))).transpose()
    }

    /// Returns the current role of the owner of a token that has not expired.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn role_of_token(
        &self,
        token: TokenId,
        now: Timestamp,
    ) -> Result<Option<Role>, StoreError> {
        let role: Option<String> = read!(self, |pool| {
            sql::query_scalar(
                "SELECT members.role FROM personal_tokens JOIN members \
                 ON members.account_id = personal_tokens.account_id \
                 AND members.user_id = personal_tokens.user_id \
                 WHERE personal_tokens.token_id = $1 AND personal_tokens.expires_ms > $2",
            )
            .bind(token.to_string())
            .bind(ms(now))
            .fetch_optional(pool)
            .await?
        });
        role.as_deref().map(from_word).transpose()
    }

    /// Stores the time of a use, unless a use within the same minute is stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn token_used(&self, token: &TokenRecord, now: Timestamp) -> Result<(), StoreError> {
        let fresh = |last: Timestamp| now.duration_since(last) < LAST_USED_STEP;
        if token.last_used_at.is_some_and(fresh) {
            return Ok(());
        }
        write!(self, [], |db| {
            sql::query("UPDATE personal_tokens SET last_used_ms = $2 WHERE token_id = $1")
                .bind(token.id.to_string())
                .bind(ms(now))
                .execute(db)
                .await?;
        });
        Ok(())
    }

    /// Removes a token of a member.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the member has no such token.
    pub async fn remove_token(
        &self,
        account: AccountId,
        user: UserId,
        token: TokenId,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        let removed = write!(self, [], |db| {
            let removed = sql::query(
                "DELETE FROM personal_tokens \
                 WHERE token_id = $1 AND account_id = $2 AND user_id = $3",
            )
            .bind(token.to_string())
            .bind(account.to_string())
            .bind(user.to_string())
            .execute(&mut *db)
            .await?
            .rows_affected();
            audit::insert_if(db, removed > 0, entry).await?;
            removed
        });
        if removed == 0 { Err(StoreError::NotFound) } else { Ok(()) }
    }
}

/// Counts the tokens of a member in an account, and the tokens of all members.
pub(crate) async fn count(
    db: &mut Connection,
    account: AccountId,
    user: UserId,
) -> Result<(u32, u32), StoreError> {
    let own: i64 = sql::query_scalar(
        "SELECT COUNT(*) FROM personal_tokens WHERE account_id = $1 AND user_id = $2",
    )
    .bind(account.to_string())
    .bind(user.to_string())
    .fetch_one(&mut *db)
    .await?;
    let of_all: i64 =
        sql::query_scalar("SELECT COUNT(*) FROM personal_tokens WHERE account_id = $1")
            .bind(account.to_string())
            .fetch_one(db)
            .await?;
    Ok((small(own), small(of_all)))
}

pub(crate) async fn insert(
    db: &mut Connection,
    token: &TokenRecord,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO personal_tokens (token_id, account_id, user_id, digest, name, \
         scopes, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(token.id.to_string())
    .bind(token.account.to_string())
    .bind(token.user.to_string())
    .bind(hex(digest))
    .bind(&token.name)
    .bind(json(&token.scopes)?)
    .bind(ms(token.created_at))
    .bind(ms(token.expires_at))
    .execute(db)
    .await?;
    Ok(())
}

impl TryFrom<TokenRow> for TokenRecord {
    type Error = StoreError;

    fn try_from(row: TokenRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: parse(&row.token_id)?,
            account: parse(&row.account_id)?,
            user: parse(&row.user_id)?,
            name: row.name,
            scopes: from_json(&row.scopes)?,
            created_at: time(row.created_ms)?,
            expires_at: time(row.expires_ms)?,
            last_used_at: optional_time(row.last_used_ms)?,
        })
    }
}
