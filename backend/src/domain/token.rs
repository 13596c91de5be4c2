//! Personal access tokens: which scopes a token may have, and which permissions they give.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::token::{CreateToken, TokenInfo},
    id::{AccountId, TokenId, UserId},
    limits,
    permission::Permission,
};

use crate::domain::{name, refusal::Refusal};

/// A set of permissions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Scopes(u32);

/// A stored token, without its secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TokenRecord {
    pub id: TokenId,
    pub account: AccountId,
    pub user: UserId,
    pub name: String,
    pub scopes: Vec<Permission>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

impl Scopes {
    /// All permissions, which a login has.
    pub const ALL: Self = Self(u32::MAX);

    /// Makes the set of `permissions`.
    #[must_use]
    pub fn of(permissions: &[Permission]) -> Self {
        Self(permissions.iter().fold(0, |set, permission| set | bit(*permission)))
    }

    /// Tells whether `permission` is in the set.
    #[must_use]
    pub const fn contain(self, permission: Permission) -> bool {
        self.0 & bit(permission) != 0
    }
}

impl TokenRecord {
    /// Makes the record of a new token.
    ///
    /// # Errors
    /// [`Refusal::Invalid`].
    pub fn create(
        id: TokenId,
        account: AccountId,
        user: UserId,
        wish: CreateToken,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        if wish.scopes.is_empty() {
            return Err(Refusal::invalid("scopes: must have at least one"));
        }
        if let Some(scope) = wish.scopes.iter().find(|scope| !scope.can_be_scope()) {
            return Err(Refusal::invalid(format!("scopes: `{scope}` needs a person who logs in")));
        }
        let mut scopes = wish.scopes;
        scopes.push(Permission::ReadAccount);
        scopes.sort_unstable();
        scopes.dedup();
        let after =
            |time| SignedDuration::try_from(time).ok().and_then(|t| now.checked_add(t).ok());
        let usual = after(limits::PERSONAL_TOKEN_LIFETIME).unwrap_or(Timestamp::MAX);
        let expires_at = wish.expires_at.unwrap_or(usual);
        let latest = after(limits::PERSONAL_TOKEN_LONGEST).unwrap_or(Timestamp::MAX);
        if expires_at <= now || expires_at > latest {
            return Err(Refusal::invalid("expires_at: is in the future, at most 366 days ahead"));
        }
        let name = name::checked("name", &wish.name)?;
        let last_used_at = None;
        Ok(Self { id, account, user, name, scopes, created_at: now, expires_at, last_used_at })
    }

    /// Returns the scopes of the token at `now`.
    ///
    /// # Errors
    /// [`Refusal::TokenExpired`].
    pub fn usable(&self, now: Timestamp) -> Result<Scopes, Refusal> {
        if now < self.expires_at {
            Ok(Scopes::of(&self.scopes))
        } else {
            Err(Refusal::TokenExpired)
        }
    }

    /// Returns the token in the form that its owner sees.
    #[must_use]
    pub fn info(&self) -> TokenInfo {
        TokenInfo {
            token_id: self.id,
            name: self.name.clone(),
            scopes: self.scopes.clone(),
            created_at: self.created_at,
            expires_at: self.expires_at,
            last_used_at: self.last_used_at,
        }
    }
}

const fn bit(permission: Permission) -> u32 {
    1 << permission as u32
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        for one in Permission::ALL {
            assert!(Scopes::ALL.contain(*one));
            for other in Permission::ALL {
                assert_eq!(Scopes::of(&[*one]).contain(*other), one == other);
            }
        }
    }

    #[test]
    fn a_wish_that_goes_too_far_is_refused() {
        let now = Timestamp::from_second(1_790_000_000).unwrap();
        let create = |scopes: &[Permission], expires_at| {
            let wish = CreateToken { name: "ci".to_owned(), scopes: scopes.to_vec(), expires_at };
            let id = TokenId::from_uuid(Uuid::from_u128(1));
            let account = AccountId::from_uuid(Uuid::from_u128(2));
            TokenRecord::create(id, account, UserId::from_uuid(Uuid::from_u128(3)), wish, now)
        };
        let read = Permission::ReadDevices;
        let made = create(&[read, read], None).unwrap();
        assert_eq!(made.scopes, [Permission::ReadAccount, read]);
        assert_eq!(made.expires_at, now + (90 * 24).hours());
        assert!(made.usable(now).unwrap().contain(read));
        assert_eq!(made.usable(made.expires_at), Err(Refusal::TokenExpired));
        assert!(create(&[], None).is_err());
        assert!(create(&[Permission::ActInPerson], None).is_err());
        assert!(create(&[read], Some(now)).is_err());
        assert!(create(&[read], Some(now + (367 * 24).hours())).is_err());
    }
}
