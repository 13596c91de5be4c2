//! `link uninstall` while the backend is unreachable, and the retire code that replaces the
//! deregistration.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use link_platform::fs;
use link_protocol::key::KeyKind;
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, is_alive},
    installed::{Installed, said},
    program,
    wait::until,
};
use serde_json::Value;

// Holds: S3.4-5, S4.4-1b
#[tokio::test]
async fn an_uninstall_that_the_backend_cannot_be_told_waits_or_leaves_a_retire_code() {
    let mut backend = TestBackend::start_with(&["--device-limit", "1"]).await;
    let device = TestDevice::register(&backend).await;
    succeeds(&device, &["start"]);
    backend.online(device.id, true).await;
    let before = lasting_files(&device);
    backend.kill();

    let refused = link(&device, &["uninstall", "--yes"]);
    fails(
        &refused,
        69,
        &["the backend is unreachable", "`link uninstall --force`", "nothing was deleted"],
    );
    is_as_before(&device, &before).await;
    for (answer, exit) in [("503 Service Unavailable", 69), ("404 Not Found", 77)] {
        let server = answer_once(&backend.url, answer);
        let refused = link(&device, &["uninstall", "--yes", "--json"]);
        fails(&refused, exit, &[answer.split(' ').next().unwrap(), "`link uninstall --force`"]);
        server.join().unwrap();
        is_as_before(&device, &before).await;
    }

    let guard = pid(&device, "guard");
    let forced = link(&device, &["uninstall", "--yes", "--force", "--json"]);
    fails(&forced, 61, &[]);
    let document: Value = serde_json::from_slice(&forced.stdout).unwrap();
    assert_eq!(document["uninstalled"], true);
    assert_eq!(document["deregistered"], false);
    assert_eq!(document["backend_url"], backend.url.as_str());
    let code = document["retire_code"].as_str().unwrap();
    assert!(!is_alive(guard));
    assert_eq!(files(&device), BTreeMap::new());
    succeeds(&device, &["uninstall", "--yes"]);

    backend.restart().await;
    assert_eq!(backend.owner.devices().await.unwrap().len(), 1);
    let another = TestDevice::unregistered();
    let key = backend.key(KeyKind::Registration).await;
    fails(&another.register_with(&backend.url, &key), 77, &["its limit"]);
    let retire = ["device", "retire", code, "--backend", &backend.url];
    let retired = succeeds(&another, &[&retire[..], &["--json"]].concat());
    let retired: Value = serde_json::from_slice(&retired.stdout).unwrap();
    assert_eq!(retired["retired"], device.id.to_string());
    assert!(backend.owner.devices().await.unwrap().is_empty());
    assert!(another.register_with(&backend.url, &key).status.success());
    fails(&link(&another, &retire), 77, &["or the device was removed", "may have been removed"]);
    assert_eq!(backend.owner.devices().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_person_is_shown_the_code_and_the_two_ways_to_use_it() {
    let mut backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    backend.kill();
    let forced = link(&device, &["uninstall", "--yes", "--force"]);
    let ways = format!("link device retire CODE --backend {}", backend.url);
    fails(&forced, 61, &[&ways, "`Retire a device with its code`", "deleted the installation"]);
    let code = String::from_utf8(forced.stdout).unwrap();
    assert!(code.starts_with("lrc_") && code.lines().count() == 1, "{code}");

    backend.restart().await;
    let mut mistyped = code.trim().to_owned();
    let last = if mistyped.ends_with('x') { 'y' } else { 'x' };
    mistyped.replace_range(mistyped.len() - 1.., &last.to_string());
    let other = TestDevice::unregistered();
    // A mistyped code is refused before any connection: nobody answers at this address.
    let refused = link(&other, &["device", "retire", &mistyped, "--backend", "http://127.0.0.1:9"]);
    fails(&refused, 2, &["checksum does not fit", "copy it again"]);

    let mut retire = other.link();
    retire.args(["device", "retire", "-", "--backend", &backend.url]).stdin(Stdio::piped());
    let mut retire = retire.spawn().unwrap();
    retire.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
    assert!(retire.wait().unwrap().success());
    assert!(backend.owner.devices().await.unwrap().is_empty());
}

#[tokio::test]
async fn no_code_is_needed_where_the_backend_answers() {
    let backend = TestBackend::start().await;
    let (known, removed) =
        (TestDevice::register(&backend).await, TestDevice::register(&backend).await);
    backend.owner.remove_device(removed.id).await.unwrap();
    for device in [known, removed] {
        let output = succeeds(&device, &["uninstall", "--yes", "--force", "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["deregistered"], true);
        assert_eq!(document["retire_code"], Value::Null);
        assert_eq!(files(&device), BTreeMap::new());
    }
    assert!(backend.owner.devices().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_damaged_identity_has_no_code_and_does_not_keep_the_rest_from_going() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    std::fs::write(device.home().join("state/identity.json"), "{").unwrap();
    let before = lasting_files(&device);
    let refused = link(&device, &["uninstall", "--yes"]);
    fails(&refused, 30, &["it is damaged", "dashboard", "`link uninstall --force`"]);
    assert_eq!(lasting_files(&device), before);

    let forced = link(&device, &["uninstall", "--yes", "--force"]);
    fails(&forced, 61, &["neither be deregistered nor sign a retire code"]);
    assert_eq!(String::from_utf8_lossy(&forced.stdout), "");
    assert_eq!(files(&device), BTreeMap::new());
}

#[tokio::test]
async fn an_uninstall_waits_for_no_installer_for_ever_and_changes_nothing() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    succeeds(&device, &["start"]);
    let lock = device.home().join("data/install.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let held = fs::try_lock(&lock).unwrap().unwrap();
    let identity = std::fs::read(device.home().join("state/identity.json")).unwrap();
    let refused = link(&device, &["uninstall", "--yes"]);
    fails(
        &refused,
        15,
        &["another installation is running", "wait until the other command has ended"],
    );
    until("the agent to answer", || async { device.local.healthz().await.ok() }).await;
    assert!(is_alive(pid(&device, "guard")) && is_alive(pid(&device, "agent")));
    assert_eq!(std::fs::read(device.home().join("state/identity.json")).unwrap(), identity);
    assert_eq!(backend.owner.devices().await.unwrap().len(), 1);
    drop(held);
    let gone = succeeds(&device, &["uninstall", "--yes"]);
    assert!(said(&gone).contains("deleted the installation"), "{gone:?}");
    assert_eq!(files(&device), BTreeMap::new());
    let again = succeeds(&device, &["uninstall", "--yes"]);
    assert!(said(&again).contains("nothing was installed"), "{again:?}");
    assert!(!said(&again).contains("deleted"), "{again:?}");
}

#[tokio::test]
async fn a_damaged_receipt_is_told_of_and_keeps_nothing_from_going() {
    let installed = Installed::new(&[]).await;
    std::fs::write(installed.data().join("receipt.json"), "{\"versions\": [").unwrap();
    let gone = installed.link(&["uninstall", "--yes"]);
    assert!(gone.status.success(), "{gone:?}");
    assert!(said(&gone).contains("the receipt of the installation is damaged"), "{gone:?}");
    assert_eq!(files(&installed.device), BTreeMap::new());
    assert!(installed.backend.owner.devices().await.unwrap().is_empty());
}

#[test]
fn an_uninstall_of_nothing_says_so() {
    let home = tempfile::tempdir().unwrap();
    let link = || {
        let mut link = Command::new(program::path("link"));
        link.args(["uninstall", "--yes"]).env("LINK_HOME", home.path()).output().unwrap()
    };
    for _ in 0..2 {
        let nothing = link();
        assert!(nothing.status.success(), "{nothing:?}");
        assert!(said(&nothing).contains("nothing was installed"), "{nothing:?}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_with_files_of_others_stays_and_is_named() {
    let backend = TestBackend::start().await;
    let device = TestDevice::register(&backend).await;
    let (folder, notes) = (device.home().join("config"), device.home().join("config/notes.txt"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(&notes, "mine").unwrap();
    let gone = succeeds(&device, &["uninstall", "--yes"]);
    let words =
        format!("deleted the installation except {}, which holds other files", folder.display());
    assert!(said(&gone).contains(&words), "{gone:?}");
    assert_eq!(files(&device), BTreeMap::from([(notes, b"mine".to_vec())]));
}

async fn is_as_before(device: &TestDevice, before: &BTreeMap<PathBuf, Vec<u8>>) {
    until("the agent to answer", || async { device.local.healthz().await.ok() }).await;
    assert!(is_alive(pid(device, "guard")) && is_alive(pid(device, "agent")));
    assert_eq!(&lasting_files(device), before);
}

/// All files of the device, except those that the agent writes while it runs.
fn lasting_files(device: &TestDevice) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files(device);
    files.retain(|path, _| !is_written_by_the_agent(path));
    files
}

/// All files of the device with their contents. A symbolic link has no contents.
fn files(device: &TestDevice) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut files, mut open) = (BTreeMap::new(), vec![device.home()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                open.push(path);
            } else {
                let holds = if metadata.is_file() { std::fs::read(&path).unwrap() } else { vec![] };
                files.insert(path, holds);
            }
        }
    }
    files
}

fn is_written_by_the_agent(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    ["agent.", "guard.", "journal.db"].iter().any(|own| name.starts_with(own))
        || folder == "run"
        || ["configs", "logs"].iter().any(|own| folder == *own)
}

/// Answers the next request at the address of `url` with a page that our backend never sends.
fn answer_once(url: &str, status: &str) -> std::thread::JoinHandle<()> {
    let listener = TcpListener::bind(url.trim_start_matches("http://")).unwrap();
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno");
    std::thread::spawn(move || {
        // The agent may send its own requests before it is stopped.
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), [0; 4096]);
            let read = stream.read(&mut request).unwrap_or_default();
            drop(stream.write_all(answer.as_bytes()));
            if request[..read].starts_with(b"DELETE ") {
                return;
            }
        }
    })
}

fn link(device: &TestDevice, arguments: &[&str]) -> Output {
    device.link().args(arguments).output().unwrap()
}

fn succeeds(device: &TestDevice, arguments: &[&str]) -> Output {
    let output = link(device, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

#[track_caller]
fn fails(output: &Output, code: i32, says: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    for words in says {
        assert!(errors.contains(words), "no `{words}` in: {errors}");
    }
}

fn pid(device: &TestDevice, program: &str) -> u32 {
    let file = device.home().join(format!("state/{program}.pid"));
    std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
}
