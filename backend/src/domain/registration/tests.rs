//! Registration: the table of keys, devices and proofs.

use jiff::ToSpan as _;
use link_protocol::{
    counter::Epoch, id::KeyId, registration::Platform, report::LifecycleStatus, signing::SigningKey,
};
use uuid::Uuid;

use super::*;

// Holds: S5-3a, S4.4-2, S4.4-3
#[test]
fn a_fresh_key_enrols_a_device() {
    for kind in [KeyKind::Registration, KeyKind::Fleet] {
        let key = key(kind);
        let plan = plan(&request(None, None), known(&key), None, 100, now());
        assert_eq!(plan, Ok(Plan::Enrol { key }));
    }
}

#[test]
fn a_key_that_is_not_good_is_refused_by_its_reason() {
    let fresh = key(KeyKind::Registration);
    for (key, refusal) in [
        (None, Refusal::KeyUnknown),
        (Some(KeyRecord { revoked: true, ..fresh.clone() }), Refusal::KeyRevoked),
        (Some(KeyRecord { expires_at: Some(now()), ..fresh.clone() }), Refusal::KeyExpired),
        (Some(KeyRecord { devices: 1, ..fresh.clone() }), Refusal::KeyUsedUp),
        (
            Some(KeyRecord {
                kind: KeyKind::Fleet,
                max_devices: Some(3),
                devices: 3,
                ..fresh.clone()
            }),
            Refusal::KeyUsedUp,
        ),
    ] {
        let known = Known { key, ..known(&fresh) };
        assert_eq!(plan(&request(None, None), known, None, 100, now()), Err(refusal));
    }
    let other = Some(AccountId::from_uuid(Uuid::from_u128(99)));
    assert_eq!(
        plan(&request(None, None), known(&fresh), other, 100, now()),
        Err(Refusal::KeyUnknown),
        "a token of another account"
    );
}

// Holds: S8-12
#[test]
fn the_limit_counts_new_devices_only() {
    let key = key(KeyKind::Registration);
    let full = Known { devices: 2, ..known(&key) };
    assert_eq!(
        plan(&request(None, None), full.clone(), None, 2, now()),
        Err(Refusal::DeviceLimitReached(2))
    );
    let again = Known { device: Some(device(&key)), ..full };
    assert!(plan(&request(Some(1), None), again, None, 2, now()).is_ok());
}

// Holds: S4.4-15
#[test]
fn the_registration_key_of_a_device_wakes_it_up_again() {
    let key = KeyRecord { devices: 1, ..key(KeyKind::Registration) };
    let known = Known { device: Some(device(&key)), ..known(&key) };
    let plan = plan(&request(Some(1), None), known, None, 100, now());
    assert_eq!(plan, Ok(Plan::Reactivate { key, device: device_id(1) }));
}

#[test]
fn a_device_that_registers_again_keeps_its_tags_and_its_name() {
    let (old, new) = (
        key(KeyKind::Registration),
        KeyRecord {
            id: KeyId::from_uuid(Uuid::from_u128(9)),
            tags: vec!["fresh".into()],
            ..key(KeyKind::Registration)
        },
    );
    let former = DeviceRecord { tags: vec!["lab".into()], name: "desk".into(), ..device(&old) };
    let given = Given { id: device_id(7), name: "vm".into(), token_digest: [0; 32], now: now() };
    let again = |key: &KeyRecord, keeps_name| {
        let plan = Plan::Reactivate { key: key.clone(), device: former.id };
        let request = RegisterRequest { keeps_name, ..request(Some(1), None) };
        let device = registered(&plan, Some(former.clone()), &request, &given).unwrap();
        (device.name, device.tags)
    };
    let tagged = KeyRecord { tags: vec!["untagged since".into()], ..old };
    assert_eq!(again(&tagged, true), ("desk".into(), vec!["lab".into()]));
    assert_eq!(again(&new, false), ("vm".into(), vec!["lab".into(), "fresh".into()]));
}

#[test]
fn a_key_of_another_account_is_refused_to_a_device_that_proves_itself() {
    let key = key(KeyKind::Registration);
    let theirs =
        DeviceRecord { account: AccountId::from_uuid(Uuid::from_u128(99)), ..device(&key) };
    let known = Known { device: Some(theirs), ..known(&key) };
    let attempt = |proof| plan(&request(Some(1), proof), known.clone(), None, 100, now());
    let new_key = pair(2).verifying().clone();
    let statement = proof_statement(device_id(1), &new_key, now());
    let proof = |by: &SigningKey| KeyProof { issued_at: now(), signature: by.sign(&statement) };
    assert_eq!(attempt(Some(proof(&pair(1)))), Err(Refusal::OtherAccount));
    // A stranger learns nothing about the device.
    assert!(matches!(attempt(Some(proof(&pair(3)))), Ok(Plan::Enrol { .. })));
    assert!(matches!(attempt(None), Ok(Plan::Enrol { .. })));
}

#[test]
fn a_fleet_key_takes_no_device_over_without_its_old_key_pair() {
    let key = key(KeyKind::Fleet);
    let known = Known { device: Some(device(&key)), ..known(&key) };
    let attempt = |proof| {
        let request = request(Some(1), proof);
        plan(&request, known.clone(), None, 100, now()).map(|_| ())
    };
    let new_key = pair(2).verifying().clone();
    let proof = |signer: &SigningKey, device, issued_at| {
        let signature = signer.sign(&proof_statement(device, &new_key, issued_at));
        Some(KeyProof { issued_at, signature })
    };
    assert_eq!(attempt(None), Err(Refusal::ProofRequired));
    assert_eq!(attempt(proof(&pair(2), device_id(1), now())), Err(Refusal::ProofRequired));
    assert_eq!(attempt(proof(&pair(1), device_id(2), now())), Err(Refusal::ProofRequired));
    let old = now() - 601.seconds();
    assert_eq!(attempt(proof(&pair(1), device_id(1), old)), Err(Refusal::ProofRequired));
    let early = now() + 601.seconds();
    assert_eq!(attempt(proof(&pair(1), device_id(1), early)), Err(Refusal::ProofRequired));
    assert_eq!(attempt(proof(&pair(1), device_id(1), now() - 600.seconds())), Ok(()));
}

#[test]
fn another_registration_key_takes_no_device_over_either() {
    let first = key(KeyKind::Registration);
    let second = KeyRecord { id: KeyId::from_uuid(Uuid::from_u128(2)), ..first.clone() };
    let known = Known { device: Some(device(&first)), ..known(&second) };
    assert_eq!(plan(&request(Some(1), None), known, None, 100, now()), Err(Refusal::ProofRequired));
}

#[test]
fn a_device_of_another_account_is_as_if_it_did_not_exist() {
    let key = key(KeyKind::Registration);
    let mut foreign = device(&key);
    foreign.account = AccountId::from_uuid(Uuid::from_u128(99));
    let known = Known { device: Some(foreign), ..known(&key) };
    assert_eq!(plan(&request(Some(1), None), known, None, 100, now()), Ok(Plan::Enrol { key }));
}

#[test]
fn a_lost_answer_does_not_use_the_key_up() {
    let used = KeyRecord { devices: 1, ..key(KeyKind::Registration) };
    let again = Known { twin: Some(device(&used)), ..known(&used) };
    assert!(matches!(
        plan(&request(None, None), again, None, 100, now()),
        Ok(Plan::Reactivate { .. })
    ));
    let fleet = key(KeyKind::Fleet);
    let mut twin = device(&fleet);
    let fresh = Known { twin: Some(twin.clone()), ..known(&fleet) };
    assert!(matches!(
        plan(&request(None, None), fresh, None, 100, now()),
        Ok(Plan::Reactivate { .. })
    ));
    twin.greeted_epoch = Some(Epoch(1));
    let in_use = Known { twin: Some(twin), ..known(&fleet) };
    assert_eq!(
        plan(&request(None, None), in_use, None, 100, now()),
        Ok(Plan::Enrol { key: fleet })
    );
}

#[test]
fn exactly_one_key_of_its_kind_is_given() {
    let mut both = request(None, None);
    both.fleet_key = Some(EnrolmentKey::from_secret(KeyKind::Fleet, [1; 32]));
    let mut none = request(None, None);
    none.registration_key = None;
    let mut crossed = request(None, None);
    crossed.registration_key = both.fleet_key.clone();
    let mut lying = request(None, None);
    lying.public_key.kid = "0000000000000000".to_owned();
    for bad in [both, none, crossed, lying] {
        assert!(matches!(check(&bad), Err(Refusal::Invalid(_))));
    }
    assert!(check(&request(None, None)).is_ok());
}

fn request(device: Option<u128>, proof: Option<KeyProof>) -> RegisterRequest {
    RegisterRequest {
        registration_key: Some(EnrolmentKey::from_secret(KeyKind::Registration, [1; 32])),
        fleet_key: None,
        device_id: device.map(device_id),
        name: "box".to_owned(),
        keeps_name: false,
        agent_version: semver::Version::new(1, 3, 0),
        platform: platform(),
        public_key: pair(2).verifying().clone(),
        proof,
    }
}

fn known(key: &KeyRecord) -> Known {
    Known { key: Some(key.clone()), device: None, twin: None, devices: 0 }
}

fn key(kind: KeyKind) -> KeyRecord {
    KeyRecord {
        id: KeyId::from_uuid(Uuid::from_u128(1)),
        account: account(),
        kind,
        name: String::new(),
        created_at: now(),
        expires_at: None,
        max_devices: None,
        devices: 0,
        tags: vec![],
        revoked: false,
        created_by: None,
    }
}

fn device(key: &KeyRecord) -> DeviceRecord {
    DeviceRecord {
        id: device_id(1),
        account: account(),
        name: "box".to_owned(),
        token_digest: [0; 32],
        epoch: Epoch(1),
        public_key: pair(1).verifying().clone(),
        registered_with: key.id,
        tags: vec![],
        agent_version: semver::Version::new(1, 3, 0),
        last_update: None,
        platform: platform(),
        status: LifecycleStatus::Starting,
        greeted_epoch: None,
        last_seen_at: None,
        registered_at: now(),
    }
}

fn platform() -> Platform {
    Platform { os: "linux".to_owned(), arch: "x86_64".to_owned(), hostname: "box".to_owned() }
}

fn pair(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn device_id(number: u128) -> DeviceId {
    DeviceId::from_uuid(Uuid::from_u128(number))
}

fn account() -> AccountId {
    AccountId::from_uuid(Uuid::from_u128(5))
}

fn now() -> Timestamp {
    Timestamp::from_second(1_790_000_000).unwrap()
}
