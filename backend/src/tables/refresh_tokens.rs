//! Refresh tokens, stored by their SHA-256 digests.

use jiff::Timestamp;
use link_protocol::{id::UserId, limits};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{from_hex, hex, ms, optional_time, parse, time},
        lock,
        sql::{self, row},
        write,
    },
    domain::{
        audit::AuditRecord,
        network::Network,
        refresh::{Redemption, RefreshRecord},
        session::{SessionRecord, Warrant},
    },
    tables::{audit, locks, login_hosts, sessions},
};

row! {
    struct RefreshRow {
        digest: String,
        family: String,
        user_id: String,
        account_id: String,
        expires_ms: i64,
        used: bool,
        used_ms: Option<i64>,
    }
}

impl Store {
    /// Stores the session of a login with its first token, and adds `host` to the known hosts of its user.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if `warrant` does not hold any more.
    pub async fn open_login(
        &self,
        session: &SessionRecord,
        warrant: &Warrant,
        token: &RefreshRecord,
        host: Option<Network>,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        write!(self, [locks::user(token.user)], |db| {
            sessions::check(db, token.user, warrant).await?;
            sessions::insert(db, session).await?;
            insert(db, token).await?;
            trim_programs(db, token.user).await?;
            if let Some(host) = host {
                login_hosts::remember(db, token.user, host, entry.at).await?;
            }
            audit::insert(db, entry).await?;
        });
        Ok(())
    }

    /// Exchanges the token with `digest` for a token with the digest `successor`. If the token was used before and the
    /// exchange may not be repeated, its family is revoked. Returns `None` if there is no such token.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn redeem(
        &self,
        digest: &[u8; 32],
        successor: [u8; 32],
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Option<(Redemption, RefreshRecord)>, StoreError> {
        let redeemed = write!(self, [], |db| {
            match find_alone(db, digest).await? {
                Some(token) => {
                    let next = find(db, &successor).await?;
                    let redemption = token.redeem(next.as_ref(), now);
                    match redemption {
                        Redemption::Rotate => {
                            mark_used(db, digest, now).await?;
                            let next =
                                RefreshRecord { digest: successor, expires_at, ..token.clone() };
                            insert(db, &next).await?;
                            sessions::prolong(db, &next.family, now, expires_at).await?;
                        }
                        Redemption::Repeat => {}
                        Redemption::Reused | Redemption::Expired => {
                            delete_family(db, &token.family).await?;
                        }
                    }
                    Some((redemption, token))
                }
                None => None,
            }
        });
        Ok(redeemed)
    }

    /// Ends the login of the token with `digest`, if there is one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn close_login(&self, digest: &[u8; 32]) -> Result<(), StoreError> {
        write!(self, [], |db| {
            if let Some(token) = find_alone(db, digest).await? {
                delete_family(db, &token.family).await?;
            }
        });
        Ok(())
    }
}

/// Ends the logins of programs that were unused for longest, if a user has too many.
async fn trim_programs(db: &mut Connection, user: UserId) -> Result<(), StoreError> {
    sql::query(
        "DELETE FROM sessions WHERE user_id = $1 AND digest IS NULL AND session_id \
         NOT IN (SELECT session_id FROM sessions WHERE user_id = $1 \
         AND digest IS NULL ORDER BY used_ms DESC, created_ms DESC, session_id DESC LIMIT $2)",
    )
    .bind(user.to_string())
    .bind(i64::from(limits::PROGRAM_SESSIONS))
    .execute(&mut *db)
    .await?;
    sql::query(
        "DELETE FROM refresh_tokens WHERE user_id = $1 \
         AND family NOT IN (SELECT session_id FROM sessions WHERE user_id = $1)",
    )
    .bind(user.to_string())
    .execute(db)
    .await?;
    Ok(())
}

async fn find(db: &mut Connection, digest: &[u8; 32]) -> Result<Option<RefreshRecord>, StoreError> {
    let row: Option<RefreshRow> = sql::query_as("SELECT * FROM refresh_tokens WHERE digest = $1")
        .bind(hex(digest))
        .fetch_optional(db)
        .await?;
    row.map(RefreshRecord::try_from).transpose()
}

/// Finds a token, and locks the tokens of its user for other transactions.
async fn find_alone(
    db: &mut Connection,
    digest: &[u8; 32],
) -> Result<Option<RefreshRecord>, StoreError> {
    let Some(token) = find(db, digest).await? else { return Ok(None) };
    lock::take(db, &[locks::user(token.user)]).await?;
    find(db, digest).await
}

async fn insert(db: &mut Connection, token: &RefreshRecord) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO refresh_tokens (digest, family, user_id, expires_ms, used, account_id) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(hex(&token.digest))
    .bind(&token.family)
    .bind(token.user.to_string())
    .bind(ms(token.expires_at))
    .bind(token.used)
    .bind(token.account.to_string())
    .execute(db)
    .await?;
    Ok(())
}

async fn mark_used(
    db: &mut Connection,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<(), StoreError> {
    sql::query("UPDATE refresh_tokens SET used = TRUE, used_ms = $2 WHERE digest = $1")
        .bind(hex(digest))
        .bind(ms(now))
        .execute(db)
        .await?;
    Ok(())
}

/// Ends a login: deletes its tokens and its session.
async fn delete_family(db: &mut Connection, family: &str) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM refresh_tokens WHERE family = $1",
        "DELETE FROM sessions WHERE session_id = $1",
    ] {
        sql::query(statement).bind(family).execute(&mut *db).await?;
    }
    Ok(())
}

impl TryFrom<RefreshRow> for RefreshRecord {
    type Error = StoreError;

    fn try_from(row: RefreshRow) -> Result<Self, StoreError> {
        Ok(Self {
            digest: from_hex(&row.digest)?,
            family: row.family,
            user: parse(&row.user_id)?,
            account: parse(&row.account_id)?,
            expires_at: time(row.expires_ms)?,
            used: row.used,
            used_at: optional_time(row.used_ms)?,
        })
    }
}
