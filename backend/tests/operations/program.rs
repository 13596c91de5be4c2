//! The program as an operator starts it.

#![expect(clippy::disallowed_methods, reason = "starts the real program and reads its files")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// The output and the exit code of a command.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{} {}", self.out, self.err))
    }
}

/// A folder for a backend.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_link-backend"));
        program.args(arguments).env_clear().env("HOME", self.folder.path());
        program.env("LINK_BACKEND_DATA", self.data()).stdin(Stdio::null());
        program
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments), "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Said {
        said(self.command(arguments), input)
    }

    /// A running backend.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Running {
        let all = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        Running::start(self.command(&all))
    }
}

pub(crate) fn said(mut command: Command, input: &str) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may end without reading its input.
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap_or(());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// A backend that answers. Dropping the value kills it.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: String,
    /// The lines until the one that says where it listens.
    pub(crate) said_first: Vec<String>,
    pub(crate) token: Option<String>,
    pub(crate) metrics: Option<String>,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let (mut token, mut metrics, mut said_first) = (None, None, Vec::new());
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            said_first.push(lines.next().expect("it says where it listens").unwrap());
            let line = words(said_first.last().unwrap().clone());
            if let Some(file) = line.strip_prefix("setup token: in ") {
                let text = std::fs::read_to_string(file).unwrap();
                token = Some(text.trim().to_owned());
            }
            if let Some(text) = line.strip_prefix("metrics on http://") {
                metrics = Some(text.trim_end_matches("/metrics").to_owned());
            }
            if let Some(address) = line.strip_prefix("listening on http://") {
                break address.to_owned();
            }
        };
        let (told, received) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Sending fails if the test does not wait for the line any more.
                told.send(line).unwrap_or(());
            }
        });
        Self { child, address, token, metrics, said_first, lines: received }
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Returns the number of open files.
    pub(crate) fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Waits until the program ends. Returns the rest of the log.
    pub(crate) fn ended(mut self) -> (ExitStatus, Vec<String>) {
        let status = self.child.wait().unwrap();
        (status, self.lines.iter().collect())
    }

    /// Creates the first account. Returns its access token.
    pub(crate) fn set_up(&self) -> String {
        let token = self.token.clone().expect("a first start");
        let body =
            json!({ "setup_token": token, "email": "ada@example.org", "password": PASSWORD });
        let (status, answer) = self.call("POST", "/api/v1/setup", "", &body);
        assert_eq!(status, 201, "{answer}");
        answer["access_token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn log_in(&self, email: &str, password: &str) -> u16 {
        let body = json!({ "email": email, "password": password });
        self.call("POST", "/api/v1/auth/login", "", &body).0
    }

    pub(crate) fn call(&self, method: &str, path: &str, token: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let kind = "application/json";
        let (status, _, body) = send(&self.address, method, path, token, (kind, body.as_bytes()));
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may have ended already.
        self.child.kill().unwrap_or(());
        self.child.wait().unwrap();
    }
}

/// Returns what a line of the log says, also as a record in JSON.
fn words(line: String) -> String {
    let record = serde_json::from_str::<Value>(&line).unwrap_or_default();
    record["fields"]["message"].as_str().map_or(line, str::to_owned)
}

/// Sends a request. Returns the status, the head and the body of the answer.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    token: &str,
    (kind, body): (&str, &[u8]),
) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let authorization =
        if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         {authorization}Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, head.to_owned(), body.to_owned())
}

pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
