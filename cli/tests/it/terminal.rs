//! The command on a terminal: width, confirmations, and the end of prompts.

use std::{
    io::{Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    http::StatusCode,
    routing::{delete, get, post},
};
use link_protocol::problem::Code;
use serde_json::{Value, json};

use crate::support::{Backend, Home, id, log_in, refuse};

/// Runs `link` on a terminal of `columns` columns, types `keys`, and returns the screen output.
pub(crate) fn at_a_terminal(home: &Home, columns: u16, words: &str, keys: &str) -> String {
    let mut child = start(home, columns, words);
    child.stdin.take().unwrap().write_all(keys.as_bytes()).unwrap();
    let shown = child.wait_with_output().unwrap().stdout;
    String::from_utf8_lossy(&shown).replace('\r', "")
}

/// A run of `link` on a terminal, with a person who answers each prompt when it is shown.
pub(crate) struct Person {
    terminal: Child,
    keyboard: ChildStdin,
    screen: Arc<Mutex<Vec<u8>>>,
    /// The length of the output that was read so far.
    read: usize,
}

impl Person {
    /// Starts `link` with `words`.
    pub(crate) fn runs(home: &Home, words: &str) -> Self {
        let mut terminal = start(home, 100, words);
        let (keyboard, output) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
        let screen = Arc::new(Mutex::new(Vec::new()));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || copy(output, &shown));
        Self { terminal, keyboard, screen, read: 0 }
    }

    /// Waits until `prompt` is shown after everything that was read so far, and types `keys`. Returns the output up to
    /// the prompt.
    pub(crate) fn answers(&mut self, prompt: &str, keys: &str) -> String {
        let before = self.sees(prompt);
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        before
    }

    /// Waits until `text` is shown after everything that was read so far. Returns the output up to the text.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let began = Instant::now();
        loop {
            let new = self.new_output();
            if let Some(at) = new.find(text) {
                self.read += at + text.len();
                return new[..at].to_owned();
            }
            assert!(began.elapsed() < Duration::from_secs(30), "no `{text}` in {new:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the exit code of the command, and the output that was not read yet.
    pub(crate) fn ends(mut self) -> (i32, String) {
        drop(self.keyboard);
        let code = self.terminal.wait().unwrap().code().unwrap();
        // The terminal has ended, so the thread reads the rest at once and drops its end.
        let began = Instant::now();
        while Arc::strong_count(&self.screen) > 1 {
            assert!(began.elapsed() < Duration::from_secs(30), "the output has no end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let rest = self.screen.lock().unwrap()[self.read..].to_vec();
        (code, String::from_utf8_lossy(&rest).replace('\r', ""))
    }

    fn new_output(&self) -> String {
        let screen = self.screen.lock().unwrap();
        // A prompt is read byte for byte, and its last character may still be incomplete.
        String::from_utf8_lossy(&screen[self.read..]).into_owned()
    }
}

fn copy(mut output: ChildStdout, screen: &Mutex<Vec<u8>>) {
    let mut part = [0; 1024];
    while let Ok(read @ 1..) = output.read(&mut part) {
        screen.lock().unwrap().extend_from_slice(&part[..read]);
    }
}

fn start(home: &Home, columns: u16, words: &str) -> Child {
    let link = env!("CARGO_BIN_EXE_link");
    let line = format!("stty cols {columns} rows 50; exec '{link}' {words}");
    Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .env_clear()
        .env("LINK_HOME", home.path(""))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .envs(home.variables())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_table_fits_its_terminal_and_is_whole_in_a_pipe() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let piped = home.link(&["device", "list"]).stdout;
    assert!(piped.contains(&id("dev", 1)) && piped.contains("2026-10-01T00:00:00Z"), "{piped}");
    for columns in [60, 100] {
        let shown = at_a_terminal(&home, columns, "device list", "");
        assert!(shown.lines().all(|line| line.chars().count() <= columns.into()), "{shown}");
        assert!(shown.contains("NAME") && !shown.contains(&id("dev", 1)), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
    let shown = at_a_terminal(&home, 100, "device show workstation", "");
    assert!(shown.contains(&format!("Id          {}\n", id("dev", 1))), "{shown}");
    assert!(shown.contains("Registered  2020-01-31\n"), "{shown}");
    let shown = at_a_terminal(&home, 200, "device list --full --utc", "");
    assert!(shown.contains(&id("dev", 1)) && shown.contains("2026-10-01T00:00:00Z"), "{shown}");
}

#[test]
fn a_deletion_is_confirmed_at_a_terminal_and_meant_in_a_script() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    log_in(&home, &backend);
    let deletion = format!("DELETE /api/v1/models/{}", id("mdl", 1));
    let shown = at_a_terminal(&home, 100, "model delete smollm", "n\n");
    assert!(shown.contains("Delete `smollm` and its file"), "{shown}");
    assert!(shown.contains("nothing was changed"), "{shown}");
    assert!(!backend.seen().contains(&deletion));
    let shown = at_a_terminal(&home, 100, "model delete smollm", "y\n");
    assert!(shown.contains("deleted `smollm`"), "{shown}");
    assert!(backend.seen().contains(&deletion));
    for words in [&["model", "delete", "smollm"][..], &["model", "delete", "smollm", "--yes"]] {
        assert_eq!(home.link(words).code, 0);
        assert!(backend.seen().contains(&deletion));
    }
}

#[test]
fn purge_needs_its_word_typed_at_a_terminal() {
    let home = Home::new();
    let data = home.path("backend-data");
    let config =
        format!("data = \"{data}\"\nlisten = \"127.0.0.1:8000\"\nowner_proof = \"file\"\n");
    let files = ["backend-config/backend.toml", "backend-data/link.db", "state/journal.db"];
    for (file, text) in files.into_iter().zip([&*config, "", ""]) {
        home.file(file, text);
    }
    let shown = at_a_terminal(&home, 200, "down --purge", "nope\n");
    assert!(shown.contains(&format!("and model in {data}")), "{shown}");
    assert!(shown.contains("nothing was changed"), "{shown}");
    assert!(files.iter().all(|file| home.has(file)), "{shown}");
    let shown = at_a_terminal(&home, 200, "down --purge", "purge\n");
    assert!(shown.contains("deleted the backend and its data"), "{shown}");
    assert!(!files.iter().any(|file| home.has(file)), "{shown}");
}

#[test]
fn a_checksum_is_asked_for_until_it_is_one_and_pinned_where_nobody_gives_it() {
    let created = Created::default();
    let (home, backend) = (Home::new(), Backend::start(app().merge(models_at(&created))));
    log_in(&home, &backend);
    let url = format!("{}/smollm.gguf", backend.url);
    let pinned = "no checksum was given: pinned what is there now, SHA-256 ";
    let wrong = "this is not a SHA-256, which has 64 hexadecimal digits";
    let asked = format!("SHA-256 of {url} (empty: pin what is there now): ");
    let sent = || created.lock().unwrap().pop().map(|model| model["sha256"].clone());

    let digest = "0".repeat(64);
    let words = format!("model add --url {url}");
    let shown = at_a_terminal(&home, 200, &words, &format!("0123\n{digest}0\n{digest}\n"));
    assert_eq!((shown.matches(&asked).count(), shown.matches(wrong).count()), (3, 2), "{shown}");
    assert!(shown.contains("added `smollm`") && !shown.contains(pinned), "{shown}");
    assert_eq!(sent(), Some(json!(digest)));

    let shown = at_a_terminal(&home, 200, &words, "\n");
    assert!(shown.contains(&asked) && shown.contains(pinned), "{shown}");
    let now = sent().unwrap();
    assert!(shown.contains(now.as_str().unwrap()) && now != json!(digest), "{shown}");

    // Ctrl-D cancels, and pins nothing.
    let shown = at_a_terminal(&home, 200, &words, "\u{4}");
    assert!(shown.contains("error: cancelled") && !shown.contains(pinned), "{shown}");
    assert_eq!(sent(), None);

    let piped = home.link(&["model", "add", "--url", &url]);
    assert!(piped.code == 0 && piped.stderr.contains(pinned), "{piped:?}");
    assert!(!piped.stderr.contains(&asked), "{piped:?}");
    assert_eq!(sent(), Some(now));
}

#[test]
fn the_end_of_input_cancels_and_a_second_first_account_is_told_at_once() {
    let (home, backend) = (Home::new(), Backend::start(app()));
    let words = format!("login --email a@b.c --backend {}", backend.url);
    let shown = at_a_terminal(&home, 100, &words, "\u{4}");
    assert!(shown.contains("error: cancelled"), "{shown}");
    for words in [
        format!("account create --backend {}", backend.url),
        format!("account create --setup-token-file /nowhere --backend {}", backend.url),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ran = home.link(&words);
        assert_eq!(ran.code, 77, "{ran:?}");
        let wanted = "error: this backend has its first account\n hint: use `link login`\n";
        assert_eq!(ran.stderr, wanted);
    }
}

#[test]
fn a_broken_configuration_is_told_at_once_with_its_line() {
    let home = Home::new();
    let path = home.file(
        "config/agent.json",
        "{\n  \"schema_version\": \"2.1\",\n  \"local_api\": {\"port\": 70000}\n}\n",
    );
    for words in [&["start"][..], &["restart"]] {
        let ran = home.link(words);
        assert_eq!(ran.code, 41, "{ran:?}");
        assert!(ran.stderr.contains(&format!("`{path}` has a fault")), "{ran:?}");
        assert!(ran.stderr.contains("line 3, local_api.port"), "{ran:?}");
    }
    let ran = home.link(&["status"]);
    assert!(ran.stderr.contains("line 3, local_api.port"), "{ran:?}");
    home.file("config/agent.json", "{\n  \"schema_version\": oops\n}");
    let ran = home.link(&["start", "--json"]).stderr_json();
    assert_eq!(ran["error"], "configuration");
    assert!(ran["message"].as_str().unwrap().contains("line 2, column"), "{ran}");
}

/// The bodies of the requests for new models.
type Created = Arc<Mutex<Vec<Value>>>;

/// Serves a model file, and records the models that are created.
fn models_at(created: &Created) -> Router {
    let record = Arc::clone(created);
    let create = move |Json(body): Json<Value>| {
        record.lock().unwrap().push(body);
        async { Json(model()) }
    };
    Router::new().route("/smollm.gguf", get(async || gguf())).route("/api/v1/models", post(create))
}

/// Returns a file with one tensor of 16 zeros.
fn gguf() -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut file = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    file.extend([text("general.architecture"), vec![8, 0, 0, 0], text("llama")].concat());
    file.extend([text("weights"), vec![1, 0, 0, 0], 16_u64.to_le_bytes().to_vec()].concat());
    file.extend([0; 12]);
    file.resize(file.len().next_multiple_of(32) + 64, 0);
    file
}

fn model() -> Value {
    json!({
        "model_id": id("mdl", 1), "name": "smollm", "file_name": "m.gguf", "url": null,
        "sha256": null, "size_bytes": null, "plugin": "language_model", "shared": false,
        "ready": true, "owned": true, "created_at": "2026-08-07T12:00:00Z",
    })
}

fn app() -> Router {
    let device = json!({
        "device_id": id("dev", 1), "name": "workstation", "online": true, "status": "online",
        "agent_version": "1.3.0", "tags": ["lab", "second-floor", "left", "behind the door"],
        "registered_at": "2020-01-31T12:00:00Z", "last_seen_at": "2026-10-01T00:00:00Z",
        "platform": { "os": "linux", "arch": "x86_64", "hostname": "workstation" },
    });
    let page = |item: Value| {
        move || {
            let page = json!({ "items": [item.clone()], "next_cursor": null });
            async move { Json(page) }
        }
    };
    let set_up = || async { refuse(Code::AlreadySetUp, "this backend has its first account") };
    Router::new()
        .route("/api/v1/devices", get(page(device.clone())))
        .route("/api/v1/devices/{id}", get(|| async { Json(device) }))
        .route("/api/v1/models", get(page(model())))
        .route("/api/v1/models/{id}", delete(|| async { StatusCode::NO_CONTENT }))
        .route("/api/v1/setup", post(set_up))
}
