//! A signed index of engines, made by `cargo xtask engines` of the engine that `scripts/prepare` brought.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{engines, program};

/// A folder with an index, and the key that signs it.
#[derive(Debug)]
pub struct EngineIndexes {
    dir: tempfile::TempDir,
    /// The public half of the key.
    pub trusted: String,
}

impl EngineIndexes {
    /// Makes the key.
    ///
    /// # Panics
    /// When that fails.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = Command::new(program::path("xtask"))
            .arg("release-key")
            .arg(dir.path().join("key"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let trusted = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        std::fs::create_dir(dir.path().join("index")).unwrap();
        Self { dir, trusted }
    }

    /// The folder of the index and its archives.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.dir.path().join("index")
    }

    /// A file with the public half of the key.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        let file = self.dir.path().join("key.pub");
        std::fs::write(&file, format!("{}\n", self.trusted)).unwrap();
        file
    }

    /// Publishes the real engine under its own build name.
    pub fn publish(&self, serial: u64) {
        self.publish_with(serial, &[("b10068", &engines::folder().join("llama"))]);
    }

    /// Publishes the real engine after a default build that the processor cannot run: it ends by an illegal instruction.
    ///
    /// # Panics
    /// When a folder cannot be written.
    pub fn publish_after_one_that_dies(&self, serial: u64) {
        let broken = self.dir.path().join("broken");
        std::fs::create_dir_all(&broken).unwrap();
        let program = broken.join("llama-server");
        std::fs::write(&program, "#!/bin/sh\nkill -ILL $$\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let real = engines::folder().join("llama");
        self.publish_with(serial, &[("b9789", &broken), ("b10068", &real)]);
    }

    fn publish_with(&self, serial: u64, builds: &[(&str, &Path)]) {
        let mut command = Command::new(program::path("xtask"));
        command
            .arg("engines")
            .arg(self.folder())
            .arg("--sign-with")
            .arg(self.dir.path().join("key"));
        command.args(["--serial", &serial.to_string()]).stdout(Stdio::null());
        for (name, folder) in builds {
            command.arg("--build").arg(format!("{name}={}", folder.display()));
        }
        assert!(command.status().unwrap().success());
    }
}

impl Default for EngineIndexes {
    fn default() -> Self {
        Self::new()
    }
}
