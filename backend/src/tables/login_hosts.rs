//! The hosts from which people have logged in, by person.

use jiff::Timestamp;
use link_protocol::id::{AccountId, UserId};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{ms, parse},
        read, sql,
    },
    domain::network::Network,
};

/// The maximum number of stored hosts for each user.
const HOSTS: i64 = 16;

impl Store {
    /// Finds the user with the e-mail address `email` who has logged in from `host` before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn user_familiar_with(
        &self,
        email: &str,
        host: Network,
    ) -> Result<Option<(UserId, AccountId)>, StoreError> {
        let found: Option<(String, String)> = read!(self, |db| {
            sql::query_as(
                "SELECT users.user_id, users.account_id FROM users JOIN login_hosts \
                 ON login_hosts.user_id = users.user_id WHERE users.email = $1 AND host = $2",
            )
            .bind(email)
            .bind(host.to_string())
            .fetch_optional(db)
            .await?
        });
        found.map(|(user, account)| Ok((parse(&user)?, parse(&account)?))).transpose()
    }
}

/// Stores the time of a login from a host, and deletes all but the latest [`HOSTS`] hosts of its user.
pub(crate) async fn remember(
    db: &mut Connection,
    user: UserId,
    host: Network,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (user, host) = (user.to_string(), host.to_string());
    sql::query(
        "INSERT INTO login_hosts (user_id, host, last_ms) VALUES ($1, $2, $3) \
         ON CONFLICT (user_id, host) DO UPDATE SET last_ms = excluded.last_ms",
    )
    .bind(&user)
    .bind(&host)
    .bind(ms(now))
    .execute(&mut *db)
    .await?;
    sql::query(
        "DELETE FROM login_hosts WHERE user_id = $1 AND host NOT IN (SELECT host FROM login_hosts \
         WHERE user_id = $1 ORDER BY last_ms DESC, host LIMIT $2)",
    )
    .bind(&user)
    .bind(HOSTS)
    .execute(db)
    .await?;
    Ok(())
}
