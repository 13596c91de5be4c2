//! What is decided about updates: whether a release may be installed, in which order one takes the
//! place of another, and what an interrupted replacement means. Pure; the shells are
//! [`crate::stage`], [`crate::versions`] and the guard.
//!
//! One file holds the state. A replacement is written there before the pointer moves, and only the
//! guard ends it: it commits the new version, or puts the one before back and notes why.

use jiff::Timestamp;
use link_protocol::{
    release::{Channel, Freshness, Manifest, is_downgrade},
    update::{UpdateEnd, UpdateOutcome},
};
use semver::Version;
use serde::{Deserialize, Serialize};

/// The version of the state file.
pub const SCHEMA: u32 = 1;

/// Starts of the guard that a version on trial may need: more than that, and it is not its fault
/// alone, but it is not kept.
pub const TRIAL_STARTS: u32 = 3;

/// Bad versions that are remembered.
const REMEMBERED: usize = 16;

/// What is known of updates on this machine.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct UpdateState {
    pub schema: u32,
    /// A version that is on trial, or about to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// The version that ran before the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Version>,
    /// Versions that were rolled back, or did not pass their check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<UpdateOutcome>,
}

/// A replacement under way.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Pending {
    pub from: Version,
    pub to: Version,
    /// How often the guard has started with it.
    #[serde(default)]
    pub starts: u32,
    /// Why it is being rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// That is no fault of its own: it may be tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub innocent: bool,
}

/// Why a version is rolled back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    pub reason: String,
    /// It is not installed again by itself.
    pub is_its_fault: bool,
}

/// A version that is not installed again by itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Skipped {
    pub version: Version,
    pub reason: String,
}

/// What is installed.
#[derive(Clone, Copy, Debug)]
pub struct Installed<'a> {
    pub version: &'a Version,
    /// The counter of its signed release; nothing when its signature was not checked.
    pub counter: Option<u64>,
    pub channel: Channel,
}

/// What is asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// The newest when absent.
    pub version: Option<Version>,
    /// Also one that was rolled back before.
    pub again: bool,
    /// How well tried it must be at least; as well as what is installed when absent.
    pub channel: Option<Channel>,
}

/// Why nothing is installed.
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
    #[error("version {0} is on trial; its time is not over")]
    OnTrial(Version),
}

/// Decides whether the release of `manifest` is installed.
///
/// # Errors
/// [`Declined`] with the reason.
pub fn decide(
    state: &UpdateState,
    installed: Installed<'_>,
    wanted: &Wanted,
    manifest: &Manifest,
    now: Timestamp,
) -> Result<(), Declined> {
    let offered = manifest.version.clone();
    // First: a second trial would forget which version is known to be good.
    if let Some(pending) = &state.pending {
        return Err(Declined::OnTrial(pending.to.clone()));
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
    // Last: where nothing would be installed anyway, a wrong clock is nobody's concern.
    if manifest.freshness(now) == Freshness::Expired {
        return Err(Declined::Expired);
    }
    Ok(())
}

/// One step of replacing a version by another; each is on disk before the next one begins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    Write(Box<UpdateState>),
    /// Let `current` stand for this version.
    Point(Version),
}

/// What an interrupted replacement means when the guard starts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Found {
    /// Nothing is pending.
    Nothing,
    /// A version is on trial; its window begins anew.
    Trial,
    /// These steps end it.
    Unfinished(Vec<Step>),
}

impl UpdateState {
    /// The steps by which `to` takes the place of `from`, on trial. The state comes first: a
    /// version that is pointed to and not known to be on trial would never be rolled back.
    #[must_use]
    pub fn swap(&self, from: &Version, to: &Version) -> Vec<Step> {
        let (from, to) = (from.clone(), to.clone());
        let pending = Pending { from, to: to.clone(), starts: 0, failed: None, innocent: false };
        let skipped = self.skipped.iter().filter(|skipped| skipped.version != to).cloned();
        let state = Self {
            schema: SCHEMA,
            pending: Some(pending),
            skipped: skipped.collect(),
            ..self.clone()
        };
        vec![Step::Write(state.into()), Step::Point(to)]
    }

    /// The steps by which the version before takes its place back; none when nothing is pending.
    /// The reason comes first: a version that was pointed away from before it was condemned would
    /// be taken for one that was never tried.
    #[must_use]
    pub fn roll_back(&self, failure: Failure) -> Vec<Step> {
        let Some(pending) = &self.pending else { return Vec::new() };
        let (failed, innocent) = (Some(failure.reason), !failure.is_its_fault);
        let condemned = Pending { failed, innocent, ..pending.clone() };
        let first = Self { schema: SCHEMA, pending: Some(condemned), ..self.clone() };
        [vec![Step::Write(first.clone().into())], first.finish_roll_back()].concat()
    }

    fn finish_roll_back(&self) -> Vec<Step> {
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
        vec![Step::Point(from.clone()), Step::Write(ended.into())]
    }

    /// The state once the version on trial is kept; nothing when none is.
    #[must_use]
    pub fn commit(&self) -> Option<Self> {
        let Pending { from, to, .. } = self.pending.clone()?;
        let last =
            UpdateOutcome { from: from.clone(), to, outcome: UpdateEnd::Committed, reason: None };
        let previous = Some(from);
        Some(Self { schema: SCHEMA, pending: None, previous, last: Some(last), ..self.clone() })
    }

    /// The state with `version` among those that are not installed again by themselves.
    #[must_use]
    pub fn skip(&self, version: &Version, reason: String) -> Self {
        let others = self.skipped.iter().filter(|skipped| skipped.version != *version).cloned();
        let mut skipped: Vec<_> = others.collect();
        skipped.push(Skipped { version: version.clone(), reason });
        let excess = skipped.len().saturating_sub(REMEMBERED);
        Self { schema: SCHEMA, skipped: skipped.split_off(excess), ..self.clone() }
    }

    /// The text of the state file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a state has only string keys");
        format!("{text}\n")
    }

    /// Decides what to do with what the guard finds at its start, or when its agent has ended.
    /// `current` is the version that is pointed to.
    #[must_use]
    pub fn found(&self, current: &Version) -> Found {
        match &self.pending {
            None => Found::Nothing,
            Some(Pending { failed: Some(_), .. }) => Found::Unfinished(self.finish_roll_back()),
            Some(pending) if pending.to == *current => Found::Trial,
            // The pointer was never moved.
            Some(_) => {
                Found::Unfinished(vec![Step::Write(Self { pending: None, ..self.clone() }.into())])
            }
        }
    }

    /// The versions that stay on disk: the current one, the one before, and what is pending.
    #[must_use]
    pub fn kept<'a>(&'a self, current: &'a Version) -> Vec<&'a Version> {
        let pending = self.pending.iter().flat_map(|pending| [&pending.from, &pending.to]);
        [current].into_iter().chain(&self.previous).chain(pending).collect()
    }
}

#[cfg(test)]
mod tests;
