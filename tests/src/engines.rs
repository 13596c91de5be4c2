//! The real engine and the models whose answers are known in advance.

use std::path::{Path, PathBuf};

use crate::program;

/// The reply of `tiny.gguf` to any request.
pub const TINY_REPLY: &str = " Hello from a tiny local model: every token of this reply is scripted, so tests can count them.";

/// The number of tokens of that reply, including its end.
pub const TINY_TOKENS: u64 = 22;

/// Returns the folder that `scripts/prepare` filled.
///
/// # Panics
/// Panics if `scripts/prepare` has not run.
#[must_use]
pub fn folder() -> PathBuf {
    let folder = std::env::var_os("LINK_TEST_ENGINES").map(PathBuf::from).unwrap_or_else(|| {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        home.join(".cache/link-dev/engines")
    });
    assert!(
        folder.join("llama/llama-server").is_file(),
        "no engine in {}: run `scripts/prepare engine tiny`",
        folder.display()
    );
    folder
}

/// Returns the bytes of a tiny model. The reply of `tiny.gguf` ends, that of `tiny-loop.gguf` does
/// not.
///
/// # Panics
/// Panics if `scripts/prepare` has not run.
#[must_use]
pub fn model(name: &str) -> Vec<u8> {
    std::fs::read(folder().join("models").join(name)).unwrap()
}

/// Returns a recording: 11 seconds of a speech, as a WAV file.
///
/// # Panics
/// Panics if `scripts/prepare whisper` has not run.
#[must_use]
pub fn speech() -> Vec<u8> {
    std::fs::read(folder().join("audio/jfk.wav")).unwrap()
}

/// Installs the engine for an agent whose home is `home`.
///
/// # Panics
/// Panics if the home cannot be written.
pub fn install(home: &Path) {
    put(home, "llama-server", "llama", "b10068");
}

/// Installs the engine for speech for an agent whose home is `home`.
///
/// # Panics
/// Panics if the home cannot be written, or if `scripts/prepare whisper` has not run.
pub fn install_transcriber(home: &Path) {
    let prepared = folder().join("whisper/whisper-server");
    assert!(
        prepared.is_file(),
        "there is no {}: run `scripts/prepare whisper`",
        prepared.display()
    );
    put(home, "whisper-server", "whisper", "v1.8.5");
}

/// Installs the classifier of `image` or `audio` for an agent whose home is `home`: the program of this build, with the
/// prepared ONNX Runtime.
///
/// # Panics
/// Panics if the home cannot be written, or if `scripts/prepare classifiers` has not run.
pub fn install_classifier(home: &Path, kind: &str) {
    let name = format!("link-{kind}-classifier");
    let engine = home.join(format!("data/engines/{kind}-classifier"));
    let build = engine.join("1.3.0");
    std::fs::create_dir_all(&build).unwrap();
    let runtime = onnx("libonnxruntime.so.1.31.1");
    // A contained engine reads only its own folder, so a link out of it leads nowhere.
    let place = build.join("libonnxruntime.so.1.31.1");
    if std::fs::hard_link(&runtime, &place).is_err() {
        std::fs::copy(&runtime, &place).unwrap();
    }
    program::copy_stripped(&name, &build.join(&name));
    std::fs::write(engine.join("current"), "1.3.0\n").unwrap();
}

/// Installs the engine that answers at once (`tests/src/bin/stand_in_engine.rs`) for an agent whose home is `home`.
///
/// # Panics
/// Panics if the home cannot be written.
pub fn install_stand_in(home: &Path) {
    let engine = home.join("data/engines/llama-server");
    std::fs::create_dir_all(engine.join("stand-in")).unwrap();
    program::copy_stripped("stand_in_engine", &engine.join("stand-in/llama-server"));
    std::fs::write(engine.join("current"), "stand-in\n").unwrap();
}

/// Returns the path of a file for the classifiers, such as the model `orientation.tar`.
///
/// # Panics
/// Panics if `scripts/prepare classifiers` has not run.
#[must_use]
pub fn onnx(name: &str) -> PathBuf {
    let file = folder().join("onnx").join(name);
    assert!(file.is_file(), "there is no {}: run `scripts/prepare classifiers`", file.display());
    file
}

/// Puts a prepared engine into a home, as the build that it is.
fn put(home: &Path, engine: &str, prepared: &str, build: &str) {
    let engines = home.join("data/engines").join(engine);
    std::fs::create_dir_all(&engines).unwrap();
    std::os::unix::fs::symlink(folder().join(prepared), engines.join(build)).unwrap();
    std::fs::write(engines.join("current"), format!("{build}\n")).unwrap();
}
