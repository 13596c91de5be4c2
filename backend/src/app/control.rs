//! The control plane over HTTP: hello, long poll and receipts. Each delivery of a command is signed anew.

#![expect(clippy::disallowed_methods, reason = "IO shell: parks polls")]

use std::{pin::pin, time::Duration};

use jiff::Timestamp;
use link_protocol::{
    agent_api::{Hello, Poll, Welcome},
    counter::{Epoch, Seq},
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
    failure::AppError,
    host::{metrics, random, wake::Rung},
    tables::{devices, locks},
};

/// A parked poll checks for commands at least this often. A new command rings the bell of its device, also across
/// backends; this check finds commands whose ring was lost.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
/// The fraction of a wait over which its end is randomized. Otherwise devices that arrived together, as after a
/// restart, would be checked and answered at the same moment each time.
const SPREAD: f64 = 0.2;

/// The reason for a check for commands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Why {
    /// Something was stored for the device.
    Rung,
    /// The device polls, or a delivery is due now.
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

/// The result of a check for commands.
pub(super) enum DueCommands {
    /// The due commands, signed for this delivery.
    Commands(Vec<Signed>),
    /// No command is due before `next`, the time of the next planned delivery.
    Nothing { next: Option<Timestamp> },
}

impl App {
    /// Answers the hello of a device with all commands that it lacks. The device is online from now on.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if it lists too much, and [`AppError::Store`].
    pub async fn hello(&self, device: &DeviceRecord, hello: Hello) -> Result<Welcome, AppError> {
        let now = self.now();
        if hello.serving.len().max(hello.inflight.len()) > limits::HELLO_LIMIT {
            let rule = format!("a hello lists at most {} models and commands", limits::HELLO_LIMIT);
            return Err(Refusal::invalid(rule).into());
        }
        if hello.epoch < device.epoch {
            // The token is still valid, so the device was not registered again: it was transferred.
            return Ok(self.hand_over(device, now));
        }
        // Commands of another epoch have no effect, so the device counts as having none.
        let current = hello.epoch == device.epoch;
        let (inflight, last_seq) =
            if current { (hello.inflight.as_slice(), hello.last_seq) } else { (&[][..], Seq(0)) };
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
        self.note_presence(device.id, now);
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

    /// Answers a poll: with commands as soon as some are due, or with none after `wait` or a little less.
    ///
    /// # Errors
    /// [`Refusal::StalePoll`] if the device sends a newer poll meanwhile, [`Refusal::Unauthorized`] if the device was
    /// removed or registered again, [`Refusal::HandoverPending`] if it was transferred.
    pub async fn poll(
        &self,
        device: &DeviceRecord,
        after: Seq,
        wait: Duration,
    ) -> Result<Poll, AppError> {
        let mut listener = self.polls.listen(device.id);
        let mut draining = self.draining.subscribe();
        let most = spread(wait.min(limits::POLL_WAIT), random::part());
        let mut end = pin!(tokio::time::sleep(most));
        let mut is_over = wait.is_zero();
        let mut why = Why::Due;
        self.note_presence(device.id, self.now());
        loop {
            let now = self.now();
            if !listener.is_newest() {
                return Err(Refusal::StalePoll.into());
            }
            // This check also comes first, because rings before the poll started to listen are lost. The futures are
            // boxed so that a waiting poll does not hold memory for them.
            Box::pin(self.check_still_registered(device)).await?;
            let next = match Box::pin(self.look(device, after, why, now)).await? {
                DueCommands::Commands(commands) => return Ok(Poll { server_time: now, commands }),
                DueCommands::Nothing { next } => next,
            };
            if is_over || *draining.borrow() {
                self.note_presence(device.id, now);
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

    /// Acknowledges the commands that the device has in its journal up to `after`, then takes the due commands and
    /// counts their deliveries.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub(super) async fn look(
        &self,
        device: &DeviceRecord,
        after: Seq,
        why: Why,
        now: Timestamp,
    ) -> Result<DueCommands, AppError> {
        if why != Why::Rung {
            let waiting = self.store.waiting_commands(device.id).await?;
            if !has_news(&waiting, after, now) {
                return Ok(DueCommands::Nothing { next: command::next_due(&waiting, now) });
            }
        }
        let taken = queue::take_due(&self.store, device.id, after, now).await?;
        metrics::commands_acknowledged(taken.acknowledged);
        if taken.commands.is_empty() {
            return Ok(DueCommands::Nothing { next: taken.next_due });
        }
        Ok(DueCommands::Commands(self.seal(&taken.commands, device.epoch, now)))
    }

    /// Applies the receipt of a device for a delivery.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::CommandExpired`].
    pub async fn receipt(
        &self,
        device: &DeviceRecord,
        id: CommandId,
        receipt: Receipt,
    ) -> Result<(), AppError> {
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

    async fn check_still_registered(&self, device: &DeviceRecord) -> Result<(), AppError> {
        let stored = self.store.device(device.id).await?;
        let same = stored.filter(|stored| stored.token_digest == device.token_digest);
        let same = same.ok_or(Refusal::Unauthorized)?;
        if same.epoch == device.epoch { Ok(()) } else { Err(Refusal::HandoverPending.into()) }
    }

    pub(super) fn seal(
        &self,
        records: &[CommandRecord],
        epoch: Epoch,
        now: Timestamp,
    ) -> Vec<Signed> {
        records.iter().map(|record| self.command_key.seal(&record.envelope(epoch, now))).collect()
    }
}

fn has_news(waiting: &[CommandRecord], after: Seq, now: Timestamp) -> bool {
    let acknowledged = waiting.iter().any(|record| record.clone().journaled(after, now));
    acknowledged || !command::due(waiting, now).is_empty()
}

/// Shortens a wait by `part` (0 to 1) of the fraction [`SPREAD`].
fn spread(most: Duration, part: f64) -> Duration {
    most.mul_f64(SPREAD.mul_add(-part, 1.0))
}

/// Returns how long to wait for the next delivery, at most `most`.
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
