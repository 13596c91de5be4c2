//! The program as the agent starts it, with a real network that knows which way up a page stands.

#[path = "../../../classifier/tests/it/engine.rs"]
mod engine;

mod answers;
mod contract;
mod models;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_link-image-classifier");
/// The path that classifies.
const PATH: &str = "/v1/images/classifications";
/// A page of text, upright.
const PAGE: &[u8] = include_bytes!("page.png");

/// Starts the program with the network for pages; nothing if it is not prepared.
fn orientation() -> Option<engine::Engine> {
    let prepared = engine::prepared()?;
    Some(engine::Engine::start(PROGRAM, &prepared, &prepared.join("orientation.tar")))
}
