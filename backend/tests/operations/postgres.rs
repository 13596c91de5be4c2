//! The maintenance commands for a backend whose database is on a PostgreSQL server.

#![expect(clippy::disallowed_methods, reason = "makes the files that the program is given")]

use std::os::unix::fs::PermissionsExt as _;

use crate::{
    cluster::Cluster,
    program::{PASSWORD, Place, Said, said},
};

#[test]
fn the_chores_know_a_database_that_is_a_server() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let place = Place::new();
    let file = place.file("url", &format!("{}\n", cluster.url()));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::create_dir(place.data()).unwrap();
    std::fs::set_permissions(place.data(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let file = file.to_str().unwrap();
    let run = |arguments: &[&str]| -> Said {
        place.run(&[arguments, &["--database-url-file", file]].concat())
    };

    let shown = run(&["migrate", "--dry-run"]);
    assert!(shown.code == 0 && shown.out.starts_with("to do:\n  0001 init"), "{}", shown.err);
    let done = run(&["migrate"]);
    assert!(done.code == 0 && done.out.starts_with("done:\n  0001 init"), "{}", done.err);
    assert_eq!(run(&["migrate"]).out, "the tables are up to date\n");
    assert!(!place.data().join("link.db").exists());

    let mut create = place.command(&["create-account", "ada@example.org"]);
    create.args(["--database-url-file", file]);
    assert_eq!(said(create, PASSWORD).code, 0);
    let running = place.serve(&["--database-url-file", file, "--metrics-listen", "127.0.0.1:0"]);
    assert_eq!(running.log_in("ada@example.org", PASSWORD), 200);
    let metrics = running.metrics.clone().unwrap();
    let (status, _, text) =
        crate::program::send(&metrics, "GET", "/metrics", "", ("text/plain", b""));
    assert!(status == 200 && text.contains("link_devices 0\n"), "{text}");
    let looked = run(&["doctor", "--json"]);
    assert!(looked.out.contains("PostgreSQL answers"), "{}{}", looked.out, looked.err);
    assert!(looked.out.contains("the newest"), "{}", looked.out);
    let archive = place.folder.path().join("rest.tar");
    let made = run(&["backup", archive.to_str().unwrap()]);
    assert!(made.code == 0 && made.out.contains("pg_dump"), "{}{}", made.out, made.err);
    drop(running);

    cluster.end("INT");
    let looked = run(&["doctor"]);
    assert!(looked.code == 1 && looked.out.contains("does PostgreSQL run"), "{}", looked.out);
    assert_eq!(run(&["migrate"]).code, 69);
    let mut create = place.command(&["create-account", "bob@example.org"]);
    create.args(["--database-url-file", file]);
    let refused = said(create, PASSWORD);
    assert!(refused.err.contains("no PostgreSQL server answers"), "{}", refused.err);
}
