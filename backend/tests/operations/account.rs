//! An operator creates accounts and resets passwords while the backend runs.

#![expect(clippy::disallowed_methods, reason = "makes and looks at the folder of another user")]

use std::os::unix::fs::chown;

use crate::program::{PASSWORD, Place};

/// Files that root wrote would be unreadable for the user of the service.
#[test]
fn root_is_sent_to_the_user_whose_data_folder_it_is() {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    if chown(place.data(), Some(65534), Some(65534)).is_err() {
        eprintln!("skipped: only root can change the owner of a folder");
        return;
    }
    let pull = ["releases", "pull", "/nowhere"];
    for words in [&["create-account", "ada@example.org"][..], &["migrate"], &pull] {
        let ran = place.run_with_input(words, PASSWORD);
        assert_eq!(ran.code, 11, "{words:?}: {}", ran.err);
        assert!(ran.err.contains("run the command as that user, with `runuser -u"), "{}", ran.err);
        assert_eq!(std::fs::read_dir(place.data()).unwrap().count(), 0, "{words:?}");
    }
}

#[test]
fn an_account_is_created_and_its_password_reset_while_the_backend_runs() {
    let place = Place::new();
    let running = place.serve(&[]);
    let created = place.run_with_input(&["create-account", "ada@example.org", "--json"], PASSWORD);
    assert_eq!(created.code, 0, "{}", created.err);
    let id = created.json()["account_id"].clone();
    assert_eq!(running.log_in("ada@example.org", PASSWORD), 200);
    assert!(!place.data().join("setup-token").exists(), "nobody needs it any more");

    let again = place.run_with_input(&["create-account", "ada@example.org"], PASSWORD);
    assert_eq!(again.code, 77);
    assert!(again.err.contains("another user has it"), "{}", again.err);
    let named = ["create-account", "bob@example.org", "--name", "acme", "--json"];
    assert_eq!(place.run_with_input(&named, PASSWORD).json()["account_name"], "acme");
    let taken = ["create-account", "eve@example.org", "--name", "acme"];
    let taken = place.run_with_input(&taken, PASSWORD);
    assert!(taken.code == 77 && taken.err.contains("another account is called"), "{}", taken.err);
    let unknown = place.run_with_input(&["reset-password", "eve@example.org"], PASSWORD);
    assert_eq!((unknown.code, unknown.err.contains("no user has it")), (77, true));
    let silent = place.run(&["reset-password", "ada@example.org"]);
    assert_eq!((silent.code, silent.err.contains("holds no password")), (2, true));

    let reset = place.run_with_input(
        &["reset-password", "ada@example.org", "--json"],
        "another correct horse\n",
    );
    assert_eq!((reset.code, &reset.json()["account_id"]), (0, &id), "{}", reset.err);
    assert_eq!(running.log_in("ada@example.org", PASSWORD), 401);
    assert_eq!(running.log_in("ada@example.org", "another correct horse"), 200);
}
