//! Runs this test program again on a PostgreSQL server: with `LINK_TEST_POSTGRES=1` all tests, otherwise those with
//! conflicting requests.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "starts itself again, and reads what it prints"
)]

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    cluster::{Cluster, required},
    harness::SERVER,
};

/// The tests that run without `LINK_TEST_POSTGRES=1`, if PostgreSQL is installed.
const SUBSET: [&str; 13] = [
    "registration::",
    "transfer::",
    "key::",
    "contention::",
    "restart::",
    "local_owner::",
    "replicas::",
    "events::",
    "operation_kinds::",
    "session::",
    "metric::",
    "usage::",
    "lists::",
];

/// The tests must end within this time. It is less than what a whole test may take, so that what they said is told.
const DEADLINE: Duration = Duration::from_secs(480);

#[test]
fn the_api_behaves_on_postgresql_as_on_sqlite() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(SERVER, cluster.url()).args([
        "--skip",
        "postgres::",
        "--skip",
        "faults::",
        "--skip",
        "growth::",
        "--test-threads",
        "2",
    ]);
    if !required() {
        command.args(SUBSET);
    }
    let folder = tempfile::tempdir().unwrap();
    let printed = folder.path().join("printed");
    let mut tests = command.stdout(std::fs::File::create(&printed).unwrap()).spawn().unwrap();
    let begun = Instant::now();
    let ended = loop {
        match tests.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begun.elapsed() > DEADLINE => break None,
            None => std::thread::sleep(Duration::from_millis(100)),
        }
    };
    let said = std::fs::read_to_string(&printed).unwrap();
    let Some(status) = ended else {
        tests.kill().unwrap();
        panic!("the tests did not end: {said}");
    };
    let counted = said.lines().rfind(|line| line.starts_with("test result: ok. "));
    let passed = counted.and_then(|line| line.split(' ').nth(3)?.parse::<u32>().ok());
    assert!(status.success() && passed.is_some_and(|passed| passed >= 20), "{said}");
    println!("{}", counted.unwrap_or_default());
    cluster.end("INT");
}
