//! Compares every JSON body of the wire with a file in `golden/`, so that changes become visible.
//!
//! An example is written and compared with its file, and the file is read back and compared with
//! the example. `LINK_BLESS=1` rewrites the files. Readers on the agent's side and of answers must
//! tolerate fields that they do not know; requests of people and scripts refuse them.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads the golden files and its own setting, and ends when one is missing"
)]

#[path = "golden/backend_api.rs"]
mod backend_api;

use std::{collections::BTreeSet, fmt::Debug, path::PathBuf, str::FromStr};

use jiff::Timestamp;
use link_protocol::{
    agent_api::{Hello, Inflight, Poll, Welcome},
    allowlist::{Allowlist, Origin},
    command::{
        CancelDeploy, Command, DeployModel, ModelFile, ProxyFeatures, RepairServing, ServingConfig,
        Sha256Hex, StartServing, StopServing, UninstallModel, UpdateAgent, UpdatePipeline,
    },
    counter::{Epoch, Generation, Seq},
    deployment::DeploymentState,
    envelope::{ENVELOPE_VERSION, Envelope, Receipt, ReceiptKind},
    guard_line::{FromAgent, FromGuard},
    handover::Handover,
    id::{DeviceId, ModelId, PipelineId},
    identity::{Identity, SCHEMA_VERSION, encode_seed},
    key::{EnrolmentKey, KeyKind},
    local_api::{
        CancelledDeploy, ConnectionState, Containment, DeploymentProgress, EngineHealth, Healthz,
        Listening, ModelHealth, PipelineEntry, Progress, Proof, TransportState,
    },
    port::Port,
    registration::{
        KeyProof, Platform, RegisterRequest, Registered, TransportSettings, TransportType,
        proof_statement,
    },
    release::Channel,
    report::{
        CommandReport, CommandResult, LifecycleReport, LifecycleStatus, LogRecord, ModelReport,
        ModelState, ProgressEvent, ProgressReport, Provenance, Severity, TelemetryReport,
    },
    secret::Secret,
    signing::{SigningKey, VerifyingKey},
    system::{
        DiskUsage, EngineInUse, EngineUsage, GpuUsage, MemoryUsage, ProcessUsage, SystemReport,
        SystemSample,
    },
    update::{UpdateEnd, UpdateOutcome, UpdatePhase, UpdateProgress, UpdateRequest},
    zenoh::ZenohAccess,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, value::to_raw_value};

/// How a reader treats an unknown field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Unknown {
    Tolerated,
    Refused,
}

/// Reads a text and compares it with the example.
type Reads = Box<dyn Fn(&str) -> Result<bool, String>>;

/// A body of the wire.
struct Example {
    name: &'static str,
    text: String,
    unknown: Unknown,
    reads: Reads,
}

// Holds: S2.1-6, S2.2-1, S2.2-2, S2.2-3, S2.2-4, S2.2-5, S2.4-1, S2.5-1, S3.1-5, S6-1, S6-2a, S6-4, S6-5
#[test]
fn every_body_is_written_and_read_as_its_golden_file_says() {
    let bless = std::env::var("LINK_BLESS").is_ok_and(|value| value == "1");
    let mut different = Vec::new();
    for example in examples() {
        let path = folder().join(format!("{}.json", example.name));
        if bless {
            std::fs::write(&path, &example.text).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        if golden != example.text {
            different.push(format!("{}:\n{}", path.display(), example.text));
            continue;
        }
        assert_eq!((example.reads)(&golden), Ok(true), "{} does not read back", example.name);
    }
    assert!(
        different.is_empty(),
        "run with LINK_BLESS=1 if this is meant:\n{}",
        different.join("\n")
    );
}

#[test]
fn every_golden_file_has_its_example() {
    let mut names: Vec<_> = examples().iter().map(|one| format!("{}.json", one.name)).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "two examples have one name");
    let files = std::fs::read_dir(folder()).unwrap();
    let files: BTreeSet<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    assert_eq!(files, names.into_iter().collect());
}

#[test]
fn unknown_fields_are_refused_in_requests_of_people_and_tolerated_everywhere_else() {
    for example in examples() {
        let read = (example.reads)(&with_fields(&example.text, example.unknown));
        match example.unknown {
            Unknown::Tolerated => assert_eq!(read, Ok(true), "{}", example.name),
            Unknown::Refused => {
                let error = read.expect_err(example.name);
                assert!(error.contains("unknown field `added_later`"), "{}: {error}", example.name);
            }
        }
    }
}

// Holds: S2.4-2, S2.4-3
#[test]
fn a_log_record_without_a_category_is_of_the_category_other() {
    let record: LogRecord =
        serde_json::from_str(r#"{"message": "hello", "severity": "info"}"#).unwrap();
    assert_eq!(record.category, "other");
    let least: LogRecord = serde_json::from_str(r#"{"message": "hello"}"#).unwrap();
    assert_eq!(least, record);
    let debug: LogRecord =
        serde_json::from_str(r#"{"message": "hello", "severity": "debug"}"#).unwrap();
    assert_eq!(debug, record);
    for unknown in ["DEBUG", "INFO", "Warning"] {
        let text = format!(r#"{{"message": "hello", "severity": "{unknown}"}}"#);
        assert!(serde_json::from_str::<LogRecord>(&text).is_err(), "{unknown}");
    }
}

#[test]
fn the_signed_example_opens_with_its_key_and_holds_the_repair() {
    let signed = signed();
    let envelope = signed.open(&[key().verifying().clone()]).unwrap();
    assert_eq!(envelope.command(), Ok(repair()));
    assert_eq!(signed.open(&[]).is_err(), signed.open(&[key_of(9).verifying().clone()]).is_err());
}

/// Returns `text` with an unknown field: in every object, or only where the reader must reject it.
fn with_fields(text: &str, unknown: Unknown) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    if value.get("lane").is_some() {
        // The payload of an envelope must stay the same text, so nothing is serialised again.
        return text.replacen('{', "{\"added_later\": null,", 1);
    }
    add_fields(&mut value, unknown);
    value.to_string()
}

fn add_fields(value: &mut Value, unknown: Unknown) {
    match value {
        Value::Object(fields) => {
            if unknown == Unknown::Tolerated {
                // The proxy features are one strict type for people and devices. The document in an event is any JSON,
                // and keeps what it holds.
                let inside = fields.iter_mut().filter(|(name, field)| {
                    *name != "proxy" && !(*name == "item" && field.is_object())
                });
                inside.for_each(|(_, field)| add_fields(field, unknown));
            }
            fields.insert("added_later".to_owned(), Value::Null);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| add_fields(item, unknown)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn examples() -> Vec<Example> {
    [
        control_plane(),
        commands(),
        reports(),
        registration(),
        backend_api::people(),
        backend_api::answers(),
        local(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn body<T>(name: &'static str, value: T) -> Example
where
    T: Serialize + DeserializeOwned + PartialEq + Debug + 'static,
{
    let mut text = serde_json::to_string_pretty(&value).unwrap();
    text.push('\n');
    let reads = move |text: &str| {
        serde_json::from_str::<T>(text).map(|read| read == value).map_err(|e| e.to_string())
    };
    Example { name, text, unknown: Unknown::Tolerated, reads: Box::new(reads) }
}

fn request<T>(name: &'static str, value: T) -> Example
where
    T: Serialize + DeserializeOwned + PartialEq + Debug + 'static,
{
    Example { unknown: Unknown::Refused, ..body(name, value) }
}

fn control_plane() -> Vec<Example> {
    let inflight = Inflight { command_id: id("cmd_", 5), attempt: 2, running: true };
    vec![
        body(
            "hello",
            Hello {
                epoch: Epoch(1),
                boot_id: "0198f6c0a0b07c3e8d2f4a5b6c7d8e9f".to_owned(),
                agent_version: version(),
                last_seq: Seq(7),
                inflight: vec![inflight],
                serving: vec![model_report()],
            },
        ),
        body(
            "welcome",
            Welcome {
                server_time: time(),
                epoch: Epoch(1),
                commands: vec![signed()],
                handover: None,
            },
        ),
        body(
            "welcome_after_transfer",
            Welcome {
                server_time: time(),
                epoch: Epoch(2),
                commands: vec![],
                handover: Some(signed()),
            },
        ),
        body("handover", Handover::new(id("dev_", 1), Epoch(2), time())),
        body("poll", Poll { server_time: time(), commands: vec![signed()] }),
        body("poll_idle", Poll { server_time: time(), commands: vec![] }),
        body("envelope", envelope()),
        body("signed", signed()),
        body("receipt_stored", receipt(ReceiptKind::Stored)),
        body("receipt_duplicate", receipt(ReceiptKind::Duplicate)),
        body("receipt_expired", receipt(ReceiptKind::Expired)),
        body(
            "receipt_done",
            Receipt { result: Some(command_report()), ..receipt(ReceiptKind::Done) },
        ),
    ]
}

fn commands() -> Vec<Example> {
    let (pipeline_id, model_id) = (pipeline(), model());
    let by_address = Some("https://models.example/tiny.gguf".to_owned());
    vec![
        body("command_deploy_model", Command::DeployModel(deploy(None))),
        body("command_update_model", Command::UpdateModel(deploy(by_address))),
        body(
            "command_cancel_deploy",
            Command::CancelDeploy(CancelDeploy { deployment_id: id("dep_", 4), model_id }),
        ),
        body(
            "command_start_serving",
            Command::StartServing(StartServing { pipeline_id, model_id, port: Some(port(8080)) }),
        ),
        body("command_stop_serving", Command::StopServing(StopServing { pipeline_id, model_id })),
        body("command_repair_serving", repair()),
        body(
            "command_repair_serving_port",
            Command::RepairServing(RepairServing {
                pipeline_id,
                model_id,
                allowlist: allowlist(),
                port: Some(port(9090)),
            }),
        ),
        body(
            "command_update_pipeline",
            Command::UpdatePipeline(UpdatePipeline {
                pipeline_id,
                config: ServingConfig {
                    proxy: ProxyFeatures { cors: true, telemetry: false },
                    settings: link_protocol::plugin::Settings::default(),
                    ..config()
                },
            }),
        ),
        body(
            "command_uninstall_model",
            Command::UninstallModel(UninstallModel { pipeline_id, model_id }),
        ),
        body("command_update_agent", Command::UpdateAgent(UpdateAgent { version: version() })),
    ]
}

fn reports() -> Vec<Example> {
    let progress = |event, bytes_done| ProgressReport {
        deployment_id: Some(id("dep_", 4)),
        event,
        bytes_done,
        bytes_total: 1000,
    };
    vec![
        body(
            "report_lifecycle",
            LifecycleReport {
                status: LifecycleStatus::Online,
                agent_version: version(),
                uptime_s: 3,
                update: None,
            },
        ),
        body(
            "report_lifecycle_rolled_back",
            LifecycleReport {
                status: LifecycleStatus::Starting,
                agent_version: version(),
                uptime_s: 0,
                update: Some(rolled_back()),
            },
        ),
        body("report_command", command_report()),
        body("report_model", model_report()),
        body(
            "report_model_not_serving",
            ModelReport {
                state: ModelState::NotServing,
                is_serving: false,
                detail: Some("the engine was not healthy within 120 s".to_owned()),
                ..model_report()
            },
        ),
        body("report_progress_downloading", progress(ProgressEvent::Downloading, 50)),
        body("report_progress_configuring", progress(ProgressEvent::Configuring, 1000)),
        body("report_progress_completed", progress(ProgressEvent::Completed, 1000)),
        body(
            "report_telemetry",
            TelemetryReport {
                inference_id: id("inf_", 6),
                model_id: model(),
                prompt_tokens: Some(12),
                completion_tokens: Some(34),
                provenance: Provenance::Exact,
                audio_ms: None,
                images: None,
                duration_ms: 560,
                time_to_first_token_ms: Some(78),
            },
        ),
        body(
            "report_telemetry_absent",
            TelemetryReport {
                inference_id: id("inf_", 7),
                model_id: model(),
                prompt_tokens: None,
                completion_tokens: None,
                provenance: Provenance::Absent,
                audio_ms: None,
                images: None,
                duration_ms: 560,
                time_to_first_token_ms: None,
            },
        ),
        body("report_system", system_report()),
        body(
            "report_system_least",
            SystemReport {
                load_1m: None,
                disk: None,
                temperature_celsius: None,
                gpus: vec![],
                engines: vec![],
                builds: vec![],
                channel: Channel::Stable,
                transport: None,
                ..system_report()
            },
        ),
        body(
            "log_record",
            LogRecord {
                message: "a delivery had no effect: the signature does not fit".to_owned(),
                severity: Severity::Warning,
                category: "security".to_owned(),
            },
        ),
    ]
}

fn registration() -> Vec<Example> {
    let new = key_of(3).verifying().clone();
    let signature = key_of(2).sign(&proof_statement(device(), &new, time()));
    let first = RegisterRequest {
        registration_key: Some(EnrolmentKey::from_secret(KeyKind::Registration, [7; 32])),
        fleet_key: None,
        device_id: None,
        name: "kitchen".to_owned(),
        keeps_name: false,
        agent_version: version(),
        platform: platform(),
        public_key: new,
        proof: None,
    };
    vec![
        body("register_request", first.clone()),
        body(
            "register_request_again",
            RegisterRequest {
                registration_key: None,
                fleet_key: Some(EnrolmentKey::from_secret(KeyKind::Fleet, [8; 32])),
                device_id: Some(device()),
                proof: Some(KeyProof { issued_at: time(), signature }),
                ..first
            },
        ),
        body(
            "registered",
            Registered {
                requested_id_unknown: false,
                device_id: device(),
                device_token: Secret::new("ldt_example"),
                epoch: Epoch(1),
                transport: TransportSettings { r#type: TransportType::Http },
                backend_keys: backend_keys(),
            },
        ),
        body(
            "zenoh_access",
            ZenohAccess {
                endpoints: vec!["tls/link.example:7447".to_owned()],
                username: "s17".to_owned(),
                password: Secret::new("example"),
                root_ca: Some("-----BEGIN CERTIFICATE-----".to_owned()),
            },
        ),
        body(
            "identity_file",
            Identity {
                schema_version: SCHEMA_VERSION.to_owned(),
                backend_url: "https://link.example".to_owned(),
                device_id: device(),
                device_token: Secret::new("ldt_example"),
                epoch: Epoch(1),
                transport: TransportSettings { r#type: TransportType::Http },
                backend_keys: backend_keys(),
                private_key_seed: encode_seed(&[3; 32]),
            },
        ),
    ]
}

fn local() -> Vec<Example> {
    let progress = Progress { bytes_done: 50, bytes_total: 1000 };
    let entry = PipelineEntry {
        pipeline_id: pipeline(),
        alias: parse("tiny"),
        port: port(8080),
        host: "127.0.0.1".to_owned(),
        is_serving: true,
    };
    let stopped = PipelineEntry { is_serving: false, alias: parse("other"), ..entry.clone() };
    let deployment = DeploymentProgress {
        engine: None,
        model_id: id("mdl_", 33),
        pipeline_id: Some(id("pip_", 33)),
        state: DeploymentState::Downloading,
        progress,
    };
    vec![
        body(
            "healthz",
            Healthz {
                status: LifecycleStatus::Online,
                agent_version: version(),
                channel: "stable".to_owned(),
                device_id: device(),
                transport: TransportState {
                    r#type: TransportType::Http,
                    state: ConnectionState::Connected,
                },
                models: vec![ModelHealth {
                    model_id: model(),
                    pipeline_id: pipeline(),
                    alias: parse("tiny"),
                    plugin: Some("language_model".to_owned()),
                    state: ModelState::Serving,
                    health: EngineHealth::Healthy,
                    detail: None,
                    engine_pid: Some(4711),
                }],
                deployments: vec![deployment.clone()],
                update: Some(UpdateProgress {
                    to: Some(semver::Version::new(1, 4, 0)),
                    phase: UpdatePhase::Downloading,
                    stale: true,
                    bytes_done: 5,
                    bytes_total: 10,
                    reason: None,
                    exit_code: None,
                }),
                last_update: Some(rolled_back()),
                containment: Some(Containment {
                    supervised: true,
                    files: true,
                    connections: true,
                    ports: false,
                    signals: false,
                }),
                currently_serving: true,
                model_id: Some(model()),
            },
        ),
        body("local_models", vec![entry, stopped]),
        body(
            "local_cancelled_deploy",
            CancelledDeploy { pipeline: None, deployment: Some(deployment) },
        ),
        body(
            "local_update",
            UpdateRequest { version: Some(version()), again: true, channel: Some(Channel::Beta) },
        ),
        body("local_proof", Proof { proof: "x".repeat(43) }),
        body("local_listening", Listening { port: 20505, pid: 4711 }),
        body("guard_line_alive", FromAgent::Alive { version: version(), local_port: Some(20505) }),
        body("guard_line_healthz", FromGuard::Healthz),
        body("guard_line_answered", FromAgent::Answered { version: version() }),
        body("guard_line_replacing", FromAgent::Replacing),
        body("guard_line_committed", FromGuard::Committed),
    ]
}

fn system_report() -> SystemReport {
    let gpu = GpuUsage {
        name: "NVIDIA GeForce RTX 4090".to_owned(),
        utilisation_percent: Some(45.0),
        memory_used_bytes: Some(10_737_418_240),
        memory_total_bytes: Some(25_757_220_864),
        temperature_celsius: Some(61.0),
    };
    let silent = GpuUsage {
        name: "AMD GPU 0x164e".to_owned(),
        utilisation_percent: None,
        memory_used_bytes: None,
        memory_total_bytes: None,
        temperature_celsius: None,
    };
    SystemReport {
        cpu_percent: 12.5,
        cpu_count: 8,
        load_1m: Some(1.25),
        memory: MemoryUsage { used_bytes: 3_221_225_472, total_bytes: 17_179_869_184 },
        disk: Some(DiskUsage {
            used_bytes: 200_000_000_000,
            free_bytes: 280_000_000_000,
            total_bytes: 500_000_000_000,
        }),
        temperature_celsius: Some(54.5),
        gpus: vec![gpu, silent],
        engines: vec![EngineUsage {
            model_id: model(),
            pid: 4711,
            cpu_percent: 230.5,
            memory_bytes: 4_294_967_296,
        }],
        builds: vec![EngineInUse {
            engine: "llama-server".to_owned(),
            build: "b9789".to_owned(),
            why: Some("the default build for the processor".to_owned()),
        }],
        channel: Channel::Beta,
        transport: Some(TransportType::Zenoh),
        agent: ProcessUsage { cpu_percent: 0.1, memory_bytes: 7_340_032 },
    }
}

fn system_sample() -> SystemSample {
    SystemSample { reported_at: time(), report: system_report() }
}

fn rolled_back() -> UpdateOutcome {
    UpdateOutcome {
        from: version(),
        to: semver::Version::new(1, 4, 0),
        outcome: UpdateEnd::RolledBack,
        reason: Some("it ended within its trial".to_owned()),
    }
}

fn deploy(url: Option<String>) -> DeployModel {
    DeployModel {
        deployment_id: id("dep_", 4),
        pipeline_id: pipeline(),
        model: ModelFile {
            model_id: model(),
            file_name: parse("tiny.gguf"),
            url,
            sha256: sha256(),
            size_bytes: 1000,
        },
        config: config(),
        serve: true,
    }
}

fn config() -> ServingConfig {
    ServingConfig {
        pipeline_id: pipeline(),
        model_id: model(),
        alias: parse("tiny"),
        plugin: "language_model".to_owned(),
        port: port(8080),
        allowlist: allowlist(),
        proxy: ProxyFeatures::default(),
        settings: link_protocol::plugin::Settings::default(),
    }
}

fn repair() -> Command {
    Command::RepairServing(repair_payload())
}

fn repair_payload() -> RepairServing {
    RepairServing { pipeline_id: pipeline(), model_id: model(), allowlist: allowlist(), port: None }
}

fn envelope() -> Envelope {
    Envelope {
        v: ENVELOPE_VERSION,
        command_id: id("cmd_", 5),
        device_id: device(),
        epoch: Epoch(1),
        seq: Seq(7),
        r#type: "REPAIR_SERVING".to_owned(),
        lane: repair().lane(),
        idempotency_key: "repair".to_owned(),
        attempt: 1,
        issued_at: time(),
        expires_at: parse("2026-08-08T12:00:00Z"),
        ttl_ms: 86_400_000,
        exec_deadline_s: 180,
        payload: to_raw_value(&repair_payload()).unwrap(),
    }
}

fn signed() -> link_protocol::signing::Signed {
    key().seal(&envelope())
}

fn receipt(receipt: ReceiptKind) -> Receipt {
    Receipt { command_id: id("cmd_", 5), attempt: 1, receipt, result: None }
}

fn command_report() -> CommandReport {
    CommandReport {
        command_id: id("cmd_", 5),
        status: CommandResult::Succeeded,
        output: "pipeline restarted on port 8080 with 2 allowed origins".to_owned(),
        attempt: 1,
    }
}

fn model_report() -> ModelReport {
    ModelReport {
        model_id: model(),
        pipeline_id: pipeline(),
        state: ModelState::Serving,
        is_serving: true,
        port: port(8080),
        allowlist_digest: allowlist().digest().to_owned(),
        generation: Generation(7_000_001),
        detail: None,
    }
}

fn allowlist() -> Allowlist {
    let origins = ["https://work.example", "http://localhost:4000"];
    Allowlist::new(origins.map(parse::<Origin>))
}

fn platform() -> Platform {
    Platform { os: "linux".to_owned(), arch: "x86_64".to_owned(), hostname: "kitchen".to_owned() }
}

fn backend_keys() -> Vec<VerifyingKey> {
    vec![key().verifying().clone()]
}

fn key() -> SigningKey {
    key_of(1)
}

fn key_of(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn sha256() -> Sha256Hex {
    parse(&"0123456789abcdef".repeat(4))
}

fn device() -> DeviceId {
    id("dev_", 1)
}

fn model() -> ModelId {
    id("mdl_", 2)
}

fn pipeline() -> PipelineId {
    PipelineId::of(model())
}

fn port(number: u16) -> Port {
    Port::try_from(number).unwrap()
}

fn version() -> semver::Version {
    semver::Version::new(1, 3, 0)
}

fn time() -> Timestamp {
    parse("2026-08-07T12:00:00Z")
}

fn id<T: FromStr<Err: Debug>>(prefix: &str, number: u32) -> T {
    parse(&format!("{prefix}{number:032x}"))
}

fn parse<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap()
}
