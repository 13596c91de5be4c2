//! The state machine of one command, the same on every transport.
//!
//! ```text
//! queued ──deliver──▶ delivered ──receipt, result──▶ acknowledged ──result──▶ (beside it)
//!    └───────┬────────────┘ ▲ again after 15 s·2^n, at most 5 min
//!            ├─ time ▶ expired        └─ newer wish ▶ superseded ──receipt, result──▶ acknowledged
//!            │                                            └─ time ▶ expired
//! ```
//!
//! Invariants: an acknowledged command never expires; a superseded command is not delivered any more; the attempt count
//! never decreases; expired is final; the first result is kept. Each delivery carries the epoch of the device.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    agent_api::Inflight,
    command::{Command, Lane},
    counter::{Epoch, Seq},
    envelope::{ENVELOPE_VERSION, Envelope, ReceiptKind},
    id::{CommandId, DeviceId},
    limits,
    report::{CommandReport, CommandResult},
};
use serde_json::value::RawValue;

/// The maximum number of commands in the answer to one poll.
pub const BATCH: usize = limits::QUEUE_LIMIT;

/// The state of a command.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum State {
    /// Stored, and not delivered since the device last registered.
    Queued,
    /// Delivered at least once, without a receipt.
    Delivered,
    /// Stored in the journal of the device, which now has to execute it.
    Acknowledged,
    /// Not acknowledged in time.
    Expired,
    /// Not delivered any more, because a newer command replaced it or because it was cancelled before the device
    /// acknowledged it. The device may have received it all the same, and may still acknowledge it.
    Superseded,
}

/// The result of a command and the time of its arrival.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommandOutcome {
    pub report: CommandReport,
    pub reported_at: Timestamp,
}

/// The time at which a command was superseded or cancelled, and the newer command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Withdrawal {
    /// The newer command, or `None` if the command was cancelled.
    pub by: Option<CommandId>,
    pub at: Timestamp,
}

/// A command for one device.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommandRecord {
    pub id: CommandId,
    pub device: DeviceId,
    /// The sequence number, without gaps for each device, starting at 1.
    pub seq: Seq,
    pub command: Command,
    /// Two commands with the same key are the same request.
    pub idempotency_key: String,
    pub state: State,
    /// The number of deliveries so far.
    pub attempt: u32,
    /// The first result that the device reported.
    pub result: Option<CommandOutcome>,
    /// Set if the command was superseded before the device acknowledged it. Stays set if the device acknowledges the
    /// command later.
    pub withdrawn: Option<Withdrawal>,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// The time of the next delivery, or `None` if no delivery is planned.
    pub next_delivery_at: Option<Timestamp>,
}

/// The command has expired, so the device's answer is ignored.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("nothing waits for the command any longer")]
pub struct TooLate;

/// Whether a reported result is new.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reported {
    /// The first result of the command.
    First,
    /// A later result, which is ignored.
    Repeated,
}

impl CommandRecord {
    /// Makes a command that is due for its first delivery.
    #[must_use]
    pub fn new(
        id: CommandId,
        device: DeviceId,
        seq: Seq,
        command: Command,
        idempotency_key: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            device,
            seq,
            idempotency_key,
            state: State::Queued,
            attempt: 0,
            result: None,
            withdrawn: None,
            issued_at: now,
            expires_at: after(now, command.kind().expiry()),
            next_delivery_at: Some(now),
            command,
        }
    }

    /// Returns the lane of the command. Commands of one lane are executed in order.
    #[must_use]
    pub fn lane(&self) -> Lane {
        self.command.lane()
    }

    /// Tells whether the command still has to be delivered and acknowledged.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        match self.state {
            State::Queued | State::Delivered => true,
            State::Acknowledged | State::Expired | State::Superseded => false,
        }
    }

    /// Tells whether the command cannot change any more.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        match self.state {
            State::Queued | State::Delivered | State::Superseded => false,
            State::Acknowledged => self.result.is_some(),
            State::Expired => true,
        }
    }

    /// Tells whether the outcome of the command is known: it cannot change any more, or it was superseded or cancelled.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        self.is_final() || self.withdrawn.is_some()
    }

    /// Tells whether a delivery at `now` could still have an effect.
    #[must_use]
    pub fn is_deliverable(&self, now: Timestamp) -> bool {
        !self.is_final() && self.next_delivery_at.is_some() && now < self.expires_at
    }

    /// Counts a delivery at `now` and schedules the next one.
    pub fn deliver(&mut self, now: Timestamp) {
        if !self.is_deliverable(now) {
            return;
        }
        if self.state == State::Queued {
            self.state = State::Delivered;
        }
        self.attempt = self.attempt.saturating_add(1);
        self.next_delivery_at = Some(after(now, redelivery_delay(self.attempt)));
    }

    /// Applies the receipt that the device sent for a delivery.
    ///
    /// # Errors
    /// [`TooLate`] if the command has expired.
    pub fn receipt(&mut self, kind: ReceiptKind, now: Timestamp) -> Result<(), TooLate> {
        self.sweep(now);
        match (self.state, kind) {
            (State::Expired, _) => return Err(TooLate),
            (State::Queued | State::Delivered | State::Superseded, ReceiptKind::Expired) => {
                self.expire();
            }
            // The device lost the command and then received it again, after the expiry by the device's clock.
            (State::Acknowledged, ReceiptKind::Expired) => self.give_up(now),
            (
                State::Queued | State::Delivered | State::Superseded | State::Acknowledged,
                ReceiptKind::Stored | ReceiptKind::Duplicate | ReceiptKind::Done,
            ) => self.acknowledge(),
        }
        Ok(())
    }

    /// Applies a result. A result without a receipt counts as a receipt too. Only the first result is kept.
    ///
    /// # Errors
    /// [`TooLate`] if the command expired before the device acknowledged it.
    pub fn report(&mut self, report: CommandReport, now: Timestamp) -> Result<Reported, TooLate> {
        self.sweep(now);
        match self.state {
            State::Expired => return Err(TooLate),
            State::Queued | State::Delivered | State::Superseded | State::Acknowledged => {
                self.acknowledge();
            }
        }
        if self.result.is_some() {
            return Ok(Reported::Repeated);
        }
        self.result = Some(CommandOutcome { report, reported_at: now });
        Ok(Reported::First)
    }

    /// Marks the command as expired if the device did not acknowledge it in time. Returns whether it expired now.
    pub fn sweep(&mut self, now: Timestamp) -> bool {
        let unanswered = self.is_open() || self.state == State::Superseded;
        let expires = unanswered && now > self.expires_at;
        if expires {
            self.expire();
        }
        expires
    }

    /// Stops deliveries of an open command, because the newer command `by` replaces it or, without `by`, because it was
    /// cancelled. Returns whether the command was open.
    pub fn supersede(&mut self, by: Option<CommandId>, now: Timestamp) -> bool {
        let open = self.is_open();
        if open {
            self.state = State::Superseded;
            self.withdrawn = Some(Withdrawal { by, at: now });
            self.next_delivery_at = None;
        }
        open
    }

    /// Acknowledges a delivered command whose sequence number is in the journal of the device: its receipt was lost.
    /// Returns whether anything changed.
    pub fn journaled(&mut self, last_seq: Seq, now: Timestamp) -> bool {
        let expired = self.sweep(now);
        let covered = self.state == State::Delivered && self.seq <= last_seq;
        if covered {
            self.acknowledge();
        }
        expired || covered
    }

    /// Compares the command with the hello that the device sends at the start of a connection.
    ///
    /// A command that the device lists is acknowledged. Any other command without a result is due at once: the device
    /// has lost it, or has executed it and then answers with the result. A superseded command is not delivered again,
    /// because the newer command counts.
    pub fn hello(&mut self, inflight: &[Inflight], last_seq: Seq, now: Timestamp) {
        self.sweep(now);
        if self.is_final() {
            return;
        }
        if inflight.iter().any(|entry| entry.command_id == self.id) {
            self.acknowledge();
        } else if self.withdrawn.is_none() && now < self.expires_at {
            self.next_delivery_at = Some(now);
        } else if self.seq > last_seq && self.state == State::Acknowledged {
            self.give_up(now);
        }
    }

    /// Marks an open command as undelivered after a new registration, because the device refuses deliveries of an
    /// earlier epoch.
    pub fn restart(&mut self, now: Timestamp) {
        if self.is_open() {
            self.state = State::Queued;
            self.next_delivery_at = Some(now);
        }
    }

    /// Returns the envelope of the latest delivery, for a device in `epoch`.
    #[must_use]
    pub fn envelope(&self, epoch: Epoch, now: Timestamp) -> Envelope {
        let left = self.expires_at.duration_since(now).as_millis();
        Envelope {
            v: ENVELOPE_VERSION,
            command_id: self.id,
            device_id: self.device,
            epoch,
            seq: self.seq,
            r#type: self.command.kind().as_str().to_owned(),
            lane: self.lane(),
            idempotency_key: self.idempotency_key.clone(),
            attempt: self.attempt.max(1),
            issued_at: self.issued_at,
            expires_at: self.expires_at,
            ttl_ms: u64::try_from(left).unwrap_or(0),
            exec_deadline_s: self.command.kind().execution_deadline().as_secs(),
            payload: payload(&self.command),
        }
    }

    fn acknowledge(&mut self) {
        self.state = State::Acknowledged;
        self.next_delivery_at = None;
    }

    fn expire(&mut self) {
        self.state = State::Expired;
        self.next_delivery_at = None;
    }

    /// Fails an acknowledged command that the device has lost and that has expired.
    fn give_up(&mut self, now: Timestamp) {
        self.next_delivery_at = None;
        if self.result.is_none() {
            let report = CommandReport {
                command_id: self.id,
                status: CommandResult::Failed,
                output: "the device lost the command before it was done".to_owned(),
                attempt: self.attempt,
            };
            self.result = Some(CommandOutcome { report, reported_at: now });
        }
    }
}

/// Returns the indexes in `records` of the commands for the answer to a poll at `now`, in the order of `seq`: all
/// deliverable commands if at least one is due, else none.
#[must_use]
pub fn due(records: &[CommandRecord], now: Timestamp) -> Vec<usize> {
    let mut places: Vec<usize> =
        (0..records.len()).filter(|&place| records[place].is_deliverable(now)).collect();
    let any = places
        .iter()
        .any(|&place| records[place].next_delivery_at.is_some_and(|planned| planned <= now));
    if !any {
        return Vec::new();
    }
    places.sort_by_key(|&place| records[place].seq);
    places.truncate(BATCH);
    places
}

/// Returns the time at which a poll that finds nothing at `now` has to check again.
#[must_use]
pub fn next_due(records: &[CommandRecord], now: Timestamp) -> Option<Timestamp> {
    let live = records.iter().filter(|record| record.is_deliverable(now));
    live.filter_map(|record| record.next_delivery_at).min()
}

/// Returns how long to wait for the receipt of delivery number `attempt`.
#[must_use]
pub fn redelivery_delay(attempt: u32) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    (limits::REDELIVERY_DELAY * 2_u32.pow(doublings)).min(limits::REDELIVERY_DELAY_CAP)
}

fn payload(command: &Command) -> Box<RawValue> {
    let value = serde_json::to_value(command).expect("a command has only string keys");
    serde_json::value::to_raw_value(&value["payload"]).expect("a value is always JSON")
}

fn after(now: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    now.checked_add(wait).unwrap_or(Timestamp::MAX)
}

mod shown;

#[cfg(test)]
mod tests;
