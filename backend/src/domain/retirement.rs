//! Decides whether a retire code removes its device.
//!
//! Only the device can sign its code. The refusal is the same for a removed device, an unknown device and a wrong
//! signature, so a guess reveals nothing.

use link_protocol::retire::RetireCode;

use crate::domain::{device::DeviceRecord, refusal::Refusal};

/// Returns the device to remove. `known` is the device with the id in the code.
///
/// # Errors
/// [`Refusal::RetireCodeUnknown`], or [`Refusal::RetireCodeStale`] if the device has registered again since the code
/// was made.
pub fn check(code: &RetireCode, known: Option<DeviceRecord>) -> Result<DeviceRecord, Refusal> {
    let device = known
        .filter(|device| device.id == code.device() && code.verify(&device.public_key).is_ok())
        .ok_or(Refusal::RetireCodeUnknown)?;
    // After a backend was restored from a backup, a code may be newer than the stored record.
    if code.epoch() < device.epoch { Err(Refusal::RetireCodeStale) } else { Ok(device) }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use link_protocol::{
        counter::Epoch, id::DeviceId, registration::Platform, report::LifecycleStatus,
        signing::SigningKey,
    };
    use uuid::Uuid;

    use super::*;
    #[test]
    fn a_code_ends_the_registration_that_it_was_made_in_and_none_that_came_later() {
        for (code_epoch, known_epoch, outcome) in
            [(3, 3, Ok(())), (3, 4, Err(Refusal::RetireCodeStale)), (4, 3, Ok(()))]
        {
            let known = device(1, known_epoch);
            let checked = check(&code(1, code_epoch), Some(known.clone()));
            assert_eq!(checked, outcome.map(|()| known), "{code_epoch} {known_epoch}");
        }
    }

    #[test]
    fn whoever_did_not_sign_learns_nothing() {
        let other_device = DeviceRecord { id: id(2), ..device(1, 3) };
        for known in [None, Some(device(2, 3)), Some(device(2, 4)), Some(other_device)] {
            assert_eq!(check(&code(1, 3), known), Err(Refusal::RetireCodeUnknown));
        }
    }

    fn code(seed: u8, epoch: u64) -> RetireCode {
        RetireCode::sign(&SigningKey::from_seed(&[seed; 32]), id(1), Epoch(epoch), now())
    }

    fn device(seed: u8, epoch: u64) -> DeviceRecord {
        DeviceRecord {
            id: id(1),
            account: format!("acc_{:032x}", 1).parse().unwrap(),
            name: "box".to_owned(),
            token_digest: [0; 32],
            epoch: Epoch(epoch),
            public_key: SigningKey::from_seed(&[seed; 32]).verifying().clone(),
            registered_with: format!("key_{:032x}", 1).parse().unwrap(),
            tags: vec![],
            agent_version: semver::Version::new(1, 3, 0),
            last_update: None,
            platform: Platform { os: "".into(), arch: "".into(), hostname: "".into() },
            status: LifecycleStatus::Online,
            greeted_epoch: None,
            last_seen_at: None,
            registered_at: now(),
        }
    }

    fn id(number: u128) -> DeviceId {
        DeviceId::from_uuid(Uuid::from_u128(number))
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_790_000_000).unwrap()
    }
}
