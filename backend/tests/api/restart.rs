//! Accepted requests survive when the backend is killed and restarted on its folder.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "starts and kills the real program"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    cluster::Database,
    harness::{self, PASSWORD, World, registration},
};

#[tokio::test]
async fn a_store_that_is_opened_again_has_every_command() {
    let (mut world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &device, &model).await;
    world.set_allowlist(&user, &["https://own.example"]).await;
    let path = format!("/api/v1/models/{model}/uninstall/{}", device.id);
    let id = world.act(&path, &user).await.text("command_id");
    assert_eq!(world.poll(&device, 1).await[0].attempt, 1);

    world.backend = link_backend::build(world.configuration()).await.unwrap();
    assert!(world.backend.app.setup_token().is_none());
    let again = world.hello(&device, 1, &[]).await;
    assert_eq!((again[0].command_id.to_string(), again[0].attempt), (id, 2));
    let allowlist = world.get("/api/v1/settings/allowlist", &user).await;
    assert_eq!(allowlist.body["origins"], json!(["https://own.example"]));
}

#[tokio::test]
async fn a_killed_backend_loses_nothing_that_it_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let database = harness::database().await;
    let (first, address, token) = start(folder.path(), database.as_ref());
    let token = token.expect("the first start prints the setup token");
    let setup = json!({ "setup_token": token, "email": "ada@example.org", "password": PASSWORD });
    let user = call(&address, "POST", "/api/v1/setup", "", &setup).1["access_token"].clone();
    let user = user.as_str().unwrap();
    let key = call(&address, "POST", "/api/v1/keys", user, &json!({ "kind": "registration" })).1;
    let body = registration("registration_key", key["key"].as_str().unwrap());
    let device = call(&address, "POST", "/api/v1/devices/register-with-key", "", &body).1;
    let id = device["device_id"].as_str().unwrap();
    let wish = json!({
        "name": "Tiny", "file_name": "tiny.gguf", "url": "https://models.example/tiny.gguf",
        "sha256": "0".repeat(64), "size_bytes": 100,
    });
    let model = call(&address, "POST", "/api/v1/models", user, &wish).1["model_id"].clone();
    let wish = json!({ "device_id": id, "model_id": model });
    let (status, deployment) = call(&address, "POST", "/api/v1/deployments", user, &wish);
    assert_eq!(status, 202);
    drop(first);

    let (_second, address, token) = start(folder.path(), database.as_ref());
    assert_eq!(token, None, "the account exists");
    let device_token = device["device_token"].as_str().unwrap();
    let path = format!("/api/v1/agent/{id}/commands?wait=0");
    let (status, poll) = call(&address, "GET", &path, device_token, &Value::Null);
    assert_eq!(status, 200);
    let envelope = poll["commands"][0]["envelope"].as_str().unwrap();
    assert!(envelope.contains(deployment["command_id"].as_str().unwrap()));
    assert_eq!(poll["commands"][0]["kid"], device["backend_keys"][0]["kid"], "the same key signs");
}

#[test]
fn two_backends_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (_first, ..) = start(folder.path(), None);
    let second = program(folder.path(), None).output().unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains("another backend uses the data folder"), "{said}");
}

/// A running program. Dropping the value kills it with SIGKILL.
pub(crate) struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

pub(crate) fn program(data: &Path, database: Option<&Database>) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_link-backend"));
    program.args(["--log", "warn", "serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    program.env_clear();
    if let Some(database) = database {
        let file = data.join("database-url");
        // Only the owner may read a file that holds a password.
        let mut options = std::fs::OpenOptions::new();
        let private = options.write(true).create(true).truncate(true).mode(0o600);
        private.open(&file).unwrap().write_all(database.url().as_bytes()).unwrap();
        program.arg("--database-url-file").arg(file);
    }
    program
}

/// Starts the program. Returns its address and the setup token, if it printed one.
fn start(data: &Path, database: Option<&Database>) -> (Killed, String, Option<String>) {
    run(program(data, database))
}

pub(crate) fn run(mut program: Command) -> (Killed, String, Option<String>) {
    let mut child = program.stderr(Stdio::piped()).spawn().unwrap();
    let mut token = None;
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = loop {
        let line = lines.next().expect("it says where it listens").unwrap();
        if let Some(file) = line.strip_prefix("setup token: in ") {
            let text = std::fs::read_to_string(file).unwrap();
            token = Some(text.trim().to_owned());
        }
        if let Some(address) = line.strip_prefix("listening on http://") {
            break address.to_owned();
        }
    };
    // The program's standard error stays open only while a thread reads it.
    std::thread::spawn(move || lines.for_each(drop));
    (Killed(child), address, token)
}

pub(crate) fn call(
    address: &str,
    method: &str,
    path: &str,
    token: &str,
    body: &Value,
) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let authorization =
        if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         {authorization}Content-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}
