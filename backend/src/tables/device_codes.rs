//! Logins by the device flow that wait for a person.

use jiff::Timestamp;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{broken, from_hex, hex, ms, optional_time, parse, small, time},
        read,
        sql::{self, row},
        write,
    },
    domain::{
        device_flow::{self, Decision, Pending, Poll, UserCode},
        refusal::Refusal,
    },
    failure::Failure,
    tables::locks,
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
    /// Stores a login that waits; when `most` do already, one of them gives way.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the user code is taken.
    pub async fn add_device_code(&self, new: &Pending, most: u32) -> Result<(), StoreError> {
        write!(self, [locks::table("device_codes")], |db| {
            sql::query("DELETE FROM device_codes WHERE expires_ms <= $1")
                .bind(ms(new.created_at))
                .execute(&mut *db)
                .await?;
            let waiting: i64 =
                sql::query_scalar("SELECT COUNT(*) FROM device_codes").fetch_one(&mut *db).await?;
            if small(waiting) >= most {
                let rows: Vec<CodeRow> =
                    sql::query_as("SELECT * FROM device_codes ORDER BY created_ms, digest")
                        .fetch_all(&mut *db)
                        .await?;
                let waiting: Vec<Pending> =
                    rows.into_iter().map(Pending::try_from).collect::<Result<_, _>>()?;
                if let Some(gone) = device_flow::gives_way(&waiting) {
                    delete(db, &gone.digest).await?;
                }
            }
            insert(db, new).await?;
        });
        Ok(())
    }

    /// Finds the login that waits for `code`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn device_code(&self, code: &UserCode) -> Result<Option<Pending>, StoreError> {
        let row: Option<CodeRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM device_codes WHERE user_code = $1")
                .bind(code.as_str())
                .fetch_optional(pool)
                .await?
        });
        row.map(Pending::try_from).transpose()
    }

    /// Notes what a person said about the login that waits for `code`.
    ///
    /// # Errors
    /// [`Refusal::UserCodeUnknown`].
    pub async fn decide_device_code(
        &self,
        code: &UserCode,
        decision: Decision,
        now: Timestamp,
    ) -> Result<Pending, Failure> {
        let decided = write!(self, [locks::table("device_codes")], |db| {
            let row: Option<CodeRow> =
                sql::query_as("SELECT * FROM device_codes WHERE user_code = $1")
                    .bind(code.as_str())
                    .fetch_optional(&mut *db)
                    .await
                    .map_err(StoreError::from)?;
            let mut pending: Pending = row.ok_or(Refusal::UserCodeUnknown)?.try_into()?;
            pending.decide(decision, now)?;
            update(db, &pending).await?;
            pending
        });
        Ok(decided)
    }

    /// Answers a poll with the device code of `digest`; one that ends the waiting ends the code.
    /// `None` when there is no such code.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn poll_device_code(
        &self,
        digest: &[u8; 32],
        now: Timestamp,
    ) -> Result<Option<Poll>, StoreError> {
        let polled = write!(self, [locks::table("device_codes")], |db| {
            let row: Option<CodeRow> =
                sql::query_as("SELECT * FROM device_codes WHERE digest = $1")
                    .bind(hex(digest))
                    .fetch_optional(&mut *db)
                    .await?;
            match row.map(Pending::try_from).transpose()? {
                Some(mut pending) => {
                    let poll = pending.poll(now);
                    match poll {
                        Poll::Pending | Poll::TooFast => update(db, &pending).await?,
                        Poll::Expired | Poll::Denied | Poll::Granted { .. } => {
                            delete(db, digest).await?;
                        }
                    }
                    Some(poll)
                }
                None => None,
            }
        });
        Ok(polled)
    }
}

async fn insert(db: &mut Connection, new: &Pending) -> Result<(), StoreError> {
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

async fn update(db: &mut Connection, pending: &Pending) -> Result<(), StoreError> {
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

async fn delete(db: &mut Connection, digest: &[u8; 32]) -> Result<(), StoreError> {
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
