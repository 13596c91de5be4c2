//! A classifier that runs: its real program, the real ONNX Runtime, a real model, and requests as bytes.
#![expect(
    dead_code,
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "each test binary uses another part of this harness, which starts programs and reads files"
)]

use std::{
    io::{BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// The secret of every engine here.
pub(crate) const SECRET: &str = "a-secret-of-the-tests";

/// Returns the folder that `scripts/prepare classifiers` fills; nothing on a machine without it. `scripts/test` prepares
/// the folder and says where: then a missing one is a failure.
pub(crate) fn prepared() -> Option<PathBuf> {
    let named = std::env::var_os("LINK_TEST_ENGINES").map(PathBuf::from);
    let engines = named.clone().or_else(|| {
        Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/link-dev/engines"))
    })?;
    let folder = engines.join("onnx");
    if folder.join("complete").is_file() {
        return Some(folder);
    }
    let missing = format!("no models in {}: run `scripts/prepare classifiers`", folder.display());
    assert!(named.is_none(), "{missing}");
    eprintln!("skipped: {missing}");
    None
}

/// A running program, killed when dropped.
pub(crate) struct Engine {
    child: Child,
    log: BufReader<ChildStderr>,
    pub(crate) address: SocketAddr,
    _folder: tempfile::TempDir,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The lines before the body, in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Returns the command of a program, without an address.
pub(crate) fn command(program: &str, model: &Path, folder: &Path) -> Command {
    std::fs::write(folder.join("key"), format!("{SECRET}\n")).unwrap();
    let mut command = Command::new(program);
    command.arg("--model").arg(model).args(["--alias", "mine"]);
    command.arg("--api-key-file").arg(folder.join("key"));
    command.stderr(Stdio::piped());
    command
}

impl Engine {
    /// Starts a program with the prepared ONNX Runtime, and waits until the model is loaded.
    pub(crate) fn start(program: &str, prepared: &Path, model: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(program, model, folder.path());
        command.args(["--host", "127.0.0.1", "--port", "0", "--runtime"]);
        let mut child = command.arg(prepared.join("libonnxruntime.so.1.31.1")).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let line = wait_for(&mut log, "listening at http://");
        let address = line.rsplit('/').next().unwrap().trim().parse().unwrap();
        wait_for(&mut log, "ready: ");
        Self { child, log, address, _folder: folder }
    }

    /// Sends a request with the secret.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {SECRET}\r\nConnection: close\r\n\
             Content-Length: {length}\r\n{headers}\r\n"
        );
        self.exchange(&[head.as_bytes(), body].concat())
    }

    /// Sends bytes and reads the answer to its end.
    pub(crate) fn exchange(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        // An engine that refuses a request does not read the rest of it.
        let _refused = stream.write_all(request);
        reply(&mut stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        stream
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the most memory that the process has had, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Reads an answer whose connection ends after it.
pub(crate) fn reply(stream: &mut impl std::io::Read) -> Reply {
    let mut bytes = Vec::new();
    let _reset = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).unwrap_or("0").parse().unwrap();
    let body = serde_json::from_str(body).unwrap_or(Value::Null);
    Reply { status, head: head.to_lowercase(), body }
}

/// Reads the log up to a line that begins with `start`.
pub(crate) fn wait_for(log: &mut impl std::io::BufRead, start: &str) -> String {
    let mut before = String::new();
    loop {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "the program ended: {before}");
        if line.starts_with(start) {
            return line;
        }
        before.push_str(&line);
    }
}

/// Waits for the end of a process, and returns its exit code with its log.
pub(crate) fn outcome(mut child: Child, limit: Duration) -> (Option<i32>, String) {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < limit, "the process did not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let code = child.wait().unwrap().code();
    let mut log = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut log).unwrap();
    }
    (code, log)
}

/// Asserts that an answer is a failure in OpenAI's shape.
#[track_caller]
pub(crate) fn assert_failure(reply: &Reply, status: u16, code: &str) {
    let error = &reply.body["error"];
    assert_eq!((reply.status, error["code"].as_str()), (status, Some(code)), "{reply:?}");
    assert!(error["message"].as_str().is_some_and(|message| message.ends_with('.')), "{reply:?}");
    assert!(error["type"].is_string() && error["param"].is_null(), "{reply:?}");
}

/// Returns a form with one file and one field.
pub(crate) fn form(name: &str, file: &[u8], field: (&str, &str)) -> (String, Vec<u8>) {
    let (key, value) = field;
    let mut body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"{key}\"\r\n\r\n{value}\r\n--edge\r\n\
         Content-Disposition: form-data; name=\"{name}\"; filename=\"x\"\r\nContent-Type: x/y\r\n\r\n"
    )
    .into_bytes();
    body.extend(file);
    body.extend(b"\r\n--edge--\r\n");
    ("Content-Type: multipart/form-data; boundary=edge\r\n".to_owned(), body)
}

/// Returns the archive of a model.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap()
}
