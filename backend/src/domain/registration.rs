//! Registration: whether a key registers a new device or reactivates a known device.
//!
//! A known device keeps its record: no second row, no second slot. Only the registration key that registered a device,
//! or the old key pair of the device, reactivates it; a fleet key alone never does.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
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

/// The records that decide a registration.
#[derive(Clone, Debug)]
pub struct Known {
    pub key: Option<KeyRecord>,
    /// The device whose id the request names.
    pub device: Option<DeviceRecord>,
    /// A device that this key registered with the same public key.
    pub twin: Option<DeviceRecord>,
    /// Devices of the key's account, without the one that is to be registered.
    pub devices: u32,
}

/// The outcome of the decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Plan {
    /// A new device of the key's account.
    Enrol { key: KeyRecord },
    /// The known device is registered again.
    Reactivate { key: KeyRecord, device: DeviceId },
}

/// Returns the key of `request`, after all its values were checked.
///
/// # Errors
/// [`Refusal::Invalid`] when there is no key, or two, or a key of the other kind, or when a fact is too long.
pub fn check(request: &RegisterRequest) -> Result<&EnrolmentKey, Refusal> {
    let key = key::given(request.registration_key.as_ref(), request.fleet_key.as_ref())?;
    let platform = &request.platform;
    for (what, fact) in
        [("os", &platform.os), ("arch", &platform.arch), ("hostname", &platform.hostname)]
    {
        if fact.chars().count() > LONGEST_FACT || fact.chars().any(char::is_control) {
            return Err(Refusal::invalid(format!(
                "platform.{what}: has up to {LONGEST_FACT} characters and no control characters"
            )));
        }
    }
    check_public_key(&request.public_key)?;
    Ok(key)
}

/// Decides what a registration does. `caller` is the account of the bearer token, if the request has one.
///
/// # Errors
/// Why the key cannot be used, the limit, or [`Refusal::ProofRequired`].
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
    // Only the device itself may know its account. To anybody else the id does not exist.
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

/// The answer to a registration may be lost; the device then asks again with the same key pair and takes its own
/// record. With a fleet key, that record must never have been used.
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

/// Returns the device as a registration by `plan` stores it; `former` is the record of a known device.
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
        epoch: 1,
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
            epoch: former.epoch + 1,
            last_seen_at: former.last_seen_at,
            registered_at: former.registered_at,
            tags: kept_tags(&former, key),
            name: if request.keeps_name { former.name } else { given.name.clone() },
            ..fresh(key)
        }),
    }
}

/// Returns the tags of a device that registers again: its own and, with a key that is new to the device,
/// those of the key. A key that the device already used would bring back tags that its owner removed.
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
