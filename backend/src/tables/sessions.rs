//! Sessions of people, with the digests of the secrets of browsers. The tokens of programs are in `refresh_tokens`.

use jiff::Timestamp;
use link_protocol::{
    backend_api::member::Role,
    id::{SessionId, UserId},
    limits,
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{from_hex, from_word, hex, ms, optional_time, parse, time},
        error::SqlError,
        read,
        sql::{self, Columns, Row, row},
        write,
    },
    domain::{
        audit::AuditRecord,
        network::Network,
        session::{CookieRecord, Judgement, SessionRecord, Warrant},
    },
    tables::{accounts, audit, device_codes, locks, login_hosts},
};

/// The number of sessions in a list.
const LISTED: i64 = 200;

row! {
    struct SessionRow {
        session_id: String,
        account_id: String,
        user_id: String,
        login: String,
        agent: String,
        address: Option<String>,
        created_ms: i64,
        used_ms: i64,
        ends_ms: i64,
        digest: Option<String>,
        previous_digest: Option<String>,
        csrf_digest: Option<String>,
        rotated_ms: Option<i64>,
        is_confirmed: bool,
    }
}

struct UsedRow {
    role: String,
    session: SessionRow,
}

impl Row for UsedRow {
    fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
        Ok(Self { role: columns.get("role")?, session: SessionRow::read(columns)? })
    }
}

impl Store {
    /// Stores the session of a browser, and adds `host` to the known hosts of its user. The session in whose place it comes
    /// ends, and so does the oldest one of a user with too many.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if `warrant` does not hold any more.
    pub async fn open_session(
        &self,
        session: &SessionRecord,
        warrant: &Warrant,
        replaced: Option<(UserId, SessionId)>,
        host: Option<Network>,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        write!(self, [locks::user(session.user)], |db| {
            let end = check(db, session.user, warrant).await?;
            if let Some((user, replaced)) = replaced {
                delete(db, user, replaced).await?;
            }
            let ends_at = end.map_or(session.ends_at, |end| end.min(session.ends_at));
            insert(db, &SessionRecord { ends_at, ..session.clone() }).await?;
            sql::query(
                "DELETE FROM sessions WHERE user_id = $1 AND digest IS NOT NULL AND session_id \
                 NOT IN (SELECT session_id FROM sessions WHERE user_id = $1 \
                 AND digest IS NOT NULL ORDER BY used_ms DESC, created_ms DESC, session_id DESC LIMIT $2)",
            )
            .bind(session.user.to_string())
            .bind(i64::from(limits::SESSIONS))
            .execute(&mut *db)
            .await?;
            if let Some(host) = host {
                login_hosts::remember(db, session.user, host, entry.at).await?;
            }
            audit::insert(db, entry).await?;
        });
        Ok(())
    }

    /// Finds the session of a browser by the digest of its secret or of the secret before, with the current role of its
    /// user.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn session_by_digest(
        &self,
        digest: &[u8; 32],
    ) -> Result<Option<(SessionRecord, Role)>, StoreError> {
        let row: Option<UsedRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT sessions.*, members.role FROM sessions JOIN members \
                 ON members.account_id = sessions.account_id \
                 AND members.user_id = sessions.user_id \
                 WHERE sessions.digest = $1 OR sessions.previous_digest = $1",
            )
            .bind(hex(digest))
            .fetch_optional(pool)
            .await?
        });
        row.map(|row| Ok((row.session.try_into()?, from_word(&row.role)?))).transpose()
    }

    /// Records a use of a session with the secret of `digest` from `address`, or replaces the secret by that of
    /// `successor`. Decides anew, because other requests of the browser do the same. Returns what was decided.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn use_session(
        &self,
        session: &SessionRecord,
        digest: &[u8; 32],
        successor: &[u8; 32],
        address: Option<&str>,
        now: Timestamp,
    ) -> Result<Judgement, StoreError> {
        let judged = write!(self, [locks::user(session.user)], |db| {
            let found = find(db, session.id).await?;
            let judged = found.as_ref().map_or(Judgement::Over, |found| found.judge(digest, now));
            match judged {
                Judgement::Good | Judgement::Repeat => {}
                Judgement::Note => note(db, session.id, address, now).await?,
                Judgement::Rotate => rotate(db, session.id, digest, successor, now).await?,
                Judgement::Reused | Judgement::Over => {
                    delete(db, session.user, session.id).await?;
                }
            }
            judged
        });
        Ok(judged)
    }

    /// Lists the sessions of a user, the one used last first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sessions(
        &self,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let rows: Vec<SessionRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT * FROM sessions WHERE user_id = $1 AND ends_ms > $2 \
                 ORDER BY used_ms DESC, session_id DESC LIMIT $3",
            )
            .bind(user.to_string())
            .bind(ms(now))
            .bind(LISTED)
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(SessionRecord::try_from).collect()
    }

    /// Ends a session of a user.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the user has no such session.
    pub async fn end_session(
        &self,
        user: UserId,
        session: SessionId,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        let ended = write!(self, [locks::user(user)], |db| {
            let ended = delete(db, user, session).await?;
            audit::insert_if(db, ended, entry).await?;
            ended
        });
        if ended { Ok(()) } else { Err(StoreError::NotFound) }
    }

    /// Ends all sessions of a user except `kept`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end_other_sessions(
        &self,
        user: UserId,
        kept: SessionId,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        write!(self, [locks::user(user)], |db| {
            delete_others(db, user, kept).await?;
            audit::insert(db, entry).await?;
        });
        Ok(())
    }
}

/// Checks that what entitles a user to a new session still holds, while nobody else changes the user's sessions. Returns
/// the end of the session on which the new one relies.
///
/// # Errors
/// [`StoreError::NotFound`] if it does not hold.
pub(crate) async fn check(
    db: &mut Connection,
    user: UserId,
    warrant: &Warrant,
) -> Result<Option<Timestamp>, StoreError> {
    match warrant {
        Warrant::Consumed => Ok(None),
        Warrant::Password(hash) => {
            let stored = accounts::password_hash(db, user).await?;
            if stored.as_ref() == Some(hash) { Ok(None) } else { Err(StoreError::NotFound) }
        }
        Warrant::Session(id) => {
            let session = find(db, *id).await?.filter(|session| session.user == user);
            Ok(Some(session.ok_or(StoreError::NotFound)?.ends_at))
        }
    }
}

/// Ends all sessions of a user except `kept`, and forgets the logins of machines that the user approved and that the
/// machines have not taken up.
pub(crate) async fn delete_others(
    db: &mut Connection,
    user: UserId,
    kept: SessionId,
) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM refresh_tokens WHERE user_id = $1 AND family <> $2",
        "DELETE FROM sessions WHERE user_id = $1 AND session_id <> $2",
    ] {
        sql::query(statement)
            .bind(user.to_string())
            .bind(kept.uuid().to_string())
            .execute(&mut *db)
            .await?;
    }
    device_codes::forget(db, user).await
}

pub(crate) async fn insert(db: &mut Connection, session: &SessionRecord) -> Result<(), StoreError> {
    let cookie = session.cookie.as_ref();
    sql::query(
        "INSERT INTO sessions (session_id, account_id, user_id, login, agent, address, \
         created_ms, used_ms, ends_ms, digest, previous_digest, csrf_digest, rotated_ms, \
         is_confirmed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL, $11, $12, $13)",
    )
    .bind(session.id.uuid().to_string())
    .bind(session.account.to_string())
    .bind(session.user.to_string())
    .bind(&session.login)
    .bind(&session.agent)
    .bind(&session.address)
    .bind(ms(session.created_at))
    .bind(ms(session.used_at))
    .bind(ms(session.ends_at))
    .bind(cookie.map(|cookie| hex(&cookie.digest)))
    .bind(cookie.map(|cookie| hex(&cookie.csrf)))
    .bind(cookie.map(|cookie| ms(cookie.rotated_at)))
    .bind(cookie.is_none_or(|cookie| cookie.is_confirmed))
    .execute(db)
    .await?;
    Ok(())
}

/// Records that a program has refreshed its tokens.
pub(crate) async fn prolong(
    db: &mut Connection,
    family: &str,
    now: Timestamp,
    ends_at: Timestamp,
) -> Result<(), StoreError> {
    sql::query("UPDATE sessions SET used_ms = $2, ends_ms = $3 WHERE session_id = $1")
        .bind(family)
        .bind(ms(now))
        .bind(ms(ends_at))
        .execute(db)
        .await?;
    Ok(())
}

async fn find(db: &mut Connection, id: SessionId) -> Result<Option<SessionRecord>, StoreError> {
    let row: Option<SessionRow> = sql::query_as("SELECT * FROM sessions WHERE session_id = $1")
        .bind(id.uuid().to_string())
        .fetch_optional(db)
        .await?;
    row.map(SessionRecord::try_from).transpose()
}

async fn note(
    db: &mut Connection,
    id: SessionId,
    address: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    sql::query(
        "UPDATE sessions SET used_ms = $2, is_confirmed = TRUE, address = COALESCE($3, address) \
         WHERE session_id = $1",
    )
    .bind(id.uuid().to_string())
    .bind(ms(now))
    .bind(address.map(str::to_owned))
    .execute(db)
    .await?;
    Ok(())
}

async fn rotate(
    db: &mut Connection,
    id: SessionId,
    digest: &[u8; 32],
    successor: &[u8; 32],
    now: Timestamp,
) -> Result<(), StoreError> {
    sql::query(
        "UPDATE sessions SET used_ms = $2, rotated_ms = $2, is_confirmed = FALSE, \
         previous_digest = $3, digest = $4 WHERE session_id = $1",
    )
    .bind(id.uuid().to_string())
    .bind(ms(now))
    .bind(hex(digest))
    .bind(hex(successor))
    .execute(db)
    .await?;
    Ok(())
}

/// Ends a session of a user. Returns whether there was one.
async fn delete(db: &mut Connection, user: UserId, id: SessionId) -> Result<bool, StoreError> {
    let id = id.uuid().to_string();
    let mut ended = false;
    for statement in [
        "DELETE FROM refresh_tokens WHERE user_id = $1 AND family = $2",
        "DELETE FROM sessions WHERE user_id = $1 AND session_id = $2",
    ] {
        let deleted = sql::query(statement).bind(user.to_string()).bind(&id).execute(&mut *db);
        ended |= deleted.await?.rows_affected() > 0;
    }
    Ok(ended)
}

impl TryFrom<SessionRow> for SessionRecord {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        let rotated_at = optional_time(row.rotated_ms)?;
        let cookie = match (row.digest, row.csrf_digest, rotated_at) {
            (Some(digest), Some(csrf), Some(rotated_at)) => Some(CookieRecord {
                digest: from_hex(&digest)?,
                previous: row.previous_digest.as_deref().map(from_hex).transpose()?,
                csrf: from_hex(&csrf)?,
                rotated_at,
                is_confirmed: row.is_confirmed,
            }),
            _ => None,
        };
        Ok(Self {
            id: SessionId::from_uuid(parse(&row.session_id)?),
            user: parse(&row.user_id)?,
            account: parse(&row.account_id)?,
            login: row.login,
            agent: row.agent,
            address: row.address,
            created_at: time(row.created_ms)?,
            used_at: time(row.used_ms)?,
            ends_at: time(row.ends_ms)?,
            cookie,
        })
    }
}
