//! The state machine of one command, the same on every transport.
//!
//! ```text
//! queued ──deliver──▶ delivered ──receipt, result──▶ acknowledged ──result──▶ (beside it)
//!    └───────┬────────────┘ ▲ again after 15 s·2^n, at most 5 min
//!            ├─ time ▶ expired        └─ newer wish ▶ superseded ──receipt, result──▶ acknowledged
//!            │                                            └─ time ▶ expired
//! ```
//!
//! Invariants: an acknowledged command never expires, a superseded one is not delivered any more, the
//! attempt never shrinks, nothing leads out of expired, the first result stays. Each delivery takes the epoch.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    agent_api::Inflight,
    command::{Command, Lane},
    envelope::{ENVELOPE_VERSION, Envelope, ReceiptKind},
    id::{CommandId, DeviceId},
    limits,
    report::{CommandReport, CommandResult},
};
use serde_json::value::RawValue;

/// Commands that one poll answers with.
pub const BATCH: usize = limits::QUEUE_LIMIT;

/// Where a command is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum State {
    /// Stored; not delivered since the device last registered.
    Queued,
    /// Delivered at least once, without an answer.
    Delivered,
    /// In the device's journal: it is the device's to carry out.
    Acknowledged,
    /// Not acknowledged in time.
    Expired,
    /// Not delivered any more: a newer wish took its place before it was acknowledged, or it was
    /// cancelled. The device may have it all the same, and may still say so.
    Superseded,
}

/// The result of a command and when it came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    pub report: CommandReport,
    pub reported_at: Timestamp,
}

/// That a command was not to be delivered any more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Withdrawal {
    /// The newer command; none when it was cancelled.
    pub by: Option<CommandId>,
    pub at: Timestamp,
}

/// A command for one device.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommandRecord {
    pub id: CommandId,
    pub device: DeviceId,
    /// Gap-free for each device, starting at 1.
    pub seq: u64,
    pub command: Command,
    /// Two commands with one key are the same wish.
    pub idempotency_key: String,
    pub state: State,
    /// Deliveries so far.
    pub attempt: u32,
    /// The first result that the device reported.
    pub result: Option<Outcome>,
    /// Whether another took its place before the device had acknowledged it. It stays when the
    /// device acknowledges it all the same.
    pub withdrawn: Option<Withdrawal>,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// From when on the command is to be delivered (again); `None` when it is not.
    pub next_delivery_at: Option<Timestamp>,
}

/// The command has expired: the device's answer comes too late.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the command is not awaited any more")]
pub struct TooLate;

/// What a result changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reported {
    /// It is the first one.
    First,
    /// There was one before; that one stays.
    Repeated,
}

impl CommandRecord {
    /// Makes a command that waits for its first delivery.
    #[must_use]
    pub fn new(
        id: CommandId,
        device: DeviceId,
        seq: u64,
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

    /// Returns the lane whose order the command keeps.
    #[must_use]
    pub fn lane(&self) -> Lane {
        self.command.lane()
    }

    /// Tells whether the command is to be delivered and acknowledged.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        match self.state {
            State::Queued | State::Delivered => true,
            State::Acknowledged | State::Expired | State::Superseded => false,
        }
    }

    /// Tells whether anything can still happen to the command.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        match self.state {
            State::Queued | State::Delivered | State::Superseded => false,
            State::Acknowledged => self.result.is_some(),
            State::Expired => true,
        }
    }

    /// Tells whether it is known what became of the command: nothing can happen to it, or another
    /// has its place.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        self.is_final() || self.withdrawn.is_some()
    }

    /// Tells whether a delivery at `now` could still have an effect.
    #[must_use]
    pub fn is_deliverable(&self, now: Timestamp) -> bool {
        !self.is_final() && self.next_delivery_at.is_some() && now < self.expires_at
    }

    /// Counts a delivery at `now` and plans the next one.
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

    /// Applies the device's answer to a delivery.
    ///
    /// # Errors
    /// [`TooLate`] when the command had expired.
    pub fn receipt(&mut self, kind: ReceiptKind, now: Timestamp) -> Result<(), TooLate> {
        self.sweep(now);
        match (self.state, kind) {
            (State::Expired, _) => return Err(TooLate),
            (State::Queued | State::Delivered | State::Superseded, ReceiptKind::Expired) => {
                self.expire();
            }
            // The device lost the command and was given it again, too late for its clock.
            (State::Acknowledged, ReceiptKind::Expired) => self.give_up(now),
            (
                State::Queued | State::Delivered | State::Superseded | State::Acknowledged,
                ReceiptKind::Stored | ReceiptKind::Duplicate | ReceiptKind::Done,
            ) => self.acknowledge(),
        }
        Ok(())
    }

    /// Applies a result. One that comes without a receipt is a receipt too; the first one stays.
    ///
    /// # Errors
    /// [`TooLate`] when the command had expired without being acknowledged.
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
        self.result = Some(Outcome { report, reported_at: now });
        Ok(Reported::First)
    }

    /// Lets the command expire when it was not acknowledged in time; tells whether it did.
    pub fn sweep(&mut self, now: Timestamp) -> bool {
        let unanswered = self.is_open() || self.state == State::Superseded;
        let expires = unanswered && now > self.expires_at;
        if expires {
            self.expire();
        }
        expires
    }

    /// Delivers the command no more, in favour of the newer `by` if there is one; tells whether it
    /// was still open.
    pub fn supersede(&mut self, by: Option<CommandId>, now: Timestamp) -> bool {
        let open = self.is_open();
        if open {
            self.state = State::Superseded;
            self.withdrawn = Some(Withdrawal { by, at: now });
            self.next_delivery_at = None;
        }
        open
    }

    /// Counts the command as acknowledged when its place is in the device's journal: the receipt
    /// was lost. Tells whether anything changed.
    pub fn journaled(&mut self, last_seq: u64, now: Timestamp) -> bool {
        let expired = self.sweep(now);
        let covered = self.state == State::Delivered && self.seq <= last_seq;
        if covered {
            self.acknowledge();
        }
        expired || covered
    }

    /// Compares the command with what the device says at the start of a connection.
    ///
    /// A command that the device lists is acknowledged; any other without a result is to be
    /// delivered at once: the device lost it, or has done it and answers with the result. What was
    /// superseded is not delivered again: the newer one counts.
    pub fn hello(&mut self, inflight: &[Inflight], last_seq: u64, now: Timestamp) {
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

    /// Forgets the deliveries of an earlier epoch: the device refuses them from now on.
    pub fn restart(&mut self, now: Timestamp) {
        if self.is_open() {
            self.state = State::Queued;
            self.next_delivery_at = Some(now);
        }
    }

    /// Returns the envelope of the delivery that was counted last, for a device in `epoch`.
    #[must_use]
    pub fn envelope(&self, epoch: u64, now: Timestamp) -> Envelope {
        let left = self.expires_at.duration_since(now).as_millis();
        Envelope {
            v: ENVELOPE_VERSION,
            command_id: self.id,
            device_id: self.device,
            epoch,
            seq: self.seq,
            r#type: kind_name(&self.command),
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

    /// Ends an acknowledged command that the device cannot carry out any more.
    fn give_up(&mut self, now: Timestamp) {
        self.next_delivery_at = None;
        if self.result.is_none() {
            let report = CommandReport {
                command_id: self.id,
                status: CommandResult::Failed,
                output: "the device lost the command before it was done".to_owned(),
                attempt: self.attempt,
            };
            self.result = Some(Outcome { report, reported_at: now });
        }
    }
}

/// Returns the places in `records` of what a poll at `now` answers with, in the order of `seq`:
/// everything that waits for a delivery, but only when at least one is due.
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

/// Returns when a poll that finds nothing at `now` should look again by itself.
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

fn kind_name(command: &Command) -> String {
    let name = serde_json::to_value(command.kind()).ok();
    name.and_then(|value| value.as_str().map(str::to_owned)).expect("a kind is a plain name")
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
