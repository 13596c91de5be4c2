//! Signed archives of plugins: made by a publisher on one machine, installed and served on another.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use link_platform::checkpoint::KILL_AT;
use link_protocol::port::Port;
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend},
    chat,
    device::{TestDevice, free_port},
    release_server::{Fault, ReleaseServer},
    wait::until,
};
use serde_json::Value;

/// A publisher, with a key and the plugin `echo`, on a machine without an agent.
struct Publisher {
    machine: TestDevice,
    public_key: String,
}

impl Publisher {
    fn new() -> Self {
        let machine = TestDevice::unregistered();
        let (home, key) = (machine.home(), machine.home().join("publisher.key"));
        let made = json(&link(&machine, &["plugin", "key", text(&key), "--json"]));
        assert_eq!(made["file"], text(&key));
        let public_key = made["public_key"].as_str().unwrap().to_owned();
        done(&link(&machine, &["plugin", "new", text(&home.join("echo"))]));
        Self { machine, public_key }
    }

    fn kid(&self) -> String {
        let key: link_protocol::signing::VerifyingKey = self.public_key.parse().unwrap();
        key.kid
    }

    /// Packs `version` of the plugin, and returns the path of the archive.
    fn pack(&self, version: &str, serial: u32) -> PathBuf {
        let home = self.machine.home();
        let (folder, project) = (home.join("echo"), home.join("echo/plugin.toml"));
        let project_text = std::fs::read_to_string(&project).unwrap();
        let line = project_text.lines().find(|line| line.starts_with("version = ")).unwrap();
        let changed = project_text.replacen(line, &format!("version = \"{version}\""), 1);
        std::fs::write(&project, changed).unwrap();
        let (key, serial) = (home.join("publisher.key"), serial.to_string());
        let words = [
            "plugin",
            "pack",
            text(&folder),
            "--sign-with",
            text(&key),
            "--out",
            text(&home),
            "--serial",
            &serial,
            "--json",
        ];
        let packed = json(&link(&self.machine, &words));
        assert_eq!((&packed["plugin"], &packed["version"]), (&"echo".into(), &version.into()));
        assert_eq!(packed["signed_by"], self.kid());
        PathBuf::from(packed["archive"].as_str().unwrap())
    }
}

fn link(device: &TestDevice, words: &[&str]) -> Output {
    device.link().args(words).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&done(output)).unwrap()
}

/// Tries to install an archive, and returns the exit code, the error code and what was said.
fn refused(device: &TestDevice, archive: &Path) -> (Option<i32>, String, String) {
    let output = link(device, &["plugin", "install", text(archive), "--json"]);
    let problem: Value = serde_json::from_str(said(&output).lines().last().unwrap()).unwrap();
    let of = |name: &str| problem[name].as_str().unwrap_or_default().to_owned();
    (output.status.code(), of("error"), format!("{}; {}", of("message"), of("hint")))
}

/// Serves a model by the plugin `echo`, which is installed in `folder`.
fn serve_echo(backend: &TestBackend, device: &TestDevice, folder: &str) -> Port {
    // The engine of this plugin is a file of the plugin.
    done(&link(device, &["engine", "install", folder, "--plugin", "echo", "--build", "0.1.0"]));
    let mut login = device.link();
    login.args(["login", "--email", EMAIL, "--password-stdin", "--backend", &backend.url]);
    let mut login = login.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    login.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(login.wait().unwrap().success());
    let sample = Path::new(folder).join("sample.txt");
    done(&link(device, &["model", "add", text(&sample), "--plugin", "echo", "--name", "echo"]));
    let port = free_port();
    let number = port.to_string();
    done(&link(device, &["model", "deploy", "echo", "--port", &number, "--serve", "--wait"]));
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn the_archive_of_a_trusted_publisher_is_installed_and_its_model_served() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let publisher = Publisher::new();
    let archive = publisher.pack("1.0.0", 1);

    let (code, error, words) = refused(&device, &archive);
    assert_eq!((code, &*error), (Some(24), "signature-invalid"), "{words}");
    assert!(words.contains("a key that this installation does not trust"), "{words}");
    assert!(words.contains("`link plugin trust KEY`"), "{words}");
    let trusted = json(&link(&device, &["plugin", "trust", &publisher.public_key, "--json"]));
    assert_eq!(trusted[0]["key"], publisher.kid());

    let installed = json(&link(&device, &["plugin", "install", text(&archive), "--json"]));
    assert_eq!(installed["signed_by"], publisher.kid());
    let shown = done(&link(&device, &["plugin", "show", "echo"]));
    assert!(shown.contains(&format!("signed by    the key {}", publisher.kid())), "{shown}");
    let port = serve_echo(&backend, &device, installed["folder"].as_str().unwrap());
    let (answer, _usage) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert!(answer.starts_with("a model for "), "{answer}");

    // A newer archive of the publisher replaces the plugin while it serves. It is found by the plugin's name.
    publisher.pack("1.1.0", 2);
    let site = format!("file://{}", publisher.machine.home().display());
    let install = ["plugin", "install", "echo", "--source", &site, "--json"];
    assert_eq!(json(&link(&device, &install))["version"], "1.1.0");
    assert!(chat::ask(port, None, false).await.unwrap().status().is_success());
}

/// Every checkpoint of a replacement, in this order, and whether the new version is in use from there on.
const OF_REPLACEMENT: [(&str, bool); 6] = [
    ("plugin-begun", false),
    ("plugin-file-written", false),
    ("plugin-filled", false),
    ("plugin-set-aside", false),
    ("plugin-placed", true),
    ("plugin-replaced", true),
];

/// Every checkpoint of a removal.
const OF_REMOVAL: [&str; 2] = ["plugin-withdrawn", "plugin-removed"];

/// Runs a command that changes the plugins, and that is killed at `checkpoint`.
fn killed_at(device: &TestDevice, checkpoint: &str, words: &[&str]) {
    use std::os::unix::process::ExitStatusExt as _;
    let output = device.link().env(KILL_AT, checkpoint).args(words).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{checkpoint}: {}", said(&output));
}

/// The names in the folder of the plugins, except for that of the lock.
fn left(device: &TestDevice) -> Vec<String> {
    let folder = std::fs::read_dir(device.home().join("data/plugins")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != ".lock").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_killed_at_any_step_leaves_the_plugin_whole_and_its_model_served() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let publisher = Publisher::new();
    done(&link(&device, &["plugin", "trust", &publisher.public_key]));
    let first = publisher.pack("1.0.0", 1);
    let installed = json(&link(&device, &["plugin", "install", text(&first), "--json"]));
    let port = serve_echo(&backend, &device, installed["folder"].as_str().unwrap());
    let answers = async || chat::ask(port, None, false).await.unwrap().status().is_success();

    let mut version = "1.0.0".to_owned();
    for (serial, (checkpoint, is_new)) in (2..).zip(OF_REPLACEMENT) {
        let offered = format!("1.{serial}.0");
        let archive = publisher.pack(&offered, serial);
        killed_at(&device, checkpoint, &["plugin", "install", text(&archive)]);
        version = if is_new { offered } else { version };
        let shown = json(&link(&device, &["plugin", "show", "echo", "--json"]));
        assert_eq!(shown["version"], version, "{checkpoint}");
        assert!(answers().await, "{checkpoint}");
    }
    let last = publisher.pack("2.0.0", 10);
    killed_at(&device, "plugin-filled", &["plugin", "install", text(&last)]);
    assert!(left(&device).len() > 1, "the staged folder is left");
    device.kill();
    device.run(&[]);
    until("the agent to delete what was left", async || (left(&device) == ["echo"]).then_some(()))
        .await;
    until("the model to be served again", async || {
        let answer = chat::ask(port, None, false).await;
        answer.is_ok_and(|answer| answer.status().is_success()).then_some(())
    })
    .await;

    for checkpoint in OF_REMOVAL {
        done(&link(&device, &["plugin", "install", text(&last)]));
        killed_at(&device, checkpoint, &["plugin", "remove", "echo"]);
        assert!(!done(&link(&device, &["plugin", "list"])).contains("echo"), "{checkpoint}");
        assert!(answers().await, "{checkpoint}");
    }
    done(&link(&device, &["plugin", "install", text(&last)]));
    assert_eq!(left(&device), ["echo"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_found_by_its_name_where_releases_come_from() {
    let publisher = Publisher::new();
    let home = publisher.machine.home();
    publisher.pack("1.2.0", 7);
    publisher.pack("1.1.0", 6); // An older one, packed again, does not become the newest.
    let server = ReleaseServer::start(&home, "none", Fault::None).await;
    let device = TestDevice::unregistered();
    let nowhere = link(&device, &["plugin", "install", "echo", "--json"]);
    let words = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(words.contains("it is not known where plugins come from"), "{words}");
    let receipt = serde_json::json!({
        "source": server.url, "versions": [], "pointers": [], "folders": [],
    });
    std::fs::create_dir_all(device.home().join("data")).unwrap();
    std::fs::write(device.home().join("data/receipt.json"), receipt.to_string()).unwrap();

    let (code, error, words) = refused(&device, Path::new("echo"));
    assert_eq!((code, &*error), (Some(24), "signature-invalid"), "{words}");
    assert_eq!(server.requests(".tar.gz"), 0, "nothing is downloaded before it is trusted");
    done(&link(&device, &["plugin", "trust", &publisher.public_key]));
    let (code, error, words) = refused(&device, Path::new("nobody"));
    assert_eq!((code, &*error), (Some(1), "unknown-name"), "{words}");
    assert!(words.contains("/nobody.signature.json"), "{words}");
    let installed = json(&link(&device, &["plugin", "install", "echo", "--json"]));
    assert_eq!(
        (&installed["version"], &installed["signed_by"]),
        (&"1.2.0".into(), &publisher.kid().into())
    );

    // A mirror hands out another plugin of the publisher under this name.
    std::fs::copy(home.join("echo.signature.json"), home.join("other.signature.json")).unwrap();
    let (code, error, words) = refused(&device, Path::new("other"));
    assert_eq!((code, &*error), (Some(24), "signature-invalid"), "{words}");
    assert!(words.contains("was signed as `echo-1.2.0.tar.gz`"), "{words}");
    // A mirror hands out an older signature of the publisher.
    std::fs::copy(home.join("echo-1.1.0.tar.gz.signature.json"), home.join("echo.signature.json"))
        .unwrap();
    assert_eq!(refused(&device, Path::new("echo")).0, Some(25));
    // A mirror hands out another file.
    std::fs::write(home.join("echo-1.1.0.tar.gz"), b"no archive").unwrap();
    assert_eq!(refused(&device, Path::new("echo")).0, Some(22));
    assert!(!device.home().join("state/plugin-download").exists());
}

#[test]
fn an_archive_that_nobody_trusted_signed_changes_nothing() {
    let device = TestDevice::unregistered();
    let (publisher, other) = (Publisher::new(), Publisher::new());
    done(&link(&device, &["plugin", "trust", &publisher.public_key]));
    let archive = publisher.pack("1.0.0", 5);
    let intact = std::fs::read(&archive).unwrap();
    let signature = PathBuf::from(format!("{}.signature.json", text(&archive)));
    let signed = std::fs::read(&signature).unwrap();

    let mut changed = intact.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    std::fs::write(&archive, changed).unwrap();
    let (code, _, words) = refused(&device, &archive);
    assert_eq!(code, Some(24), "{words}");
    assert!(words.contains("is not the file that was signed"), "{words}");
    std::fs::write(&archive, &intact).unwrap();

    let tampered = String::from_utf8(signed.clone()).unwrap().replace("1.0.0", "9.0.0");
    std::fs::write(&signature, tampered).unwrap();
    let (code, _, words) = refused(&device, &archive);
    assert_eq!(code, Some(24), "{words}");
    assert!(words.contains("the signature does not fit"), "{words}");

    std::fs::remove_file(&signature).unwrap();
    let (code, _, words) = refused(&device, &archive);
    assert_eq!(code, Some(24), "{words}");
    assert!(words.contains("is not signed") && words.contains("put it beside"), "{words}");
    std::fs::write(&signature, &signed).unwrap();

    let renamed = archive.with_file_name("language_model-1.0.0.tar.gz");
    std::fs::copy(&archive, &renamed).unwrap();
    std::fs::copy(&signature, format!("{}.signature.json", text(&renamed))).unwrap();
    let (code, _, words) = refused(&device, &renamed);
    assert_eq!(code, Some(24), "{words}");
    assert!(words.contains("was signed as `echo-1.0.0.tar.gz`"), "{words}");
    let plugins = device.home().join("data/plugins");
    assert!(!plugins.exists(), "nothing was written");

    done(&link(&device, &["plugin", "install", text(&archive)]));
    let (code, error, words) = refused(&device, &publisher.pack("0.9.0", 4));
    assert_eq!((code, &*error), (Some(25), "downgrade"), "{words}");
    assert!(words.contains("0.9.0") && words.contains("link plugin remove"), "{words}");
    done(&link(&device, &["plugin", "trust", &other.public_key]));
    let (code, error, words) = refused(&device, &other.pack("2.0.0", 9));
    assert_eq!((code, &*error), (Some(1), "declined"), "{words}");
    assert!(words.contains(&publisher.kid()), "{words}");

    // The owner's own folder needs no signature, and replaces the publisher's plugin.
    let folder = other.machine.home().join("echo");
    let installed = json(&link(&device, &["plugin", "install", text(&folder), "--json"]));
    assert!(installed["version"] == "2.0.0" && installed.get("signed_by").is_none());
    let (code, _, words) = refused(&device, &archive);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("was installed from a folder"), "{words}");

    // A key that is no longer trusted installs nothing, and what it installed stays.
    done(&link(&device, &["plugin", "remove", "echo"]));
    done(&link(&device, &["plugin", "install", text(&archive)]));
    done(&link(&device, &["plugin", "trust", "--remove", &publisher.kid()]));
    let listed = done(&link(&device, &["plugin", "trust", "--list"]));
    assert_eq!(listed.trim(), other.kid());
    assert_eq!(refused(&device, &archive).0, Some(24));
    assert!(done(&link(&device, &["plugin", "list"])).contains("echo"));
}

#[test]
fn a_key_is_private_and_no_plugin_is_packed_with_anything_else() {
    let publisher = Publisher::new();
    let (device, home) = (&publisher.machine, publisher.machine.home());
    let (key, folder) = (home.join("publisher.key"), home.join("echo"));
    let mode = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(&key), 0o600);
    let again = link(device, &["plugin", "key", text(&key)]);
    assert!(again.status.code() == Some(2) && said(&again).contains("already exists"));
    let pack = |key: &Path| {
        let words =
            ["plugin", "pack", text(&folder), "--sign-with", text(key), "--out", text(&home)];
        let output = link(device, &words);
        (output.status.code(), said(&output))
    };
    let nothing = link(device, &["plugin", "install", "./none.tar.gz"]);
    assert!(nothing.status.code() == Some(2) && said(&nothing).contains("does not exist"));
    let unknown = link(device, &["plugin", "trust", "./none.pub"]);
    assert!(unknown.status.code() == Some(2) && said(&unknown).contains("the public half"));
    let (code, words) = pack(&home.join("missing"));
    assert!(code == Some(2) && words.contains("link plugin key FILE"), "{words}");
    let public = home.join("publisher.pub");
    std::fs::write(&public, "no key").unwrap();
    let (code, words) = pack(&public);
    assert!(code == Some(2) && words.contains("other users can read"), "{words}");
    std::fs::write(folder.join(".secret"), "x").unwrap();
    let (code, words) = pack(&key);
    assert!(code == Some(2) && words.contains("`.secret`"), "{words}");
    let left = std::fs::read_dir(&home).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".tar.gz")), "{left:?}");
}
