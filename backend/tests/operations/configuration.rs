//! The configuration file, the environment and the flags, from the operator's side.

#![expect(clippy::disallowed_methods, reason = "writes the files that the program reads")]

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::program::{Place, said};

#[test]
fn every_fault_is_told_at_once_and_nothing_is_started() {
    let place = Place::new();
    let file = place.file("backend.toml", "listn = \"x\"\ndevice_limit = \"many\"\n");
    let file = file.to_str().unwrap();
    for command in [&["config", "check"][..], &["serve"], &["create-account", "a@example.org"]] {
        let said = place.run(&[command, &["--config", file, "--log-format", "xml"]].concat());
        assert_eq!(said.code, 2, "{}", said.err);
        for part in [file, "is `listen` meant?", "device_limit: ", "(from --log-format)"] {
            assert!(said.err.contains(part), "{part}: {}", said.err);
        }
    }
    assert!(!place.data().exists());
    let said = place.run(&["config", "check", "--json", "--config", file]);
    let error: Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!(error["exit_code"], 2);
}

#[test]
fn it_shows_each_value_and_where_it_stands_and_no_secret() {
    let place = Place::new();
    let file = place.file("backend.toml", "data = \"mine\"\nlisten = \"127.0.0.1:1\"\n");
    let mut command = place.command(&["config", "show", "--json", "--log", "warn", "--config"]);
    command.arg(&file).env_remove("LINK_BACKEND_DATA");
    command.env("LINK_BACKEND_DATABASE_URL", "postgres://ada:hunter2@db/link");
    let said = said(command, "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains("hunter2"));
    let shown = said.json();
    let of = |key: &str| {
        let all = shown.as_array().unwrap();
        let one = all.iter().find(|shown| shown["key"] == key).unwrap();
        (one["value"].clone(), one["from"].as_str().unwrap().to_owned())
    };
    let text = |value: &str| Value::String(value.to_owned());
    let path = file.display().to_string();
    let folder = place.folder.path().join("mine").display().to_string();
    assert_eq!(of("data"), (text(&folder), path.clone()), "relative to the file");
    assert_eq!(of("listen"), (text("127.0.0.1:1"), path));
    assert_eq!(of("log.filter"), (text("warn"), "--log".to_owned()));
    assert_eq!(of("device_limit"), (Value::from(100), "default".to_owned()));
    assert_eq!(of("database.url"), (text("***"), "LINK_BACKEND_DATABASE_URL".to_owned()));
}

#[test]
fn a_secret_that_everybody_can_read_stops_everything() {
    let place = Place::new();
    let secret = place.file("url", "postgres://ada:hunter2@db/link\n");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).unwrap();
    let file = place.file("backend.toml", "[database]\nurl_file = \"url\"\n");
    let said = place.run(&["serve", "--config", file.to_str().unwrap()]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("chmod 600") && !said.err.contains("hunter2"), "{}", said.err);
}

#[test]
fn the_printed_schema_is_the_committed_one_and_without_a_folder_it_says_what_to_give() {
    let place = Place::new();
    let committed = include_str!("../../../docs/backend.schema.json");
    assert_eq!(place.run(&["config", "schema"]).out, committed);
    let mut command = place.command(&["serve"]);
    command.env_remove("LINK_BACKEND_DATA");
    let said = said(command, "");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--data DIR or LINK_BACKEND_DATA"), "{}", said.err);
}
