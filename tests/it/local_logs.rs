//! `link logs --local --follow` shows what is written after it was started, and only what was asked for.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use link_tests::{backend::TestBackend, chat, device::TestDevice, program::Running, wait::until};

/// A command that follows the logs, and what it has printed.
struct Follower {
    printed: PathBuf,
    _running: Running,
}

impl Follower {
    fn start(device: &TestDevice, folder: &Path, name: &str, words: &[&str]) -> Self {
        let mut command: Command = device.link();
        command.args(["logs", "--local", "--follow"]).args(words);
        let printed = folder.join(name);
        let running = Running::start(command, &printed);
        Self { printed, _running: running }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.printed).unwrap_or_default()
    }

    async fn shows(&self, part: &str) {
        until(part, || async { self.text().contains(part).then_some(()) }).await;
    }
}

#[tokio::test]
async fn following_shows_new_lines_of_each_log_and_keeps_its_filters() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let started = device.link().arg("start").output().unwrap();
    assert!(started.status.success(), "{started:?}");
    backend.online(device.id, true).await;
    let port = backend.serve_tiny(&device).await.port;
    let folder = tempfile::tempdir().unwrap();
    let all = Follower::start(&device, folder.path(), "all", &[]);
    let severe = Follower::start(&device, folder.path(), "severe", &["--severity", "warning"]);
    let engine = Follower::start(&device, folder.path(), "engine", &["--model", "tiny", "--json"]);
    all.shows(" agent ").await;
    engine.shows("\"source\":\"tiny\"").await;

    // A log that begins while somebody follows, one line of which is not complete at first.
    let log = device.home().join("state/logs/late.log");
    let mut late = std::fs::File::create(&log).unwrap();
    writeln!(late, "2026-10-01T12:00:00Z  INFO late: all is well").unwrap();
    write!(late, "2026-10-01T12:00:01Z ERROR late: the disk").unwrap();
    all.shows("late: all is well").await;
    assert!(!all.text().contains("late: the disk"), "half a line: {}", all.text());
    writeln!(late, " is full").unwrap();
    all.shows("late: the disk is full").await;
    severe.shows("late: the disk is full").await;
    assert!(!severe.text().contains("late: all is well"), "{}", severe.text());

    // What the engine writes about a question.
    let before = engine.text().lines().count();
    chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    until("a line about the question", || async {
        (engine.text().lines().count() > before).then_some(())
    })
    .await;
    // The agent's lines about the model are part of it.
    for line in engine.text().lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_of_model = record["source"] == "tiny" || line.contains("pipeline_id=");
        assert!(is_of_model && !line.contains("late:"), "{line}");
    }
    // The engine has a level of its own on each line.
    severe.shows("unauthorized").await;
    assert_eq!(all.text().matches("late: all is well").count(), 1, "{}", all.text());
    assert!(device.link().arg("stop").output().unwrap().status.success());
}
