//! The control plane over HTTP: hello, the long poll, receipts. Commands are signed anew for each
//! delivery.

#![expect(clippy::disallowed_methods, reason = "IO shell: parks polls")]

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use link_protocol::{
    agent_api::{Hello, Poll, Welcome},
    envelope::{Receipt, ReceiptKind},
    id::CommandId,
    limits,
    signing::Signed,
};

use crate::{
    app::App,
    domain::{
        command::{self, CommandRecord, State},
        device::DeviceRecord,
        refusal::Refusal,
    },
    failure::Failure,
    numbers,
};

/// A parked poll looks again after this time, whatever woke it or did not. A command of this backend
/// rings; only what another one stored is found by looking.
const LOOK_AGAIN: Duration = Duration::from_secs(15);

impl App {
    /// Answers the hello of a device with everything that it lacks; it is online from now on.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn hello(&self, device: &DeviceRecord, hello: Hello) -> Result<Welcome, Failure> {
        let now = self.now();
        // What a device has of another epoch has no effect: it has nothing.
        let current = hello.epoch == device.epoch;
        let (inflight, last_seq) =
            if current { (hello.inflight.as_slice(), hello.last_seq) } else { (&[][..], 0) };
        self.give_back(device, &hello.serving, now).await?;
        if !hello.serving.is_empty() || self.store.has_serving_states(device.id).await? {
            self.store.serving_states(device.id, device.epoch, &hello.serving, now).await?;
        }
        let commands = if self.store.has_unfinished_commands(device.id).await? {
            self.store.greet_commands(device.id, inflight, last_seq, now).await?
        } else {
            Vec::new()
        };
        let greet = |device: &mut DeviceRecord| device.greet(hello.agent_version.clone(), now);
        let mut greeted = device.clone();
        greet(&mut greeted);
        greeted.last_seen_at = device.last_seen_at;
        if greeted != *device {
            self.store.change_device(device.id, greet).await?;
        }
        self.presence.note(device.id, now);
        Ok(Welcome {
            server_time: now,
            epoch: device.epoch,
            commands: self.seal(&commands, device.epoch, now),
        })
    }

    /// Answers a poll: with commands as soon as some are due, with none after `wait`.
    ///
    /// # Errors
    /// [`Refusal::StalePoll`] when a newer poll of the device came, [`Refusal::Unauthorized`] when
    /// the device was removed or registered anew meanwhile.
    pub async fn poll(
        &self,
        device: &DeviceRecord,
        after: u64,
        wait: Duration,
    ) -> Result<Poll, Failure> {
        let mut listener = self.polls.listen(device.id);
        let mut draining = self.draining.subscribe();
        let mut end = pin!(tokio::time::sleep(wait.min(limits::POLL_WAIT)));
        let mut is_over = wait.is_zero();
        self.presence.note(device.id, self.now());
        loop {
            let now = self.now();
            if !listener.is_newest() {
                return Err(Refusal::StalePoll.into());
            }
            self.check_still_registered(device).await?;
            let waiting = self.store.waiting_commands(device.id).await?;
            if has_news(&waiting, after, now) {
                let taken = self.store.take_commands(device.id, after, now).await?;
                numbers::commands_acknowledged(covered(&waiting, after));
                if !taken.is_empty() {
                    let commands = self.seal(&taken, device.epoch, now);
                    return Ok(Poll { server_time: now, commands });
                }
            }
            if is_over || *draining.borrow() {
                self.presence.note(device.id, now);
                return Ok(Poll { server_time: now, commands: Vec::new() });
            }
            tokio::select! {
                () = listener.rung() => {}
                () = tokio::time::sleep(pause(&waiting, now, LOOK_AGAIN)) => {}
                _ = draining.changed() => {}
                () = &mut end => is_over = true,
            }
        }
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
                let taken = AtomicBool::new(false);
                let change = |record: &mut CommandRecord| {
                    let before = record.state;
                    record.receipt(kind, now).map_err(|_too_late| Refusal::CommandExpired)?;
                    let is_new = before != record.state && record.state == State::Acknowledged;
                    taken.store(is_new, Ordering::Relaxed);
                    Ok(())
                };
                self.store.change_command(device.id, id, change).await?;
                numbers::commands_acknowledged(u64::from(taken.into_inner()));
                self.results.ring(id);
                Ok(())
            }
        }
    }

    async fn check_still_registered(&self, device: &DeviceRecord) -> Result<(), Failure> {
        let stored = self.store.device(device.id).await?;
        let same = stored.is_some_and(|stored| stored.token_digest == device.token_digest);
        if same { Ok(()) } else { Err(Refusal::Unauthorized.into()) }
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

pub(super) fn has_news(waiting: &[CommandRecord], after: u64, now: Timestamp) -> bool {
    let acknowledged = waiting.iter().any(|record| record.clone().journaled(after, now));
    acknowledged || !command::due(waiting, now).is_empty()
}

/// How many commands the end of the device's journal acknowledges.
fn covered(waiting: &[CommandRecord], after: u64) -> u64 {
    let is_covered =
        |record: &&CommandRecord| record.state == State::Delivered && record.seq <= after;
    waiting.iter().filter(is_covered).count() as u64
}

/// How long to wait for the next delivery, `most` when none is planned before.
pub(super) fn pause(waiting: &[CommandRecord], now: Timestamp, most: Duration) -> Duration {
    let until = command::next_due(waiting, now).map(|due| due.duration_since(now));
    let until = until.and_then(|until| Duration::try_from(until).ok()).unwrap_or(most);
    until.clamp(Duration::from_millis(10), most)
}
