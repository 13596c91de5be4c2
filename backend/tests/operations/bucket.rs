//! A backend with its model files in a bucket, from the operator's side.

#![expect(clippy::disallowed_methods, reason = "writes the files that the program reads")]

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    object_store::{ACCESS_KEY, BUCKET, ObjectStore, SECRET_KEY},
    program::{Place, Running, Said, said, send},
};

/// Returns a command of a backend that is configured for the bucket, with the secret in a file.
fn command(place: &Place, store: &ObjectStore, arguments: &[&str]) -> Command {
    let secret = place.folder.path().join("secret");
    link_platform::fs::write_private(&secret, format!("{SECRET_KEY}\n").as_bytes()).unwrap();
    let text = format!(
        "[content]\nstore = \"s3\"\nendpoint = \"{}\"\nbucket = \"{BUCKET}\"\nprefix = \"link\"\n\
         access_key = \"{ACCESS_KEY}\"\nsecret_key_file = \"secret\"\n",
        store.endpoint()
    );
    let file = place.file("backend.toml", &text);
    let mut command = place.command(arguments);
    command.arg("--config").arg(file);
    command
}

fn announce(running: &Running, user: &str) -> String {
    let wish = json!({ "name": "Tiny", "file_name": "tiny.gguf", "plugin": "other" });
    let model = running.call("POST", "/api/v1/models", user, &wish).1;
    model["model_id"].as_str().unwrap().to_owned()
}

fn upload(running: &Running, user: &str) -> String {
    let id = announce(running, user);
    let path = format!("/api/v1/models/{id}/content");
    let (status, _, said) =
        send(&running.address, "PUT", &path, user, ("application/octet-stream", b"weights"));
    assert_eq!(status, 200, "{said}");
    id
}

fn found(said: &Said, check: &str) -> (String, String) {
    let all = said.json();
    let of_it = all.as_array().unwrap().iter().find(|finding| finding["check"] == check).unwrap();
    let text = |key: &str| of_it[key].as_str().unwrap_or_default().to_owned();
    (text("level"), format!("{} {}", text("found"), text("next_step")))
}

#[test]
fn doctor_and_backup_speak_of_the_bucket_and_tell_no_secret() {
    let Some(mut store) = ObjectStore::start() else { return };
    let place = Place::new();
    let running = Running::start(command(&place, &store, &["serve", "--listen", "127.0.0.1:0"]));
    let user = running.set_up();
    let model = upload(&running, &user);
    let objects = store.objects();
    assert!(objects.iter().all(|key| key.starts_with(&format!("link/{model}."))), "{objects:?}");
    assert_eq!(objects.len(), 1);

    let well = said(command(&place, &store, &["doctor", "--json"]), "");
    for check in ["bucket", "models"] {
        let (level, all) = found(&well, check);
        assert_eq!(level, "good", "{all}");
    }
    assert_eq!(store.objects(), objects, "the probe is gone");

    let file = place.folder.path().join("backup.tar");
    let backup = said(command(&place, &store, &["backup", file.to_str().unwrap()]), "");
    assert_eq!(backup.code, 0, "{}", backup.err);
    assert!(
        backup.out.contains("NOT part of it: they stay in the bucket `models`"),
        "{}",
        backup.out
    );
    let backup =
        said(command(&place, &store, &["backup", "--force", "--json", file.to_str().unwrap()]), "");
    assert_eq!(backup.json()["models"], false);

    let object = objects.first().unwrap();
    let (there, elsewhere) = (store.bucket().join(object), store.bucket().join("link/orphan"));
    std::fs::rename(&there, &elsewhere).unwrap();
    let doctor = said(command(&place, &store, &["doctor"]), "");
    std::fs::rename(&elsewhere, &there).unwrap();
    assert_eq!(doctor.code, 1);
    assert!(doctor.out.contains("1 model files are missing: "), "{}", doctor.out);
    assert!(doctor.out.contains("belong to no model: orphan"), "{}", doctor.out);

    let mut wrong = command(&place, &store, &["doctor", "--json"]);
    wrong.env("LINK_BACKEND_CONTENT_SECRET_KEY", "hunter2");
    let wrong = said(wrong, "");
    let (level, all) = found(&wrong, "bucket");
    assert_eq!((wrong.code, level.as_str()), (1, "bad"));
    assert!(all.contains("SignatureDoesNotMatch") && all.contains("its secret"), "{all}");

    store.kill();
    let away = said(command(&place, &store, &["doctor", "--json"]), "");
    let (level, all) = found(&away, "bucket");
    assert_eq!(level, "bad");
    assert!(all.contains("does not answer") && all.contains("content.endpoint"), "{all}");
    let other = announce(&running, &user);
    let path = format!("/api/v1/models/{other}/content");
    let body = ("application/octet-stream", b"weights".as_slice());
    let (status, _, problem) = send(&running.address, "PUT", &path, &user, body);
    assert_eq!(status, 503, "{problem}");
    assert!(problem.contains("content-unavailable") && problem.contains("doctor"), "{problem}");
    let path = format!("/api/v1/models/{model}");
    let (status, _) = running.call("DELETE", &path, &user, &Value::Null);
    assert_eq!(status, 204, "it is deleted later");
    running.signal("-TERM");
    let log = running.ended().1.join("\n");
    assert!(log.contains("the bucket of models cannot be used"), "{log}");

    store.resume();
    let again = Running::start(command(&place, &store, &["serve", "--listen", "127.0.0.1:0"]));
    let since = std::time::Instant::now();
    while !store.objects().is_empty() {
        assert!(since.elapsed() < std::time::Duration::from_secs(20), "{:?}", store.objects());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(again);

    let shown = said(command(&place, &store, &["config", "show"]), "");
    for text in [&well.out, &wrong.out, &wrong.err, &away.out, &log, &shown.out] {
        for secret in [SECRET_KEY, "hunter2", "X-Amz"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn a_bucket_without_its_keys_is_refused_with_every_fault_before_anything_starts() {
    let place = Place::new();
    let file = place.file("backend.toml", "[content]\nstore = \"s3\"\nsecret_key = \"hunter2\"\n");
    let said = place.run(&["serve", "--config", file.to_str().unwrap()]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("`content.secret_key_file`"), "{}", said.err);
    assert!(!said.err.contains("hunter2"), "{}", said.err);
    let file = place.file("backend.toml", "[content]\nstore = \"s3\"\n");
    let said = place.run(&["serve", "--config", file.to_str().unwrap()]);
    for key in ["endpoint", "bucket", "access_key", "secret_key_file"] {
        assert!(said.err.contains(&format!("content.{key}: ")), "{}", said.err);
    }
    assert!(!place.data().exists());
}
