//! Checks the events against the rules, in the order of their times.

use std::collections::{BTreeMap, BTreeSet};

use link_protocol::{
    backend_api::command::CommandState,
    command::Lane,
    counter::Seq,
    envelope::ReceiptKind,
    id::{CommandId, DeploymentId, DeviceId},
    report::CommandResult,
};

use crate::history::{Event, Violation, What};

/// How long a delivery may be in flight, in microseconds. If the backend sends a command just
/// before it is superseded, the delivery arrives afterwards.
const UNDER_WAY_US: u64 = 10_000_000;

/// The facts about one command from the events so far.
#[derive(Debug, Default)]
struct Known {
    accepted: bool,
    seq: Option<(Seq, Lane)>,
    deployment: Option<(DeploymentId, bool)>,
    /// The device answered that the command had expired.
    refused: bool,
    effects: u32,
    result: Option<CommandResult>,
    result_taken: bool,
    /// The API showed no result although the backend had accepted one.
    result_lost: bool,
    /// The API's last answer; `None` if the API did not know the command.
    last: Option<Option<(CommandState, Option<CommandResult>)>>,
    /// The time at which the API first called the command expired.
    expired_us: Option<u64>,
}

#[derive(Debug, Default)]
struct Device {
    commands: BTreeMap<CommandId, Known>,
    unanswered: usize,
    /// The highest sequence number that took effect in each lane.
    lanes: BTreeMap<Lane, Seq>,
    sequences: BTreeMap<Seq, CommandId>,
    ended: BTreeSet<DeploymentId>,
}

/// Returns every violation of a rule in `events`, which may be in any order.
///
/// An API call is recorded after its answer, so a delivery may precede the acceptance of its
/// command.
#[must_use]
pub fn check(events: &[Event]) -> Vec<Violation> {
    let mut ordered: Vec<&Event> = events.iter().collect();
    ordered.sort_by_key(|event| event.at_us);
    let mut devices: BTreeMap<DeviceId, Device> = BTreeMap::new();
    let mut found = Vec::new();
    for event in ordered {
        devices.entry(event.device).or_default().apply(event, &mut found);
    }
    for (id, device) in devices {
        device.finish(id, &mut found);
    }
    found
}

impl Device {
    fn apply(&mut self, event: &Event, found: &mut Vec<Violation>) {
        let device = event.device;
        let Some(command) = event.what.command() else {
            self.unanswered += 1;
            return;
        };
        let known = self.commands.entry(command).or_default();
        match event.what {
            What::Unanswered => {}
            What::Accepted { .. } => known.accepted = true,
            What::Delivered { seq, lane, deployment, cancels, .. } => {
                let late = |expired: u64| event.at_us > expired.saturating_add(UNDER_WAY_US);
                if known.seq.is_none() && known.expired_us.is_some_and(late) {
                    found.push(Violation::DeliveredExpired { device, command });
                }
                let owner = *self.sequences.entry(seq).or_insert(command);
                if owner != command || known.seq.is_some_and(|known| known != (seq, lane)) {
                    found.push(Violation::SequenceReused { device, command });
                }
                known.seq = Some((seq, lane));
                known.deployment = deployment.map(|id| (id, cancels));
            }
            What::Receipted { receipt, .. } => known.refused |= receipt == ReceiptKind::Expired,
            What::Effected { .. } => self.effected(device, command, found),
            What::Resulted { status, taken, .. } => {
                if known.result.is_some_and(|before| before != status) {
                    found.push(Violation::TwoResults { device, command });
                }
                if status == CommandResult::Succeeded && known.effects == 0 {
                    found.push(Violation::SuccessWithoutEffect { device, command });
                }
                known.result = known.result.or(Some(status));
                known.result_taken |= taken;
            }
            What::Observed { state, result, .. } => {
                // A result accepted after this answer is not lost.
                known.result_lost = result.is_none() && known.result_taken;
                if state == CommandState::Expired {
                    known.expired_us = known.expired_us.or(Some(event.at_us));
                }
                known.last = Some(Some((state, result)));
            }
            What::Missing { .. } => known.last = Some(None),
        }
    }

    fn effected(&mut self, device: DeviceId, command: CommandId, found: &mut Vec<Violation>) {
        let known = self.commands.entry(command).or_default();
        known.effects += 1;
        if known.effects == 2 {
            found.push(Violation::EffectedTwice { device, command });
        }
        if known.refused {
            found.push(Violation::EffectedExpired { device, command });
        }
        let cancelled = known.result == Some(CommandResult::Cancelled)
            || known.deployment.is_some_and(|(id, cancels)| !cancels && self.ended.contains(&id));
        if cancelled {
            found.push(Violation::EffectedCancelled { device, command });
        }
        if let Some((deployment, true)) = known.deployment {
            self.ended.insert(deployment);
        }
        let Some((seq, lane)) = known.seq else {
            found.push(Violation::EffectedUndelivered { device, command });
            return;
        };
        let highest = self.lanes.entry(lane).or_default();
        if seq < *highest {
            found.push(Violation::OutOfOrder { device, command });
        }
        *highest = seq.max(*highest);
    }

    fn finish(self, device: DeviceId, found: &mut Vec<Violation>) {
        let unasked: Vec<CommandId> = self
            .commands
            .iter()
            .filter(|(_, known)| known.seq.is_some() && !known.accepted)
            .map(|(command, _)| *command)
            .collect();
        // Each unanswered request may have caused one of these commands.
        for command in unasked.into_iter().skip(self.unanswered) {
            found.push(Violation::Unasked { device, command });
        }
        for (command, known) in self.commands {
            known.finish(device, command, found);
        }
    }
}

impl Known {
    fn finish(self, device: DeviceId, command: CommandId, found: &mut Vec<Violation>) {
        match self.last {
            None if self.accepted => found.push(Violation::NotObserved { device, command }),
            None => {}
            Some(None) if self.accepted || self.seq.is_some() => {
                found.push(Violation::Lost { device, command });
            }
            Some(None) => {}
            Some(Some((state, told))) => {
                if state == CommandState::Processed && self.seq.is_none() && self.effects == 0 {
                    found.push(Violation::ProcessedUndelivered { device, command });
                }
                match told {
                    Some(told) if self.result != Some(told) => {
                        found.push(Violation::WrongResult { device, command, told });
                    }
                    None if self.result_lost => {
                        found.push(Violation::ResultLost { device, command });
                    }
                    Some(_) | None => {}
                }
            }
        }
    }
}
