//! `migrate` and `doctor`, on healthy and on damaged folders.

#![expect(clippy::disallowed_methods, reason = "damages the folders that the program looks at")]

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::program::{Place, Said};

/// Returns the level and the next step in the result of `check`.
fn found(said: &Said, check: &str) -> Vec<(String, String)> {
    let all = said.json();
    let of_it = all.as_array().unwrap().iter().filter(|finding| finding["check"] == check);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of_it.map(|finding| (text(&finding["level"]), text(&finding["next_step"]))).collect()
}

#[test]
fn pending_changes_are_shown_and_then_done_but_never_under_a_running_backend() {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, 11, "a mistyped folder is not made");
    std::fs::create_dir(place.data()).unwrap();
    let shown = place.run(&["migrate", "--dry-run", "--json"]);
    let changes = shown.json()["changes"].as_array().unwrap().len();
    assert!(changes >= 3 && shown.json()["done"] == false, "{}", shown.out);
    assert!(!place.data().join("link.db").exists());
    let done = place.run(&["migrate"]);
    assert!(done.code == 0 && done.out.starts_with("done:\n  0001 init"), "{}", done.out);
    assert_eq!(place.run(&["migrate"]).out, "the tables are up to date\n");
    let running = place.serve(&[]);
    assert_eq!(place.run(&["migrate"]).code, 0, "there is nothing to do");
    drop(running);
}

#[test]
fn a_folder_that_is_well_is_said_to_be() {
    let place = Place::new();
    let running = place.serve(&[]);
    running.set_up();
    let public = format!("http://{}", running.address);
    let mut command = place.command(&["doctor", "--json"]);
    command.env("LINK_BACKEND_PUBLIC_URL", public).env("LINK_BACKEND_LISTEN", &running.address);
    let said = crate::program::said(command, "");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    for check in ["folder", "database", "schema", "clock", "models", "listen", "public url"] {
        assert_eq!(found(&said, check), [("good".to_owned(), String::new())], "{check}");
    }
}

#[test]
fn each_thing_that_is_wrong_is_found_with_a_next_step() {
    let place = Place::new();
    let nothing = place.run(&["doctor", "--json"]);
    assert_eq!((nothing.code, found(&nothing, "folder")[0].0.as_str()), (1, "bad"));

    drop(place.serve(&[]));
    let data = place.data();
    let file = data.join("link.db");
    std::fs::write(data.join("models/orphan"), "x").unwrap();
    for path in [&data, &file] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = place.command(&["doctor", "--json"]);
    command.env("LINK_BACKEND_LISTEN", &address);
    command.env("LINK_BACKEND_PUBLIC_URL", "https://127.0.0.1:1");
    let said = crate::program::said(command, "");
    assert_eq!(said.code, 1, "{}", said.err);
    for (check, next) in [
        ("folder", "chmod 700"),
        ("database", "chmod 600"),
        ("models", "delete them from"),
        ("listen", "set `listen`"),
        ("public url", "certificate"),
    ] {
        assert!(found(&said, check)[0].1.contains(next), "{check}: {}", said.out);
    }

    let mut bytes = std::fs::read(&file).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(7);
    std::fs::write(&file, bytes).unwrap();
    let said = place.run(&["doctor"]);
    assert!(said.code == 1 && said.out.contains("restore the latest backup"), "{}", said.out);
    let refused = place.run(&["backup", place.folder.path().join("b.tar").to_str().unwrap()]);
    assert_ne!(refused.code, 0, "what is damaged is not taken for a backup");
}
