//! A scratch home, the compiled command in it, and a backend that answers what a test says.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::Request,
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use link_protocol::problem::{Code, Problem};
use serde_json::{Value, json};

/// A home of its own for one test.
pub(crate) struct Home {
    dir: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What a run of the command gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = PathBuf::from(self.path(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.dir.path().join(name).exists()
    }

    pub(crate) fn link(&self, words: &[&str]) -> Ran {
        self.link_with_input(words, "")
    }

    pub(crate) fn link_with_input(&self, words: &[&str], input: &str) -> Ran {
        self.run(&[], words, input)
    }

    /// Runs the command with `variables` beside those of the home.
    pub(crate) fn link_with(&self, variables: &[(&str, &str)], words: &[&str]) -> Ran {
        self.run(variables, words, "")
    }

    fn run(&self, variables: &[(&str, &str)], words: &[&str], input: &str) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_link"))
            .args(words)
            .env_clear()
            .env("LINK_HOME", self.dir.path())
            .env("LINK_LOCAL_PORT", closed_port().to_string())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (*name, value.as_str())))
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that asks nothing may have ended before its input comes.
        let _ended = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// What `link status` printed, but for the line that depends on the machine.
    pub(crate) fn without_service(&self) -> String {
        let (service, rest): (Vec<_>, Vec<_>) =
            self.stdout.split_inclusive('\n').partition(|line| line.starts_with("Service    "));
        assert!(
            service.len() == 1 && service[0].contains("background process; survives "),
            "{self:?}"
        );
        rest.concat()
    }

    pub(crate) fn stdout_json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn stderr_json(&self) -> Value {
        serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A port of this machine that nobody listens on.
pub(crate) fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A backend that runs while the value lives, and the requests it has seen.
pub(crate) struct Backend {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<String>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Backend {
    pub(crate) fn start(app: Router) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        let app = app.layer(middleware::from_fn(move |request: Request, next: Next| {
            let record = Arc::clone(&record);
            async move {
                let line = format!("{} {}", request.method(), request.uri());
                record.lock().unwrap().push(line);
                let response: Response = next.run(request).await;
                response
            }
        }));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { url, seen, _runtime: runtime }
    }
}

/// An agent that runs while the value lives, at the socket of its home.
pub(crate) struct Agent {
    _runtime: tokio::runtime::Runtime,
}

impl Agent {
    pub(crate) fn start(home: &Home, app: Router) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let socket = home.path("state/run/control.sock");
        let listener = {
            let _within = runtime.enter();
            tokio::net::UnixListener::bind(socket).unwrap()
        };
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { _runtime: runtime }
    }
}

impl Backend {
    /// Returns the requests that have come, and forgets them.
    pub(crate) fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

/// The answer of a refusal.
pub(crate) fn refuse(code: Code, detail: &str) -> Response {
    let status = StatusCode::from_u16(code.status()).unwrap();
    (status, Json(Problem::new(code, detail))).into_response()
}

/// An id of any kind.
pub(crate) fn id(prefix: &str, number: u32) -> String {
    format!("{prefix}_{number:032x}")
}

/// A login that is kept in `home`.
pub(crate) fn log_in(home: &Home, backend: &Backend) {
    let login = json!({
        "backend_url": backend.url, "email": "a@b.c", "access_token": "access",
        "refresh_token": "refresh",
    });
    home.file("config/credentials.json", &login.to_string());
}
