//! Explains the state of a command in plain words: what happened, why, and what happens next.

use jiff::Timestamp;
use link_protocol::{
    backend_api::command::{CommandExplanation, CommandStage},
    report::CommandResult,
};

use crate::domain::command::{CommandRecord, State, Withdrawal};

/// The outlook for a command to a device that is being updated.
pub const AFTER_THE_UPDATE: &str =
    "the device is being updated and carries out the command afterwards";

/// The state of the device of a command.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    pub online: bool,
    /// Whether its agent is being updated.
    pub updating: bool,
    pub last_seen_at: Option<Timestamp>,
}

/// Explains `record`.
#[must_use]
pub fn explain(record: &CommandRecord, receiver: Receiver, now: Timestamp) -> CommandExplanation {
    let (stage, happened, why, next) = match record.state {
        State::Queued | State::Delivered if now >= record.expires_at => expired(record),
        State::Queued => queued(record, receiver),
        State::Delivered => delivered(record, receiver),
        State::Acknowledged => acknowledged(record, receiver),
        State::Expired => expired(record),
        State::Superseded => superseded(record),
    };
    CommandExplanation {
        command: record.info(),
        stage,
        deliveries: record.attempt,
        next_delivery_at: record.next_delivery_at.filter(|_| record.is_deliverable(now)),
        device_online: receiver.online,
        device_last_seen_at: receiver.last_seen_at,
        happened,
        why,
        next,
    }
}

type Words = (CommandStage, String, String, String);

fn queued(record: &CommandRecord, receiver: Receiver) -> Words {
    let happened = if record.attempt == 0 {
        format!("It has been stored since {} and was not delivered yet.", record.issued_at)
    } else {
        let times = times(record.attempt);
        format!("It was delivered {times} and waits for another delivery.")
    };
    let (why, next) = if receiver.online {
        (
            "The device is online and has not asked for it yet.".to_owned(),
            format!("The device gets it {}. {}", next_question(receiver), expiry(record)),
        )
    } else {
        (seen(receiver), format!("The device gets it as soon as it is back. {}", expiry(record)))
    };
    (CommandStage::Queued, happened, why, next)
}

fn delivered(record: &CommandRecord, receiver: Receiver) -> Words {
    let happened = format!("It was delivered {} and not acknowledged.", times(record.attempt));
    let why = if receiver.online {
        "The device has not acknowledged the command; its answer may be lost or on its way."
            .to_owned()
    } else {
        seen(receiver)
    };
    let again = record.next_delivery_at.map_or_else(String::new, |time| {
        format!("It is delivered again after {time}, if the device is there. ")
    });
    (CommandStage::Delivered, happened, why, format!("{again}{}", expiry(record)))
}

fn acknowledged(record: &CommandRecord, receiver: Receiver) -> Words {
    let Some(outcome) = &record.result else {
        let why = if receiver.online {
            "The device is working on it or on an earlier command.".to_owned()
        } else {
            format!("{} It has stored the command and continues when it is back.", seen(receiver))
        };
        return (
            CommandStage::Acknowledged,
            "The device has acknowledged and stored it; a restart does not lose it.".to_owned(),
            why,
            "The device reports a result. An acknowledged command does not expire.".to_owned(),
        );
    };
    let (ended, next) = match outcome.report.status {
        CommandResult::Succeeded => ("succeeded", "Nothing; it is done."),
        CommandResult::Failed => {
            ("failed", "Link does not retry. Correct the cause and run the command again.")
        }
        CommandResult::Rejected => {
            ("refused it", "Link does not retry: the command does not fit this device.")
        }
        CommandResult::Cancelled => {
            ("dropped it without carrying it out", "Nothing; it was cancelled.")
        }
    };
    let why = match (outcome.report.output.as_str(), outcome.report.status) {
        ("", CommandResult::Succeeded) => String::new(),
        ("", CommandResult::Failed | CommandResult::Rejected | CommandResult::Cancelled) => {
            "The device gave no reason.".to_owned()
        }
        (output, _) => format!("The device says: {output}"),
    };
    let happened = format!("The device {ended} at {}.", outcome.reported_at);
    let Some(Withdrawal { by: Some(by), .. }) = record.withdrawn else {
        return (CommandStage::Ended, happened, why, next.to_owned());
    };
    let happened = format!("{happened} A newer command, {by}, had taken its place.");
    let next = format!("Nothing; {by} counts. Look at it with `link commands explain {by}`.");
    (CommandStage::Ended, happened, why, next)
}

fn superseded(record: &CommandRecord) -> Words {
    let reached = if record.attempt == 0 {
        "It was never delivered and no longer will be.".to_owned()
    } else {
        format!(
            "It was delivered {} before, and it will not be delivered again. If the device \
             carries it out all the same, its result appears here.",
            times(record.attempt)
        )
    };
    let Some(by) = record.withdrawn.and_then(|withdrawal| withdrawal.by) else {
        let happened = "It was cancelled before the device acknowledged it.".to_owned();
        return (CommandStage::Superseded, happened, reached, "Nothing.".to_owned());
    };
    (
        CommandStage::Superseded,
        format!("A newer command, {by}, took its place before the device acknowledged it."),
        format!("Of two commands about the same thing, only the newer counts. {reached}"),
        format!("Nothing; look at the newer one with `link commands explain {by}`."),
    )
}

fn expired(record: &CommandRecord) -> Words {
    if let Some(Withdrawal { by: Some(by), .. }) = record.withdrawn {
        return (
            CommandStage::Expired,
            format!(
                "It expired at {}; a newer command, {by}, had taken its place.",
                record.expires_at
            ),
            "The device never acknowledged it.".to_owned(),
            format!("Nothing; look at the newer one with `link commands explain {by}`."),
        );
    }
    let why = if record.attempt == 0 {
        "The device did not ask for it in time.".to_owned()
    } else {
        format!("It was delivered {}, and no acknowledgement came.", times(record.attempt))
    };
    (
        CommandStage::Expired,
        format!("It expired at {}.", record.expires_at),
        why,
        "Nothing; send it again when the device is online.".to_owned(),
    )
}

const fn next_question(receiver: Receiver) -> &'static str {
    if receiver.updating {
        "and carries it out after the running update"
    } else {
        "with its next poll"
    }
}

fn expiry(record: &CommandRecord) -> String {
    format!("Without an acknowledgement it expires at {}.", record.expires_at)
}

fn seen(receiver: Receiver) -> String {
    receiver.last_seen_at.map_or_else(
        || "The device is offline and has never connected.".to_owned(),
        |time| format!("The device is offline; it was last seen at {time}."),
    )
}

fn times(attempts: u32) -> String {
    match attempts {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}
