//! Members of an account: which members may change which others. An account always keeps an owner.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::member::{Invitation, InviteMember, Member, Role},
    id::{AccountId, InvitationId, UserId},
    limits,
};

use crate::domain::{
    account::{Email, UserRecord},
    refusal::Refusal,
};

/// A user in an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MemberRecord {
    pub account: AccountId,
    pub user: UserId,
    pub role: Role,
    pub joined_at: Timestamp,
}

/// An invitation, without its token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvitationRecord {
    pub id: InvitationId,
    pub account: AccountId,
    pub role: Role,
    pub email: Option<Email>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Checks that a member with the role `actor` may change another member's role from `role` to `to`, or remove the other
/// member if `to` is `None`. The account has `owners` owners.
///
/// # Errors
/// [`Refusal::Forbidden`] if the change concerns an owner and `actor` is not an owner, [`Refusal::LastOwner`] if no
/// owner would be left.
pub fn check_change(actor: Role, role: Role, to: Option<Role>, owners: u32) -> Result<(), Refusal> {
    let concerns_owners = role == Role::Owner || to == Some(Role::Owner);
    if concerns_owners && actor != Role::Owner {
        return Err(Refusal::Forbidden("only an owner changes who is an owner".to_owned()));
    }
    if role == Role::Owner && to != Some(Role::Owner) && owners <= 1 {
        return Err(Refusal::LastOwner);
    }
    Ok(())
}

impl InvitationRecord {
    /// Makes the record of a new invitation by a member with the role `actor`.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], or [`Refusal::Forbidden`] if the invitation is for an owner and `actor` is not an owner.
    pub fn create(
        id: InvitationId,
        account: AccountId,
        actor: Role,
        wish: InviteMember,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        check_change(actor, Role::Viewer, Some(wish.role), 1)?;
        let after =
            |time| SignedDuration::try_from(time).ok().and_then(|t| now.checked_add(t).ok());
        let usual = after(limits::INVITATION_LIFETIME).unwrap_or(Timestamp::MAX);
        let expires_at = wish.expires_at.unwrap_or(usual);
        let latest = after(limits::INVITATION_LONGEST).unwrap_or(Timestamp::MAX);
        if expires_at <= now || expires_at > latest {
            return Err(Refusal::invalid("expires_at: is in the future, at most 30 days ahead"));
        }
        let email = wish.email.as_deref().map(Email::parse).transpose()?;
        Ok(Self { id, account, role: wish.role, email, created_at: now, expires_at })
    }

    /// Checks that the user with the address `email` may accept the invitation at `now`.
    ///
    /// # Errors
    /// [`Refusal::InvitationInvalid`] if the invitation is for another address or has expired.
    pub fn check(&self, email: &Email, now: Timestamp) -> Result<(), Refusal> {
        let meant = self.email.as_ref().is_none_or(|meant| meant == email);
        if meant { self.in_time(now) } else { Err(Refusal::InvitationInvalid) }
    }

    /// Returns the member that `user` becomes. `is_member` tells whether `user` is a member already.
    ///
    /// # Errors
    /// [`Refusal::InvitationInvalid`], [`Refusal::AlreadyMember`].
    pub fn accept(
        &self,
        user: &UserRecord,
        is_member: bool,
        now: Timestamp,
    ) -> Result<MemberRecord, Refusal> {
        self.check(&user.email, now)?;
        if is_member {
            return Err(Refusal::AlreadyMember);
        }
        let (account, role) = (self.account, self.role);
        Ok(MemberRecord { account, user: user.id, role, joined_at: now })
    }

    /// Checks that the invitation has not expired at `now`.
    ///
    /// # Errors
    /// [`Refusal::InvitationInvalid`] if it has.
    pub fn in_time(&self, now: Timestamp) -> Result<(), Refusal> {
        if now < self.expires_at { Ok(()) } else { Err(Refusal::InvitationInvalid) }
    }

    /// Returns the invitation in the form that members see.
    #[must_use]
    pub fn info(&self) -> Invitation {
        Invitation {
            invitation_id: self.id,
            role: self.role,
            email: self.email.as_ref().map(|email| email.as_str().to_owned()),
            created_at: self.created_at,
            expires_at: self.expires_at,
        }
    }
}

impl MemberRecord {
    /// Returns the member in the form that other members see.
    #[must_use]
    pub fn info(&self, email: &Email) -> Member {
        Member {
            user_id: self.user,
            email: email.as_str().to_owned(),
            role: self.role,
            joined_at: self.joined_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_last_owner_neither_leaves_nor_is_demoted() {
        let last = Err(Refusal::LastOwner);
        assert_eq!(check_change(Role::Owner, Role::Owner, None, 1), last);
        assert_eq!(check_change(Role::Owner, Role::Owner, Some(Role::Admin), 1), last);
        assert_eq!(check_change(Role::Owner, Role::Owner, Some(Role::Owner), 1), Ok(()));
        assert_eq!(check_change(Role::Owner, Role::Owner, None, 2), Ok(()));
    }

    #[test]
    fn only_an_owner_changes_who_is_an_owner() {
        for actor in [Role::Admin, Role::Operator, Role::Viewer] {
            for (role, to) in [(Role::Owner, None), (Role::Admin, Some(Role::Owner))] {
                let refused = check_change(actor, role, to, 5);
                assert!(matches!(refused, Err(Refusal::Forbidden(_))), "{actor:?} {role:?} {to:?}");
            }
        }
        assert_eq!(check_change(Role::Admin, Role::Operator, Some(Role::Viewer), 1), Ok(()));
    }

    #[test]
    fn an_invitation_is_for_its_address_and_its_time() {
        let now = Timestamp::from_second(1_790_000_000).unwrap();
        let wish = |expires_at| InviteMember {
            role: Role::Viewer,
            email: Some("Ada@example.org".to_owned()),
            expires_at,
        };
        let create = |wish| {
            let id = InvitationId::from_uuid(Uuid::from_u128(1));
            let account = AccountId::from_uuid(Uuid::from_u128(2));
            InvitationRecord::create(id, account, Role::Admin, wish, now)
        };
        let invitation = create(wish(None)).unwrap();
        let (ada, eve) = (Email::parse("ada@example.org"), Email::parse("eve@example.org"));
        let week = now + (7 * 24).hours();
        assert_eq!(invitation.check(ada.as_ref().unwrap(), week - 1.second()), Ok(()));
        let refused = Err(Refusal::InvitationInvalid);
        assert_eq!(invitation.check(ada.as_ref().unwrap(), week), refused);
        assert_eq!(invitation.check(eve.as_ref().unwrap(), now), refused);
        let user = UserRecord {
            id: UserId::from_uuid(Uuid::from_u128(3)),
            account: AccountId::from_uuid(Uuid::from_u128(4)),
            email: ada.unwrap(),
            password_hash: String::new(),
        };
        let member = invitation.accept(&user, false, now).unwrap();
        assert_eq!((member.account, member.role), (invitation.account, Role::Viewer));
        assert_eq!(invitation.accept(&user, true, now), Err(Refusal::AlreadyMember));
        assert_eq!(invitation.accept(&user, false, week), Err(Refusal::InvitationInvalid));
        assert!(create(wish(Some(now))).is_err());
        assert!(create(wish(Some(now + (31 * 24).hours()))).is_err());
    }
}
