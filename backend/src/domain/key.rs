//! Registration and fleet keys: whether a key may still register devices.

use jiff::Timestamp;
use link_protocol::{
    backend_api::key::{CreateKey, KeyInfo},
    id::{AccountId, KeyId, UserId},
    key::{EnrolmentKey, KeyKind},
};

use crate::domain::{name, refusal::Refusal, tag};

/// Returns the key of a request. Its kind must match the field that holds it.
///
/// # Errors
/// [`Refusal::Invalid`] if the request has no key, two keys, or a key of the other kind.
pub fn given<'a>(
    registration_key: Option<&'a EnrolmentKey>,
    fleet_key: Option<&'a EnrolmentKey>,
) -> Result<&'a EnrolmentKey, Refusal> {
    let (key, kind) = match (registration_key, fleet_key) {
        (Some(key), None) => (key, KeyKind::Registration),
        (None, Some(key)) => (key, KeyKind::Fleet),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Refusal::invalid("give either `registration_key` or `fleet_key`"));
        }
    };
    if key.kind() == kind {
        return Ok(key);
    }
    Err(Refusal::invalid(match kind {
        KeyKind::Registration => "registration_key: this is a fleet key",
        KeyKind::Fleet => "fleet_key: this is a registration key",
    }))
}

/// The person who becomes responsible for the keys of a member who leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Heir {
    /// Nobody: the keys are revoked.
    Nobody,
    Member(UserId),
}

/// A stored key, without its secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyRecord {
    pub id: KeyId,
    pub account: AccountId,
    pub kind: KeyKind,
    pub name: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub max_devices: Option<u32>,
    /// Devices that the key has registered, including removed devices.
    pub devices: u32,
    pub tags: Vec<String>,
    pub revoked: bool,
    /// The member who is responsible for the key, if known.
    pub created_by: Option<UserId>,
}

impl KeyRecord {
    /// Makes the record of a new key.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the values of the request contradict each other.
    pub fn create(
        id: KeyId,
        (account, creator): (AccountId, UserId),
        wish: CreateKey,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        if wish.expires_at.is_some_and(|expiry| expiry <= now) {
            return Err(Refusal::invalid("expires_at: is in the future"));
        }
        match (wish.kind, wish.max_devices) {
            (KeyKind::Registration, Some(_)) => {
                return Err(Refusal::invalid("max_devices: only a fleet key has one"));
            }
            (KeyKind::Fleet, Some(0)) => {
                return Err(Refusal::invalid("max_devices: is at least 1"));
            }
            (KeyKind::Registration | KeyKind::Fleet, _) => {}
        }
        if wish.tags.len() > tag::MOST {
            return Err(Refusal::invalid(format!("tags: are at most {}", tag::MOST)));
        }
        let tags = wish.tags.iter().map(|tag| tag::checked(tag));
        Ok(Self {
            id,
            account,
            kind: wish.kind,
            name: name::optional("name", &wish.name)?,
            created_at: now,
            expires_at: wish.expires_at,
            max_devices: wish.max_devices,
            devices: 0,
            tags: tags.collect::<Result<_, _>>()?,
            revoked: false,
            created_by: Some(creator),
        })
    }

    /// Checks that the key is valid at `now`. A reactivation needs a valid key too.
    ///
    /// # Errors
    /// [`Refusal::KeyRevoked`] or [`Refusal::KeyExpired`].
    pub fn usable(&self, now: Timestamp) -> Result<(), Refusal> {
        if self.revoked {
            return Err(Refusal::KeyRevoked);
        }
        if self.expires_at.is_some_and(|expiry| now >= expiry) {
            return Err(Refusal::KeyExpired);
        }
        Ok(())
    }

    /// Checks that the key may register one more device.
    ///
    /// # Errors
    /// [`Refusal::KeyUsedUp`] if the key has registered its maximum number of devices.
    pub fn has_room(&self) -> Result<(), Refusal> {
        let budget = match self.kind {
            KeyKind::Registration => Some(1),
            KeyKind::Fleet => self.max_devices,
        };
        if budget.is_some_and(|budget| self.devices >= budget) {
            return Err(Refusal::KeyUsedUp);
        }
        Ok(())
    }

    /// Passes the key of a member who leaves to an heir.
    pub const fn leave(&mut self, to: Heir) {
        match to {
            Heir::Nobody => self.revoked = true,
            Heir::Member(user) => self.created_by = Some(user),
        }
    }

    /// Returns the key as its owner sees it.
    #[must_use]
    pub fn info(&self) -> KeyInfo {
        KeyInfo {
            key_id: self.id,
            kind: self.kind,
            name: self.name.clone(),
            created_at: self.created_at,
            expires_at: self.expires_at,
            max_devices: self.max_devices,
            devices: self.devices,
            tags: self.tags.clone(),
            revoked: self.revoked,
            created_by: self.created_by,
        }
    }
}
