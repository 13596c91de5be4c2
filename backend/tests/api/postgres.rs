//! Runs this test program again on a PostgreSQL server: with `LINK_TEST_POSTGRES=1` all tests, otherwise those with
//! conflicting requests.

#![expect(clippy::disallowed_methods, reason = "starts itself again")]

use std::process::Command;

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
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let counted = said.lines().rfind(|line| line.starts_with("test result: ok. "));
    let passed = counted.and_then(|line| line.split(' ').nth(3)?.parse::<u32>().ok());
    assert!(output.status.success() && passed.is_some_and(|passed| passed >= 20), "{said}");
    println!("{}", counted.unwrap_or_default());
    cluster.end("INT");
}
