//! `link run` and `link chat` with a real backend, agent and engine: from a file to an answer, through pipes and on a
//! terminal.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY, TINY_TOKENS},
    program,
    terminal::Terminal,
    wait::until,
};
use serde_json::Value;

mod faults;

/// The owner of a device who works on that device.
struct Desk {
    backend: TestBackend,
    device: TestDevice,
    port: String,
}

#[tokio::test]
async fn one_command_leads_from_a_file_to_an_answer_and_the_next_one_uses_what_is_there() {
    let desk = Desk::new().await;
    let file = desk.file("tiny.gguf");
    let first = desk.link(&["run", &file, "--port", &desk.port, "Hello?"], "");
    assert_eq!(first.0, format!("{TINY_REPLY}\n"), "{}", first.1);
    let engine = desk.device.model().await.engine_pid;

    // Again by the file, by the name, and with the question on standard input.
    let again = desk.link(&["run", &file, "Hello?"], "");
    assert_eq!(again.0, format!("{TINY_REPLY}\n"), "{}", again.1);
    assert!(!again.1.contains("added"), "{}", again.1);
    // The only model that is served needs no name.
    for chat in [&["chat", "tiny"][..], &["chat"]] {
        let piped = desk.link(chat, "Hello?\n");
        assert_eq!(piped.0, format!("{TINY_REPLY}\n"), "{}", piped.1);
    }
    assert_eq!(desk.device.model().await.engine_pid, engine);
    assert_eq!(desk.backend.owner.models().await.unwrap().len(), 1);

    let document = desk.link(&["chat", "tiny", "--json", "Hello?"], "");
    let document: Value = serde_json::from_str(&document.0).unwrap();
    assert_eq!(document["answer"]["text"], TINY_REPLY);
    assert_eq!(document["answer"]["ended"], "whole");
    assert_eq!(document["answer"]["usage"]["completion_tokens"], TINY_TOKENS);
    let cut = desk.link(&["chat", "tiny", "--json", "--max-tokens", "3", "Hello?"], "");
    let cut: Value = serde_json::from_str(&cut.0).unwrap();
    assert_eq!(cut["answer"]["ended"], "length");
    assert_eq!(cut["answer"]["usage"]["completion_tokens"], 3);
    let said = desk.link(&["chat", "tiny", "--max-tokens", "3", "Hello?"], "").1;
    assert!(said.contains("cut off at the token limit"), "{said}");

    // A stopped model is served again.
    let stopped = desk.link(&["model", "stop", "tiny", "--wait"], "");
    assert!(stopped.1.contains("stop"), "{}", stopped.1);
    let refused = desk.link(&["chat"], "Hello?\n");
    assert!(refused.1.contains("no model is served on this device"), "{}", refused.1);
    assert!(refused.1.contains("link run MODEL"), "{}", refused.1);
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
async fn who_names_no_model_chooses_one_on_a_terminal_and_is_told_the_names_in_a_script() {
    let desk = Desk::new().await;
    for model in ["tiny.gguf", "tiny-loop.gguf"] {
        let file = desk.file(model);
        let run = ["run", &file, "--port", &desk.port, "--max-tokens", "3", "Hello?"];
        assert_ne!(desk.link(&run, "").0, "", "{model}");
    }
    let (answer, message) = desk.link(&["chat"], "Hello?\n");
    assert_eq!(answer, "");
    assert!(message.contains("which model? served here: "), "{message}");
    assert!(message.contains("`tiny`") && message.contains("`tiny-loop`"), "{message}");

    let mut terminal = desk.terminal(&["chat", "--max-tokens", "3"]);
    terminal.shows("Model").await;
    terminal.types("\u{1b}[B\r");
    terminal.shows("chatting with `tiny").await;
    terminal.types("\u{4}");
    terminal.ended_with(0).await;
    let mut terminal = desk.terminal(&["chat"]);
    terminal.shows("Model").await;
    terminal.types("\u{1b}");
    terminal.shows("cancelled").await;
}

#[tokio::test]
async fn a_model_of_another_device_is_refused_with_the_machine_that_answers() {
    let desk = Desk::new().await;
    let file = desk.file("tiny.gguf");
    desk.link(&["run", &file, "--port", &desk.port, "Hello?"], "");
    let own = desk.device.id.to_string();
    let other = TestDevice::register(&desk.backend).await.id.to_string();
    for (device, name) in [(&own, "desk"), (&other, "attic")] {
        let renamed = desk.link(&["device", "rename", device, name], "");
        assert!(renamed.1.contains(name), "{renamed:?}");
    }
    let chat = |device: &str| desk.link(&["chat", "tiny", "--device", device, "Hello?"], "");
    for device in [&*own, "desk"] {
        assert_eq!(chat(device).0, format!("{TINY_REPLY}\n"), "{device}");
    }
    for device in [&*other, "attic"] {
        let refused = chat(device);
        let expected = "error: models answer on 127.0.0.1 of `attic` alone\n hint: run `link chat \
                        tiny` on that machine\n";
        assert_eq!(refused, (String::new(), expected.to_owned()), "{device}");
    }
    let unknown = chat("cellar");
    assert!(unknown.1.contains("no device is called `cellar`"), "{}", unknown.1);
    assert!(unknown.1.contains("attic") && unknown.1.contains("desk"), "{}", unknown.1);
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

    // Without a limit, the answer would never end. Ctrl-C ends the answer, but not the conversation.
    terminal.types("/set max_tokens -\r");
    terminal.shows("max_tokens default, seed").await;
    let before = terminal.text().len();
    terminal.types("Go on.\r");
    until("an answer to be under way", || async {
        terminal.text()[before..].contains("Hello").then_some(())
    })
    .await;
    terminal.types("\u{3}");
    terminal.shows("(stopped, ").await;
    terminal.types("/help\r");
    terminal.shows("Ctrl-C stops an answer").await;

    terminal.types("/stop\r");
    terminal.shows("stopped serving").await;
    terminal.ended_with(0).await;
    // The next conversation has the history, which only this user can read.
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

    /// Writes a model file to the owner's folder.
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

    /// Runs `link`, and returns its standard output and standard error.
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
        // With `exec`, because a waiting shell would report Ctrl-C as its own end.
        let line = format!("exec '{}' {}", program::path("link").display(), words.join(" "));
        Terminal::run(&line, |command| {
            for (name, value) in self.device.link().get_envs() {
                command.env(name, value.unwrap_or_default());
            }
            self.prepare(command);
        })
    }
}
