//! The members of accounts and their roles.

use link_protocol::{
    backend_api::member::{Member, Role},
    id::{AccountId, UserId},
};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{broken, from_word, ms, parse, small, time, word},
        error::SqlError,
        read,
        sql::{self, Columns, Row, row},
    },
    domain::{account::Email, change::Subject, member::MemberRecord},
};

row! {
    struct MemberRow {
        account_id: String,
        user_id: String,
        role: String,
        joined_ms: i64,
    }
}

struct NamedRow {
    email: String,
    member: MemberRow,
}

impl Row for NamedRow {
    fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
        Ok(Self { email: columns.get("email")?, member: MemberRow::read(columns)? })
    }
}

impl NamedRow {
    fn member(self) -> Result<Member, StoreError> {
        let email = Email::parse(&self.email).map_err(broken)?;
        Ok(MemberRecord::try_from(self.member)?.info(&email))
    }
}

impl Store {
    /// Returns the role of `user` in `account`, if the login `session` has not ended.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn role_of_login(
        &self,
        user: UserId,
        account: AccountId,
        session: &str,
    ) -> Result<Option<Role>, StoreError> {
        let role: Option<String> = read!(self, |pool| {
            sql::query_scalar(
                "SELECT role FROM members WHERE account_id = $1 AND user_id = $2 \
                 AND (EXISTS (SELECT 1 FROM refresh_tokens WHERE family = $3) OR EXISTS \
                 (SELECT 1 FROM sessions WHERE session_id = $3 AND digest IS NOT NULL))",
            )
            .bind(account.to_string())
            .bind(user.to_string())
            .bind(session)
            .fetch_optional(pool)
            .await?
        });
        role.as_deref().map(from_word).transpose()
    }

    /// Lists the members of an account, newest user first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn members(
        &self,
        account: AccountId,
        page: &Page,
    ) -> Result<Vec<Member>, StoreError> {
        let rows: Vec<NamedRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT members.*, users.email FROM members \
                 JOIN users ON users.user_id = members.user_id WHERE members.account_id = $1 \
                 AND ($2 IS NULL OR members.user_id < $2) ORDER BY members.user_id DESC LIMIT $3",
            )
            .bind(account.to_string())
            .bind(&page.after)
            .bind(i64::from(page.limit))
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(NamedRow::member).collect()
    }

    /// Finds a member of an account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn member(
        &self,
        account: AccountId,
        user: UserId,
    ) -> Result<Option<Member>, StoreError> {
        let row: Option<NamedRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT members.*, users.email FROM members \
                 JOIN users ON users.user_id = members.user_id \
                 WHERE members.account_id = $1 AND members.user_id = $2",
            )
            .bind(account.to_string())
            .bind(user.to_string())
            .fetch_optional(pool)
            .await?
        });
        row.map(NamedRow::member).transpose()
    }

    /// Lists the accounts of a user, most recently joined first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn memberships(&self, user: UserId) -> Result<Vec<MemberRecord>, StoreError> {
        let rows: Vec<MemberRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM members WHERE user_id = $1 ORDER BY joined_ms DESC")
                .bind(user.to_string())
                .fetch_all(pool)
                .await?
        });
        rows.into_iter().map(MemberRecord::try_from).collect()
    }
}

pub(crate) async fn insert(db: &mut Connection, member: &MemberRecord) -> Result<(), StoreError> {
    db.changed(member.account, Subject::Member(member.user));
    sql::query(
        "INSERT INTO members (account_id, user_id, role, joined_ms) VALUES ($1, $2, $3, $4)",
    )
    .bind(member.account.to_string())
    .bind(member.user.to_string())
    .bind(word(&member.role)?)
    .bind(ms(member.joined_at))
    .execute(db)
    .await?;
    Ok(())
}

pub(crate) async fn find(
    db: &mut Connection,
    account: AccountId,
    user: UserId,
) -> Result<Option<MemberRecord>, StoreError> {
    let row: Option<MemberRow> =
        sql::query_as("SELECT * FROM members WHERE account_id = $1 AND user_id = $2")
            .bind(account.to_string())
            .bind(user.to_string())
            .fetch_optional(db)
            .await?;
    row.map(MemberRecord::try_from).transpose()
}

pub(crate) async fn owners(db: &mut Connection, account: AccountId) -> Result<u32, StoreError> {
    let owners: i64 =
        sql::query_scalar("SELECT COUNT(*) FROM members WHERE account_id = $1 AND role = 'owner'")
            .bind(account.to_string())
            .fetch_one(db)
            .await?;
    Ok(small(owners))
}

pub(crate) async fn set_role(db: &mut Connection, member: &MemberRecord) -> Result<(), StoreError> {
    db.changed(member.account, Subject::Member(member.user));
    sql::query("UPDATE members SET role = $3 WHERE account_id = $1 AND user_id = $2")
        .bind(member.account.to_string())
        .bind(member.user.to_string())
        .bind(word(&member.role)?)
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn remove(
    db: &mut Connection,
    account: AccountId,
    user: UserId,
) -> Result<(), StoreError> {
    db.changed(account, Subject::Member(user));
    for table in [
        "DELETE FROM members WHERE account_id = $1 AND user_id = $2",
        "DELETE FROM refresh_tokens WHERE account_id = $1 AND user_id = $2",
    ] {
        sql::query(table)
            .bind(account.to_string())
            .bind(user.to_string())
            .execute(&mut *db)
            .await?;
    }
    let next: Option<String> = sql::query_scalar(
        "SELECT account_id FROM members WHERE user_id = $1 ORDER BY joined_ms LIMIT 1",
    )
    .bind(user.to_string())
    .fetch_optional(&mut *db)
    .await?;
    match next {
        Some(next) => {
            sql::query("UPDATE users SET account_id = $2 WHERE user_id = $1 AND account_id = $3")
                .bind(user.to_string())
                .bind(next)
                .bind(account.to_string())
                .execute(db)
                .await?;
        }
        None => {
            sql::query("DELETE FROM users WHERE user_id = $1")
                .bind(user.to_string())
                .execute(db)
                .await?;
        }
    }
    Ok(())
}

impl TryFrom<MemberRow> for MemberRecord {
    type Error = StoreError;

    fn try_from(row: MemberRow) -> Result<Self, StoreError> {
        Ok(Self {
            account: parse(&row.account_id)?,
            user: parse(&row.user_id)?,
            role: from_word(&row.role)?,
            joined_at: time(row.joined_ms)?,
        })
    }
}
