//! The local API: what a person at this machine can see and do without a backend.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc,
};

use link_client::local::States;
use link_protocol::{
    deployment::DeploymentState,
    id::PipelineId,
    local_api::{
        CANCEL_DEPLOY_PATH, ConnectionState, Healthz, PIPELINE_PATH, SERVE_PATH, STOP_PATH, path_of,
    },
    report::{CommandResult, LifecycleStatus, ModelState},
    secret::Secret,
};
use link_tests::{
    backend::{TestBackend, WORKSPACE},
    chat,
    device::{TestDevice, free_port, is_free},
    engines::{self, TINY_REPLY},
    model_server::{Fault, ModelServer},
    program::{self, Running},
    wait::{PATIENCE, until},
};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

// Holds: S4.2-4, S3.2-1a, S3.2-2
#[tokio::test]
async fn a_person_here_stops_and_serves_and_the_backend_learns_it() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    let id = PipelineId::of(deployment.model_id);

    let entry = device.local.stop(id).await.unwrap();
    assert_eq!((entry.pipeline_id, entry.port, entry.is_serving), (id, port, false));
    backend.serving(deployment.deployment_id, false).await;
    until("the port to be given back", || async { is_free(port).then_some(()) }).await;
    let entry = device.local.serve(id).await.unwrap();
    assert_eq!((entry.pipeline_id, entry.port), (id, port));
    backend.serving(deployment.deployment_id, true).await;
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
}

// Holds: S3.4-7, S3.2-3
#[tokio::test]
async fn a_model_removed_while_the_backend_is_away_is_reported_when_it_returns() {
    let mut backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    backend.kill();
    until("the connection to be lost", || async {
        (device.healthz().await.transport.state != ConnectionState::Connected).then_some(())
    })
    .await;

    let id = PipelineId::of(deployment.model_id);
    device.local.remove(id).await.unwrap();
    until("the model to be gone", || async {
        (device.pipelines().await.is_empty() && device.model_files().is_empty()).then_some(())
    })
    .await;
    assert!(is_free(port));

    backend.restart().await;
    until("the removal to be reported", || async {
        let found = backend.owner.deployment(deployment.deployment_id).await.ok()?;
        (found.serving?.state == ModelState::Removed).then_some(())
    })
    .await;
    // The model stays available and can be deployed again.
    let again = backend.deploy(deployment.model_id, device.id, port, true).await;
    backend.serving(again.deployment_id, true).await;
}

// Holds: S4.2-4, S4.2-1a, S3.1-2
#[tokio::test]
async fn a_person_here_ends_a_download_and_no_file_is_left() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let bytes = engines::model("tiny.gguf");
    let server = ModelServer::start(bytes.clone(), Fault::Slow).await;
    let model = backend.model_at("tiny", &server.url, &bytes).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    let shown = until("bytes on disk", || async {
        let shown = device.healthz().await.deployments;
        shown.into_iter().find(|shown| shown.progress.bytes_done > 0)
    })
    .await;
    assert_eq!((shown.model_id, shown.state), (model.model_id, DeploymentState::Downloading));
    assert_eq!(shown.progress.bytes_total, bytes.len() as u64);

    let id = PipelineId::of(model.model_id);
    let answer = device.local.cancel_deploy(id).await.unwrap();
    assert_eq!(answer.pipeline, None);
    assert_eq!(answer.deployment.unwrap().model_id, model.model_id);
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Cancelled, "{:?}", ended.reason);
    assert!(device.model_files().is_empty(), "{:?}", device.model_files());
    assert!(device.healthz().await.deployments.is_empty());
    let again = device.local.cancel_deploy(id).await.unwrap_err();
    assert!(again.to_string().contains("no pipeline"), "{again}");
}

// Holds: S4.2-1a, S4.2-1b
#[tokio::test]
async fn the_deprecated_fields_know_only_of_an_explicit_start() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let tiny = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(tiny.model_id, device.id, free_port(), true).await;
    backend.serving(deployment.deployment_id, true).await;
    let deprecated = async || {
        let state = device.healthz().await;
        assert_eq!(state.transport.state, ConnectionState::Connected);
        assert_eq!((state.status, state.device_id), (LifecycleStatus::Online, device.id));
        (state.models[0].state, state.currently_serving, state.model_id)
    };
    // A deployment has started the model.
    assert_eq!(deprecated().await, (ModelState::Serving, false, None));
    // A person at this machine has started it.
    let id = PipelineId::of(tiny.model_id);
    device.local.stop(id).await.unwrap();
    backend.serving(deployment.deployment_id, false).await;
    device.local.serve(id).await.unwrap();
    backend.serving(deployment.deployment_id, true).await;
    assert_eq!(deprecated().await, (ModelState::Serving, false, None));
    // START_SERVING has started it.
    let stopped = backend.owner.stop(tiny.model_id, device.id).await.unwrap();
    backend.result(stopped.command_id).await;
    let started = backend.owner.serve(tiny.model_id, device.id, None).await.unwrap();
    let result = backend.result(started.command_id).await.result.unwrap();
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    assert_eq!(deprecated().await, (ModelState::Serving, true, Some(tiny.model_id)));
    device.local.stop(id).await.unwrap();
    until("the model to rest", || async {
        (device.model().await.state == ModelState::NotServing).then_some(())
    })
    .await;
    assert_eq!(deprecated().await, (ModelState::NotServing, false, None));
}

#[tokio::test]
async fn who_does_not_know_the_token_learns_nothing() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), false).await;
    backend.ended(deployment.deployment_id).await;
    let known = PipelineId::of(model.model_id);
    let unknown = "pip_00000000000000000000000000000000".parse().unwrap();
    let actions = [
        (Method::POST, SERVE_PATH),
        (Method::POST, STOP_PATH),
        (Method::POST, CANCEL_DEPLOY_PATH),
        (Method::DELETE, PIPELINE_PATH),
    ];
    let (secret, api) = (token(&device), Api::of(&device));
    for (method, template) in &actions {
        let malformed = template.replace("{pipeline_id}", "pip_1");
        let paths = [path_of(template, known), path_of(template, unknown), malformed];
        let mut answers = BTreeSet::new();
        for path in &paths {
            for wrong in [None, Some("Bearer x"), Some("Basic x"), Some("")] {
                let mut request = api.request(method, path);
                if let Some(wrong) = wrong {
                    request = request.header("authorization", wrong);
                }
                answers.insert(problem(request).await);
            }
        }
        let refusal = (401, "control-token-required".to_owned());
        assert_eq!(answers.into_iter().collect::<Vec<_>>(), [refusal], "{template}");
        let with_token = |path| api.request(method, path).bearer_auth(secret.expose());
        assert_eq!(problem(with_token(&paths[1])).await, (404, "not-found".to_owned()));
        assert_eq!(problem(with_token(&paths[2])).await, (422, "invalid-request".to_owned()));
        let page = with_token(&paths[0]).header("origin", WORKSPACE);
        assert_eq!(problem(page).await, (403, "origin-not-allowed".to_owned()));
        let rebound = with_token(&paths[0]).header("host", "evil.example");
        assert_eq!(problem(rebound).await, (403, "host-not-allowed".to_owned()));
    }
    let update = api.request(&Method::POST, "/update").body("no JSON");
    assert_eq!(problem(update).await, (401, "control-token-required".to_owned()));
    let other = api.get(&path_of(SERVE_PATH, known));
    assert_eq!(problem(other).await, (405, "method-not-allowed".to_owned()));
    for path in ["/events", "/metrics"] {
        let page = api.get(path).header("origin", WORKSPACE);
        assert_eq!(problem(page).await, (403, "origin-not-allowed".to_owned()));
    }
    // The scheme of a token is case-insensitive (RFC 9110, section 11.1), and a refusal names it (15.5.2).
    let with = |value: String| api.get("/metrics").header("authorization", value);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let answer = with(format!("{scheme} {}", secret.expose())).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{scheme}");
    }
    let refused = with("Bearer x".to_owned()).send().await.unwrap();
    assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    // The request had no effect.
    assert_eq!(device.pipelines().await.len(), 1);
    assert_eq!(device.model_files().len(), 1);
}

#[tokio::test]
async fn the_events_show_a_change_and_end_with_the_agent() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let mut states = device.local.states().await.unwrap();
    let first = next(&mut states).await.unwrap();
    assert_eq!((first.device_id, first.models.len()), (device.id, 0));

    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let mut last = first;
    while !last.models.iter().any(|model| model.state == ModelState::Serving) {
        let state = next(&mut states).await.unwrap();
        assert_ne!(state, last, "what did not change is not sent");
        last = state;
    }
    backend.serving(deployment.deployment_id, true).await;
    device.local.stop(PipelineId::of(model.model_id)).await.unwrap();
    while last.models[0].state != ModelState::NotServing {
        last = next(&mut states).await.unwrap();
    }
    terminate(device.agent_pid());
    while next(&mut states).await.is_some() {}
    device.died().await;
}

#[tokio::test]
async fn there_is_an_end_of_streams() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let mut streams = Vec::new();
    for _ in 0..16 {
        let mut states = device.local.states().await.unwrap();
        next(&mut states).await.unwrap();
        streams.push(states);
    }
    let answer = Api::of(&device).get("/events").bearer_auth(reader(&device).expose());
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("retry-after"));
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "agent-busy");
    // Everything else continues, and a freed place can be taken again.
    assert_eq!(device.healthz().await.device_id, device.id);
    streams.pop();
    until("a place among the streams", || async { device.local.states().await.ok() }).await;
}

#[tokio::test]
async fn status_follows_an_agent_that_goes_and_comes_back() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let mut json = Watch::start(&device, &["status", "--watch", "--json"]);
    let mut lines = Watch::start(&device, &["status", "--watch"]);
    let document = json.until(|line| line.contains("\"online\""));
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["agent"]["device_id"], json!(device.id));
    assert_eq!(document["registered"], true);
    lines.until(|line| line == "online (connected, http)");

    device.kill();
    json.until(|line| line.contains("\"running\":false") && line.contains("\"agent\":null"));
    lines.until(|line| line.contains("retrying"));
    device.run(&[]);
    json.until(|line| line.contains("\"online\""));
    lines.until(|line| line == "online (connected, http)");

    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    backend.deploy(model.model_id, device.id, free_port(), true).await;
    lines.until(|line| line.ends_with("tiny: serving"));
    for watch in [json, lines] {
        assert_eq!(watch.interrupt(), Some(0));
    }
    device.kill();
    let output = device.link().args(["status", "--watch"]).output().unwrap();
    assert_eq!(output.status.code(), Some(69));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("there is nothing to watch") && said.contains("`link start`"), "{said}");
}

#[tokio::test]
async fn the_metrics_are_what_prometheus_reads() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let deployment = backend.serve_tiny(&device).await;
    let port = deployment.port;
    let metrics = until("the machine to be measured", || async {
        let metrics = Metrics::read(&device).await;
        metrics.families.contains_key("link_system_cpu_percent").then_some(metrics)
    })
    .await;
    let only = |name: &str| {
        let samples = &metrics.families[name].samples;
        assert_eq!(samples.len(), 1, "{name}");
        samples[0].clone()
    };
    let (info, one) = only("link_agent_info");
    assert_eq!((info["device_id"].clone(), one), (device.id.to_string(), 1.0));
    assert!(!info["version"].is_empty() && !info["channel"].is_empty());
    assert_eq!(only("link_transport_connected").1, 1.0);
    assert_eq!(only("link_deployments_in_progress").1, 0.0);
    let (labels, serving) = only("link_model_serving");
    let wanted = [("alias", "tiny".to_owned()), ("port", port.to_string())];
    assert!(wanted.iter().all(|(name, value)| labels[*name] == *value), "{labels:?}");
    assert_eq!((labels["model_id"].clone(), serving), (deployment.model_id.to_string(), 1.0));
    let health = &metrics.families["link_model_health"].samples;
    let healthy: Vec<_> = health.iter().filter(|(_, value)| *value == 1.0).collect();
    assert!(health.len() == 3 && healthy.len() == 1, "{health:?}");
    assert_eq!(healthy[0].0["health"], "healthy");
    let restarts = &metrics.families["link_pipeline_restarts_total"];
    assert_eq!(restarts.kind, "counter");
    assert!(
        restarts
            .samples
            .iter()
            .all(|(labels, count)| { !labels["pipeline"].is_empty() && *count == 0.0 })
    );
    for name in ["link_reports_dropped_total", "link_log_records_dropped_total"] {
        assert_eq!((metrics.families[name].kind.as_str(), only(name).1), ("counter", 0.0));
    }
    for name in [
        "link_agent_memory_bytes",
        "link_system_memory_used_bytes",
        "link_system_memory_total_bytes",
        "link_system_disk_free_bytes",
        "link_system_disk_total_bytes",
    ] {
        assert!(only(name).1 > 0.0, "{name}");
    }
    assert!((0.0..=100.0).contains(&only("link_system_cpu_percent").1));
}

/// Runs in its own network namespace, where no other program can have the port.
// Holds: S4.2-3, S9-6
#[tokio::test]
async fn unless_told_otherwise_the_port_is_20505_of_the_loopback_interface() {
    const OWN_NETWORK: [&str; 3] = ["--user", "--map-root-user", "--net"];
    let lo = ["ip", "link", "set", "lo", "up"];
    let tried = Command::new("unshare").args(OWN_NETWORK).args(lo).output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        eprintln!("skipped: this machine gives no network of its own");
        return;
    }
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let mut command = Command::new("unshare");
    command
        .args(OWN_NETWORK)
        .args(["sh", "-c", "ip link set lo up && exec \"$0\""])
        .arg(program::path("link-agent"))
        .env("LINK_HOME", device.home())
        .env_remove("LINK_LOCAL_PORT");
    let agent = Running::start(command, &device.home().join("agent.log"));
    let network = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let listening = until("the agent to listen", || async {
        if network(&agent.id().to_string()) == network("self") {
            return None;
        }
        let sockets = std::fs::read_to_string(format!("/proc/{}/net/tcp", agent.id())).ok()?;
        let listening: Vec<_> = sockets.lines().skip(1).filter_map(listener).collect();
        (!listening.is_empty()).then_some(listening)
    })
    .await;
    assert_eq!(listening, [format!("0100007F:{:04X}", 20505)]);
}

/// The address in a line of `/proc/net/tcp`, if the socket listens.
fn listener(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip(1);
    let address = words.next()?;
    (words.nth(1)? == "0A").then(|| address.to_owned())
}

/// The control token, read from its file.
fn token(device: &TestDevice) -> Secret {
    let path = device.home().join("state/run/control.token");
    Secret::new(std::fs::read_to_string(path).unwrap())
}

/// The reader token, read from its file.
fn reader(device: &TestDevice) -> Secret {
    let path = device.home().join("state/run/reader.token");
    Secret::new(std::fs::read_to_string(path).unwrap())
}

/// A client of the local API without the rules of our own client.
struct Api {
    client: reqwest::Client,
    base: String,
}

impl Api {
    fn of(device: &TestDevice) -> Self {
        let base = format!("http://127.0.0.1:{}", device.local_port);
        Self { client: reqwest::Client::new(), base }
    }

    fn request(&self, method: &Method, path: &str) -> RequestBuilder {
        self.client.request(method.clone(), format!("{}{path}", self.base))
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.request(&Method::GET, path)
    }
}

/// The status and the error code of a refusal.
async fn problem(request: RequestBuilder) -> (u16, String) {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let status = answer.status().as_u16();
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(problem["status"], status);
    (status, problem["code"].as_str().unwrap().to_owned())
}

/// The next state. None at the end of the stream.
async fn next(states: &mut States) -> Option<Healthz> {
    let next = tokio::time::timeout(PATIENCE, states.next()).await;
    next.expect("a state, or the end").unwrap()
}

fn terminate(pid: u32) {
    assert!(Command::new("kill").arg(pid.to_string()).status().unwrap().success());
}

/// A `link` command that keeps running. Dropping the value kills it.
struct Watch {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Watch {
    fn start(device: &TestDevice, words: &[&str]) -> Self {
        let mut child = device.link().args(words).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    /// Waits for a line.
    fn until(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if wanted(&line) => return line,
                Ok(line) => seen.push(line),
                Err(_) => panic!("waited in vain for a line; there were {seen:#?}"),
            }
        }
    }

    /// Presses Ctrl-C and returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A text in the format of Prometheus, version 0.0.4, parsed strictly by its rules.
struct Metrics {
    families: BTreeMap<String, Family>,
}

struct Family {
    kind: String,
    samples: Vec<(BTreeMap<String, String>, f64)>,
}

impl Metrics {
    async fn read(device: &TestDevice) -> Self {
        let answer = Api::of(device).get("/metrics").bearer_auth(reader(device).expose());
        let answer = answer.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let kind = &answer.headers()["content-type"];
        assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
        Self::parse(&answer.text().await.unwrap())
    }

    /// Checks that each family appears once and in one piece: its help, its type, then its samples.
    fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end");
        let mut families = BTreeMap::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let help = line.strip_prefix("# HELP ").unwrap_or_else(|| panic!("no help: {line}"));
            let (name, help) = help.split_once(' ').unwrap();
            assert!(is_name(name) && !help.is_empty(), "{line}");
            let kind = lines.next().and_then(|line| line.strip_prefix("# TYPE ")).unwrap();
            let (typed, kind) = kind.split_once(' ').unwrap();
            assert_eq!(typed, name);
            match kind {
                "counter" => assert!(name.ends_with("_total"), "{name}"),
                "gauge" => assert!(!name.ends_with("_total"), "{name}"),
                _ => panic!("{kind}"),
            }
            let mut family = Family { kind: kind.to_owned(), samples: Vec::new() };
            while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
                family.samples.push(sample(name, line));
            }
            let labels: BTreeSet<_> = family.samples.iter().map(|(labels, _)| labels).collect();
            assert!(!labels.is_empty() && labels.len() == family.samples.len(), "{name}");
            assert!(families.insert(name.to_owned(), family).is_none(), "{name} twice");
        }
        Self { families }
    }
}

fn sample(family: &str, line: &str) -> (BTreeMap<String, String>, f64) {
    let rest = line.strip_prefix(family).unwrap_or_else(|| panic!("not of {family}: {line}"));
    let mut labels = BTreeMap::new();
    let value = if let Some(rest) = rest.strip_prefix('{') {
        let mut rest = rest;
        loop {
            let (name, quoted) = rest.split_once("=\"").unwrap();
            assert!(is_name(name) && !name.contains(':') && !name.starts_with("__"), "{line}");
            let (text, after) = unquote(quoted);
            assert!(labels.insert(name.to_owned(), text).is_none(), "{line}");
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => break after.strip_prefix("} ").unwrap_or_else(|| panic!("{line}")),
            }
        }
    } else {
        rest.strip_prefix(' ').unwrap_or_else(|| panic!("{line}"))
    };
    let number: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
    assert!(number.is_finite(), "{line}");
    (labels, number)
}

/// The text of a label, and the rest after its closing quote.
fn unquote(quoted: &str) -> (String, &str) {
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((place, letter)) = letters.next() {
        match letter {
            '"' => return (text, &quoted[place + 1..]),
            '\\' => text.push(match letters.next() {
                Some((_, '\\')) => '\\',
                Some((_, '"')) => '"',
                Some((_, 'n')) => '\n',
                other => panic!("no escape: {other:?}"),
            }),
            letter => text.push(letter),
        }
    }
    panic!("a quote is not closed: {quoted}");
}

fn is_name(name: &str) -> bool {
    let first = |letter: char| letter.is_ascii_alphabetic() || "_:".contains(letter);
    name.starts_with(first) && name.chars().all(|letter| first(letter) || letter.is_ascii_digit())
}
