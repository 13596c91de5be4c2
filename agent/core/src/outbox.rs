//! Reports that must not be lost: sent one at a time, in order, until the backend accepts or
//! rejects each.
//!
//! A newer report about the same subject replaces an older one that has not been sent, so the
//! number of commands, models and deployments bounds the queue. A rejected report is set aside and
//! never blocks the others. A 401 rejects the device, not the report: the report is retried once,
//! after the backend accepts the next hello. A second 401 is final.

use std::{collections::VecDeque, time::Duration};

use link_protocol::{
    id::{DeploymentId, PipelineId},
    limits,
    report::{ModelReport, ModelState, ProgressEvent},
};

use crate::{
    clock::Now,
    effect::Effect,
    record::{Change, OutboxEntry, Report},
};

/// The waits after consecutive failures; the last one repeats.
const BACK_OFF: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(60),
];

/// Returns the wait before what must not be lost is attempted again, after `failures` other attempts in a row have failed.
#[must_use]
pub fn wait_after(failures: usize) -> Duration {
    BACK_OFF[failures.min(BACK_OFF.len() - 1)]
}

/// The queue and the report being sent.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: VecDeque<OutboxEntry>,
    /// Reports refused with 401, held until the backend accepts a hello.
    held: Vec<OutboxEntry>,
    next_id: u64,
    sending: Option<u64>,
    failures: usize,
    retry_at: Option<Now>,
}

/// The subject of a report; a newer report replaces older ones with the same subject.
#[derive(Eq, PartialEq)]
enum Subject {
    Lifecycle,
    Model(PipelineId),
    /// Every step of a deployment is reported; only byte counts within one step replace each other.
    Progress(Option<DeploymentId>, ProgressEvent),
}

impl Outbox {
    /// Restores the queue from disk, where `last_id` is the highest number of any report. Drops reports about the process
    /// that has ended.
    pub fn restore(entries: Vec<OutboxEntry>, last_id: u64, changes: &mut Vec<Change>) -> Self {
        let next_id = entries.iter().map(|entry| entry.id).fold(last_id, u64::max) + 1;
        let (stale, queue): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| is_of_the_process(&entry.report));
        changes.extend(stale.into_iter().map(|entry| Change::RemoveReport(entry.id)));
        let (held, queue): (Vec<_>, Vec<_>) =
            queue.into_iter().partition(|entry| entry.unauthorized);
        Self { queue: queue.into(), held, next_id, ..Self::default() }
    }

    /// Adds a report.
    pub fn push(&mut self, report: Report, changes: &mut Vec<Change>) {
        if let Some(subject) = subject(&report) {
            let sending = self.sending;
            let mut keeps = |entry: &OutboxEntry| {
                let keep = Some(entry.id) == sending
                    || subject_of(entry).is_none_or(|other| other != subject);
                if !keep {
                    changes.push(Change::RemoveReport(entry.id));
                }
                keep
            };
            self.held.retain(&mut keeps);
            self.queue.retain(keeps);
        }
        let entry = OutboxEntry { id: self.next_id, report, unauthorized: false };
        self.next_id += 1;
        changes.push(Change::PutReport(entry.clone()));
        self.queue.push_back(entry);
    }

    /// Returns the removal report of a pipeline, unless the backend has accepted it.
    #[must_use]
    pub fn removal_of(&self, pipeline: PipelineId) -> Option<&ModelReport> {
        self.removals().find(|report| report.pipeline_id == pipeline)
    }

    /// Returns the removal reports that the backend has not accepted, newest first.
    pub fn removals(&self) -> impl Iterator<Item = &ModelReport> {
        self.queue.iter().rev().chain(self.held.iter().rev()).filter_map(|entry| {
            match &entry.report {
                Report::Model(report) if report.state == ModelState::Removed => Some(report),
                Report::Model(_)
                | Report::Lifecycle(_)
                | Report::Command(_)
                | Report::Progress { .. } => None,
            }
        })
    }

    /// Returns whether the result of a command waits to be sent, or is being sent.
    #[must_use]
    pub fn owes_a_result(&self) -> bool {
        self.queue.iter().any(|entry| matches!(entry.report, Report::Command(_)))
    }

    /// Sends the first report, unless another is in flight or a retry wait is running.
    pub fn pump(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.sending.is_some() || self.retry_at.is_some_and(|at| now < at) {
            return;
        }
        if let Some(entry) = self.queue.front() {
            self.sending = Some(entry.id);
            self.retry_at = None;
            effects.push(Effect::SendReport(entry.clone()));
        }
    }

    /// Removes the report `id`, which the backend accepted.
    pub fn sent(&mut self, id: u64, changes: &mut Vec<Change>) {
        if self.take(id).is_some() {
            changes.push(Change::RemoveReport(id));
            self.failures = 0;
        }
    }

    /// Sets aside the report `id`, which the backend rejected permanently.
    pub fn refused(&mut self, id: u64, reason: String, changes: &mut Vec<Change>) {
        if let Some(entry) = self.take(id) {
            changes.push(Change::BuryReport { entry, reason });
            self.failures = 0;
        }
    }

    /// Holds the report `id`, for which the backend did not authenticate this device.
    pub fn unauthorized(&mut self, id: u64, reason: String, changes: &mut Vec<Change>) {
        let Some(mut entry) = self.take(id) else { return };
        self.failures = 0;
        // A report that is retried later must not overwrite a newer one.
        let is_outdated = subject_of(&entry).is_some_and(|subject| {
            self.queue.iter().any(|other| subject_of(other).is_some_and(|newer| newer == subject))
        });
        if entry.unauthorized || is_outdated {
            changes.push(Change::BuryReport { entry, reason });
            return;
        }
        entry.unauthorized = true;
        changes.push(Change::HoldReport(entry.clone()));
        self.held.push(entry);
    }

    /// Schedules a retry of the report `id`, which could not be sent; the backend asked to wait for
    /// `retry_after`.
    pub fn deferred(&mut self, id: u64, now: Now, retry_after: Option<Duration>) {
        if self.sending == Some(id) {
            self.sending = None;
            let own = wait_after(self.failures);
            let asked = retry_after.unwrap_or_default().min(limits::RETRY_AFTER_CAP);
            self.retry_at = Some(now + own.max(asked));
            self.failures += 1;
        }
    }

    /// Cancels the retry wait and requeues the reports held since a 401, because the backend has
    /// accepted this device.
    pub fn welcomed(&mut self) {
        self.retry_at = None;
        self.failures = 0;
        self.queue.extend(self.held.drain(..));
        self.queue.make_contiguous().sort_by_key(|entry| entry.id);
    }

    /// Returns the time of the next call of [`Self::pump`].
    #[must_use]
    pub fn deadline(&self) -> Option<Now> {
        self.retry_at.filter(|_| self.sending.is_none() && !self.queue.is_empty())
    }

    fn take(&mut self, id: u64) -> Option<OutboxEntry> {
        if self.sending != Some(id) {
            return None;
        }
        self.sending = None;
        let place = self.queue.iter().position(|entry| entry.id == id)?;
        self.queue.remove(place)
    }
}

fn subject_of(entry: &OutboxEntry) -> Option<Subject> {
    subject(&entry.report)
}

/// Returns whether a report describes the process rather than the device. The next process reports
/// its own status and served models, but does not repeat the removal of a model.
fn is_of_the_process(report: &Report) -> bool {
    match report {
        Report::Lifecycle(_) => true,
        Report::Model(model) => model.state != ModelState::Removed,
        Report::Command(_) | Report::Progress { .. } => false,
    }
}

fn subject(report: &Report) -> Option<Subject> {
    match report {
        Report::Lifecycle(_) => Some(Subject::Lifecycle),
        Report::Model(model) => Some(Subject::Model(model.pipeline_id)),
        Report::Progress { progress, .. } => {
            Some(Subject::Progress(progress.deployment_id, progress.event))
        }
        Report::Command(_) => None,
    }
}

#[cfg(test)]
mod tests;
