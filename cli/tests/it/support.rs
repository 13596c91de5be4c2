//! A temporary home, the compiled command in it, and a backend whose answers the test sets.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::Request,
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use link_protocol::{
    counter::Epoch,
    identity::{Identity, SCHEMA_VERSION, encode_seed},
    problem::{Code, Problem},
    registration::{TransportSettings, TransportType},
    secret::Secret,
};
use serde_json::{Value, json};

use crate::schemas;

/// The temporary home of one test.
pub(crate) struct Home {
    dir: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

/// The result of a run of the command.
#[derive(Debug)]
pub(crate) struct Ran {
    words: Vec<String>,
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

    /// Returns the variables that [`Home::with`] has set.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.variables.iter().map(|(name, value)| (*name, value.as_str()))
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

    /// Runs the command with `variables`, in addition to those of the home.
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
            .envs(self.variables())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that reads no input may have ended already.
        let _ended = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran::of(words, output)
    }
}

impl Ran {
    pub(crate) fn of(words: &[&str], output: Output) -> Self {
        Self {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns the output of `link status`, without the line that depends on the machine.
    pub(crate) fn without_service(&self) -> String {
        let (service, rest): (Vec<_>, Vec<_>) =
            self.stdout.split_inclusive('\n').partition(|line| line.starts_with("Service    "));
        assert!(
            service.len() == 1 && service[0].contains("background process; survives "),
            "{self:?}"
        );
        rest.concat()
    }

    /// Returns the document on stdout, which must fit the schema of the command.
    pub(crate) fn stdout_json(&self) -> Value {
        let document = self.parsed(&self.stdout);
        schemas::check(&schemas::command(&self.words), &document);
        document
    }

    /// Returns the error on stderr, which must fit its schema.
    pub(crate) fn stderr_json(&self) -> Value {
        let document = self.parsed(&self.stderr);
        schemas::check("error", &document);
        document
    }

    fn parsed(&self, text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Returns a port of this machine on which nobody listens.
pub(crate) fn closed_port() -> u16 {
    link_tests::device::free_port().get()
}

/// A backend that runs until the value is dropped, and records its requests.
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

/// An agent that runs until the value is dropped, at the socket of its home.
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
    /// Returns the recorded requests, and clears the record.
    pub(crate) fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

/// Returns a response that refuses a request.
pub(crate) fn refuse(code: Code, detail: &str) -> Response {
    let status = StatusCode::from_u16(code.status()).unwrap();
    (status, Json(Problem::new(code, detail))).into_response()
}

/// Returns an id with this prefix.
pub(crate) fn id(prefix: &str, number: u32) -> String {
    format!("{prefix}_{number:032x}")
}

/// Stores a login in `home`.
pub(crate) fn log_in(home: &Home, backend: &Backend) {
    let login = json!({
        "backend_url": backend.url, "email": "a@b.c", "access_token": "access",
        "refresh_token": "refresh",
    });
    home.file("config/credentials.json", &login.to_string());
}

/// Makes `home` that of a registered device.
pub(crate) fn register(home: &Home) {
    let identity = Identity {
        schema_version: SCHEMA_VERSION.into(),
        backend_url: "https://link.example".into(),
        device_id: id("dev", 1).parse().unwrap(),
        device_token: Secret::new("token"),
        epoch: Epoch(1),
        transport: TransportSettings { r#type: TransportType::Http },
        backend_keys: vec![],
        private_key_seed: encode_seed(&[3; 32]),
    };
    home.file("state/identity.json", &identity.to_text());
}
