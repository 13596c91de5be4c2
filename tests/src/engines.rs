//! The real engine and the models whose answers are known in advance.

use std::path::{Path, PathBuf};

/// The reply of `tiny.gguf`, whatever it is asked.
pub const TINY_REPLY: &str = " Hello from a tiny local model: every token of this reply is scripted, so tests can count them.";

/// The number of tokens of that reply, including its end.
pub const TINY_TOKENS: u64 = 22;

/// Returns the folder that `scripts/prepare` filled.
///
/// # Panics
/// When it was not prepared.
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

/// Returns the bytes of a tiny model: `tiny.gguf` ends, `tiny-loop.gguf` does not.
///
/// # Panics
/// When it was not prepared.
#[must_use]
pub fn model(name: &str) -> Vec<u8> {
    std::fs::read(folder().join("models").join(name)).unwrap()
}

/// Installs the engine for an agent whose home is `home`.
///
/// # Panics
/// When the home cannot be written.
pub fn install(home: &Path) {
    let engines = home.join("data/engines/llama-server");
    std::fs::create_dir_all(&engines).unwrap();
    std::os::unix::fs::symlink(folder().join("llama"), engines.join("b10068")).unwrap();
    std::fs::write(engines.join("current"), "b10068\n").unwrap();
}
