//! The developer's entry point, `cargo xtask`: sets up, runs, stops and resets a checkout, in a temporary home and with
//! programs that are already built.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use link_client::local::LocalClient;
use link_platform::paths::Roots;
use link_protocol::{identity::Identity, key::KeyKind};
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend},
    device::{free_port, is_alive},
    engines,
    machine::Machine,
    program::{self, Running},
    wait::until,
};

/// A systemctl that reports no service, so that no test stops a service of this machine.
const NO_SERVICES: &str = "#!/bin/sh\nexit 1\n";

// Holds: S4.4-10
#[tokio::test]
async fn a_checkout_is_set_up_runs_stops_and_is_reset() {
    let backend = TestBackend::start().await;
    let key = backend.key(KeyKind::Registration).await;
    let checkout = Checkout::new();
    let set_up = checkout.succeeds(&["setup", "--no-build"]);
    assert!(set_up.contains("ready: `cargo xtask run`"), "{set_up}");
    assert!(checkout.has("home/data/engines/llama-server/b10068/llama-server"));

    let mut run = checkout.xtask(&["run", "--no-build", "--backend", &backend.url]);
    run.env("LINK_REGISTRATION_KEY", key.expose()).args(["--", "--log", "debug"]);
    let mut agent = checkout.start(run);
    checkout.answers().await;
    let device = checkout.identity().device_id;
    backend.online(device, true).await;
    let of_agent = |file: &str| std::fs::read(format!("/proc/{}/{file}", agent.id())).unwrap();
    for file in ["environ", "cmdline"] {
        let held = String::from_utf8_lossy(&of_agent(file)).into_owned();
        assert!(!held.contains(key.expose()), "{file}");
    }
    assert!(String::from_utf8_lossy(&of_agent("cmdline")).ends_with("--log\0debug\0"));
    checkout.fails(&["run", "--no-build"], 1, "runs already\n next: stop it with");

    let stopped = checkout.succeeds(&["stop"]);
    assert!(stopped.contains("the agent of this checkout is stopped"), "{stopped}");
    assert!(stopped.contains("the installed agent did not run"), "{stopped}");
    until("the agent to end", || std::future::ready(agent.reap().then_some(()))).await;
    assert!(checkout.succeeds(&["stop"]).contains("the agent of this checkout did not run"));

    std::fs::create_dir_all(checkout.path("home/state/models")).unwrap();
    std::fs::write(checkout.path("home/state/models/kept"), "x").unwrap();
    checkout.fails(&["reset"], 2, "no terminal to ask on\n next: add --yes");
    assert_eq!(checkout.identity().device_id, device);
    assert!(checkout.succeeds(&["reset", "--yes"]).contains("the backend still lists the device"));
    assert!(!checkout.has("home/state/identity.json") && !checkout.has("home/state/journal.db"));
    assert!(checkout.has("home/state/models/kept") && checkout.has("home/data/engines"));

    checkout.succeeds(&["install-plugin", "language_model"]);
    checkout.succeeds(&["reset", "--hard", "--yes"]);
    assert!(!checkout.has("home"));
    checkout.succeeds(&["reset", "--hard", "--yes"]);
}

// Holds: S4.4-10
#[tokio::test]
async fn a_reset_ends_the_agent_and_touches_no_folder_that_is_not_its_home() {
    let checkout = Checkout::new();
    let mut agent = checkout.start(checkout.xtask(&["run", "--no-build"]));
    let pid = checkout.path("home/state/agent.pid");
    until("the agent", || std::future::ready(pid.exists().then_some(()))).await;
    assert!(agent.output().contains("the device is not registered"), "{}", agent.output());
    checkout.succeeds(&["reset", "--hard", "--yes"]);
    until("the agent to end", || std::future::ready(agent.reap().then_some(()))).await;
    assert!(!checkout.has("home"));

    std::fs::create_dir_all(checkout.path("home/state")).unwrap();
    std::fs::write(checkout.path("home/state/identity.json"), "precious").unwrap();
    checkout.fails(&["reset", "--hard", "--yes"], 2, "was not made by `cargo xtask`");
    checkout.fails(&["run", "--no-build"], 2, "holds other files");
    checkout.fails(&["setup", "--no-build"], 2, "holds other files");
    assert_eq!(std::fs::read(checkout.path("home/state/identity.json")).unwrap(), b"precious");
}

// Holds: S4.4-10
#[test]
fn the_build_is_installed_for_this_user_and_what_ran_before_goes_on() {
    let checkout = Checkout::new();
    let link = checkout.path("installed/bin/link");
    let installed = checkout.succeeds(&["install", "--no-build"]);
    assert!(installed.contains(&format!("`{} start` starts the agent", link.display())));
    assert!(checkout.succeeds(&["stop"]).contains("the installed agent did not run"));
    let version = Command::new(&link).arg("--version").output().unwrap();
    assert_eq!(said(&version.stdout), format!("link {}\n", env!("CARGO_PKG_VERSION")));
    assert!(checkout.has("installed/data/engines/llama-server/b10068"));
    assert!(checkout.has("cache/checkout-release/install.sh"));
    assert!(!checkout.has("home"), "an installation needs no home of the checkout");

    // Nothing here can run a service, and the output says so. The agent runs and stays running nevertheless.
    let next = " next: run this where `systemctl --user status` works";
    checkout.fails(&["run", "--prod", "--no-build"], 1, next);
    checkout.succeeds(&["install", "--no-build"]);
    assert!(checkout.succeeds(&["stop"]).contains("the installed agent is stopped"));
}

// Holds: S4.4-10
#[tokio::test]
async fn machine_systemd_runs_the_checkout_for_good_and_a_stop_ends_the_router_too() {
    let machine = match Machine::boot().await {
        Ok(machine) => machine,
        Err(why) => {
            eprintln!("skipped: {why}");
            return;
        }
    };
    let backend = TestBackend::start().await;
    let key = backend.key(KeyKind::Registration).await;
    let home = machine.home();
    bring_build_and_cache(&home);
    std::fs::create_dir_all(home.join(".config/systemd/user")).unwrap();
    let router = "[Service]\nExecStart=/bin/sleep infinity\n";
    std::fs::write(home.join(".config/systemd/user/zenohd.service"), router).unwrap();
    machine.file("key", key.expose());
    let ran = Command::new("chown").args(["-R", "54321:54321"]).arg(&home).status();
    assert!(ran.unwrap().success());
    let port = free_port();
    let xtask = |line: &str| {
        machine.run(&format!(
            "LINK_CACHE=~/cache LINK_LOCAL_PORT={port} LINK_ENGINE_THREADS=1 ~/build/debug/xtask {line}"
        ))
    };
    let state = |unit: &str| machine.run(&format!("systemctl --user is-active {unit}")).stdout;

    assert_eq!(machine.run("systemctl --user start zenohd").code, Some(0));
    let run = format!("run --prod --no-build --backend {} --registration-key - < key", backend.url);
    let ran = xtask(&run);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!((&*state("link"), &*state("zenohd")), ("active", "active"), "{ran:?}");
    let devices = backend.owner.devices().await.unwrap();
    assert_eq!(devices.len(), 1);
    backend.online(devices[0].device_id, true).await;

    let ran = xtask("stop");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for what in ["the installed agent is stopped", "the router zenohd.service (user) is stopped"] {
        assert!(ran.stdout.contains(what), "{ran:?}");
    }
    assert_eq!((&*state("link"), &*state("zenohd")), ("inactive", "inactive"));
}

// Holds: S4.4-13a, S4.4-13b
#[tokio::test]
async fn a_missing_password_is_asked_for_and_nobody_sees_it_typed() {
    let backend = TestBackend::start().await;
    let checkout = Checkout::new();
    let tty = checkout.path("tty");
    let xtask = program::path("xtask");
    let line = format!(
        "tty > {}; exec {} run --no-build --backend {} --email {EMAIL}",
        tty.display(),
        xtask.display(),
        backend.url
    );
    let mut terminal = checkout.in_scratch(Command::new("script"));
    let log = std::fs::File::create(checkout.path("screen")).unwrap();
    terminal.args(["-qefc", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(log);
    let mut terminal = terminal.spawn().unwrap();
    let screen = || std::fs::read_to_string(checkout.path("screen")).unwrap();
    until("the question, without echo", || async {
        let device = std::fs::read_to_string(&tty).ok()?;
        let settings = Command::new("stty").args(["-a", "-F", device.trim()]).output().unwrap();
        let is_silent = said(&settings.stdout).split_whitespace().any(|word| word == "-echo");
        (is_silent && screen().contains("Password: ")).then_some(())
    })
    .await;
    let mut keyboard = terminal.stdin.take().unwrap();
    keyboard.write_all(format!("{PASSWORD}\n").as_bytes()).unwrap();
    checkout.answers().await;
    backend.online(checkout.identity().device_id, true).await;
    assert!(screen().contains("registered as") && !screen().contains(PASSWORD), "{}", screen());
    checkout.succeeds(&["stop"]);
    drop(keyboard);
    terminal.wait().unwrap();
}

// Holds: S4.4-13a
#[tokio::test]
async fn an_e_mail_a_token_or_a_key_registers_and_a_device_id_brings_the_device_back() {
    let backend = TestBackend::start().await;
    let register = |checkout: &Checkout, words: &[&str], input: &str| {
        let mut link = checkout.in_scratch(Command::new(program::path("link")));
        link.env("LINK_HOME", checkout.path("home"));
        link.args(["register", "--backend", &backend.url]).args(words);
        let mut link = link.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        link.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        link.wait_with_output().unwrap()
    };
    let token = backend.owner.access_token();
    let key = backend.key(KeyKind::Registration).await;
    let ways = [
        (vec!["--email", EMAIL, "--password-stdin"], PASSWORD),
        (vec!["--token", "-"], token.expose()),
        (vec!["--registration-key", "-"], key.expose()),
    ];
    let mut ids = vec![];
    for (words, input) in &ways {
        let checkout = Checkout::new();
        let ran = register(&checkout, words, &format!("{input}\n"));
        assert!(ran.status.success(), "{words:?}: {}", said(&ran.stderr));
        ids.push(checkout.identity().device_id.to_string());
    }
    assert_eq!(backend.owner.devices().await.unwrap().len(), ways.len());

    let (checkout, id) = (Checkout::new(), ids.pop().unwrap());
    let words = ["--registration-key", "-", "--device-id", &id];
    let ran = register(&checkout, &words, &format!("{}\n", key.expose()));
    assert!(ran.status.success(), "{}", said(&ran.stderr));
    assert_eq!(checkout.identity().device_id.to_string(), id);
    assert_eq!(backend.owner.devices().await.unwrap().len(), ways.len());

    let fresh = Checkout::new();
    let ran = register(&fresh, &["--email", EMAIL, "--password-stdin"], "a wrong password\n");
    assert_eq!(ran.status.code(), Some(77), "{}", said(&ran.stderr));
    assert!(!fresh.has("home/state/identity.json"));
    assert_eq!(register(&fresh, &["--username", EMAIL], "").status.code(), Some(2));
}

// Holds: S4.4-10, S4.4-12, S4.4-13a, S9-10b
#[test]
fn words_that_are_no_commands_are_refused_with_what_is_meant() {
    let checkout = Checkout::new();
    for (words, meant) in [
        (&["tui"][..], "link status"),
        (&["--tui"], "link status"),
        (&["run", "--tui"], "link status"),
        (&["run", "--username", "me"], "use `--email`"),
        (&["update"], "`git pull`"),
        (
            &["install-plugin", "vision"],
            "name one of these: audio_classifier, audio_transcriber, image_classifier, language_model",
        ),
    ] {
        checkout.fails(words, 2, meant);
    }
    assert!(!checkout.has("home"));
    let help = checkout.succeeds(&["--help"]);
    for command in ["setup", "install", "run", "stop", "reset", "install-plugin"] {
        assert!(help.lines().any(|line| line.trim().starts_with(&format!("{command} "))), "{help}");
        let help = checkout.succeeds(&[command, "--help"]);
        assert!(help.contains("Example"), "{help}");
    }
    assert!(help.contains("A checkout is updated with `git pull`."));
    for (command, flags) in [
        ("setup", &["--dev"][..]),
        ("reset", &["--hard"]),
        ("run", &["--prod", "--email", "--token", "--device-id", "--registration-key"]),
    ] {
        let help = checkout.succeeds(&[command, "--help"]);
        assert!(flags.iter().all(|flag| help.contains(flag)), "{help}");
    }
}

/// A checkout whose home, installation and caches are in a temporary folder.
struct Checkout {
    dir: tempfile::TempDir,
    port: u16,
}

impl Checkout {
    fn new() -> Self {
        link_client::install_crypto();
        let dir = tempfile::tempdir().unwrap();
        let checkout = Self { dir, port: free_port().get() };
        std::fs::create_dir(checkout.path("bin")).unwrap();
        let systemctl = checkout.path("bin/systemctl");
        std::fs::write(&systemctl, NO_SERVICES).unwrap();
        assert!(Command::new("chmod").arg("755").arg(systemctl).status().unwrap().success());
        std::fs::create_dir(checkout.path("cache")).unwrap();
        std::os::unix::fs::symlink(engines::folder(), checkout.path("cache/engines")).unwrap();
        make_key(&checkout.path("cache"));
        checkout
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn xtask(&self, words: &[&str]) -> Command {
        let mut command = self.in_scratch(Command::new(program::path("xtask")));
        command.args(words);
        command
    }

    fn in_scratch(&self, mut command: Command) -> Command {
        let path = std::env::var("PATH").unwrap();
        command
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("LINK_DEV_HOME", self.path("home"))
            .env("LINK_HOME", self.path("installed"))
            .env("LINK_CACHE", self.path("cache"))
            .env("LINK_LOCAL_PORT", self.port.to_string())
            .env("LINK_ENGINE_THREADS", "1")
            .stdin(Stdio::null());
        for variable in
            ["LINK_SERVICE", "LINK_REGISTRATION_KEY", "LINK_FLEET_KEY", "LINK_ACCESS_TOKEN"]
        {
            command.env_remove(variable);
        }
        command
    }

    fn start(&self, command: Command) -> Running {
        Running::start(command, &self.path("log"))
    }

    #[track_caller]
    fn succeeds(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert!(ran.status.success(), "{words:?}: {}{}", said(&ran.stdout), said(&ran.stderr));
        said(&ran.stdout)
    }

    #[track_caller]
    fn fails(&self, words: &[&str], code: i32, says: &str) {
        let ran = self.run(words);
        let errors = said(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {errors}");
        assert!(errors.contains(says), "{words:?}: {errors}");
    }

    fn run(&self, words: &[&str]) -> Output {
        self.xtask(words).output().unwrap()
    }

    /// Waits until the agent answers.
    async fn answers(&self) {
        let local = LocalClient::of(&Roots::below(&self.path("home")));
        until("the local API", || async { local.healthz().await.ok() }).await;
    }

    fn identity(&self) -> Identity {
        let text = std::fs::read_to_string(self.path("home/state/identity.json")).unwrap();
        Identity::parse(&text).unwrap()
    }
}

impl Drop for Checkout {
    /// Stops the background processes, which would outlive a failed test.
    fn drop(&mut self) {
        for file in
            ["installed/state/guard.pid", "installed/state/agent.pid", "home/state/agent.pid"]
        {
            let pid = std::fs::read_to_string(self.path(file)).unwrap_or_default();
            if pid.trim().parse().is_ok_and(is_alive) {
                drop(Command::new("kill").args(["-9", pid.trim()]).status());
            }
        }
    }
}

/// Copies the build and the caches of this checkout to the home of another user.
fn bring_build_and_cache(home: &Path) {
    let (build, cache) = (home.join("build/debug"), home.join("cache"));
    std::fs::create_dir_all(&build).unwrap();
    std::fs::create_dir_all(cache.join("engines")).unwrap();
    for name in ["xtask", "link", "link-agent", "link-backend", "link-guard"] {
        std::fs::copy(program::path(name), build.join(name)).unwrap();
    }
    let engine = engines::folder().join("llama");
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(engine).arg(cache.join("engines/llama"));
    assert!(copy.status().unwrap().success());
    make_key(&cache);
}

/// Creates the key that `scripts/prepare` would create with a newly built tool.
fn make_key(cache: &Path) {
    let mut xtask = Command::new(program::path("xtask"));
    let made = xtask.arg("release-key").arg(cache.join("release-key")).output().unwrap();
    assert!(made.status.success(), "{}", said(&made.stderr));
    std::fs::write(cache.join("release-key.pub"), made.stdout).unwrap();
}

fn said(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}
