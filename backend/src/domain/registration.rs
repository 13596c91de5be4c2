//! Decides whether a registration adds a new device or reactivates a known device.
//!
//! A known device keeps its record: it never gets a second row or a second slot. A device is reactivated by the
//! registration key with which it was registered, or with a proof by its old key pair. A fleet key alone never
//! reactivates a device.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    counter::Epoch,
    id::{AccountId, DeviceId},
    key::{EnrolmentKey, KeyKind},
    limits,
    registration::{KeyProof, RegisterRequest, proof_statement},
    report::LifecycleStatus,
    signing::VerifyingKey,
};

use crate::domain::{
    device::{self, DeviceRecord},
    key::{self, KeyRecord},
    refusal::Refusal,
    tag,
};

const LONGEST_FACT: usize = 200;

/// The records on which the decision about a registration depends.
#[derive(Clone, Debug)]
pub struct Known {
    pub key: Option<KeyRecord>,
    /// The device whose id the request names.
    pub device: Option<DeviceRecord>,
    /// The device that this key registered earlier with the same public key.
    pub twin: Option<DeviceRecord>,
    /// The number of devices of the key's account, without the device of this registration.
    pub devices: u32,
}

/// The decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Plan {
    /// Adds a new device to the key's account.
    Enrol { key: KeyRecord },
    /// Registers the known device again.
    Reactivate { key: KeyRecord, device: DeviceId },
}

/// Checks all values of `request` and returns its key.
///
/// # Errors
/// [`Refusal::Invalid`] if the request has no key, two keys or a key of the other kind, or if a fact of the platform is
/// too long.
pub fn check(request: &RegisterRequest) -> Result<&EnrolmentKey, Refusal> {
    let key = key::given(request.registration_key.as_ref(), request.fleet_key.as_ref())?;
    let platform = &request.platform;
    for (what, fact) in
        [("os", &platform.os), ("arch", &platform.arch), ("hostname", &platform.hostname)]
    {
        if fact.chars().count() > LONGEST_FACT || fact.chars().any(char::is_control) {
            return Err(Refusal::invalid(format!(
                "platform.{what}: must have at most {LONGEST_FACT} characters and no control characters"
            )));
        }
    }
    check_public_key(&request.public_key)?;
    Ok(key)
}

/// Decides about a registration. `caller` is the account of the bearer token, if the request has one.
///
/// # Errors
/// The reason why the key cannot be used, [`Refusal::DeviceLimitReached`], or [`Refusal::ProofRequired`].
pub fn plan(
    request: &RegisterRequest,
    known: Known,
    caller: Option<AccountId>,
    limit: u32,
    now: Timestamp,
) -> Result<Plan, Refusal> {
    let key = known.key.ok_or(Refusal::KeyUnknown)?;
    if caller.is_some_and(|caller| caller != key.account) {
        return Err(Refusal::KeyUnknown);
    }
    key.usable(now)?;

    let proves =
        |device: &DeviceRecord| proves(device, request.proof.as_ref(), &request.public_key, now);
    let (named, foreign) = match known.device {
        Some(device) if device.account == key.account => (Some(device), None),
        foreign => (None, foreign),
    };
    // Only the device itself may learn its account. For everyone else the id does not exist.
    if foreign.as_ref().is_some_and(proves) {
        return Err(Refusal::OtherAccount);
    }
    if let Some(device) = named {
        let same_key = device.registered_with == key.id;
        if same_key && key.kind == KeyKind::Registration {
            return Ok(Plan::Reactivate { key, device: device.id });
        }
        if !proves(&device) {
            return Err(Refusal::ProofRequired);
        }
        if !same_key {
            key.has_room()?;
        }
        return Ok(Plan::Reactivate { key, device: device.id });
    }
    if let Some(twin) = known.twin.filter(|twin| answer_was_lost(&key, twin)) {
        return Ok(Plan::Reactivate { key, device: twin.id });
    }
    key.has_room()?;
    device::check_limit(known.devices, limit)?;
    Ok(Plan::Enrol { key })
}

/// Tells whether the device repeats a registration whose answer was lost: `twin`, which has the same key pair, is then
/// its own record. With a fleet key, this record must never have been used.
fn answer_was_lost(key: &KeyRecord, twin: &DeviceRecord) -> bool {
    match key.kind {
        KeyKind::Registration => true,
        KeyKind::Fleet => twin.greeted_epoch.is_none(),
    }
}

fn proves(
    device: &DeviceRecord,
    proof: Option<&KeyProof>,
    new_key: &VerifyingKey,
    now: Timestamp,
) -> bool {
    let window = SignedDuration::try_from(limits::PROOF_WINDOW).unwrap_or_default();
    proof.is_some_and(|proof| {
        let statement = proof_statement(device.id, new_key, proof.issued_at);
        now.duration_since(proof.issued_at).abs() <= window
            && device.public_key.verify(&statement, &proof.signature).is_ok()
    })
}

/// The values that a registration assigns to a device.
#[derive(Clone, Debug)]
pub struct Given {
    /// The id of a new device.
    pub id: DeviceId,
    pub name: String,
    pub token_digest: [u8; 32],
    pub now: Timestamp,
}

/// Returns the device to store for a registration with `plan`. `former` is the record of a known device.
#[must_use]
pub fn registered(
    plan: &Plan,
    former: Option<DeviceRecord>,
    request: &RegisterRequest,
    given: &Given,
) -> Option<DeviceRecord> {
    let fresh = |key: &KeyRecord| DeviceRecord {
        id: given.id,
        account: key.account,
        name: given.name.clone(),
        token_digest: given.token_digest,
        epoch: Epoch(1),
        public_key: request.public_key.clone(),
        registered_with: key.id,
        tags: key.tags.clone(),
        agent_version: request.agent_version.clone(),
        last_update: None,
        platform: request.platform.clone(),
        status: LifecycleStatus::Starting,
        greeted_epoch: None,
        last_seen_at: None,
        registered_at: given.now,
    };
    match plan {
        Plan::Enrol { key } => Some(fresh(key)),
        Plan::Reactivate { key, .. } => former.map(|former| DeviceRecord {
            id: former.id,
            epoch: former.epoch.next(),
            last_seen_at: former.last_seen_at,
            registered_at: former.registered_at,
            tags: kept_tags(&former, key),
            name: if request.keeps_name { former.name } else { given.name.clone() },
            ..fresh(key)
        }),
    }
}

/// Returns the tags of a device that registers again: its own tags and, with a key that the device has not used before,
/// the tags of the key. A key that the device has used before would restore tags that its owner removed.
fn kept_tags(former: &DeviceRecord, key: &KeyRecord) -> Vec<String> {
    if former.registered_with == key.id {
        return former.tags.clone();
    }
    tag::change(&former.tags, &key.tags, &[]).unwrap_or_else(|_too_many| former.tags.clone())
}

fn check_public_key(key: &VerifyingKey) -> Result<(), Refusal> {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

    let bytes = URL_SAFE_NO_PAD.decode(&key.public_key).unwrap_or_default();
    if bytes.len() == 32 && VerifyingKey::new(&bytes) == *key {
        Ok(())
    } else {
        Err(Refusal::invalid("public_key: is an Ed25519 key and the name made from it"))
    }
}

#[cfg(test)]
mod tests;
