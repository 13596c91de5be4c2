//! A shell that does nothing, and tells the agent that it was done or that it failed.

use std::{collections::VecDeque, time::Duration};

use link_agent_core::{
    agent::Agent,
    clock::Now,
    effect::Effect,
    event::{DownloadFailure, Event, Staged},
    record::Change,
};

/// How what the agent wants turns out.
#[derive(Clone, Copy)]
pub(crate) enum Luck {
    Good,
    Bad,
    Mixed,
}

/// Events that one play has at most: an agent tries again for as long as it lives.
const EVENTS: usize = 40;

/// What is due later than this is not waited for.
const HORIZON: Now = Duration::from_secs(100_000_000);

impl Luck {
    pub(crate) const ALL: [Self; 3] = [Self::Good, Self::Bad, Self::Mixed];

    fn holds(self, turn: usize) -> bool {
        match self {
            Self::Good => true,
            Self::Bad => false,
            Self::Mixed => turn.is_multiple_of(2),
        }
    }
}

/// Lets `agent` go on from `effects` with `events`, one turn after the other, and returns what it
/// has written down.
pub(crate) fn play(
    mut agent: Agent,
    effects: Vec<Effect>,
    events: Vec<Event>,
    luck: Luck,
) -> Vec<Change> {
    let mut now = Duration::from_secs(1);
    let mut queue = VecDeque::from(events);
    let mut changes = take_in(effects, luck.holds(0), &mut queue);
    for turn in 1..=EVENTS {
        now += Duration::from_secs(1);
        let event = match (queue.pop_front(), agent.deadline()) {
            (Some(event), _) => event,
            (None, Some(at)) if at < HORIZON => {
                now = now.max(at);
                Event::DeadlineReached
            }
            (None, _) => break,
        };
        let effects = agent.handle(event, now);
        changes.extend(take_in(effects, luck.holds(turn), &mut queue));
        assert!(serde_json::to_string(&agent.hello()).is_ok());
    }
    changes
}

/// Answers `effects`; changes come first or not at all.
fn take_in(effects: Vec<Effect>, good: bool, queue: &mut VecDeque<Event>) -> Vec<Change> {
    let mut changes = Vec::new();
    for (place, effect) in effects.into_iter().enumerate() {
        if let Effect::Persist(made) = effect {
            assert_eq!(place, 0, "changes are the first effect of a turn");
            changes = made;
        } else {
            queue.extend(answer(effect, good));
        }
    }
    changes
}

fn answer(effect: Effect, good: bool) -> Option<Event> {
    let outcome = if good { Ok(()) } else { Err("it failed".to_owned()) };
    Some(match effect {
        Effect::SendReport(entry) if good => Event::ReportSent { id: entry.id },
        Effect::SendReport(entry) => Event::ReportDeferred { id: entry.id, retry_after: None },
        Effect::Download { download, .. } => {
            Event::DownloadEnded { download, outcome: outcome.map_err(DownloadFailure::Failed) }
        }
        Effect::CancelDownload { download } => {
            Event::DownloadEnded { download, outcome: Err(DownloadFailure::Cancelled) }
        }
        Effect::ReservePort { run, route } => {
            Event::PortReserved { pipeline_id: route.pipeline_id, run, port: route.port, outcome }
        }
        Effect::StartEngine { pipeline_id, run, .. } if good => {
            Event::EngineReady { pipeline_id, run }
        }
        Effect::StartEngine { pipeline_id, run, .. } => {
            Event::EngineEnded { pipeline_id, run, reason: "it failed".to_owned() }
        }
        Effect::KillEngine { pipeline_id, run, reason } => {
            Event::EngineEnded { pipeline_id, run, reason }
        }
        Effect::StopEngine { pipeline_id, run } => Event::EngineStopped { pipeline_id, run },
        Effect::DeleteModel { pipeline_id, .. } => Event::ModelDeleted { pipeline_id, outcome },
        Effect::StageUpdate { request, .. } if good => Event::UpdateStaged(
            request.version.map_or_else(|| Staged::Declined("none".to_owned()), Staged::Ready),
        ),
        Effect::StageUpdate { .. } => Event::UpdateStaged(Staged::Failed("it failed".to_owned())),
        Effect::Persist(_)
        | Effect::SendReceipt(_)
        | Effect::ReplaceRoute(_)
        | Effect::ReleasePort { .. }
        | Effect::PruneModel { .. }
        | Effect::DiscardFile(_)
        | Effect::ReplaceAgent { .. }
        | Effect::HandOver { .. }
        | Effect::Log(_) => return None,
    })
}
