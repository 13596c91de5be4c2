//! Tests which session is resumed, and which changes a session records.

use link_protocol::{
    counter::{Epoch, Generation, Seq},
    identity::encode_seed,
    registration::{TransportSettings, TransportType},
    secret::Secret,
    signing::SigningKey,
};
use proptest::prelude::*;

use super::*;
use crate::{
    record::Steps,
    tests::{device_id, id, pipeline, record},
};

#[test]
fn a_session_reads_back_as_it_was_written() {
    let session = session(7);
    assert_eq!(Session::parse(&session.to_text()), Ok(session));
}

// Holds: S2.3-2b, S9-2
#[test]
fn a_session_of_another_schema_is_skipped_and_kept() {
    for version in ["2.0", "1", "2.2"] {
        let text = format!("{{\"schema_version\": \"{version}\", \"pipelines\": 1}}");
        let found = choose(&[file("session_1.json", &text), whole("session_0.json", 3)], None);
        assert_eq!(found.latest, Some(session(3)));
        let reason = Unusable::SchemaVersion(version.to_owned());
        assert_eq!(found.skipped, BTreeMap::from([("session_1.json".to_owned(), reason)]));
        assert_eq!(found.needless, [""; 0]);
    }
}

#[test]
fn a_torn_session_is_skipped_wherever_it_was_torn() {
    let text = session(9).to_text();
    for end in 0..text.trim_end().len() {
        let found =
            choose(&[file("session_2.json", &text[..end]), whole("session_1.json", 8)], None);
        assert_eq!(found.latest, Some(session(8)), "{end}");
        let skipped = &found.skipped["session_2.json"];
        assert!(matches!(skipped, Unusable::Damaged { .. }), "{skipped}");
        assert!(!skipped.to_string().contains("canary"));
    }
}

#[test]
fn a_session_of_another_device_is_skipped() {
    let other = id(DeviceId::PREFIX, 2);
    let files = [whole("session_1.json", 1)];
    let found = choose(&files, Some(other));
    assert_eq!(found.latest, None);
    assert_eq!(found.skipped["session_1.json"], Unusable::Foreign(device_id()));
    assert_eq!(choose(&files, Some(device_id())).latest, Some(session(1)));
}

/// The clock was set back two days before the later session began.
#[test]
fn the_revision_decides_which_session_is_the_latest_and_not_the_clock() {
    let early = file_name("2026-08-05T12:00:00.250Z".parse().unwrap());
    let late = file_name("2026-08-07T12:00:00Z".parse().unwrap());
    assert_eq!((&*early, is_session(&early)), ("session_20260805T120000250Z.json", true));
    let found = choose(&[whole(&late, 4), whole(&early, 5)], None);
    assert_eq!(found.latest, Some(session(5)));
}

#[test]
fn a_few_sessions_are_kept_and_nothing_else_is_ever_needless() {
    let mut files: Vec<_> = (0..9).map(|n| whole(&format!("session_{n}.json"), n)).collect();
    files.push(file("session_x.json", "{"));
    let found = choose(&files, None);
    let needless = ["session_4.json", "session_3.json", "session_2.json", "session_1.json"];
    assert_eq!(found.needless, [&needless[..], &["session_0.json"]].concat());
}

#[test]
fn a_session_goes_on_where_the_one_before_ended() {
    let found = choose(&[whole("session_1.json", 7)], None);
    let mut next = Session::after(found, session(7).identity);
    next.apply(&[Change::PutPipeline(record(2, true)), Change::SetLastSeq(Seq(3))]);
    assert_eq!(next.revision, 8);
    assert_eq!(next.pipelines, [record(1, true), record(2, true)]);
    let changed = PipelineRecord { generation: Generation(5), ..record(1, false) };
    next.apply(&[Change::PutPipeline(changed.clone()), Change::RemovePipeline(pipeline(2))]);
    assert_eq!((next.revision, &next.pipelines), (9, &vec![changed]));
}

#[test]
fn a_session_of_a_former_device_never_counts_as_the_latest_again() {
    let former = whole("session_1.json", 500);
    let found = choose(std::slice::from_ref(&former), Some(id(DeviceId::PREFIX, 2)));
    assert!(!found.doubtful);
    let identity = Identity { device_id: id(DeviceId::PREFIX, 2), ..session(1).identity };
    let mut next = Session::after(found, identity.clone());
    next.apply(&[]);
    assert_eq!((next.revision, next.pipelines.len()), (501, 0));
    let latest = choose(&[former, file("session_2.json", &next.to_text())], None).latest;
    assert_eq!(latest.map(|session| session.identity), Some(identity));
    assert!(choose(&[file("session_3.json", "{")], None).doubtful);
}

#[test]
fn a_pipeline_that_is_set_up_again_in_the_turn_of_its_removal_stays() {
    let again = Change::PutPipeline(record(1, false));
    let steps = Steps::of(vec![
        Change::RemovePipeline(pipeline(1)),
        Change::SetLastSeq(Seq(1)),
        again.clone(),
        Change::RemovePipeline(pipeline(2)),
    ]);
    assert_eq!(steps.intake, [Change::SetLastSeq(Seq(1))]);
    assert_eq!((steps.put, steps.journal), (vec![again], vec![]));
    assert_eq!(steps.removed, [Change::RemovePipeline(pipeline(2))]);
}

proptest! {
    #[test]
    fn no_file_brings_the_reader_down(text in ".*", name in ".*") {
        let found = choose(&[(name, text)], None);
        prop_assert_eq!(found.latest.is_none(), found.skipped.len() == 1);
    }
}

fn whole(name: &str, revision: u64) -> (String, String) {
    file(name, &session(revision).to_text())
}

fn file(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

fn session(revision: u64) -> Session {
    let identity = Identity {
        schema_version: SCHEMA_VERSION.to_owned(),
        backend_url: "https://link.example".to_owned(),
        device_id: device_id(),
        device_token: Secret::new("canary"),
        epoch: Epoch(1),
        transport: TransportSettings { r#type: TransportType::Http },
        backend_keys: vec![SigningKey::from_seed(&[2; 32]).verifying().clone()],
        private_key_seed: encode_seed(&[3; 32]),
    };
    let pipelines = vec![record(1, true)];
    Session { schema_version: SCHEMA_VERSION.to_owned(), revision, identity, pipelines }
}
