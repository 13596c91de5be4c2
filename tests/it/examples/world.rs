//! The world in which examples run: a backend at `https://link.example`, the homes of persons, and a folder for files.
//!
//! Each example is a command of a shell, with the programs of this build on its PATH.

#![expect(clippy::print_stderr, reason = "tells how long each example took, and why one failed")]

use std::{
    os::unix::{fs::PermissionsExt as _, process::ExitStatusExt as _},
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use axum::{Router, routing::get};
use bytes::Bytes;
use futures_util::FutureExt as _;
use link_tests::{
    engines,
    internet::Internet,
    person, program,
    program::Running,
    readme::checkout,
    terminal::Terminal,
    wait::{PATIENCE, until},
};
use tokio::net::TcpListener;

use super::example::{Example, Way};

/// The hosts that examples name.
const NAMES: [&str; 4] = ["link.example", "models.example", "releases.example", "huggingface.co"];

/// What differs from machine to machine in an example, and the shell script that prints the value here.
const STANDS_FOR: [(&str, &str); 17] = [
    ("--port 8081", "echo --port $OTHER_PORT"),
    ("--port 8100", "echo --port $BACKEND_PORT"),
    ("0.0.0.0:8000", "echo 127.0.0.1:0"),
    ("/var/lib/link", "echo ./data"),
    ("/etc/link-backend/", "echo ./"),
    ("/backup/", "echo ./"),
    ("/tmp/scratch", "echo ./scratch"),
    ("lrk_…", "link key create --kind registration"),
    ("acc_…", "link account list | grep -o 'acc_[0-9a-f]*' | head -n 1"),
    ("inv_…", "link member list | grep -o 'inv_[0-9a-f]*' | head -n 1"),
    ("tok_…", "link token list | grep -o 'tok_[0-9a-f]*' | head -n 1"),
    ("key_…", "link key list | grep -o 'key_[0-9a-f]*' | head -n 1"),
    ("dev_…", "link device list | grep -o 'dev_[0-9a-f]*' | head -n 1"),
    ("cmd_…", "link commands list | grep -o 'cmd_[0-9a-f]*' | head -n 1"),
    (
        "op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e",
        "link operation list | grep -o 'op_[0-9a-f]*' | head -n 1",
    ),
    ("2c26…b0d4", "sha256sum smollm.gguf | cut -c 1-64"),
    ("lrc_…", "cat code.txt"),
];

/// Writes the folder of a plugin, which is that for text generation under another id.
const MY_PLUGIN: &str = "mkdir my_plugin; for file in plugin.toml adapter.toml install.sh; do \
     sed s/language_model/my_plugin/g \"$CHECKOUT/plugins/language_model/$file\" > my_plugin/$file; done";

/// A browser in which the person approves the login of a machine at once. The address of any other page is written to a
/// file.
const BROWSER: &str = r##"#!/bin/sh
case $1 in
*/device#*)
    token=$(sed -n 's/.*"access_token": *"\([^"]*\)".*/\1/p' "$OWNER/config/credentials.json")
    curl -fsS "$BACKEND/api/v1/auth/device/decide" -H "authorization: Bearer $token" \
        -H 'content-type: application/json' -d "{\"user_code\":\"${1#*#}\",\"allow\":true}"
    ;;
*) printf '%s\n' "$1" > opened ;;
esac
"##;

/// The interval between two looks at a running example.
const LOOK: Duration = Duration::from_millis(10);

/// The world of one test.
pub(super) struct World {
    place: tempfile::TempDir,
    internet: Internet,
    environment: Vec<(String, String)>,
    backend: Option<Running>,
}

/// The end of an example in a script.
struct Ended {
    code: i32,
    said: String,
}

impl World {
    /// Creates a world without a backend.
    pub(super) async fn new() -> Self {
        link_client::install_crypto();
        let place = tempfile::tempdir().unwrap();
        let of = |name: &str| place.path().join(name).display().to_string();
        for folder in ["bin", "files", "you"] {
            std::fs::create_dir(of(folder)).unwrap();
        }
        engines::install(&place.path().join("you"));
        let browser = place.path().join("bin/xdg-open");
        std::fs::write(&browser, BROWSER).unwrap();
        std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
        let authority = place.path().join("authority.pem");
        let internet = Internet::start(&NAMES, &authority).await;
        let programs = program::path("link").parent().unwrap().display().to_string();
        let path = std::env::var("PATH").unwrap();
        let [local, backend, model] = person::ports();
        let [other, ..] = person::ports();
        let environment = [
            ("PATH", format!("{}:{}/bin:{programs}:{path}", of("bin"), of("you"))),
            ("HOME", of("files")),
            ("CHECKOUT", checkout().display().to_string()),
            ("PLACE", of("")),
            ("LINK_LOCAL_PORT", local.to_string()),
            ("BACKEND_PORT", backend.to_string()),
            ("MODEL_PORT", model.to_string()),
            ("OTHER_PORT", other.to_string()),
            ("LINK_SERVICE", "none".to_owned()),
            ("LINK_ENGINE_THREADS", "1".to_owned()),
            ("LINK_ENGINE_CONTEXT", "1024".to_owned()),
            ("LINK_DEV_UPDATE_WINDOW", "4".to_owned()),
            ("HTTPS_PROXY", internet.proxy.clone()),
            ("SSL_CERT_FILE", authority.display().to_string()),
            ("BROWSER", "xdg-open".to_owned()),
            ("NO_COLOR", "1".to_owned()),
        ];
        let environment =
            environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let world = Self { place, internet, environment, backend: None };
        world.write("smollm.gguf", &engines::model("tiny.gguf"));
        world.does("echo 'correct horse battery' > password.txt");
        world.does(MY_PLUGIN);
        world
    }

    /// Starts a new backend at `https://link.example`, which has no account yet.
    pub(super) async fn start_backend(&mut self) {
        self.backend = None;
        self.does("rm -rf backend; mkdir backend");
        self.write("backend/backend.toml", b"[sharing]\naccounts = [\"you\", \"bob\"]\n");
        let mut command = self.shell("you");
        command.args([
            "-c",
            "exec link-backend serve --config backend/backend.toml \
            --data backend/data --listen 127.0.0.1:0 --address-file backend/address \
            --public-url https://link.example",
        ]);
        self.backend = Some(Running::start(command, &self.file("backend/log")));
        let address = self.file("backend/address");
        let address = until("the backend to listen", || async {
            std::fs::read_to_string(&address).ok().filter(|text| !text.trim().is_empty())
        })
        .await;
        let url = format!("http://{}", address.trim().trim_start_matches("http://"));
        self.internet.lead("link.example", &url);
        self.set("BACKEND", &url);
    }

    /// Starts a new backend, and creates its first account, in which `you` are logged in.
    pub(super) async fn start_backend_of_you(&mut self) {
        self.start_backend().await;
        self.does(
            "link account create --backend https://link.example --email you@example.com \
             --setup-token-file backend/data/setup-token --password-stdin < password.txt",
        );
    }

    /// Lets `name` serve files at their paths.
    pub(super) async fn serve_files(&self, name: &str, files: &[(&str, Vec<u8>)]) {
        let mut router = Router::new();
        for (file, bytes) in files {
            let bytes = Bytes::from(bytes.clone());
            let read = move || std::future::ready(bytes.clone());
            router = router.route(&format!("/{file}"), get(read));
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.internet.lead(name, &format!("http://{}", listener.local_addr().unwrap()));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    }

    /// Lets `name` lead to the server at `url`.
    pub(super) fn lead(&self, name: &str, url: &str) {
        self.internet.lead(name, url);
    }

    /// Sets an environment variable of every later command.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the path of a file in the working folder of the examples.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.place.path().join("files").join(name)
    }

    /// Writes a file to the working folder of the examples.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.file(name), bytes).unwrap();
    }

    /// Runs a shell script, which must succeed, and returns its output.
    pub(super) fn does(&self, script: &str) -> String {
        let ran = self.shell("you").args(["-ec", script]).output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        assert!(ran.status.success(), "{script}\n{}{}", text(&ran.stdout), text(&ran.stderr));
        text(&ran.stdout).trim().to_owned()
    }

    /// Runs examples one after the other, and checks their outcomes. Names every example that fails, and not only the
    /// first one.
    pub(super) async fn play(&self, examples: &[Example]) {
        let mut failed = Vec::new();
        for example in examples {
            let began = Instant::now();
            if AssertUnwindSafe(self.play_one(example)).catch_unwind().await.is_err() {
                failed.push(example.line);
            }
            eprintln!("{:>6.2?} {}", began.elapsed(), example.line);
        }
        assert!(failed.is_empty(), "these examples failed: {failed:#?}");
    }

    async fn play_one(&self, example: &Example) {
        if !example.after.is_empty() {
            self.does(example.after);
        }
        let line = self.filled(example);
        match example.way {
            Way::Script => self.run(example, &line, false).await,
            Way::Interrupted => self.run(example, &line, true).await,
            Way::Terminal(keys) => self.type_at(example, &line, keys).await,
        }
    }

    fn filled(&self, example: &Example) -> String {
        let mut line = example.line.to_owned();
        for (text, script) in example.given.iter().chain(&STANDS_FOR) {
            if line.contains(text) {
                line = line.replace(text, &self.does(script));
            }
        }
        line
    }

    /// Runs an example in a script. If it is to be `interrupted`, sends Ctrl-C once it has printed its text.
    async fn run(&self, example: &Example, line: &str, interrupted: bool) {
        let (said, mut command) = (self.file(".said"), self.shell(example.home));
        let output = std::fs::File::create(&said).unwrap();
        // With `exec`, because the shell itself would end at Ctrl-C.
        let script = if interrupted { format!("exec env {line}") } else { line.to_owned() };
        command.args(["-c", &script]).stdin(Stdio::null());
        command.stdout(output.try_clone().unwrap()).stderr(output);
        let child = &mut Kept(command.spawn().unwrap());
        let read = || std::fs::read_to_string(&said).unwrap_or_default();
        let patience = Instant::now() + PATIENCE;
        let mut is_waiting = interrupted;
        let ended = loop {
            if let Some(ended) = child.0.try_wait().unwrap() {
                break ended;
            }
            if is_waiting && read().contains(example.shows) {
                is_waiting = false;
                let pid = child.0.id().to_string();
                assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
            }
            assert!(Instant::now() < patience, "{line} does not end:\n{}", read());
            tokio::time::sleep(LOOK).await;
        };
        let code = ended.code().unwrap_or_else(|| 128 + ended.signal().unwrap_or_default());
        check(example, line, &Ended { code, said: read() });
    }

    /// Runs an example on a terminal.
    async fn type_at(&self, example: &Example, line: &str, keys: &[(&str, &str)]) {
        let mut terminal = Terminal::run(line, |command| self.prepare(command, example.home));
        for (prompt, keys) in keys {
            terminal.shows(prompt).await;
            match keys.strip_prefix('<') {
                Some(file) => {
                    let text = std::fs::read_to_string(self.file(file)).unwrap();
                    terminal.types(&format!("{}\r", text.trim()));
                }
                None => terminal.types(keys),
            }
        }
        terminal.ended_with(0).await;
        terminal.shows(example.shows).await;
    }

    fn shell(&self, home: &str) -> Command {
        let mut command = Command::new("sh");
        self.prepare(&mut command, home);
        command
    }

    fn prepare(&self, command: &mut Command, home: &str) {
        command
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("LINK_HOME", self.place.path().join(home))
            .env("OWNER", self.place.path().join("you"))
            .current_dir(self.file(""));
    }
}

/// A process that ends with the test.
struct Kept(Child);

impl Drop for Kept {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

impl Drop for World {
    /// Ends the programs that examples have started in the background.
    fn drop(&mut self) {
        let home = self.place.path().join("you");
        let owner = std::fs::read_to_string(home.join("backend-data/run/owner.json"));
        let owner =
            owner.ok().and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        let guard = std::fs::read_to_string(home.join("state/guard.pid")).ok();
        let guard = guard.map(|pid| pid.trim().to_owned());
        for pid in guard.into_iter().chain(owner.map(|owner| owner["pid"].to_string())) {
            drop(Command::new("kill").args(["-9", &pid]).status());
        }
        if std::thread::panicking() {
            show(&home.join("state/logs/agent.log"));
        }
    }
}

fn check(example: &Example, line: &str, ended: &Ended) {
    let Ended { code, said } = ended;
    assert_eq!(*code, 0, "{line}\n{said}");
    assert!(said.contains(example.shows), "{line}: no `{}` in:\n{said}", example.shows);
}

fn show(log: &Path) {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().rev().take(40).collect();
    for line in lines.iter().rev() {
        eprintln!("{line}");
    }
}
