//! Moves a device to another account.
//!
//! Both accounts agree: the caller may remove devices from the old account and presents a key of the new account. The
//! device keeps its identity and starts a new epoch. Everything from earlier epochs belongs to the old account.

use jiff::Timestamp;
use link_protocol::{id::AccountId, key::KeyKind, report::LifecycleStatus};

use crate::domain::{
    device::{self, DeviceRecord},
    key::KeyRecord,
    ownership,
    refusal::Refusal,
};

/// The records on which the decision about a transfer depends.
#[derive(Clone, Debug)]
pub struct Known {
    /// The device that the request names.
    pub device: Option<DeviceRecord>,
    /// The key that the caller presents.
    pub key: Option<KeyRecord>,
    /// The number of devices of the key's account.
    pub devices: u32,
}

/// The changes that a transfer makes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plan {
    /// The record of the device in the new account.
    pub device: DeviceRecord,
    /// Whether the key is revoked after the transfer. The old account has seen it, and a registration key could
    /// reactivate the device that was registered with it.
    pub key_is_spent: bool,
}

/// Decides about the transfer that `caller` requests.
///
/// # Errors
/// [`Refusal::NotFound`] if the caller does not own the device, the reason why the key cannot be used, or
/// [`Refusal::DeviceLimitReached`] for the new account.
pub fn plan(known: Known, caller: AccountId, limit: u32, now: Timestamp) -> Result<Plan, Refusal> {
    let device = ownership::own_device(known.device, caller)?;
    let key = known.key.ok_or(Refusal::KeyUnknown)?;
    if key.account == caller {
        return Err(Refusal::invalid(
            "the key is of the account that the device is in already; give one of the other account",
        ));
    }
    key.usable(now)?;
    key.has_room()?;
    device::check_limit(known.devices, limit)?;
    Ok(Plan {
        device: DeviceRecord {
            account: key.account,
            registered_with: key.id,
            tags: key.tags,
            epoch: device.epoch.next(),
            greeted_epoch: Some(device.epoch),
            status: LifecycleStatus::Starting,
            last_update: None,
            last_seen_at: None,
            registered_at: now,
            ..device
        },
        key_is_spent: key.kind == KeyKind::Registration,
    })
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use link_protocol::{counter::Epoch, registration::Platform, signing::SigningKey};

    use super::*;
    const LIMIT: u32 = 3;

    #[test]
    fn the_device_stays_who_it_is_and_begins_anew_with_what_the_key_gives() {
        let given = device();
        let Plan { device: came, key_is_spent } = planned(known()).unwrap();
        assert_eq!((came.account, came.registered_with), (account(2), key().id));
        assert_eq!(
            (&came.tags, came.epoch, key_is_spent),
            (&vec!["lab".to_owned()], Epoch(8), true)
        );
        assert_eq!((came.status, came.registered_at), (LifecycleStatus::Starting, now()));
        assert_eq!((&came.last_update, came.last_seen_at), (&None, None));
        let as_before = DeviceRecord {
            account: given.account,
            registered_with: given.registered_with,
            tags: given.tags.clone(),
            epoch: given.epoch,
            greeted_epoch: given.greeted_epoch,
            status: given.status,
            last_seen_at: given.last_seen_at,
            registered_at: given.registered_at,
            ..came
        };
        assert_eq!(as_before, given, "its id, token, key pair, name and platform stay");
    }

    #[test]
    fn it_is_behind_and_offline_until_it_is_greeted_in_the_new_epoch() {
        for greeted_epoch in [None, Some(Epoch(6)), Some(Epoch(7))] {
            let given = DeviceRecord { greeted_epoch, ..device() };
            let mut came = planned(Known { device: Some(given), ..known() }).unwrap().device;
            assert!(came.is_behind() && !came.is_online(true, now()), "{greeted_epoch:?}");
            let version = came.agent_version.clone();
            // The device was transferred while its hello was being answered.
            came.greet(Epoch(7), version.clone(), now());
            assert!(came.is_behind() && came.last_seen_at.is_none(), "{greeted_epoch:?}");
            came.greet(Epoch(8), version, now());
            assert!(!came.is_behind() && came.is_online(true, now()), "{greeted_epoch:?}");
        }
        assert!(!device().is_behind());
        assert!(!DeviceRecord { greeted_epoch: None, ..device() }.is_behind(), "just registered");
    }

    #[test]
    fn a_fleet_key_stays_good_for_the_rest_of_its_fleet() {
        let fleet = KeyRecord { kind: KeyKind::Fleet, max_devices: Some(2), devices: 1, ..key() };
        let plan = planned(Known { key: Some(fleet.clone()), ..known() }).unwrap();
        assert!(!plan.key_is_spent);
        let full = KeyRecord { devices: 2, ..fleet };
        let refused = planned(Known { key: Some(full), ..known() });
        assert_eq!(refused, Err(Refusal::KeyUsedUp));
    }

    #[test]
    fn each_side_must_agree() {
        let other = DeviceRecord { account: account(2), ..device() };
        for not_the_callers in [None, Some(other)] {
            let refused = planned(Known { device: not_the_callers, ..known() });
            assert_eq!(refused, Err(Refusal::NotFound("device")));
        }
        let nobody_wants_it = planned(Known { key: None, ..known() });
        assert_eq!(nobody_wants_it, Err(Refusal::KeyUnknown));
        for (bad, why) in [
            (KeyRecord { revoked: true, ..key() }, Refusal::KeyRevoked),
            (KeyRecord { expires_at: Some(now()), ..key() }, Refusal::KeyExpired),
            (KeyRecord { devices: 1, ..key() }, Refusal::KeyUsedUp),
        ] {
            assert_eq!(planned(Known { key: Some(bad), ..known() }), Err(why));
        }
        let full = planned(Known { devices: LIMIT, ..known() });
        assert_eq!(full, Err(Refusal::DeviceLimitReached(LIMIT)));
    }

    #[test]
    fn a_key_of_the_same_account_says_so_whatever_else_is_wrong_with_it() {
        let own = KeyRecord { account: account(1), revoked: true, ..key() };
        let Err(Refusal::Invalid(why)) = planned(Known { key: Some(own), ..known() }) else {
            panic!("a transfer to the same account")
        };
        assert!(why.contains("in already"), "{why}");
    }

    fn planned(known: Known) -> Result<Plan, Refusal> {
        plan(known, account(1), LIMIT, now())
    }

    fn known() -> Known {
        Known { device: Some(device()), key: Some(key()), devices: LIMIT - 1 }
    }

    fn key() -> KeyRecord {
        KeyRecord {
            id: format!("key_{:032x}", 2).parse().unwrap(),
            account: account(2),
            kind: KeyKind::Registration,
            name: String::new(),
            created_at: now() - 1.hours(),
            expires_at: Some(now() + 1.seconds()),
            max_devices: None,
            devices: 0,
            tags: vec!["lab".to_owned()],
            revoked: false,
            created_by: None,
        }
    }

    fn device() -> DeviceRecord {
        DeviceRecord {
            id: format!("dev_{:032x}", 1).parse().unwrap(),
            account: account(1),
            name: "box".to_owned(),
            token_digest: [7; 32],
            epoch: Epoch(7),
            public_key: SigningKey::from_seed(&[1; 32]).verifying().clone(),
            registered_with: format!("key_{:032x}", 1).parse().unwrap(),
            tags: vec!["office".to_owned()],
            agent_version: semver::Version::new(1, 3, 0),
            last_update: None,
            platform: Platform { os: "".into(), arch: "".into(), hostname: "".into() },
            status: LifecycleStatus::Online,
            greeted_epoch: Some(Epoch(7)),
            last_seen_at: Some(now()),
            registered_at: now() - 1.hours(),
        }
    }

    fn account(number: u8) -> AccountId {
        format!("acc_{number:032x}").parse().unwrap()
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_790_000_000).unwrap()
    }
}
