//! `link run` and `link chat` against a real backend, a real agent and a real engine: from a file to
//! an answer, through pipes and at a terminal.

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY, TINY_TOKENS},
    program,
    wait::until,
};
use serde_json::Value;

mod faults;

/// The device's owner at work on it.
struct Desk {
    backend: TestBackend,
    device: TestDevice,
    port: String,
}

/// `link` at a terminal of its own.
struct Terminal {
    child: Child,
    shown: Arc<Mutex<String>>,
}

#[tokio::test]
async fn one_command_leads_from_a_file_to_an_answer_and_the_next_one_uses_what_is_there() {
    let desk = Desk::new().await;
    let file = desk.file("tiny.gguf");
    let first = desk.link(&["run", &file, "--port", &desk.port, "Hello?"], "");
    assert_eq!(first.0, format!("{TINY_REPLY}\n"), "{}", first.1);
    let engine = desk.device.model().await.engine_pid;

    // By its file once more, by its name, and by standard input.
    let again = desk.link(&["run", &file, "Hello?"], "");
    assert_eq!(again.0, format!("{TINY_REPLY}\n"), "{}", again.1);
    assert!(!again.1.contains("added"), "{}", again.1);
    let piped = desk.link(&["chat", "tiny"], "Hello?\n");
    assert_eq!(piped.0, format!("{TINY_REPLY}\n"), "{}", piped.1);
    assert_eq!(desk.device.model().await.engine_pid, engine);
    assert_eq!(desk.backend.owner.models().await.unwrap().len(), 1);

    let document = desk.link(&["chat", "tiny", "--json", "Hello?"], "");
    let document: Value = serde_json::from_str(&document.0).unwrap();
    assert_eq!(document["answer"]["text"], TINY_REPLY);
    assert_eq!(document["answer"]["ended"], "whole");
    assert_eq!(document["answer"]["usage"]["completion_tokens"], TINY_TOKENS);

    // A model that was stopped is served again.
    let stopped = desk.link(&["model", "stop", "tiny", "--wait"], "");
    assert!(stopped.1.contains("stop"), "{}", stopped.1);
    let refused = desk.link(&["chat", "tiny", "Hello?"], "");
    assert!(refused.1.contains("`tiny` is not served on this device"), "{}", refused.1);
    assert!(refused.1.contains("link run tiny"), "{}", refused.1);
    let served = desk.link(&["run", "tiny", "Hello?"], "");
    assert_eq!(served.0, format!("{TINY_REPLY}\n"), "{}", served.1);
}

#[tokio::test]
async fn who_cannot_be_helped_is_told_what_to_do() {
    let desk = Desk::new().await;
    let unknown = desk.link(&["run", "nothing", "Hello?"], "");
    assert!(unknown.1.contains("no model is called `nothing`"), "{}", unknown.1);
    assert!(unknown.1.contains("no catalogue of models is published"), "{}", unknown.1);
    assert!(unknown.1.contains("`./FILE`"), "{}", unknown.1);
    let silent = desk.link(&["chat", "nothing"], " \n");
    assert!(silent.1.contains("link run nothing"), "{}", silent.1);
}

#[tokio::test]
async fn a_person_at_a_terminal_talks_stops_an_answer_and_leaves() {
    let desk = Desk::new().await;
    let file = desk.file("tiny-loop.gguf");
    let mut terminal = desk.terminal(&["run", &file, "--port", &desk.port]);
    terminal.shows("chatting with `tiny-loop`").await;
    terminal.shows(">>> ").await;
    terminal.types("/set max_tokens 5\r");
    terminal.shows("max_tokens 5, seed").await;
    terminal.types("\"\"\"Hello\r");
    terminal.shows("... ").await;
    terminal.types("there?\"\"\"\r");
    terminal.shows("(5 tokens, ").await;

    // Without a bound it would never end. Ctrl-C ends the answer, and the conversation goes on.
    terminal.types("/set max_tokens -\r");
    terminal.shows("max_tokens default, seed").await;
    let before = terminal.text().len();
    terminal.types("Go on.\r");
    until("an answer to be under way", || async {
        (terminal.text().len() > before + 20).then_some(())
    })
    .await;
    terminal.types("\u{3}");
    terminal.shows("(stopped, ").await;
    terminal.types("/help\r");
    terminal.shows("Ctrl-C stops an answer").await;

    terminal.types("/stop\r");
    terminal.shows("stopped serving").await;
    terminal.ended_with(0).await;
    // What was typed is there at the next conversation, for this user alone.
    let history = desk.device.home().join("state/chat_history");
    let mode = std::os::unix::fs::PermissionsExt::mode(&history.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::read_to_string(history).unwrap().contains("Go on."));
}

impl Desk {
    async fn new() -> Self {
        let backend = TestBackend::start().await;
        let device = TestDevice::start(&backend).await;
        Self { backend, device, port: free_port().to_string() }
    }

    /// A model file in the owner's folder.
    fn file(&self, name: &str) -> String {
        let path = self.device.home().join(name);
        std::fs::write(&path, engines::model(name)).unwrap();
        path.display().to_string()
    }

    fn prepare(&self, command: &mut Command) {
        command
            .env("LINK_BACKEND_URL", &self.backend.url)
            .env("LINK_ACCESS_TOKEN", self.backend.owner.access_token().expose());
    }

    /// Runs `link`; returns what it printed and what it said.
    fn link(&self, words: &[&str], input: &str) -> (String, String) {
        let mut command = self.device.link();
        self.prepare(&mut command);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&ended.stdout), text(&ended.stderr))
    }

    fn terminal(&self, words: &[&str]) -> Terminal {
        let own = self.device.link();
        let mut command = Command::new("script");
        // `exec`: a shell that waits would report Ctrl-C as its own end.
        let line = format!("exec '{}' {}", program::path("link").display(), words.join(" "));
        command.args(["-qefc", &line, "/dev/null"]).env("TERM", "xterm");
        for (name, value) in own.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        self.prepare(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (shown, mut output) = (Arc::<Mutex<String>>::default(), child.stdout.take().unwrap());
        let keeps = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                keeps.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        });
        Terminal { child, shown }
    }
}

impl Terminal {
    fn types(&mut self, keys: &str) {
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    /// Waits until the terminal shows `text`.
    async fn shows(&self, text: &str) {
        let seen = until(text, || async { self.text().contains(text).then_some(()) });
        let seen = tokio::time::timeout(std::time::Duration::from_secs(60), seen).await;
        assert!(seen.is_ok(), "no `{text}` in:\n{}", self.text());
    }

    async fn ended_with(&mut self, code: i32) {
        let status =
            until("the program to end", || std::future::ready(self.child.try_wait().unwrap()))
                .await;
        assert_eq!(status.code(), Some(code), "{}", self.text());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}
