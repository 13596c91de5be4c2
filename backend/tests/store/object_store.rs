//! A real S3 server, `s3s-fs`, one for each test, with a key and an empty bucket. Dropping the value ends the server
//! and deletes its folder. The server also ends when the test is killed.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "starts, awaits and ends a server, and says when it cannot"
)]

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

pub(crate) const BUCKET: &str = "models";
pub(crate) const ACCESS_KEY: &str = "LINKTESTACCESSKEY";
pub(crate) const SECRET_KEY: &str = "correct/horse+battery=staple";

/// The variable with the path of the program. If it is set, the program must exist.
const PROGRAM: &str = "LINK_TEST_S3";
/// The path to which `scripts/prepare s3` installs the program.
const PREPARED: &str = ".cache/link-dev/s3s-fs-0.14.1/bin/s3s-fs";

/// A running server.
pub(crate) struct ObjectStore {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    server: Option<Child>,
}

impl ObjectStore {
    /// Starts a server. Returns `None` if the program is neither installed nor required.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            eprintln!("skipped: s3s-fs is not there; `scripts/prepare s3` builds it");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut store = Self { program, folder, port: 0, server: None };
        store.resume();
        Some(store)
    }

    /// Restarts the server on the same port after it ended.
    pub(crate) fn resume(&mut self) {
        let mut server = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .arg(&self.program)
            .args(["--host", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY])
            .arg(self.folder.path())
            .env_clear()
            .env("RUST_LOG", "s3s_fs=info")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("it says where it listens").unwrap();
            if let Some((_, address)) = line.split_once("server is running at http://127.0.0.1:") {
                break address.to_owned();
            }
        };
        let digits: String = address.chars().take_while(char::is_ascii_digit).collect();
        self.port = digits.parse().unwrap();
        // Reads its output, so that the server never blocks on writing.
        std::thread::spawn(move || lines.for_each(drop));
        self.server = Some(server);
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the folder with the objects of the bucket.
    pub(crate) fn bucket(&self) -> PathBuf {
        self.folder.path().join(BUCKET)
    }

    /// Returns the names of all objects of the bucket.
    pub(crate) fn objects(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        collect(&self.bucket(), "", &mut found);
        found
    }

    /// Returns the number of multipart uploads and of their parts on the server.
    pub(crate) fn unfinished(&self) -> usize {
        let names = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".upload")).count()
    }
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        self.kill();
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

fn program() -> Option<PathBuf> {
    if let Some(program) = std::env::var_os(PROGRAM) {
        let program = PathBuf::from(program);
        assert!(program.is_file(), "{PROGRAM} names no file; run `scripts/prepare s3`");
        return Some(program);
    }
    let prepared = PathBuf::from(std::env::var_os("HOME")?).join(PREPARED);
    prepared.is_file().then_some(prepared)
}
