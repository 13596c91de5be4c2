//! Deliveries that a device must not obey: damaged ones, and ones for another recipient.

use jiff::{Timestamp, ToSpan as _};
use link_protocol::{
    allowlist::Allowlist,
    command::{Command, CommandKind, Lane, RepairServing},
    counter::{Epoch, Seq},
    envelope::{ENVELOPE_VERSION, Envelope},
    id::{CommandId, DeviceId, PipelineId},
    signing::{Signed, SigningKey},
};
use serde_json::value::to_raw_value;
use uuid::Uuid;

use super::user;

/// An attacker with a key that the device has not pinned.
pub(super) struct Forger {
    key: SigningKey,
}

/// Returns whether a command is among the `permille` that are sent damaged.
pub(super) fn is_chosen(id: CommandId, permille: u64) -> bool {
    let text = id.to_string();
    let sum = text.bytes().fold(7_u64, |sum, byte| sum * 131 % 1_000_003 + u64::from(byte));
    sum % 1000 < permille
}

/// Damages a command so that it violates its contract. `how` selects the kind.
pub(super) fn spoil(envelope: &mut Envelope, how: u64) {
    match how % 4 {
        0 => envelope.r#type = "REMOVE_MODEL".to_owned(),
        1 => envelope.lane = if envelope.lane == Lane::Agent { Lane::Control } else { Lane::Agent },
        2 => {
            let payload = serde_json::json!({ "port": 0, "secret": "canary" });
            envelope.payload = to_raw_value(&payload).expect("a value is always JSON");
        }
        _ => envelope.payload = to_raw_value("canary").expect("a value is always JSON"),
    }
}

impl Forger {
    pub(super) fn new() -> Self {
        Self { key: SigningKey::from_seed(&[66; 32]) }
    }

    /// Creates a delivery that must have no effect. `how` selects the kind.
    pub(super) fn forge(
        &self,
        real: &SigningKey,
        id: CommandId,
        device: DeviceId,
        epoch: Epoch,
        how: u64,
        now: Timestamp,
    ) -> Signed {
        let model = user::model(u128::from(how % 2));
        let repair = Command::RepairServing(RepairServing {
            pipeline_id: PipelineId::of(model),
            model_id: model,
            allowlist: Allowlist::new(["https://evil.example".parse().expect("an origin")]),
            port: None,
        });
        let payload = serde_json::to_value(&repair).expect("a command is JSON");
        let mut envelope = Envelope {
            v: ENVELOPE_VERSION,
            command_id: id,
            device_id: device,
            epoch,
            seq: Seq(1 + how % 40),
            r#type: serde_json::to_value(CommandKind::RepairServing)
                .ok()
                .and_then(|name| name.as_str().map(str::to_owned))
                .expect("a kind is a name"),
            lane: repair.lane(),
            idempotency_key: String::new(),
            attempt: 1,
            issued_at: now,
            expires_at: now.checked_add(24.hours()).expect("a day later"),
            ttl_ms: 1,
            exec_deadline_s: 180,
            payload: to_raw_value(&payload["payload"]).expect("a value is always JSON"),
        };
        match how % 6 {
            0 => envelope.device_id = DeviceId::from_uuid(Uuid::from_u128(666)),
            1 => envelope.epoch.0 += 100,
            2 => {
                envelope.expires_at = now.checked_sub(1.seconds()).expect("a second before");
                envelope.ttl_ms = 0;
            }
            3 => envelope.v += 1,
            4 => return self.key.seal(&envelope),
            _ => {
                let mut signed = real.seal(&envelope);
                signed.envelope = signed.envelope.replace("evil", "live");
                return signed;
            }
        }
        real.seal(&envelope)
    }
}
