//! Every finding with its cure, as a golden file, from the facts that lead to it.

use std::collections::BTreeMap;

use link_installer::service::{Availability, Tier};
use link_protocol::{
    counter::Epoch,
    identity::{Identity, SCHEMA_VERSION, encode_seed},
    local_api::{Containment, Healthz},
    registration::{TransportSettings, TransportType},
    secret::Secret,
};
use serde_json::json;

use super::{
    Area, Diagnosis, Finding,
    agent::{self, Agent, Registration},
    cell::Request,
    finding::Level,
    installation::{self, Command, Installation, Receipt},
    machine::{self, Machine},
    models::{self, Build, Engine, Models},
    network::{self, Network, Probe},
    origin::{self, Answer, Model, NO_ORIGIN, OriginFacts, Space},
    ports::{self, Holder, ModelPort, Ports},
    service::{self, Service},
};

const ALL_REFUSED: Containment =
    Containment { supervised: true, files: true, connections: true, ports: true, signals: true };
const WORKSPACE: &str = "https://workspace.example";

#[test]
fn every_finding_has_the_committed_text_and_cure() {
    let mut text = String::new();
    for (title, findings) in scenarios() {
        for finding in &findings {
            let needs_cure = matches!(finding.level, Level::Warning | Level::Error);
            assert_eq!(finding.cure.is_some(), needs_cure, "{title}: {finding:?}");
        }
        let found = Diagnosis::new(findings, Vec::new());
        text.push_str(&format!(
            "# {title} (exit code {})\n{}\n\n",
            found.exit().number(),
            found.text()
        ));
    }
    assert_eq!(text, include_str!("golden.txt"), "{text}");
}

#[test]
fn the_worst_finding_decides_and_the_first_error_gives_the_exit_code() {
    let fine = || Finding::ok(Area::Disk, "fine");
    let diagnosis = Diagnosis::new(vec![fine()], Vec::new());
    assert_eq!((diagnosis.worst, diagnosis.exit().number()), (Level::Ok, 0));
    let skipped = Diagnosis::new(vec![fine(), Finding::skipped(Area::Path, "why")], Vec::new());
    assert_eq!(skipped.exit().number(), 0);
    assert!(skipped.text().ends_with("everything that was checked works; 1 not checked"));
    let warned = Diagnosis::new(vec![fine(), Finding::warning(Area::Path, "a", "b")], Vec::new());
    assert_eq!((warned.worst, warned.exit().number()), (Level::Warning, 0));
    let agent = agent::findings(&agent(Registration::Absent));
    let disk = machine::findings(&Machine { free: vec![("/d".into(), Some(1))], ..nothing() });
    let both = Diagnosis::new([agent, disk].concat(), Vec::new());
    assert_eq!((both.worst, both.exit().number()), (Level::Error, 30));
}

#[test]
fn a_browser_lets_through_only_what_the_answer_allows() {
    let named = |origin: &str| ("access-control-allow-origin", origin.to_owned());
    let headers = ("access-control-allow-headers", "*, Authorization".to_owned());
    let without_token = ("access-control-allow-headers", "*".to_owned());
    let cell = |request, answer| {
        let facts = OriginFacts {
            models: vec![Model {
                answers: vec![(request, WORKSPACE.to_owned(), answer)],
                ..model()
            }],
            ..origin_facts()
        };
        origin::matrix(&facts).remove(0)
    };
    for (request, answer, allowed) in [
        (Request::Model, answer(404, vec![named(WORKSPACE)]), true),
        (Request::Model, answer(200, vec![named("*")]), true),
        (Request::Model, answer(200, vec![]), false),
        (Request::Model, answer(200, vec![named("https://workspace.example.evil")]), false),
        (Request::ModelWithToken, answer(204, vec![named(WORKSPACE), headers.clone()]), true),
        (
            Request::ModelWithToken,
            answer(204, vec![named(WORKSPACE), without_token.clone()]),
            false,
        ),
        (Request::ModelWithToken, answer(403, vec![named(WORKSPACE), headers.clone()]), false),
        (Request::Chat, answer(204, vec![named(WORKSPACE), headers]), true),
        (Request::Chat, answer(204, vec![named(WORKSPACE), without_token]), false),
    ] {
        let cell = cell(request, answer.clone());
        assert_eq!(cell.allowed, allowed, "{request:?} {answer:?}: {:?}", cell.why);
    }
}

#[test]
fn the_network_of_a_page_is_that_of_its_farthest_address() {
    let space = |addresses: &[&str]| {
        let addresses: Vec<_> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        origin::space_of(&addresses)
    };
    assert_eq!(space(&[]), Space::Unknown);
    assert_eq!(space(&["127.0.0.1", "::1"]), Space::Loopback);
    assert_eq!(space(&["10.1.2.3", "fd00::1", "::1"]), Space::Local);
    assert_eq!(space(&["10.1.2.3", "93.184.216.34"]), Space::Public);
}

/// Facts of a machine, and what they lead to. Each scenario differs from a healthy machine in one thing.
fn scenarios() -> Vec<(&'static str, Vec<Finding>)> {
    [
        installations(),
        services(),
        agents(),
        networks(),
        all_ports(),
        machines(),
        all_models(),
        origins(),
    ]
    .concat()
}

fn installations() -> Vec<(&'static str, Vec<Finding>)> {
    let healthy = Installation {
        receipt: Receipt::Version { version: "1.3.0".into(), damaged: Vec::new() },
        command: Command::Ours,
        path_can_be_edited: true,
        open_to_others: Vec::new(),
        unwritable: Vec::new(),
        configuration: None,
    };
    let damaged = vec!["/d/versions/1.3.0/link-agent".into(), "/d/link-guard".into()];
    let ours = || "/home/ada/.local/bin/link".into();
    let facts = [
        ("an intact installation", healthy.clone()),
        ("no receipt", Installation { receipt: Receipt::Absent("/d/receipt.json".into()), ..healthy.clone() }),
        ("a damaged receipt", Installation { receipt: Receipt::Unreadable("it is no JSON".into()), ..healthy.clone() }),
        (
            "changed files",
            Installation { receipt: Receipt::Version { version: "1.3.0".into(), damaged }, ..healthy.clone() },
        ),
        ("another `link`", Installation { command: Command::Other { found: "/usr/bin/link".into(), ours: ours() }, ..healthy.clone() }),
        (
            "no `link`, and start files that cannot be edited",
            Installation { command: Command::Nothing { ours: ours() }, path_can_be_edited: false, ..healthy.clone() },
        ),
        ("a shell that cannot be asked", Installation { command: Command::NotAsked("the shell /bin/fsh cannot be asked".into()), ..healthy.clone() }),
        ("an open folder", Installation { open_to_others: vec!["/home/a b/state".into()], ..healthy.clone() }),
        ("a read-only folder", Installation { unwritable: vec![("/s".into(), "Read-only file system".into())], ..healthy.clone() }),
        ("a faulty configuration", Installation { configuration: Some("`/c/agent.json` has a fault:\n  line 3, local_api.port: expected a port, found 70000".into()), ..healthy }),
    ];
    facts.map(|(title, facts)| (title, installation::findings(&facts))).to_vec()
}

fn services() -> Vec<(&'static str, Vec<Finding>)> {
    let service = |tier, survives_logout, survives_reboot, why: &str| Service {
        availability: Availability { tier, survives_logout, survives_reboot, why: why.into() },
        runs_beside_its_unit: false,
        command: None,
        start: "link start",
    };
    let until_logout =
        service(Tier::SystemdUser, false, false, "starts at login and ends at logout");
    let command = Some("sudo loginctl enable-linger ada".to_owned());
    let facts = [
        (
            "a service that lasts",
            service(Tier::SystemdUser, true, true, "systemd starts it at boot"),
        ),
        ("a service until the logout", Service { command, ..until_logout }),
        ("no service", service(Tier::Detached, true, false, "this machine has no systemd")),
        ("a launch agent", service(Tier::LaunchAgent, false, false, "launchd starts it at login")),
        (
            "an agent beside its service",
            Service {
                runs_beside_its_unit: true,
                ..service(Tier::SystemdUser, true, true, "systemd starts it at boot")
            },
        ),
    ];
    facts.map(|(title, facts)| (title, service::findings(&facts))).to_vec()
}

fn agents() -> Vec<(&'static str, Vec<Finding>)> {
    let device = || Registration::Device(Box::new(identity()));
    let with = |health: Healthz| Agent { health: Some(health), ..agent(device()) };
    let rolled_back = json!({"from": "1.3.0", "to": "1.4.0", "outcome": "rolled_back", "reason": "it did not answer"});
    let facts = [
        ("not registered", agent(Registration::Absent)),
        (
            "an unusable identity",
            agent(Registration::Unusable("cannot use `/s/identity.json`: it is no JSON".into())),
        ),
        ("a stopped agent", Agent { running: false, ..agent(device()) }),
        (
            "a stopped agent with a faulty configuration",
            Agent { running: false, misconfigured: true, ..agent(device()) },
        ),
        ("a silent agent", agent(device())),
        ("a connected agent", with(health(json!({})))),
        (
            "an agent on its router",
            Agent {
                may_fall_back: true,
                ..with(health(json!({"transport": {"type": "zenoh", "state": "connected"}})))
            },
        ),
        ("an agent without its router", Agent { may_fall_back: true, ..with(health(json!({}))) }),
        (
            "an agent without its backend",
            with(health(json!({"transport": {"type": "http", "state": "connecting"}}))),
        ),
        (
            "a refused device",
            with(health(json!({"transport": {"type": "zenoh", "state": "refused"}}))),
        ),
        (
            "an agent of the former device",
            with(health(json!({"device_id": format!("dev_{:032x}", 9)}))),
        ),
        (
            "an older agent",
            Agent { installed: Some(semver::Version::new(1, 4, 0)), ..with(health(json!({}))) },
        ),
        ("an update that was rolled back", with(health(json!({"last_update": rolled_back})))),
    ];
    facts.map(|(title, facts)| (title, agent::findings(&facts))).to_vec()
}

fn networks() -> Vec<(&'static str, Vec<Finding>)> {
    let answered = |is_backend, not_ready: Option<&str>, ahead_s| Probe::Answered {
        status: if not_ready.is_some() { 503 } else { 200 },
        is_backend,
        not_ready: not_ready.map(str::to_owned),
        ahead_s,
    };
    let network = |probe| Network {
        backend: "https://link.example".into(),
        is_own: false,
        probe,
        as_the_agent: true,
        variables: Vec::new(),
        only_here: Vec::new(),
    };
    let failed = |why: &str, advice: Option<&str>| Probe::Failed {
        why: why.into(),
        advice: advice.map(str::to_owned),
    };
    let untrusted = "this machine does not trust the issuer of its certificate";
    let proxies = Network {
        variables: vec![("HTTPS_PROXY".into(), "http://***@proxy:3128".into())],
        only_here: vec!["NO_PROXY".into(), "SSL_CERT_FILE".into()],
        ..network(answered(true, None, Some(0)))
    };
    let facts = [
        ("a backend that answers", network(answered(true, None, Some(-3)))),
        (
            "a backend without a database",
            network(answered(true, Some("the database does not answer"), None)),
        ),
        ("a login page in the way", network(answered(false, None, Some(0)))),
        (
            "a stopped backend of this user",
            Network { is_own: true, ..network(failed("cannot connect: Connection refused", None)) },
        ),
        (
            "a closed port",
            network(failed("cannot connect: Connection refused (os error 111)", None)),
        ),
        (
            "an unknown issuer",
            Network {
                as_the_agent: false,
                ..network(failed("invalid peer certificate: UnknownIssuer", Some(untrusted)))
            },
        ),
        ("a question that cannot be asked", network(Probe::NotAsked("Permission denied".into()))),
        ("a slow clock", network(answered(true, None, Some(7200)))),
        ("a fast clock", network(answered(true, None, Some(-61)))),
        ("a proxy", proxies),
    ];
    facts.map(|(title, facts)| (title, network::findings(&facts))).to_vec()
}

fn all_ports() -> Vec<(&'static str, Vec<Finding>)> {
    let of = |is_serving, holder| ModelPort {
        alias: "smollm".into(),
        model_id: "mdl_1".into(),
        port: 8080,
        is_serving,
        holder,
    };
    let ports = |local, local_holder, model| Ports {
        local_wanted: 41_234,
        local,
        local_holder,
        models: vec![model],
    };
    let nginx = || Holder::Process { pid: 7, program: "nginx".into() };
    let facts = [
        ("ports of the agent", ports(Some(41_234), Holder::Agent, of(true, Holder::Agent))),
        (
            "a port that another user holds",
            ports(Some(41_234), Holder::Agent, of(false, Holder::User("eve".into()))),
        ),
        ("a port that a process holds", ports(Some(50_000), nginx(), of(false, nginx()))),
        ("a port that is free again", ports(Some(50_000), Holder::Nobody, of(true, Holder::Agent))),
        ("a port that somebody holds", ports(None, Holder::Unknown, of(false, Holder::Nobody))),
        ("the port of a silent agent", ports(None, Holder::Agent, of(false, Holder::Nobody))),
        ("a served port without a listener", ports(None, Holder::Nobody, of(true, Holder::Nobody))),
    ];
    facts.map(|(title, facts)| (title, ports::findings(&facts))).to_vec()
}

fn machines() -> Vec<(&'static str, Vec<Finding>)> {
    const GB: u64 = 1_000_000_000;
    let healthy = Machine {
        free: vec![("/d".into(), Some(50 * GB))],
        descriptors: Some(524_288),
        memory: Some(8 * GB),
        models: vec![("smollm".into(), GB)],
    };
    let models = vec![("smollm".into(), GB), ("qwen".into(), 9 * GB)];
    let facts = [
        ("a healthy machine", healthy.clone()),
        (
            "little space",
            Machine { free: vec![("/d".into(), Some(GB)), ("/s".into(), None)], ..healthy.clone() },
        ),
        (
            "hardly any space",
            Machine { free: vec![("/d".into(), Some(1_000_000))], ..healthy.clone() },
        ),
        ("few descriptors", Machine { descriptors: Some(256), ..healthy.clone() }),
        ("models that do not fit", Machine { models, ..healthy }),
    ];
    facts.map(|(title, facts)| (title, machine::findings(&facts))).to_vec()
}

fn all_models() -> Vec<(&'static str, Vec<Finding>)> {
    let engine = |fault: Option<&str>| Engine {
        plugin: "language_model".into(),
        build: Some(Build { name: "b10068".into(), fault: fault.map(str::to_owned) }),
        is_needed: true,
    };
    let of = |state: &str, health: &str, detail: Option<&str>| {
        serde_json::from_value(json!({
            "model_id": format!("mdl_{:032x}", 1), "pipeline_id": format!("pip_{:032x}", 2), "alias": "smollm",
            "state": state, "health": health, "detail": detail,
        }))
        .unwrap()
    };
    let healthy = || Models {
        unusable_plugins: Vec::new(),
        engines: vec![engine(None)],
        models: vec![of("serving", "healthy", None)],
        containment: Some(ALL_REFUSED),
    };
    let missing = || Engine { build: None, ..engine(None) };
    let broken = vec![("/d/plugins/mine".to_owned(), "it has no `plugin.toml`".to_owned())];
    let ended = "the engine does not run on this machine: a signal ended it";
    let port = "port 8080 is in use by nginx";
    let facts = [
        ("a healthy model", healthy()),
        (
            "a kernel of Debian 12",
            Models {
                containment: Some(Containment { ports: false, signals: false, ..ALL_REFUSED }),
                ..healthy()
            },
        ),
        (
            "a system that contains nothing",
            Models { containment: Some(Containment::default()), ..healthy() },
        ),
        ("an unusable plugin", Models { unusable_plugins: broken, ..healthy() }),
        (
            "an engine that this processor cannot run",
            Models { engines: vec![engine(Some(ended))], ..healthy() },
        ),
        ("a missing engine", Models { engines: vec![missing()], ..healthy() }),
        (
            "a missing engine that nobody needs",
            Models { engines: vec![Engine { is_needed: false, ..missing() }], ..healthy() },
        ),
        (
            "a model that loads",
            Models { models: vec![of("serving", "starting", None)], ..healthy() },
        ),
        (
            "a hanging engine",
            Models { models: vec![of("serving", "unhealthy", Some("no answer"))], ..healthy() },
        ),
        (
            "a model that could not be served",
            Models { models: vec![of("not_serving", "unhealthy", Some(port))], ..healthy() },
        ),
        (
            "a model that nobody serves",
            Models { models: vec![of("not_serving", "unhealthy", None)], ..healthy() },
        ),
    ];
    facts.map(|(title, facts)| (title, models::findings(&facts))).to_vec()
}

fn origins() -> Vec<(&'static str, Vec<Finding>)> {
    let refused = || Answer::Status {
        status: 403,
        headers: BTreeMap::new(),
        detail: Some("the origin of this page is not on the allowlist of this model".into()),
    };
    let with = |answer: Answer, stale| Model {
        stale,
        answers: vec![
            (Request::Model, WORKSPACE.to_owned(), answer),
            (Request::Model, NO_ORIGIN.to_owned(), refused()),
        ],
        ..model()
    };
    let named = ("access-control-allow-origin", WORKSPACE.to_owned());
    let facts = |allowed: Option<&[&str]>, model| OriginFacts {
        allowed: allowed.map(|list| list.iter().map(|one| (*one).to_owned()).collect()),
        models: vec![model],
        ..origin_facts()
    };
    let intranet = OriginFacts {
        origin: "http://intranet.example".into(),
        space: Space::Local,
        ..origin_facts()
    };
    // The model lets the page through, but the browser does not get that far.
    let anybody = ("access-control-allow-origin", "*".to_owned());
    let insecure = OriginFacts {
        origin: "http://app.example".into(),
        models: vec![with(answer(200, vec![anybody]), None)],
        ..origin_facts()
    };
    assert!(origin::matrix(&insecure).iter().all(|cell| !cell.allowed));
    let unheard = OriginFacts { space: Space::Unknown, ..intranet.clone() };
    let loopback = OriginFacts {
        origin: "http://127.0.0.1:8000".into(),
        space: Space::Loopback,
        ..origin_facts()
    };
    let facts = [
        ("an origin that is let through", facts(None, with(answer(200, vec![named]), None))),
        ("an origin that is not allowed", facts(Some(&[]), with(refused(), Some(false)))),
        ("a stale allowlist", facts(Some(&[WORKSPACE]), with(refused(), Some(true)))),
        ("a model without web pages", facts(Some(&[WORKSPACE]), with(refused(), Some(false)))),
        ("nobody is logged in", facts(None, with(refused(), None))),
        (
            "a port without a listener",
            facts(None, with(Answer::Silence("Connection refused".into()), None)),
        ),
        ("an insecure page of the internet", insecure),
        ("a page of the local network", intranet.clone()),
        (
            "a page of the local network over https",
            OriginFacts { origin: "https://intranet.example".into(), ..intranet },
        ),
        ("a page without https on a host that nobody knows", unheard),
        ("a page of this machine", loopback),
        ("a host that nobody knows", OriginFacts { space: Space::Unknown, ..origin_facts() }),
    ];
    facts.map(|(title, facts)| (title, origin::findings(&facts))).to_vec()
}

fn origin_facts() -> OriginFacts {
    OriginFacts {
        origin: WORKSPACE.into(),
        space: Space::Public,
        allowed: None,
        models: Vec::new(),
    }
}

fn model() -> Model {
    Model {
        alias: "smollm".into(),
        model_id: "mdl_1".into(),
        port: 8080,
        stale: None,
        answers: Vec::new(),
    }
}

fn answer(status: u16, headers: Vec<(&str, String)>) -> Answer {
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Answer::Status { status, headers, detail: None }
}

const fn nothing() -> Machine {
    Machine { free: Vec::new(), descriptors: None, memory: None, models: Vec::new() }
}

fn agent(registration: Registration) -> Agent {
    Agent {
        registration,
        running: true,
        health: None,
        installed: None,
        misconfigured: false,
        may_fall_back: false,
    }
}

fn identity() -> Identity {
    Identity {
        schema_version: SCHEMA_VERSION.to_owned(),
        backend_url: "https://link.example".to_owned(),
        device_id: format!("dev_{:032x}", 1).parse().unwrap(),
        device_token: Secret::new("token"),
        epoch: Epoch(1),
        transport: TransportSettings { r#type: TransportType::Http },
        backend_keys: Vec::new(),
        private_key_seed: encode_seed(&[0; 32]),
    }
}

fn health(differs: serde_json::Value) -> Healthz {
    let mut health = json!({
        "status": "online", "agent_version": "1.3.0", "channel": "stable",
        "device_id": format!("dev_{:032x}", 1), "transport": {"type": "http", "state": "connected"},
        "models": [], "deployments": [], "currently_serving": false, "model_id": null,
    });
    health.as_object_mut().unwrap().extend(differs.as_object().unwrap().clone());
    serde_json::from_value(health).unwrap()
}
