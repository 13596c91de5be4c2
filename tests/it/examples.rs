//! Every example of every `--help` of `link`, `link-backend` and `link-agent` runs, with real programs and as it stands.
//!
//! The examples come from the help. The tables in the modules give each example the state that it needs, and its
//! outcome. An example without an entry fails the first test, and so does an entry without an example.

use std::collections::BTreeSet;

use link_tests::{
    engines,
    installed::OLD,
    release::{Agent, Releases},
    release_server::{Fault, ReleaseServer},
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use self::{example::Example, world::World};

mod desk;
mod example;
mod help;
mod installed;
mod own_backend;
mod people;
mod server;
mod world;

/// The release in the examples, which is newer than this build.
const NEW: &str = "1.4.0";

/// Every example that runs.
const TABLES: [&[Example]; 11] = [
    people::FIRST_ACCOUNT,
    people::PEOPLE,
    desk::REGISTER,
    desk::DEVICE,
    desk::MODELS,
    desk::OFFLINE,
    desk::ENGINES,
    desk::PLUGINS,
    own_backend::OWN_BACKEND,
    installed::INSTALLED,
    server::SERVER,
];

#[test]
fn every_example_has_an_entry_and_every_entry_is_an_example() {
    let in_help = help::examples();
    let in_tables = TABLES.into_iter().flatten().map(|example| example.line.to_owned());
    let in_tables: BTreeSet<_> = in_tables.collect();
    assert!(in_help.len() > 140, "{}", in_help.len());
    let without_entry: Vec<_> = in_help.difference(&in_tables).collect();
    assert!(without_entry.is_empty(), "examples that no test runs: {without_entry:#?}");
    let unknown: Vec<_> = in_tables.difference(&in_help).collect();
    assert!(unknown.is_empty(), "entries that are no examples: {unknown:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_persons_run() {
    let mut world = World::new().await;
    for table in [people::FIRST_ACCOUNT, people::PEOPLE] {
        world.start_backend().await;
        world.play(table).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_a_device_and_its_models_run() {
    let mut world = World::new().await;
    let releases = Releases::new();
    world.set("LINK_DEV_RELEASE_KEYS", &releases.trusted);
    world.start_backend_of_you().await;
    publish_models_and_engines(&world, &releases).await;
    let tables =
        [desk::REGISTER, desk::DEVICE, desk::MODELS, desk::OFFLINE, desk::ENGINES, desk::PLUGINS];
    world.play(&tables.concat()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_ones_own_backend_run() {
    World::new().await.play(own_backend::OWN_BACKEND).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_updates_and_of_servers_run() {
    let mut world = World::new().await;
    let releases = Releases::new();
    releases.publish(OLD, Agent::Good);
    world.set("LINK_DEV_RELEASE_KEYS", &releases.trusted);
    world.set("LINK_INSTALL_URL", &releases.url());
    world.start_backend_of_you().await;
    world.does(installed::INSTALL);
    releases.publish(NEW, Agent::Good);
    world.play(installed::INSTALLED).await;

    world.write("release-key.pub", releases.trusted.as_bytes());
    std::os::unix::fs::symlink(releases.folder(), world.file("release-folder")).unwrap();
    std::os::unix::fs::symlink(".", releases.folder().join("stable")).unwrap();
    let server = ReleaseServer::start(&releases.folder(), "none", Fault::None).await;
    world.lead("releases.example", &server.url);
    world.does(server::CONFIGURE);
    world.play(server::SERVER).await;
}

/// Publishes a catalogue with `smollm2-135m`, and an engine that only knows its version.
async fn publish_models_and_engines(world: &World, releases: &Releases) {
    let model = engines::model("tiny-loop.gguf");
    releases.publish_catalogue(&json!({ "models": [{
        "name": "smollm2-135m", "summary": "a small model", "licence": "Apache-2.0",
        "file_name": "smollm2.gguf", "url": "https://models.example/smollm2.gguf",
        "sha256": Sha256::digest(&model).iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        "size_bytes": model.len(),
        "facts": { "architecture": "llama", "parameters": 1, "memory_bytes": 1 << 20 },
    }]}));
    world.does(
        "mkdir -p llama.cpp/build/bin
         printf '#!/bin/sh\\necho version: 8808\\n' > llama.cpp/build/bin/llama-server
         chmod +x llama.cpp/build/bin/llama-server",
    );
    releases.publish_engine("b9789", &world.file("llama.cpp/build/bin"));
    world.write("engines.pub", releases.trusted.as_bytes());
    let pull = format!(
        "link-backend releases pull '{}' --data backend/data --trust engines.pub",
        releases.folder().display()
    );
    world.does(&pull);
    let smollm = engines::model("tiny.gguf");
    let on_the_hub = [("owner/repo/resolve/main/smollm.gguf", smollm.clone())];
    world.serve_files("huggingface.co", &on_the_hub).await;
    let elsewhere = [("smollm.gguf", smollm), ("smollm2.gguf", model)];
    world.serve_files("models.example", &elsewhere).await;
}
