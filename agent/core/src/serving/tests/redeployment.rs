//! Deployments of a model that is on the device already: what they keep and what they start again.

use super::*;

#[test]
fn a_redeployment_of_the_same_file_keeps_the_engine_and_one_of_another_file_replaces_it() {
    let mut bench = Bench::serving();
    let same = bench.configure(deploy(2, 1));
    assert_eq!(
        same[..2],
        ["write serve on 8080 generation 2", "route 8080 to engine 1, 1 origins"]
    );
    let mut other = deploy(3, 1);
    other.model = file(1, 'b');
    assert_eq!(
        bench.configure(other),
        [
            "write serve on 8080 generation 3",
            "route 8080 to no engine, 1 origins",
            "stop engine 1",
            "prune the model",
            "tell Starting",
            "tell Completed 0"
        ]
    );
    assert_eq!(bench.stopped(1), ["reserve 8080 for run 4"]);
}

// Holds: S3.1-4
#[test]
fn a_redeployment_to_another_port_is_completed_once_the_port_is_there() {
    let mut bench = Bench::serving();
    let mut moved = deploy(2, 1);
    moved.config.port = port(9090);
    assert_eq!(bench.configure(moved.clone()), ["reserve 9090 for run 2"]);
    let refused = bench.reserved(2, 9090, Err("it is taken".to_owned()));
    assert_eq!(refused, ["c2 failed: it is taken"], "what was there goes on");

    moved.deployment_id = deploy(3, 1).deployment_id;
    assert_eq!(bench.configure(moved), ["reserve 9090 for run 3"]);
    let there = bench.reserved(3, 9090, Ok(()));
    let ends = |line: &str| there.iter().position(|one| one.contains(line));
    assert!(ends("c3 succeeded").is_some() && ends("Completed").is_some(), "{there:?}");
}

#[test]
fn a_redeployment_under_another_alias_starts_the_engine_again() {
    let mut bench = Bench::serving();
    let mut renamed = deploy(2, 1);
    renamed.config.alias = "other".parse().unwrap();
    let lines = bench.configure(renamed);
    assert_eq!(lines[1..3], ["route 8080 to no engine, 1 origins", "stop engine 1"]);
}

#[test]
fn other_settings_start_the_engine_again_and_equal_ones_keep_it() {
    let mut bench = Bench::serving();
    let mut other = deploy(2, 1);
    other.config.settings = serde_json::from_str(r#"{"context":512}"#).unwrap();
    let lines = bench.configure(other.clone());
    assert_eq!(lines[1..3], ["route 8080 to no engine, 1 origins", "stop engine 1"]);

    let mut bench = Bench::serving();
    let lines = bench.configure(deploy(2, 1));
    assert_eq!(lines[1], "route 8080 to engine 1, 1 origins");
    let wanted = other.config;
    let lines = bench.turn(|all, turn| all.update(command_id(3), update(wanted), turn));
    assert_eq!(lines[1..3], ["route 8080 to no engine, 1 origins", "stop engine 1"]);
}

#[test]
fn a_deployment_without_serving_is_done_when_its_pipeline_is_set_up() {
    let mut bench = Bench::empty();
    let mut quiet = deploy(1, 1);
    quiet.serve = false;
    assert_eq!(
        bench.configure(quiet),
        [
            "write rest on 8080 generation 1",
            "c1 succeeded: deployed as `tiny`",
            "tell NotServing",
            "tell Completed 0"
        ]
    );
}
