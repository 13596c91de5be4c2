//! The agent's configuration and its session files, edited or deleted by a person.

use std::path::PathBuf;

use link_protocol::key::{EnrolmentKey, KeyKind};
use link_tests::{
    backend::TestBackend,
    chat,
    device::TestDevice,
    engines::TINY_REPLY,
    internet::Internet,
    program::{self, Running},
    wait::until,
};
use serde_json::json;

// Holds: S1-6a, S2.3-1, S2.3-3a, S2.3-6, S2.3-7
#[tokio::test]
async fn every_fault_is_told_at_once_and_nothing_is_started() {
    let device = TestDevice::unregistered();
    let text = json!({
        "schema_version": "2.1",
        "local_api": {"port": 70000},
        "pipelines": [{"id": "a", "source": "commands", "sink": "reports"}],
        "reporting": {"handlers": [{"type": "http", "args": {
            "timeout": 0, "telemetry": "/agent/${identity.serial}"
        }}]}
    });
    let path = configure(&device, &text.to_string());
    let output = agent(&device).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    for fault in [
        "config/agent.json",
        "local_api.port: expected a port from 1 to 65535, found 70000",
        "pipelines[0].sink: expected a sink that accepts what `commands` produces, found `reports`",
        "reporting.handlers[0].args.timeout: expected seconds from 0.1 to 3600, found 0",
        "`${identity.serial}` is not known",
    ] {
        assert!(told.contains(fault), "{fault}:\n{told}");
    }
    assert!(!device.home().join("state").exists());
    assert_eq!(std::fs::read_to_string(path).unwrap(), text.to_string());
}

#[test]
fn a_person_can_check_a_configuration_and_have_its_schema() {
    let device = TestDevice::unregistered();
    let check = || agent(&device).arg("--check-config").output().unwrap();
    let fine = check();
    assert!(fine.status.success() && fine.stdout.ends_with(b"has no faults\n"), "{fine:?}");
    configure(&device, r#"{"schema_version": "2.1", "local_api": {"port": 20600}}"#);
    assert!(check().status.success());
    configure(&device, r#"{"schema_version": "2.1", "local_api": {"prt": 1}, "loging": {}}"#);
    let faulty = check();
    let told = String::from_utf8_lossy(&faulty.stderr);
    assert_eq!(faulty.status.code(), Some(1));
    assert!(told.contains("local_api.prt") && told.contains("loging"), "{told}");
    assert!(!told.contains('\u{1b}'), "no colours where there is no terminal: {told}");
    assert!(!device.home().join("state").exists());
    let schema = agent(&device).arg("--config-schema").output().unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&schema.stdout).unwrap();
    assert_eq!(schema["properties"]["schema_version"]["const"], "2.1");
}

// Holds: S2.3-2a, S2.3-2b, S9-2
#[tokio::test]
async fn a_configuration_of_an_earlier_schema_is_refused_and_left_as_it_is() {
    let device = TestDevice::unregistered();
    let text = r#"{"schema_version": "2.0", "pipelines": []}"#;
    let path = configure(&device, text);
    let output = agent(&device).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("expected `2.1`"), "{told}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}

// Holds: S2.3-3b, S6-9
#[tokio::test]
async fn what_the_configuration_says_counts() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    configure(
        &device,
        &json!({
            "schema_version": "2.1",
            "transport": {"type": "http"},
            "local_api": {"port": device.local_port},
            "components": {"system_monitor": {"interval_s": 5}},
            "pipelines": [
                {"id": "orders", "source": "commands", "sink": "command_handler"},
                {"id": "gauges", "source": "system_monitor", "sink": "reports"},
                {"id": "spare", "source": "system_monitor", "sink": "reports", "active": false}
            ],
            "logging": {"handlers": [
                {"type": "console", "args": {"level": "error"}},
                {"type": "http", "args": {"level": "info"}}
            ]},
            "reporting": {"handlers": [{"type": "console"}, {"type": "http"}]}
        })
        .to_string(),
    );
    let mut command = agent(&device);
    command.env_remove("LINK_LOCAL_PORT");
    let running = Running::start(command, &device.home().join("agent.log"));
    backend.online(device.id, true).await;
    assert_eq!(device.healthz().await.device_id, device.id);
    let threads = std::fs::read_dir(format!("/proc/{}/task", running.id())).unwrap();
    let names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    let names: Vec<_> = names.map(|name| name.trim_end().to_owned()).collect();
    let of = |id: &str| names.iter().filter(|name| *name == id).count();
    assert_eq!([of("orders"), of("gauges"), of("spare")], [1, 1, 0], "{names:?}");
    // Each handler has a thread: that of the reports, that of the copies to the second one, and that of the log records.
    assert_eq!([of("reports"), of("copies"), of("logs")], [1, 1, 1], "{names:?}");
    let status = device.link().env_remove("LINK_LOCAL_PORT").arg("status").output().unwrap();
    let told = String::from_utf8_lossy(&status.stdout);
    assert!(status.status.success() && told.contains("online"), "{told}");
    assert!(!running.output().contains("INFO"), "{}", running.output());
    until("a sample of the device", || async {
        let shown = backend.owner.device(device.id).await.unwrap();
        shown.system.map(|sample| assert!(sample.report.memory.total_bytes > 0))
    })
    .await;
}

// Holds: S4.4-14
#[tokio::test]
async fn a_device_that_finds_a_key_registers_itself() {
    let backend = TestBackend::start().await;
    let key = backend.key(KeyKind::Registration).await;
    let mut device = TestDevice::unregistered();
    let path = device.home().join("registration.key");
    onboard(&device, &backend, "registration_key_file", &key);
    device.run(&[]);
    until("the device to register", || async { (!path.exists()).then_some(()) }).await;
    device.id = device.identity().device_id;
    backend.online(device.id, true).await;

    // A disk image for a fleet: every device that starts from it becomes a separate device.
    let fleet = backend.key(KeyKind::Fleet).await;
    let mut devices = [TestDevice::unregistered(), TestDevice::unregistered()];
    for device in &mut devices {
        onboard(device, &backend, "fleet_key_file", &fleet);
        device.run(&[]);
        let identity = device.home().join("state/identity.json");
        until("the device to register", || async { identity.exists().then_some(()) }).await;
        device.id = device.identity().device_id;
        backend.online(device.id, true).await;
        assert!(device.home().join("registration.key").exists());
    }
    assert_ne!(devices[0].id, devices[1].id);
}

#[tokio::test]
async fn a_key_that_is_refused_is_not_shown_again_and_another_one_is_tried() {
    let backend = TestBackend::start().await;
    let spent = backend.key(KeyKind::Registration).await;
    let first = TestDevice::unregistered();
    assert!(first.register_with(&backend.url, &spent).status.success());
    let mut device = TestDevice::unregistered();
    onboard(&device, &backend, "registration_key_file", &spent);
    device.run(&[]);
    let log = device.home().join("agent.log");
    until("the refusal", || async {
        let told = std::fs::read_to_string(&log).unwrap_or_default();
        told.contains("is not registered").then_some(())
    })
    .await;
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(!told.contains(spent.expose()), "{told}");
    let good = backend.key(KeyKind::Registration).await;
    let path = device.home().join("registration.key");
    std::fs::write(&path, good.expose()).unwrap();
    until("the device to register", || async { (!path.exists()).then_some(()) }).await;
}

// Holds: S2.3-5b
#[tokio::test]
async fn a_backend_is_trusted_by_the_bundled_store_by_the_file_that_is_named_or_by_the_system() {
    let backend = TestBackend::start().await;
    let key = backend.key(KeyKind::Registration).await;
    let device = TestDevice::unregistered();
    let authority = device.home().join("authority.pem");
    let internet = Internet::start(&["backend.example"], &authority).await;
    internet.lead("backend.example", &backend.url);
    let path = device.home().join("registration.key");
    std::fs::write(&path, key.expose()).unwrap();
    let start = |root: Option<&str>| {
        let mut transport = json!({"type": "http"});
        if let Some(root) = root {
            transport["tls_root_ca"] = json!(root);
        }
        let identity =
            json!({"backend_url": "https://backend.example", "registration_key_file": path});
        let text = json!({"schema_version": "2.1", "identity": identity, "transport": transport});
        configure(&device, &text.to_string());
        let mut command = agent(&device);
        command.env("HTTPS_PROXY", &internet.proxy).env("SSL_CERT_FILE", &authority);
        Running::start(command, &device.home().join("agent.log"))
    };
    // The bundled store does not know the authority, although the store of the machine is said to.
    let refused = start(Some("auto"));
    until("the agent to refuse the certificate", || async {
        refused.output().contains("UnknownIssuer").then_some(())
    })
    .await;
    assert!(path.exists(), "it is not registered: {}", refused.output());
    drop(refused);
    let by_system = start(None);
    until("the device to register", || async { (!path.exists()).then_some(()) }).await;
    let id = device.identity().device_id;
    backend.online(id, true).await;
    drop(by_system);
    // The backend takes a device for online for a while after its agent has ended.
    let seen = async || backend.owner.device(id).await.ok()?.last_seen_at;
    let before = seen().await;
    let by_file = start(Some(authority.to_str().unwrap()));
    until("the device to report again", || async { (seen().await > before).then_some(()) }).await;
    drop(by_file);
}

// Holds: S2.3-9a, S2.3-9b
#[tokio::test]
async fn a_device_whose_files_are_lost_or_torn_takes_up_the_latest_session() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    let identity = device.identity();

    // While the agent is down, everything except the sessions and the models is lost.
    device.kill();
    let state = device.home().join("state");
    for lost in ["identity.json", "journal.db", "journal.db-wal", "journal.db-shm"] {
        drop(std::fs::remove_file(state.join(lost)));
    }
    let torn = state.join("configs/session_29991231T235959999Z.json");
    std::fs::write(&torn, "{\"schema_version\": \"2.1\", \"revision\": 99").unwrap();
    device.run(&[]);
    device.serves().await;
    assert_eq!(device.identity(), identity);
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
    backend.serving(deployment.deployment_id, true).await;
    assert!(torn.exists());
    let log = std::fs::read_to_string(device.home().join("agent.log")).unwrap();
    assert!(log.contains("session_29991231T235959999Z.json") && log.contains("damaged"), "{log}");
}

fn configure(device: &TestDevice, text: &str) -> PathBuf {
    let path = device.home().join("config/agent.json");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn onboard(device: &TestDevice, backend: &TestBackend, name: &str, key: &EnrolmentKey) {
    let path = device.home().join("registration.key");
    std::fs::write(&path, key.expose()).unwrap();
    let text = json!({
        "schema_version": "2.1",
        "identity": {"backend_url": backend.url, name: path}
    });
    configure(device, &text.to_string());
}

fn agent(device: &TestDevice) -> std::process::Command {
    let mut command = std::process::Command::new(program::path("link-agent"));
    command.env("LINK_HOME", device.home());
    command
}
