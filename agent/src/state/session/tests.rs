//! Session files on a real disk.

use link_agent_core::record::PipelineRecord;
use link_protocol::{
    allowlist::Allowlist,
    command::{ModelFile, ProxyFeatures, ServingConfig},
    counter::{Epoch, Generation},
    identity::{SCHEMA_VERSION, encode_seed},
    registration::{TransportSettings, TransportType},
    secret::Secret,
};

use super::*;

const ID: &str = "00000000000000000000000000000001";

// Holds: S2.3-9b
#[tokio::test]
async fn the_next_run_takes_up_what_the_latest_session_had() {
    let dir = tempfile::tempdir().unwrap();
    let roots = Roots::below(dir.path());
    let mut first = begin(&roots, "2026-08-07T12:00:00Z").await;
    first.apply(&[Change::PutPipeline(record(true))]).await.unwrap();
    drop(first);
    // The clock was set back by two days.
    let second = begin(&roots, "2026-08-05T12:00:00Z").await;
    assert_eq!(second.pipelines(), [record(true)]);
    drop(second);
    let third = begin(&roots, "2026-08-05T12:00:00Z").await;
    assert_eq!(third.pipelines(), [record(true)]);
    assert_eq!(names(&roots.sessions()).unwrap().len(), 3);
}

/// Only the names of session files depend on the device's clock, because the core cannot read it.
#[tokio::test]
async fn a_clock_that_jumps_by_48_hours_either_way_loses_no_session() {
    let dir = tempfile::tempdir().unwrap();
    let roots = Roots::below(dir.path());
    let jumps = ["2026-08-07T12:00:00Z", "2026-08-09T12:00:00Z", "2026-08-05T12:00:00Z"];
    for (generation, now) in (1..).map(Generation).zip(jumps.into_iter().cycle().take(12)) {
        let mut session = begin(&roots, now).await;
        let before = session.pipelines().first().map_or(Generation(0), |record| record.generation);
        assert_eq!(before.next(), generation, "{now}");
        let change = PipelineRecord { generation, ..record(true) };
        session.apply(&[Change::PutPipeline(change)]).await.unwrap();
    }
}

#[tokio::test]
async fn a_torn_session_is_kept_and_the_one_before_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let roots = Roots::below(dir.path());
    begin(&roots, "2026-08-07T12:00:00Z")
        .await
        .apply(&[Change::PutPipeline(record(true))])
        .await
        .unwrap();
    let whole = roots.sessions().join(&names(&roots.sessions()).unwrap()[0]);
    let text = fs::read_to_string(&whole).unwrap();
    let torn = roots.sessions().join("session_20260808T000000000Z.json");
    fs::write_atomic(&torn, &text.as_bytes()[..text.len() / 2]).unwrap();
    let unreadable = roots.sessions().join("session_20260809T000000000Z.json");
    fs::write_atomic(&unreadable, &[0xff, 0xfe]).unwrap();
    for _ in 0..8 {
        assert_eq!(begin(&roots, "2026-08-10T12:00:00Z").await.pipelines(), [record(true)]);
    }
    assert!(torn.exists() && unreadable.exists());
    assert_eq!(names(&roots.sessions()).unwrap().len(), link_agent_core::session::KEPT + 2);
}

#[tokio::test]
async fn a_change_that_cannot_be_written_did_not_happen() {
    let dir = tempfile::tempdir().unwrap();
    let roots = Roots::below(dir.path());
    let mut session = begin(&roots, "2026-08-07T12:00:00Z").await;
    fs::remove_dir(&roots.sessions()).unwrap();
    fs::write_atomic(&roots.sessions(), b"no folder").unwrap();
    assert!(session.apply(&[Change::PutPipeline(record(true))]).await.is_err());
    assert_eq!(session.pipelines(), []);
}

async fn begin(roots: &Roots, now: &str) -> SessionFile {
    let found = find(roots, Some(identity().device_id)).unwrap();
    SessionFile::begin(roots, found, identity(), now.parse().unwrap()).await.unwrap()
}

fn identity() -> Identity {
    Identity {
        schema_version: SCHEMA_VERSION.to_owned(),
        backend_url: "https://link.example".to_owned(),
        device_id: format!("dev_{ID}").parse().unwrap(),
        device_token: Secret::new("token"),
        epoch: Epoch(1),
        transport: TransportSettings { r#type: TransportType::Http },
        backend_keys: Vec::new(),
        private_key_seed: encode_seed(&[3; 32]),
    }
}

fn record(serve: bool) -> PipelineRecord {
    let model_id = format!("mdl_{ID}").parse().unwrap();
    PipelineRecord {
        config: ServingConfig {
            pipeline_id: format!("pip_{ID}").parse().unwrap(),
            model_id,
            alias: "tiny".parse().unwrap(),
            plugin: "language_model".to_owned(),
            port: 8080.try_into().unwrap(),
            allowlist: Allowlist::new([]),
            proxy: ProxyFeatures::default(),
            settings: link_protocol::plugin::Settings::default(),
        },
        file: ModelFile {
            model_id,
            file_name: "tiny.gguf".parse().unwrap(),
            url: None,
            sha256: "a".repeat(64).parse().unwrap(),
            size_bytes: 1000,
        },
        serve,
        explicit: false,
        generation: Generation(1),
        removing: false,
    }
}
