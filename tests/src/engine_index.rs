//! A signed index of engines, which `cargo xtask engines` creates from the engine that `scripts/prepare` has
//! downloaded.

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
    /// The public key.
    pub trusted: String,
}

impl EngineIndexes {
    /// Creates the folder and the key.
    ///
    /// # Panics
    /// Panics if that fails.
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

    /// Returns the folder of the index and its archives.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.dir.path().join("index")
    }

    /// Writes the public key to a file, and returns the path.
    ///
    /// # Panics
    /// Panics if the file cannot be written.
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

    /// Publishes the real engine as the second choice after a build that the processor cannot run: it ends with an
    /// illegal instruction.
    ///
    /// # Panics
    /// Panics if a folder cannot be written.
    pub fn publish_after_one_that_dies(&self, serial: u64) {
        let broken = self.dir.path().join("broken");
        std::fs::create_dir_all(&broken).unwrap();
        let program = broken.join("llama-server");
        std::fs::write(&program, "#!/bin/sh\nkill -ILL $$\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let real = engines::folder().join("llama");
        self.publish_with(serial, &[("b9789", &broken), ("b10068", &real)]);
    }

    /// Publishes the real engine of every plugin, each tested with a sample model before.
    ///
    /// # Panics
    /// Panics if that fails.
    pub fn publish_all(&self) -> String {
        let made = Command::new(program::path("xtask"))
            .args(["engines", "--no-build", "--serial", "1", "--sign-with"])
            .arg(self.dir.path().join("key"))
            .arg(self.folder())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8_lossy(&made.stdout).into_owned()
    }

    fn publish_with(&self, serial: u64, builds: &[(&str, &Path)]) {
        let mut command = Command::new(program::path("xtask"));
        command
            .args(["engines", "--unchecked"])
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
