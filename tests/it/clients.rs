//! Clients of OpenAI's API as others publish them, at a served model.

use std::process::Command;

use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/clients");

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_clients_chat_and_show_why_they_are_refused() {
    if std::env::var_os("LINK_TEST_FULL").is_none() {
        eprintln!("skipped: only LINK_TEST_FULL downloads the clients");
        return;
    }
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    // A port with one model answers for every name of a model.
    let port = free_port();
    for (name, file) in [("tiny", "tiny.gguf"), ("other", "tiny-loop.gguf")] {
        let model = backend.upload(name, engines::model(file)).await;
        let deployment = backend.deploy(model.model_id, device.id, port, true).await;
        backend.serving(deployment.deployment_id, true).await;
    }
    let mut clients = Command::new(SCRIPT);
    clients.args([&format!("http://127.0.0.1:{port}/v1"), "tiny", TINY_REPLY]);
    let ran = tokio::task::spawn_blocking(move || clients.output().unwrap()).await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    for client in ["openai", "litellm", "langchain_openai", "llama_index", "openai for Node"] {
        assert!(said.contains(&format!("{client}: chats")), "{said}");
    }
}
