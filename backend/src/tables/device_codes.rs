//! Pending logins of the device flow.

use jiff::Timestamp;
use link_protocol::id::UserId;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{broken, from_hex, hex, ms, optional_time, parse, small, time},
        read,
        sql::{self, row},
    },
    domain::device_flow::{Decision, Pending, UserCode},
};

row! {
    struct CodeRow {
        digest: String,
        user_code: String,
        client_name: String,
        address: String,
        created_ms: i64,
        expires_ms: i64,
        interval_s: i64,
        polled_ms: Option<i64>,
        user_id: Option<String>,
        account_id: Option<String>,
        denied: bool,
    }
}

impl Store {
    /// Finds the pending login with the user code `code`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn device_code(&self, code: &UserCode) -> Result<Option<Pending>, StoreError> {
        Ok(read!(self, |db| find_by_user_code(db, code).await?))
    }
}

/// Deletes the codes that expired by `now`.
pub(crate) async fn delete_expired(db: &mut Connection, now: Timestamp) -> Result<(), StoreError> {
    sql::query("DELETE FROM device_codes WHERE expires_ms <= $1").bind(ms(now)).execute(db).await?;
    Ok(())
}

/// Deletes the logins that a user has approved and no machine has taken up.
pub(crate) async fn forget(db: &mut Connection, user: UserId) -> Result<(), StoreError> {
    sql::query("DELETE FROM device_codes WHERE user_id = $1")
        .bind(user.to_string())
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn count(db: &mut Connection) -> Result<u32, StoreError> {
    let waiting: i64 = sql::query_scalar("SELECT COUNT(*) FROM device_codes").fetch_one(db).await?;
    Ok(small(waiting))
}

/// Lists the pending logins, oldest first.
pub(crate) async fn list(db: &mut Connection) -> Result<Vec<Pending>, StoreError> {
    let rows: Vec<CodeRow> =
        sql::query_as("SELECT * FROM device_codes ORDER BY created_ms, digest")
            .fetch_all(db)
            .await?;
    rows.into_iter().map(Pending::try_from).collect()
}

pub(crate) async fn find(
    db: &mut Connection,
    digest: &[u8; 32],
) -> Result<Option<Pending>, StoreError> {
    let row: Option<CodeRow> = sql::query_as("SELECT * FROM device_codes WHERE digest = $1")
        .bind(hex(digest))
        .fetch_optional(db)
        .await?;
    row.map(Pending::try_from).transpose()
}

pub(crate) async fn find_by_user_code(
    db: &mut Connection,
    code: &UserCode,
) -> Result<Option<Pending>, StoreError> {
    let row: Option<CodeRow> = sql::query_as("SELECT * FROM device_codes WHERE user_code = $1")
        .bind(code.as_str())
        .fetch_optional(db)
        .await?;
    row.map(Pending::try_from).transpose()
}

pub(crate) async fn insert(db: &mut Connection, new: &Pending) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO device_codes (digest, user_code, client_name, address, created_ms, \
         expires_ms, interval_s, denied) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(hex(&new.digest))
    .bind(new.user_code.as_str())
    .bind(&new.client_name)
    .bind(&new.address)
    .bind(ms(new.created_at))
    .bind(ms(new.expires_at))
    .bind(i64::from(new.interval_s))
    .bind(false)
    .execute(db)
    .await?;
    Ok(())
}

pub(crate) async fn update(db: &mut Connection, pending: &Pending) -> Result<(), StoreError> {
    let (user, account, denied) = match pending.decision {
        Decision::Open => (None, None, false),
        Decision::Denied => (None, None, true),
        Decision::Granted { user, account } => {
            (Some(user.to_string()), Some(account.to_string()), false)
        }
    };
    sql::query(
        "UPDATE device_codes SET interval_s = $2, polled_ms = $3, user_id = $4, account_id = $5, \
         denied = $6 WHERE digest = $1",
    )
    .bind(hex(&pending.digest))
    .bind(i64::from(pending.interval_s))
    .bind(pending.polled_at.map(ms))
    .bind(user)
    .bind(account)
    .bind(denied)
    .execute(db)
    .await?;
    Ok(())
}

pub(crate) async fn delete(db: &mut Connection, digest: &[u8; 32]) -> Result<(), StoreError> {
    sql::query("DELETE FROM device_codes WHERE digest = $1").bind(hex(digest)).execute(db).await?;
    Ok(())
}

impl TryFrom<CodeRow> for Pending {
    type Error = StoreError;

    fn try_from(row: CodeRow) -> Result<Self, StoreError> {
        let decision = match (row.user_id, row.account_id) {
            (Some(user), Some(account)) => {
                Decision::Granted { user: parse(&user)?, account: parse(&account)? }
            }
            _ if row.denied => Decision::Denied,
            _ => Decision::Open,
        };
        Ok(Self {
            digest: from_hex(&row.digest)?,
            user_code: UserCode::parse(&row.user_code).map_err(broken)?,
            client_name: row.client_name,
            address: row.address,
            created_at: time(row.created_ms)?,
            expires_at: time(row.expires_ms)?,
            interval_s: small(row.interval_s),
            polled_at: optional_time(row.polled_ms)?,
            decision,
        })
    }
}
