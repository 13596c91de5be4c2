//! The control plane over HTTP: hello, the long poll, receipts. Commands are signed anew for each
//! delivery.

#![expect(clippy::disallowed_methods, reason = "IO shell: parks polls")]

use std::{pin::pin, time::Duration};

use jiff::Timestamp;
use link_protocol::{
    agent_api::{Hello, Poll, Welcome},
    envelope::{Receipt, ReceiptKind},
    id::CommandId,
    limits,
    signing::Signed,
};

use crate::{
    app::{App, queue, reports},
    database::{StoreError, write},
    domain::{
        command::{self, CommandRecord},
        device::DeviceRecord,
        refusal::Refusal,
    },
    failure::Failure,
    host::{metrics, random, wake::Rung},
    tables::{devices, locks},
};

/// A parked poll looks again after this time, whatever woke it or did not. Commands ring,
/// those of other backends too; what was rung for while they could not be heard is found by looking.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
/// The part of a wait over which the ends of many are spread: devices that came at the same moment,
/// as after a restart, would all be looked at and answered at the same moment for ever.
const SPREAD: f64 = 0.2;

/// Why somebody looks for commands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Why {
    /// Something was stored for the device.
    Rung,
    /// The device asks, or something was planned for now.
    Due,
}

impl From<Rung> for Why {
    fn from(rung: Rung) -> Self {
        match rung {
            Rung::Surely => Self::Rung,
            Rung::Perhaps => Self::Due,
        }
    }
}

/// What a look for commands found.
pub(super) enum Found {
    /// Signed for this delivery.
    Commands(Vec<Signed>),
    /// Nothing before `next`, when something is planned.
    Nothing { next: Option<Timestamp> },
}

impl App {
    /// Answers the hello of a device with everything that it lacks; it is online from now on.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn hello(&self, device: &DeviceRecord, hello: Hello) -> Result<Welcome, Failure> {
        let now = self.now();
        if hello.epoch < device.epoch {
            // Its token is still good, so it did not register anew: it was transferred.
            return Ok(self.hand_over(device, now));
        }
        // What a device has of another epoch has no effect: it has nothing.
        let current = hello.epoch == device.epoch;
        let (inflight, last_seq) =
            if current { (hello.inflight.as_slice(), hello.last_seq) } else { (&[][..], 0) };
        self.give_back(device, &hello.serving, now).await?;
        if !hello.serving.is_empty() || self.store.has_serving_states(device.id).await? {
            let (id, epoch) = (device.id, device.epoch);
            reports::greet_serving(&self.store, id, epoch, &hello.serving, now).await?;
        }
        let commands = if self.store.has_unfinished_commands(device.id).await? {
            queue::greet(&self.store, device.id, inflight, last_seq, now).await?
        } else {
            Vec::new()
        };
        let mut greeted = device.clone();
        greeted.greet(device.epoch, hello.agent_version.clone(), now);
        greeted.last_seen_at = device.last_seen_at;
        if greeted != *device {
            self.note_greeting(device, &hello, now).await?;
        }
        self.presence.note(device.id, now);
        Ok(Welcome {
            server_time: now,
            epoch: device.epoch,
            commands: self.seal(&commands, device.epoch, now),
            handover: None,
        })
    }

    async fn note_greeting(
        &self,
        device: &DeviceRecord,
        hello: &Hello,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write!(self.store, [locks::device(device.id)], |db| {
            let mut stored = devices::find(db, device.id).await?.ok_or(StoreError::NotFound)?;
            stored.greet(device.epoch, hello.agent_version.clone(), now);
            devices::update(db, &stored).await?;
        });
        Ok(())
    }

    /// Answers a poll: with commands as soon as some are due, with none after `wait` or a little less.
    ///
    /// # Errors
    /// [`Refusal::StalePoll`] when a newer poll of the device came, [`Refusal::Unauthorized`] when
    /// the device was removed or registered anew meanwhile, [`Refusal::HandoverPending`] when it was
    /// transferred.
    pub async fn poll(
        &self,
        device: &DeviceRecord,
        after: u64,
        wait: Duration,
    ) -> Result<Poll, Failure> {
        let mut listener = self.polls.listen(device.id);
        let mut draining = self.draining.subscribe();
        let most = spread(wait.min(limits::POLL_WAIT), random::part());
        let mut end = pin!(tokio::time::sleep(most));
        let mut is_over = wait.is_zero();
        let mut why = Why::Due;
        self.presence.note(device.id, self.now());
        loop {
            let now = self.now();
            if !listener.is_newest() {
                return Err(Refusal::StalePoll.into());
            }
            // Also at first: what happened before this poll listened rang for nobody. In boxes, so
            // that a poll that waits does not keep the room for it.
            Box::pin(self.check_still_registered(device)).await?;
            let next = match Box::pin(self.look(device, after, why, now)).await? {
                Found::Commands(commands) => return Ok(Poll { server_time: now, commands }),
                Found::Nothing { next } => next,
            };
            if is_over || *draining.borrow() {
                self.presence.note(device.id, now);
                return Ok(Poll { server_time: now, commands: Vec::new() });
            }
            let again = pause(next, now, spread(LOOK_AGAIN, random::part()));
            why = tokio::select! {
                rung = listener.rung() => rung.into(),
                () = tokio::time::sleep(again) => Why::Due,
                _ = draining.changed() => Why::Due,
                () = &mut end => {
                    is_over = true;
                    Why::Due
                }
            };
        }
    }

    /// Looks for commands that are due, and takes them, each delivery counted. What the device has
    /// in its journal up to `after` is acknowledged.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub(super) async fn look(
        &self,
        device: &DeviceRecord,
        after: u64,
        why: Why,
        now: Timestamp,
    ) -> Result<Found, Failure> {
        if why != Why::Rung {
            let waiting = self.store.waiting_commands(device.id).await?;
            if !has_news(&waiting, after, now) {
                return Ok(Found::Nothing { next: command::next_due(&waiting, now) });
            }
        }
        let taken = queue::take_due(&self.store, device.id, after, now).await?;
        metrics::commands_acknowledged(taken.acknowledged);
        if taken.commands.is_empty() {
            return Ok(Found::Nothing { next: taken.next_due });
        }
        Ok(Found::Commands(self.seal(&taken.commands, device.epoch, now)))
    }

    /// Applies what a device answers to a delivery.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::CommandExpired`].
    pub async fn receipt(
        &self,
        device: &DeviceRecord,
        id: CommandId,
        receipt: Receipt,
    ) -> Result<(), Failure> {
        if receipt.command_id != id {
            return Err(Refusal::invalid("command_id: is the one of the path").into());
        }
        let now = self.now();
        match (receipt.receipt, receipt.result) {
            (ReceiptKind::Done, Some(report)) => self.report_command(device, id, report).await,
            (kind, _) => {
                let is_new = queue::take_receipt(&self.store, device.id, id, kind, now).await?;
                metrics::commands_acknowledged(u64::from(is_new));
                self.ring_command(id);
                Ok(())
            }
        }
    }

    async fn check_still_registered(&self, device: &DeviceRecord) -> Result<(), Failure> {
        let stored = self.store.device(device.id).await?;
        let same = stored.filter(|stored| stored.token_digest == device.token_digest);
        let same = same.ok_or(Refusal::Unauthorized)?;
        if same.epoch == device.epoch { Ok(()) } else { Err(Refusal::HandoverPending.into()) }
    }

    pub(super) fn seal(
        &self,
        records: &[CommandRecord],
        epoch: u64,
        now: Timestamp,
    ) -> Vec<Signed> {
        records.iter().map(|record| self.command_key.seal(&record.envelope(epoch, now))).collect()
    }
}

fn has_news(waiting: &[CommandRecord], after: u64, now: Timestamp) -> bool {
    let acknowledged = waiting.iter().any(|record| record.clone().journaled(after, now));
    acknowledged || !command::due(waiting, now).is_empty()
}

/// Takes a `part` (0 to 1) of what may be taken away from a wait.
fn spread(most: Duration, part: f64) -> Duration {
    most.mul_f64(SPREAD.mul_add(-part, 1.0))
}

/// How long to wait for the next delivery, `most` when none is planned before.
pub(super) fn pause(next: Option<Timestamp>, now: Timestamp, most: Duration) -> Duration {
    let until = next.map(|due| due.duration_since(now));
    let until = until.and_then(|until| Duration::try_from(until).ok()).unwrap_or(most);
    until.clamp(Duration::from_millis(10), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_began_together_end_apart_and_none_is_longer() {
        let wait = Duration::from_secs(50);
        assert_eq!(spread(wait, 0.0), wait);
        assert_eq!(spread(wait, 0.5), Duration::from_secs(45));
        assert_eq!(spread(wait, 1.0), Duration::from_secs(40));
        assert_eq!(spread(Duration::ZERO, 0.7), Duration::ZERO);
    }
}
