//! `link run` on a terminal while a part of Link fails: a second conversation, a lost backend, a killed agent, a full
//! disk. The command says what to do, and the same terminal continues if possible.

use link_tests::{disk::SmallDisk, engines::TINY_REPLY, wait::until};

use super::Desk;

#[tokio::test]
async fn a_second_conversation_begins_at_once_and_needs_no_backend() {
    let mut desk = Desk::new().await;
    let file = desk.file("tiny.gguf");
    let mut first = desk.terminal(&["run", &file, "--port", &desk.port]);
    first.shows("chatting with `tiny`").await;
    first.types("Hello?\r");
    first.shows(TINY_REPLY).await;
    first.shows(" tokens, ").await;
    first.types("/bye\r");
    first.ended_with(0).await;
    let engine = desk.device.model().await.engine_pid;

    let mut second = desk.terminal(&["run", "tiny"]);
    second.shows(">>> ").await;
    let shown = second.text();
    assert!(!shown.contains("uploading") && !shown.contains("added"), "{shown}");
    desk.backend.kill();
    second.types("Hello?\r");
    second.shows(TINY_REPLY).await;
    second.shows(" tokens, ").await;
    // Ctrl-D leaves the conversation, like /bye.
    second.types("\u{4}");
    second.ended_with(0).await;

    // Typed before the prompt appears, it is not lost.
    let mut hasty = desk.terminal(&["run", "tiny"]);
    hasty.types("\u{4}");
    hasty.ended_with(0).await;

    // A served model also answers without a backend. For a model that must be deployed, the command names the missing
    // part.
    let mut third = desk.terminal(&["run", "tiny"]);
    third.shows(">>> ").await;
    third.types("/bye\r");
    third.ended_with(0).await;
    let mut other = desk.terminal(&["run", "other"]);
    other.ended_with(69).await;
    assert!(other.text().contains("hint:"), "{}", other.text());
    assert_eq!(desk.device.model().await.engine_pid, engine);
}

#[tokio::test]
async fn an_agent_that_is_killed_in_the_middle_of_an_answer_ends_the_answer_alone() {
    let mut desk = Desk::new().await;
    let file = desk.file("tiny-loop.gguf");
    let mut terminal = desk.terminal(&["run", &file, "--port", &desk.port]);
    terminal.shows("chatting with `tiny-loop`").await;
    terminal.shows(">>> ").await;
    let before = terminal.text().len();
    terminal.types("Go on.\r");
    until("an answer to be under way", || async {
        (terminal.text().len() > before + 20).then_some(())
    })
    .await;
    desk.device.kill();
    terminal.shows("`link status` shows the state of the model").await;

    desk.device.run(&[]);
    desk.device.serves().await;
    terminal.types("/set max_tokens 5\r");
    terminal.shows("max_tokens 5, seed").await;
    terminal.types("Hello?\r");
    terminal.shows("(5 tokens, ").await;
    terminal.types("/bye\r");
    terminal.ended_with(0).await;
}

#[tokio::test]
async fn a_disk_that_is_full_is_named_and_the_same_command_works_once_there_is_room() {
    let desk = Desk::new().await;
    let file = desk.file("tiny.gguf");
    let models = desk.device.home().join("state/models");
    std::fs::create_dir_all(&models).unwrap();
    let Some(disk) = SmallDisk::mount(&models) else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    disk.fill();
    let mut full = desk.terminal(&["run", &file, "--port", &desk.port]);
    full.shows("not enough disk space").await;
    full.shows("hint:").await;
    full.ended_with(1).await;
    assert_eq!(desk.device.model_files(), [disk.filler()]);

    disk.empty();
    let mut again = desk.terminal(&["run", &file, "--port", &desk.port]);
    again.shows(">>> ").await;
    again.types("Hello?\r");
    again.shows(TINY_REPLY).await;
    again.types("/bye\r");
    again.ended_with(0).await;
    assert_eq!(desk.backend.owner.models().await.unwrap().len(), 1);
}
