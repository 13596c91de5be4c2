//! Locks that a transaction holds until its end, so that two transactions that decide about the same record run one
//! after the other.
//!
//! A transaction names the records that its decisions depend on. On PostgreSQL each name is an advisory lock, which is
//! taken before the transaction reads: transactions are READ COMMITTED, so each statement after the lock sees the
//! changes of the previous holder. On SQLite all transactions run one after the other, and a lock costs nothing.
//!
//! A fixed order prevents deadlocks: locks are taken by rank, then by number. A transaction that finds out during its
//! run that it needs another lock may only take one of a higher rank than those that it holds.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::database::{Connection, StoreError, error::SqlError, sql::Link};

/// A lock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Lock {
    rank: u8,
    /// Names are unique within a kind.
    kind: &'static str,
    name: Name,
    is_shared: bool,
}

/// The name of a locked record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Name {
    Text(&'static str),
    Id(Uuid),
}

/// A lock of PostgreSQL. The order of the values is the order in which locks are taken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Advisory {
    rank: u8,
    /// Two names with the same number only wait for each other.
    number: i64,
    is_shared: bool,
}

impl Lock {
    /// Returns a lock that only one transaction can hold at a time.
    pub(crate) const fn exclusive(rank: u8, kind: &'static str, name: Name) -> Self {
        Self { rank, kind, name, is_shared: false }
    }

    /// Returns a lock that several transactions can hold at the same time, while none holds the exclusive lock of the
    /// same kind and name.
    pub(crate) const fn shared(rank: u8, kind: &'static str, name: Name) -> Self {
        Self { rank, kind, name, is_shared: true }
    }

    /// Returns the lock as PostgreSQL knows it. A digest costs more than a row of SQLite, which needs none.
    fn advisory(&self) -> Advisory {
        let name: &[u8] = match &self.name {
            Name::Text(text) => text.as_bytes(),
            Name::Id(id) => id.as_bytes(),
        };
        let digest: [u8; 32] =
            Sha256::new().chain_update(self.kind).chain_update(name).finalize().into();
        let (first, _rest) = digest.split_first_chunk().expect("a digest has 32 bytes");
        let (rank, is_shared) = (self.rank, self.is_shared);
        Advisory { rank, number: i64::from_be_bytes(*first), is_shared }
    }
}

/// Returns the statements that take `locks` in order.
pub(super) fn statements(locks: &[Lock]) -> String {
    let mut locks: Vec<_> = locks.iter().map(Lock::advisory).collect();
    locks.sort_unstable();
    // The exclusive lock, which sorts first, includes the shared one.
    locks.dedup_by_key(|lock| (lock.rank, lock.number));
    let mut statements = String::new();
    for Advisory { number, is_shared, .. } in locks {
        let suffix = if is_shared { "_shared" } else { "" };
        // Writing to a string cannot fail.
        write!(statements, "; SELECT pg_advisory_xact_lock{suffix}({number})").unwrap_or(());
    }
    statements
}

/// Takes `locks` in a running transaction. The transaction must read the protected records only afterwards.
///
/// # Errors
/// [`StoreError::Unavailable`] if another transaction holds one of the locks for too long.
pub(crate) async fn take(db: &mut Connection, locks: &[Lock]) -> Result<(), StoreError> {
    let Link::PgWriter(transaction) = &mut db.link else { return Ok(()) };
    let statements = sqlx::AssertSqlSafe(statements(locks));
    sqlx::raw_sql(statements).execute(&mut **transaction).await.map_err(SqlError::from)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Name = Name::Text("a");

    #[test]
    fn locks_are_taken_once_and_in_one_order() {
        let device = |id| Lock::exclusive(6, "device", Name::Id(Uuid::from_u128(id)));
        let account = Lock::exclusive(1, "account", Name::Text("a"));
        let either = statements(&[device(2), account, device(1), device(2)]);
        assert_eq!(either, statements(&[device(1), device(2), account]));
        assert_eq!(either.matches("SELECT").count(), 3);
        assert!(either.starts_with(&statements(&[account])), "{either}");
    }

    #[test]
    fn the_exclusive_lock_stands_for_the_shared_one() {
        let (model, kept) = (Lock::exclusive(5, "model", NAME), Lock::shared(5, "model", NAME));
        assert_eq!(statements(&[kept, model]), statements(&[model]));
        assert!(statements(&[kept]).contains("_shared("), "{}", statements(&[kept]));
    }

    #[test]
    fn kinds_do_not_share_names() {
        let number = |kind| Lock::exclusive(1, kind, NAME).advisory().number;
        assert_ne!(number("user"), number("login"));
        // Replicas of an earlier version take the same locks.
        assert_eq!(number("user"), 4_853_008_565_038_317_796);
    }
}
