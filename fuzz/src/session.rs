//! Session files: no usable one is lost, and whichever is resumed, the agent lives with it.
//!
//! The bytes are a folder of session files with a zero byte between each two.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use link_agent_core::{
    agent::Agent,
    event::{Event, Wish},
    record::{Identity, Snapshot},
    session::{KEPT, Session, SessionFolder, Unusable, choose},
};
use link_protocol::{agent_api::Welcome, id::DeviceId};

use super::play;

/// Checks `data`, and says which kinds of files it holds.
#[must_use]
pub fn check(data: &[u8]) -> Vec<String> {
    let texts = String::from_utf8_lossy(data);
    let files: Vec<_> = texts
        .split('\0')
        .take(2 * KEPT)
        .enumerate()
        .map(|(number, text)| (format!("session_{number}.json"), text.to_owned()))
        .collect();
    let mut reached = Vec::new();
    let mut owners = BTreeSet::new();
    for (_, text) in &files {
        reached.push(match Session::parse(text) {
            Ok(session) => {
                assert_eq!(Session::parse(&session.to_text()), Ok(session.clone()));
                owners.insert(session.identity.device_id);
                "Usable".to_owned()
            }
            Err(unusable) => describe(&unusable),
        });
    }
    for device in owners.into_iter().map(Some).chain([None]) {
        if let Some(session) = choice(&files, device, &mut reached) {
            resume(&session);
        }
    }
    reached
}

fn describe(unusable: &Unusable) -> String {
    match unusable {
        Unusable::SchemaVersion(shown) => {
            assert!(shown.chars().count() <= 20, "a short part of the file is shown");
            "SchemaVersion".to_owned()
        }
        Unusable::Damaged { line, .. } => {
            assert_eq!(
                unusable.to_string().split(" at ").next(),
                Some("it is damaged"),
                "nothing of the file is shown"
            );
            assert!(*line > 0);
            "Damaged".to_owned()
        }
        Unusable::Foreign(device) => {
            assert_eq!(unusable.to_string(), format!("it is of {device}"));
            "Foreign".to_owned()
        }
    }
}

/// The session that is resumed: of the usable ones, one with the highest revision.
fn choice(
    files: &[(String, String)],
    device: Option<DeviceId>,
    reached: &mut Vec<String>,
) -> Option<Session> {
    let found = choose(files, device);
    let usable: Vec<_> = files
        .iter()
        .filter_map(|(name, text)| Some((name, Session::parse(text).ok()?)))
        .filter(|(_, session)| device.is_none_or(|device| session.identity.device_id == device))
        .collect();
    for (name, _) in files {
        let skipped = found.skipped.contains_key(name);
        assert_ne!(skipped, usable.iter().any(|(other, _)| *other == name), "{name}");
    }
    assert_eq!(found.latest.is_some(), !usable.is_empty());
    assert_eq!(found.needless.len(), usable.len().saturating_sub(KEPT - 1));
    let latest = found.latest?;
    let revisions = usable.iter().map(|(_, session)| session.revision);
    assert_eq!(revisions.max(), Some(latest.revision));
    let kept = usable.iter().filter(|(name, _)| !found.needless.contains(*name));
    assert!(kept.clone().any(|(_, session)| *session == latest));
    let oldest_kept = kept.map(|(_, session)| session.revision).min();
    let needless = usable.iter().filter(|(name, _)| found.needless.contains(*name));
    assert!(needless.map(|(_, session)| session.revision).max() <= oldest_kept);
    reached.extend(found.skipped.values().map(describe));
    Some(latest)
}

/// Lets an agent take up `session`; what it writes down makes another session that reads back.
fn resume(session: &Session) {
    for luck in play::Luck::ALL {
        let identity = Identity {
            device_id: session.identity.device_id,
            epoch: session.identity.epoch,
            boot_id: "boot".to_owned(),
            agent_version: semver::Version::new(1, 0, 0),
            last_update: None,
        };
        let pipelines = session.pipelines.clone();
        let snapshot = Snapshot { pipelines, ..Snapshot::default() };
        assert_eq!(snapshot.files().len(), session.pipelines.len());
        let pinned = session.identity.backend_keys.clone();
        let (agent, effects) = Agent::restore(identity, pinned, snapshot, Duration::ZERO);
        let changes = play::play(agent, effects, wishes(session), luck);
        let mut next = Session::after(
            SessionFolder {
                latest: Some(session.clone()),
                revision: session.revision,
                ..SessionFolder::default()
            },
            session.identity.clone(),
        );
        next.apply(&changes);
        assert!(next.revision >= session.revision, "an older session never becomes the latest");
        assert_eq!(Session::parse(&next.to_text()), Ok(next));
    }
}

/// The backend answers, and a person wants everything of the first pipelines.
fn wishes(session: &Session) -> Vec<Event> {
    let welcome = Welcome {
        server_time: Timestamp::UNIX_EPOCH,
        epoch: session.identity.epoch,
        commands: Vec::new(),
        handover: None,
    };
    let pipelines = session.pipelines.iter().take(3).map(|record| record.config.pipeline_id);
    let wishes = pipelines.flat_map(|id| {
        [Wish::Serve(id), Wish::CancelDeploy(id), Wish::Stop(id), Wish::Serve(id), Wish::Remove(id)]
    });
    [Event::Welcomed(welcome)].into_iter().chain(wishes.map(Event::Wished)).collect()
}
