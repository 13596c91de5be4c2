//! Mutants: deliberately broken cores. The simulation must catch each of them.

use link_agent_core::{
    effect::Effect,
    event::Event,
    record::{Change, Report, Snapshot, Steps},
};

/// The fault of a mutant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mutant {
    /// No fault: the real core.
    None,
    ReceiptBeforePersist,
    LedgerForgottenAtRestart,
    ResultNotPersisted,
    PipelineNotPersisted,
    ReportsNotPersisted,
    ReportsForgottenAtRestart,
    ReportSentTwiceAtATime,
    PortNotReleased,
    PortReleasedTwice,
    EngineNotStopped,
    RepairRestartsTheEngine,
    RouteNotReplaced,
    RouteKeepsTheOldAllowlist,
    DownloadedAgainWhenDone,
    ServingForgottenAtRestart,
    SessionWrittenLast,
}

impl Mutant {
    pub(super) const ALL: [Self; 16] = [
        Self::ReceiptBeforePersist,
        Self::LedgerForgottenAtRestart,
        Self::ResultNotPersisted,
        Self::PipelineNotPersisted,
        Self::ReportsNotPersisted,
        Self::ReportsForgottenAtRestart,
        Self::ReportSentTwiceAtATime,
        Self::PortNotReleased,
        Self::PortReleasedTwice,
        Self::EngineNotStopped,
        Self::RepairRestartsTheEngine,
        Self::RouteNotReplaced,
        Self::RouteKeepsTheOldAllowlist,
        Self::DownloadedAgainWhenDone,
        Self::ServingForgottenAtRestart,
        Self::SessionWrittenLast,
    ];

    /// Damages the state that the core reads at its start.
    pub(super) fn at_restart(self, snapshot: &mut Snapshot) {
        match self {
            Self::LedgerForgottenAtRestart => snapshot.commands.clear(),
            Self::ReportsForgottenAtRestart => snapshot.outbox.clear(),
            Self::ServingForgottenAtRestart => snapshot.pipelines.clear(),
            Self::DownloadedAgainWhenDone => {
                snapshot.commands.iter_mut().for_each(|entry| entry.result = None);
            }
            Self::None
            | Self::ReceiptBeforePersist
            | Self::ResultNotPersisted
            | Self::PipelineNotPersisted
            | Self::ReportsNotPersisted
            | Self::ReportSentTwiceAtATime
            | Self::PortNotReleased
            | Self::PortReleasedTwice
            | Self::EngineNotStopped
            | Self::RepairRestartsTheEngine
            | Self::RouteNotReplaced
            | Self::RouteKeepsTheOldAllowlist
            | Self::SessionWrittenLast => {}
        }
    }

    /// Changes the order of writes.
    pub(super) fn order(self, steps: Steps) -> [Vec<Change>; 4] {
        let Steps { intake, put, journal, removed } = steps;
        if self == Self::SessionWrittenLast {
            [intake, journal, put, removed]
        } else {
            [intake, put, journal, removed]
        }
    }

    /// Changes the decision of the core.
    pub(super) fn twist(self, event: Option<&Event>, effects: Vec<Effect>) -> Vec<Effect> {
        let commands_came = matches!(event, Some(Event::Polled { .. } | Event::Welcomed(_)));
        match self {
            Self::None
            | Self::LedgerForgottenAtRestart
            | Self::ReportsForgottenAtRestart
            | Self::DownloadedAgainWhenDone
            | Self::ServingForgottenAtRestart
            | Self::SessionWrittenLast => effects,
            Self::ReceiptBeforePersist => {
                let (mut first, rest): (Vec<_>, Vec<_>) =
                    effects.into_iter().partition(|one| matches!(one, Effect::SendReceipt(_)));
                first.extend(rest);
                first
            }
            Self::ResultNotPersisted => without(
                effects,
                |change| matches!(change, Change::PutCommand(entry) if entry.result.is_some()),
            ),
            Self::PipelineNotPersisted => {
                without(effects, |change| matches!(change, Change::PutPipeline(_)))
            }
            Self::ReportsNotPersisted => without(effects, |change| {
                matches!(change, Change::PutReport(entry)
                    if matches!(entry.report, Report::Command(_)))
            }),
            Self::ReportSentTwiceAtATime => {
                let sent = |one: &Effect| matches!(one, Effect::SendReport(_));
                doubled(effects, sent)
            }
            Self::PortNotReleased => {
                dropped(effects, |one| matches!(one, Effect::ReleasePort { .. }))
            }
            Self::PortReleasedTwice => {
                doubled(effects, |one| matches!(one, Effect::ReleasePort { .. }))
            }
            Self::EngineNotStopped => {
                dropped(effects, |one| matches!(one, Effect::StopEngine { .. }))
            }
            Self::RepairRestartsTheEngine => changed(effects, |effect| {
                if let Effect::ReplaceRoute(route) = effect
                    && let Some(run) = route.engine
                    && commands_came
                {
                    *effect = Effect::StopEngine { pipeline_id: route.pipeline_id, run };
                }
            }),
            Self::RouteNotReplaced => {
                dropped(effects, |one| matches!(one, Effect::ReplaceRoute(_)))
            }
            Self::RouteKeepsTheOldAllowlist => changed(effects, |effect| {
                if let Effect::ReplaceRoute(route) = effect {
                    route.allowlist = link_protocol::allowlist::Allowlist::new([]);
                }
            }),
        }
    }
}

fn without(effects: Vec<Effect>, unwanted: impl Fn(&Change) -> bool) -> Vec<Effect> {
    changed(effects, |effect| {
        if let Effect::Persist(changes) = effect {
            changes.retain(|change| !unwanted(change));
        }
    })
}

fn changed(mut effects: Vec<Effect>, change: impl Fn(&mut Effect)) -> Vec<Effect> {
    effects.iter_mut().for_each(change);
    effects
}

fn dropped(mut effects: Vec<Effect>, unwanted: impl Fn(&Effect) -> bool) -> Vec<Effect> {
    effects.retain(|effect| !unwanted(effect));
    effects
}

fn doubled(effects: Vec<Effect>, twice: impl Fn(&Effect) -> bool) -> Vec<Effect> {
    let copies =
        |effect: Effect| if twice(&effect) { vec![effect.clone(), effect] } else { vec![effect] };
    effects.into_iter().flat_map(copies).collect()
}
