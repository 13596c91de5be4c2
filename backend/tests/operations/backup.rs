//! Backup and restore of a SQLite backend: a backup is made while the backend runs, a damaged backup is refused, and a
//! restored backend continues.

#![expect(clippy::disallowed_methods, reason = "looks at the folders that the program writes")]

use std::path::Path;

use link_protocol::signing::SigningKey;
use serde_json::{Value, json};

use crate::program::{PASSWORD, Place, Running, mode, send};

const WEIGHTS: &[u8] = b"GGUF and then some weights";

/// Adds a model with an uploaded file. Returns its id.
fn upload(running: &Running, user: &str) -> String {
    upload_of(running, user, WEIGHTS)
}

fn upload_of(running: &Running, user: &str, weights: &[u8]) -> String {
    let wish = json!({ "name": "Tiny", "file_name": "tiny.gguf", "plugin": "other" });
    let model = running.call("POST", "/api/v1/models", user, &wish).1;
    let id = model["model_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/models/{id}/content");
    let body = ("application/octet-stream", weights);
    let (status, _, said) = send(&running.address, "PUT", &path, user, body);
    assert!((200..300).contains(&status), "{said}");
    id
}

pub(crate) fn device(running: &Running, user: &str) -> Value {
    let key = running.call("POST", "/api/v1/keys", user, &json!({ "kind": "registration" })).1;
    let body = json!({
        "registration_key": key["key"], "name": "workstation", "agent_version": "1.3.0",
        "platform": { "os": "linux", "arch": "x86_64", "hostname": "workstation" },
        "public_key": SigningKey::from_seed(&[7; 32]).verifying(),
    });
    let (status, device) = running.call("POST", "/api/v1/devices/register-with-key", "", &body);
    assert_eq!(status, 201, "{device}");
    device
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Publishes a release of one file, as `releases pull` leaves it. Returns the file.
fn publish(data: &Path) -> String {
    let (releases, manifest) = (data.join("releases"), "a manifest".to_owned());
    let set = releases.join("set-1");
    std::fs::create_dir_all(&set).unwrap();
    let listed = json!({ "size_bytes": manifest.len(), "sha256": "a5".repeat(32) });
    let list = json!({ "counter": 7, "version": "1.3.0", "files": { "manifest.json": listed } });
    std::fs::write(set.join(".files.json"), list.to_string()).unwrap();
    std::fs::write(set.join("manifest.json"), &manifest).unwrap();
    std::fs::write(releases.join("current"), "set-1\n").unwrap();
    manifest
}

#[test]
fn what_a_running_backend_has_comes_back_elsewhere_and_goes_on() {
    let place = Place::new();
    let running = place.serve(&[]);
    let user = running.set_up();
    let model = upload(&running, &user);
    let device = device(&running, &user);
    let id = device["device_id"].as_str().unwrap();
    let wish = json!({ "device_id": id, "model_id": model });
    let (status, first) = running.call("POST", "/api/v1/deployments", &user, &wish);
    assert_eq!(status, 202);
    let file = place.folder.path().join("backup.tar");
    let file = file.to_str().unwrap();

    let manifest = publish(&place.data());
    let made = place.run(&["backup", file, "--json"]);
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!((&made.json()["database"], mode(Path::new(file))), (&json!(true), 0o600));
    let again = place.run(&["backup", file]);
    assert_eq!((again.code, again.err.contains("--force")), (11, true), "{}", again.err);
    assert_eq!(place.run(&["backup", file, "--force"]).code, 0);
    assert!(names(&place.data()).iter().all(|name| !name.starts_with('.')), "no scratch is left");

    let data = place.data();
    let in_use = place.run(&["restore", file, "--force"]);
    assert_eq!((in_use.code, in_use.err.contains("end it first")), (15, true), "{}", in_use.err);
    drop(running);
    let full = place.run(&["restore", file]);
    assert_eq!((full.code, full.err.contains("is not empty")), (11, true), "{}", full.err);

    let elsewhere = place.folder.path().join("elsewhere");
    let elsewhere_text = elsewhere.to_str().unwrap();
    let restored = place.run(&["restore", file, "--data", elsewhere_text]);
    assert_eq!(restored.code, 0, "{}", restored.err);
    assert_eq!(mode(&elsewhere), 0o700);
    assert_eq!(mode(&elsewhere.join("link.db")), 0o600);
    let models = names(&elsewhere.join("models"));
    assert_eq!(models, names(&data.join("models")));
    assert_eq!(std::fs::read(elsewhere.join("models").join(&models[0])).unwrap(), WEIGHTS);

    let running = place.serve(&["--data", elsewhere_text]);
    let path = "/releases/manifest.json";
    let (status, _, served) = send(&running.address, "GET", path, "", ("text/plain", b""));
    assert_eq!((status, served), (200, manifest), "it publishes the release as before");
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let (status, tokens) = running.call("POST", "/api/v1/auth/login", "", &login);
    assert_eq!(status, 200, "{tokens}");
    let path = "/api/v1/devices";
    assert_eq!(running.call("GET", path, &user, &Value::Null).0, 401, "every login has ended");
    let user = tokens["access_token"].as_str().unwrap();
    let token = device["device_token"].as_str().unwrap();
    let path = format!("/api/v1/agent/{id}/commands?wait=0");
    let (status, poll) = running.call("GET", &path, token, &Value::Null);
    assert_eq!(status, 200);
    let envelope = poll["commands"][0]["envelope"].as_str().unwrap();
    assert!(envelope.contains(first["command_id"].as_str().unwrap()));
    assert_eq!(poll["commands"][0]["kid"], device["backend_keys"][0]["kid"], "the same key signs");

    let path = format!("/api/v1/devices/{id}/update");
    let (status, next) = running.call("POST", &path, user, &json!({ "version": "1.4.0" }));
    assert_eq!(status, 202, "{next}");
    let path = format!("/api/v1/agent/{id}/commands?wait=0&after=900");
    let poll = running.call("GET", &path, token, &Value::Null).1;
    let envelope = poll["commands"][0]["envelope"].as_str();
    let is_new = envelope.is_some_and(|it| it.contains(next["command_id"].as_str().unwrap()));
    assert!(is_new, "a device that saw more numbers than the backup takes it: {poll}");
}

#[test]
fn a_damaged_backup_changes_nothing_and_a_whole_one_puts_the_folder_aside() {
    let place = Place::new();
    let running = place.serve(&[]);
    let user = running.set_up();
    upload(&running, &user);
    let file = place.folder.path().join("backup.tar");
    assert_eq!(place.run(&["backup", file.to_str().unwrap()]).code, 0);
    drop(running);
    let whole = std::fs::read(&file).unwrap();
    let before = names(place.folder.path());

    let mut changed = whole.clone();
    let at = whole.windows(WEIGHTS.len()).position(|window| window == WEIGHTS).unwrap();
    changed[at] ^= 1;
    let model = b"GGUF\x03\0\0\0".repeat(512);
    let is_no_backup =
        "it is not a backup of link-backend; give a file that `link-backend backup` wrote";
    let is_cut = "the backup is cut off or damaged; copy it again, or restore an earlier backup";
    for (bytes, code, why) in [
        (&changed[..], 22, "in the backup is damaged"),
        (&whole[..whole.len() / 2], 1, is_cut),
        (&whole[..10 * 1024], 1, is_cut),
        (b"no archive", 1, is_no_backup),
        (&model, 1, is_no_backup),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let refused = place.run(&["restore", file.to_str().unwrap(), "--force"]);
        assert_eq!(refused.code, code, "{}", refused.err);
        assert!(refused.err.contains("nothing was changed"), "{}", refused.err);
        assert!(refused.err.contains(why), "{}", refused.err);
        assert_eq!(names(place.folder.path()), before);
    }

    std::fs::write(&file, &whole).unwrap();
    let restored = place.run(&["restore", file.to_str().unwrap(), "--force", "--json"]);
    assert_eq!(restored.code, 0, "{}", restored.err);
    let aside = restored.json()["put_aside"].as_str().unwrap().to_owned();
    assert!(Path::new(&aside).join("link.db").is_file());
    assert_eq!(place.serve(&[]).log_in("ada@example.org", PASSWORD), 200);
}

/// Runs the program on a terminal and returns what the screen showed.
fn on_a_terminal(place: &Place, words: &str) -> String {
    let program = env!("CARGO_BIN_EXE_link-backend");
    let line = format!("stty cols 100 rows 50; exec '{program}' {words}");
    let output = std::process::Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .env_clear()
        .env("HOME", place.folder.path())
        .env("LINK_BACKEND_DATA", place.data())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{shown}");
    shown
}

#[test]
fn a_terminal_shows_how_far_a_backup_and_a_restoration_are() {
    let place = Place::new();
    let running = place.serve(&[]);
    let user = running.set_up();
    // A small file would be restored in memory before a bar is drawn.
    upload_of(&running, &user, &vec![7; 64 << 20]);
    drop(running);
    let file = place.folder.path().join("backup.tar");
    let file = file.display();
    for words in [format!("backup '{file}'"), format!("restore '{file}' --force")] {
        let shown = on_a_terminal(&place, &words);
        // The bar starts at 0 B. A small backup can end there. The bar is cleared before the result is printed.
        assert!(shown.contains(" B/") || shown.contains("iB/"), "{words}: {shown:?}");
        assert!(shown.contains("\u{1b}[2K`"), "{words}: {shown:?}");
    }
    let quiet = place.run(&["backup", &format!("{file}"), "--force"]);
    assert!(quiet.code == 0 && !quiet.err.contains("\u{1b}[2K"), "{}", quiet.err);
}

#[test]
fn backups_are_consistent_while_models_come_and_go() {
    let place = Place::new();
    let running = place.serve(&[]);
    let user = running.set_up();
    std::thread::scope(|scope| {
        let backups = scope.spawn(|| {
            for round in 0..4 {
                let file = place.folder.path().join(format!("{round}.tar"));
                let made = place.run(&["backup", file.to_str().unwrap()]);
                assert_eq!(made.code, 0, "{}", made.err);
                let into = place.folder.path().join(format!("restored-{round}"));
                let into = into.to_str().unwrap();
                let restored = place.run(&["restore", file.to_str().unwrap(), "--data", into]);
                assert_eq!(restored.code, 0, "{}", restored.err);
                let looked = place.run(&["doctor", "--json", "--data", into]);
                assert!(looked.out.contains("files are there"), "{}", looked.out);
            }
        });
        while !backups.is_finished() {
            let model = upload(&running, &user);
            running.call("DELETE", &format!("/api/v1/models/{model}"), &user, &Value::Null);
        }
        backups.join().unwrap();
    });
}
