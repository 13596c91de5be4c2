//! Decisions about updates: whether a release may be installed, in which steps a version replaces another one, and how
//! to resolve an interrupted replacement. Pure: the shells are [`crate::stage`], [`crate::versions`] and the guard.
//!
//! One file holds the state. A replacement is recorded there before the pointer moves, and only the guard ends it: the
//! guard commits the new version, or restores the previous version and records the reason.

use jiff::Timestamp;
use link_protocol::{
    release::{Channel, Freshness, Manifest, is_downgrade},
    update::{UpdateEnd, UpdateOutcome},
};
use semver::Version;
use serde::{Deserialize, Serialize};

/// The version of the state file.
pub const SCHEMA: u32 = 1;

/// Maximum number of starts of the guard during a trial. A version that needs more is rolled back, even if the starts
/// are not its fault.
pub const TRIAL_STARTS: u32 = 3;

/// Maximum number of bad versions to remember.
const REMEMBERED: usize = 16;

/// The state of updates on this machine.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct UpdateState {
    pub schema: u32,
    /// The version that is on trial, or is about to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// The version that ran before the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Version>,
    /// Versions that were rolled back or failed their self-check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<UpdateOutcome>,
}

/// A replacement in progress.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Pending {
    pub from: Version,
    pub to: Version,
    /// The number of starts of the guard during the trial.
    #[serde(default)]
    pub starts: u32,
    /// The reason for a rollback in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Whether the version is not at fault, so that it may be retried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub innocent: bool,
}

/// Why a version is rolled back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrialFailure {
    pub reason: String,
    /// Whether the version is at fault. Such a version must not be installed again automatically.
    pub is_its_fault: bool,
}

/// A version that must not be installed again automatically.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Skipped {
    pub version: Version,
    pub reason: String,
}

/// The installed version.
#[derive(Clone, Copy, Debug)]
pub struct Installed<'a> {
    pub version: &'a Version,
    /// The counter of its signed release. None if its signature was not verified.
    pub counter: Option<u64>,
    pub channel: Channel,
}

/// The options of an update.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// The requested version. None for the newest.
    pub version: Option<Version>,
    /// Whether to accept a version that was rolled back before.
    pub again: bool,
    /// The least stable channel to accept. None for the channel of the installed version.
    pub channel: Option<Channel>,
}

/// Why a release is not installed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Declined {
    #[error("version {0} is installed already")]
    UpToDate(Version),
    #[error("there is no release {wanted} to install; the newest is {newest}")]
    NotPublished { wanted: Version, newest: Version },
    #[error("the release {offered} is older than the installed {installed}")]
    Downgrade { installed: Version, offered: Version },
    #[error(
        "version {version} is of the channel {channel}; `link update --channel {channel}` takes it"
    )]
    LessTried { version: Version, channel: Channel },
    #[error("version {version} was given up before: {reason}")]
    Skipped { version: Version, reason: String },
    #[error("the manifest of the releases has expired; is the clock of this machine right?")]
    Expired,
    #[error("version {0} is still on trial; run `link update` again when the trial is over")]
    OnTrial(Version),
}

/// Decides whether to install the release of `manifest`.
///
/// # Errors
/// [`Declined`], the reason not to install it.
pub fn decide(
    state: &UpdateState,
    installed: Installed<'_>,
    wanted: &Wanted,
    manifest: &Manifest,
    now: Timestamp,
) -> Result<(), Declined> {
    let offered = manifest.version.clone();
    // Check this first: a second trial would lose the name of the version that is known to be good.
    if let Some(pending) = &state.pending {
        let is_wanted = *wanted.version.as_ref().unwrap_or(&offered) == pending.to;
        return Err(if is_wanted && pending.to == *installed.version {
            Declined::UpToDate(pending.to.clone())
        } else {
            Declined::OnTrial(pending.to.clone())
        });
    }
    if let Some(wanted) = wanted.version.clone().filter(|wanted| *wanted != offered) {
        if wanted == *installed.version {
            return Err(Declined::UpToDate(wanted));
        }
        return Err(Declined::NotPublished { wanted, newest: offered });
    }
    if offered == *installed.version {
        return Err(Declined::UpToDate(offered));
    }
    let (have, new) = (installed.version.to_string(), offered.to_string());
    let is_older = match installed.counter {
        Some(counter) => is_downgrade((&have, counter), (&new, manifest.counter)),
        None => offered < *installed.version,
    };
    if is_older {
        return Err(Declined::Downgrade { installed: installed.version.clone(), offered });
    }
    if manifest.channel < wanted.channel.unwrap_or(installed.channel) {
        return Err(Declined::LessTried { version: offered, channel: manifest.channel });
    }
    if let Some(skipped) = state.skipped.iter().find(|skipped| skipped.version == offered)
        && !wanted.again
    {
        return Err(Declined::Skipped { version: offered, reason: skipped.reason.clone() });
    }
    // Check this last: a wrong clock matters only if a release would otherwise be installed.
    if manifest.freshness(now) == Freshness::Expired {
        return Err(Declined::Expired);
    }
    Ok(())
}

/// One step of a replacement. Each step is on disk before the next one begins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UpdateStep {
    Write(Box<UpdateState>),
    /// Make this version current.
    Point(Version),
}

/// The state of a replacement when the guard starts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TrialState {
    /// Nothing is pending.
    Nothing,
    /// A version is on trial. The duration of the trial starts anew.
    Trial,
    /// A replacement is unfinished. The steps resolve it.
    Unfinished(Vec<UpdateStep>),
}

impl UpdateState {
    /// Returns the steps by which `to` replaces `from`, on trial. The state comes first: a current version that the
    /// state does not list as on trial would never be rolled back.
    #[must_use]
    pub fn swap(&self, from: &Version, to: &Version) -> Vec<UpdateStep> {
        let (from, to) = (from.clone(), to.clone());
        let pending = Pending { from, to: to.clone(), starts: 0, failed: None, innocent: false };
        let skipped = self.skipped.iter().filter(|skipped| skipped.version != to).cloned();
        let state = Self {
            schema: SCHEMA,
            pending: Some(pending),
            skipped: skipped.collect(),
            ..self.clone()
        };
        vec![UpdateStep::Write(state.into()), UpdateStep::Point(to)]
    }

    /// Returns the steps that restore the previous version, none if no replacement is pending. The reason comes first:
    /// if the pointer moved before the reason was stored, the version would count as never tried.
    #[must_use]
    pub fn roll_back(&self, failure: TrialFailure) -> Vec<UpdateStep> {
        let Some(pending) = &self.pending else { return Vec::new() };
        let (failed, innocent) = (Some(failure.reason), !failure.is_its_fault);
        let condemned = Pending { failed, innocent, ..pending.clone() };
        let first = Self { schema: SCHEMA, pending: Some(condemned), ..self.clone() };
        [vec![UpdateStep::Write(first.clone().into())], first.finish_roll_back()].concat()
    }

    fn finish_roll_back(&self) -> Vec<UpdateStep> {
        let Some(Pending { from, to, failed: Some(reason), innocent, .. }) = &self.pending else {
            return Vec::new();
        };
        let (outcome, reason) = (UpdateEnd::RolledBack, reason.clone());
        let last = UpdateOutcome {
            from: from.clone(),
            to: to.clone(),
            outcome,
            reason: Some(reason.clone()),
        };
        let ended = Self { pending: None, last: Some(last), ..self.clone() };
        let ended = if *innocent { ended } else { ended.skip(to, reason) };
        vec![UpdateStep::Point(from.clone()), UpdateStep::Write(ended.into())]
    }

    /// Returns the state after the commit of the version on trial. None if no version is on trial.
    #[must_use]
    pub fn commit(&self) -> Option<Self> {
        let Pending { from, to, .. } = self.pending.clone()?;
        let last =
            UpdateOutcome { from: from.clone(), to, outcome: UpdateEnd::Committed, reason: None };
        let previous = Some(from);
        Some(Self { schema: SCHEMA, pending: None, previous, last: Some(last), ..self.clone() })
    }

    /// Returns the state with `version` added to the versions that are not installed again automatically.
    #[must_use]
    pub fn skip(&self, version: &Version, reason: String) -> Self {
        let others = self.skipped.iter().filter(|skipped| skipped.version != *version).cloned();
        let mut skipped: Vec<_> = others.collect();
        skipped.push(Skipped { version: version.clone(), reason });
        let excess = skipped.len().saturating_sub(REMEMBERED);
        Self { schema: SCHEMA, skipped: skipped.split_off(excess), ..self.clone() }
    }

    /// Returns the text of the state file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a state has only string keys");
        format!("{text}\n")
    }

    /// Decides how to proceed when the guard starts or its agent has ended. `current` is the current version.
    #[must_use]
    pub fn found(&self, current: &Version) -> TrialState {
        match &self.pending {
            None => TrialState::Nothing,
            Some(Pending { failed: Some(_), .. }) => {
                TrialState::Unfinished(self.finish_roll_back())
            }
            Some(pending) if pending.to == *current => TrialState::Trial,
            // The pointer was never moved to the new version.
            Some(_) => TrialState::Unfinished(vec![UpdateStep::Write(
                Self { pending: None, ..self.clone() }.into(),
            )]),
        }
    }

    /// Returns the versions to keep on disk: the current, the previous and the pending one.
    #[must_use]
    pub fn kept<'a>(&'a self, current: &'a Version) -> Vec<&'a Version> {
        let pending = self.pending.iter().flat_map(|pending| [&pending.from, &pending.to]);
        [current].into_iter().chain(&self.previous).chain(pending).collect()
    }
}

#[cfg(test)]
mod tests;
