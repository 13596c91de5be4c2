//! Commands: whatever is signed is read or refused, and never brings the agent down.
//!
//! The bytes are tried as a signed text, as the text of an envelope and as a type with its payload.
//! The last two are sealed with a real key, so what is behind the signature is reached as well.

use std::{fmt::Debug, time::Duration};

use jiff::Timestamp;
use link_agent_core::{
    agent::Agent,
    event::Event,
    record::{Identity, Snapshot},
};
use link_protocol::{
    command::{Command, Lane},
    counter::{Epoch, Seq},
    envelope::{ENVELOPE_VERSION, Envelope, InvalidCommand},
    signing::{Signed, SigningKey, VerifyingKey},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::play;

/// A command as its golden file has it.
#[derive(Deserialize)]
struct Tagged {
    r#type: String,
    payload: Box<RawValue>,
}

/// Checks `data`, and says what it was read as.
#[must_use]
pub fn check(data: &[u8]) -> Vec<String> {
    let mut reached = Vec::new();
    let Ok(text) = std::str::from_utf8(data) else { return reached };
    let key = SigningKey::from_seed(&[7; 32]);
    if let Ok(signed) = serde_json::from_str::<Signed>(text) {
        reached.push("Signed".to_owned());
        assert_reads_back(&signed);
        reached.extend(deliver(&signed, key.verifying()));
    }
    reached.extend(deliver(&key.seal_text(text.to_owned()), key.verifying()));
    if let Ok(tagged) = serde_json::from_str::<Tagged>(text) {
        reached.extend(deliver(&key.seal(&enclose(tagged)), key.verifying()));
    }
    reached
}

/// Puts a payload into an envelope, in the lane of the command that it is.
fn enclose(tagged: Tagged) -> Envelope {
    let mut envelope = Envelope {
        v: ENVELOPE_VERSION,
        command_id: "cmd_00000000000000000000000000000005".parse().expect("an id"),
        device_id: "dev_00000000000000000000000000000001".parse().expect("an id"),
        epoch: Epoch(1),
        seq: Seq(1),
        r#type: tagged.r#type,
        lane: Lane::Control,
        idempotency_key: "key".to_owned(),
        attempt: 1,
        issued_at: Timestamp::UNIX_EPOCH,
        expires_at: Timestamp::MAX,
        ttl_ms: 60_000,
        exec_deadline_s: 180,
        payload: tagged.payload,
    };
    let model = serde_json::from_str::<serde_json::Value>(envelope.payload.get());
    let model = model.ok().and_then(|payload| {
        let place = ["/model_id", "/model/model_id", "/config/model_id"];
        place.iter().find_map(|place| payload.pointer(place)?.as_str()?.parse().ok())
    });
    let lanes = [Some(Lane::Agent), model.map(Lane::Model)];
    for lane in lanes.into_iter().flatten() {
        if envelope.command().is_err() {
            envelope.lane = lane;
        }
    }
    envelope
}

/// Opens what was signed and gives it to an agent that it is for.
fn deliver(signed: &Signed, key: &VerifyingKey) -> Option<String> {
    let envelope = match signed.open(std::slice::from_ref(key)) {
        Ok(envelope) => envelope,
        Err(untrusted) => {
            assert!(!untrusted.to_string().is_empty());
            return None;
        }
    };
    assert_reads_back(&envelope);
    let reached = match envelope.command() {
        Ok(command) => {
            assert_is_whole(&command, &envelope);
            format!("{:?}", command.kind())
        }
        Err(invalid) => {
            assert_eq!(invalid.to_string(), "Invalid command payload");
            match invalid {
                InvalidCommand::Malformed => "Malformed".to_owned(),
                InvalidCommand::Mismatched => "Mismatched".to_owned(),
                InvalidCommand::UnsafeFileName => "UnsafeFileName".to_owned(),
            }
        }
    };
    for luck in play::Luck::ALL {
        let identity = Identity {
            device_id: envelope.device_id,
            epoch: envelope.epoch,
            boot_id: "boot".to_owned(),
            agent_version: semver::Version::new(1, 0, 0),
            last_update: None,
        };
        let (pinned, now) = (vec![key.clone()], Duration::from_secs(1));
        let (agent, effects) = Agent::restore(identity, pinned, Snapshot::default(), now);
        let delivery = Event::Polled {
            server_time: envelope.issued_at,
            commands: vec![signed.clone(), signed.clone()],
        };
        play::play(agent, effects, vec![delivery], luck);
    }
    Some(reached)
}

fn assert_is_whole(command: &Command, envelope: &Envelope) {
    assert_reads_back(command);
    assert_eq!(command.lane(), envelope.lane);
    assert!(command.identifiers_match());
    assert!(!command.kind().expiry().is_zero() && !command.kind().execution_deadline().is_zero());
    let kind = serde_json::to_value(command.kind()).expect("a kind is a text");
    assert_eq!(kind, envelope.r#type.as_str());
}

fn assert_reads_back<T: Debug + DeserializeOwned + PartialEq + Serialize>(value: &T) {
    let text = serde_json::to_string(value).expect("it has only text keys");
    let again: T = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(again, *value, "{text}");
    assert_eq!(serde_json::to_string(&again).expect("it has only text keys"), text);
}
