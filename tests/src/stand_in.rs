//! An engine for fault injection. The agent starts a program that only waits, and the test itself listens on the socket
//! of that program and answers.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    routing::get,
};
use tokio::{net::UnixListener, task::JoinHandle};

use crate::{device::TestDevice, wait::until};

/// The engine. Dropping the value ends its answers.
pub struct StandIn(JoinHandle<()>);

impl StandIn {
    /// Installs the waiting program as the agent's engine.
    ///
    /// # Panics
    /// Panics if the home cannot be written.
    pub fn install(device: &TestDevice) {
        let folder = device.home().join("data/engines/llama-server/stand-in");
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("llama-server");
        // Without `exec`, so that the process keeps the arguments with which the agent started it.
        std::fs::write(&program, "#!/bin/sh\nsleep 1000\n:\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(folder.with_file_name("current"), "stand-in\n").unwrap();
    }

    /// Waits until the agent has started the program, and answers in its place. The engine serves `routes`, reports
    /// that it is healthy, and knows the secret of the launch.
    ///
    /// # Panics
    /// Panics if the socket cannot be opened.
    pub async fn answer(device: &TestDevice, routes: Router) -> Self {
        let arguments = until("the engine to be started", || arguments(device)).await;
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name).unwrap();
            arguments[at + 1].clone()
        };
        let secret = std::fs::read_to_string(value("--api-key-file")).unwrap();
        let bearer = format!("Bearer {}", secret.trim());
        let proof = async move |headers: HeaderMap| {
            let known = headers.get(header::AUTHORIZATION).is_some_and(|sent| *sent == *bearer);
            if known { StatusCode::OK } else { StatusCode::UNAUTHORIZED }
        };
        let routes = routes.route("/health", get(StatusCode::OK)).route("/props", get(proof));
        let listener = UnixListener::bind(Path::new(&value("--host"))).unwrap();
        Self(tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() }))
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn arguments(device: &TestDevice) -> Option<Vec<String>> {
    let engine = device.healthz().await.models.first()?.engine_pid?;
    let bytes = std::fs::read(format!("/proc/{engine}/cmdline")).ok()?;
    let words = bytes.split(|byte| *byte == 0);
    let words: Vec<_> = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    words.iter().any(|word| word == "--host").then_some(words)
}
