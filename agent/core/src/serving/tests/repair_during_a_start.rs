//! A repair while an engine loads, fails, or rests after failures: the repair is done, and the start is as it was.

use super::*;

// Holds: S1-5
#[test]
fn a_repair_while_the_engine_loads_keeps_the_engine_and_is_done_at_once() {
    let mut bench = Bench::with(record(1, true));
    bench.reserved(1, 8080, Ok(()));
    assert_eq!(
        bench.turn(|all, turn| all.repair(command_id(2), &repair(1, None), turn)),
        [
            "write serve on 8080 generation 2",
            "route 8080 to no engine, 2 origins",
            "c2 succeeded: repaired: 2 origins may call `tiny` on port 8080",
            "tell Starting"
        ]
    );
    assert_eq!(bench.ready(1), ["route 8080 to engine 1, 2 origins", "tell Serving"]);
}

/// It asked for another allowlist and for no start, so it does not decide whether the model is wanted.
// Holds: S1-5
#[test]
fn a_repair_during_a_start_that_fails_does_not_switch_the_model_off() {
    let repaired = |wanted: Option<u16>| {
        let mut bench = Bench::with(record(1, true));
        bench.reserved(1, 8080, Ok(()));
        bench.turn(|all, turn| all.repair(command_id(2), &repair(1, wanted), turn));
        bench
    };
    let mut bench = repaired(None);
    bench.ended(1, "it died");
    assert!(bench.view().record.serve && bench.pipelines.deadline().is_some(), "it is tried again");

    let mut bench = repaired(None);
    bench.now = limits::ENGINE_HEALTH_TIMEOUT;
    bench.turn(Pipelines::check_deadlines);
    bench.stopped(1);
    assert!(bench.view().record.serve && bench.pipelines.deadline().is_some(), "it is tried again");

    // To another port: the engine starts there anew, and the repair waits for it.
    let mut bench = repaired(Some(9090));
    bench.stopped(1);
    bench.reserved(3, 9090, Ok(()));
    let told = bench.turn(|all, turn| all.time_out(command_id(2), turn));
    assert_eq!(told, ["c2 failed: the command timed out"], "the start goes on");
    assert_eq!(bench.ready(3).last().map(String::as_str), Some("tell Serving"));

    let mut bench = repaired(Some(9090));
    bench.stopped(1);
    let told = bench.reserved(3, 9090, Err("port 9090 is in use".to_owned()));
    assert!(told.iter().any(|line| line.starts_with("c2 failed: port 9090")), "{told:?}");
    assert!(bench.view().record.serve, "it is tried again");

    // An engine that loads for too long is stopped; the repair does not wait for the next one.
    let mut bench = repaired(Some(9090));
    bench.stopped(1);
    bench.reserved(3, 9090, Ok(()));
    bench.now = limits::ENGINE_HEALTH_TIMEOUT;
    let told = bench.turn(Pipelines::check_deadlines);
    assert!(
        told.iter().any(|line| line.starts_with("c2 failed: the engine was not healthy")),
        "{told:?}"
    );
    bench.stopped(3);
    assert!(bench.view().record.serve && bench.pipelines.deadline().is_some(), "it is tried again");
}

#[test]
fn a_repair_of_a_model_that_rests_after_too_many_failures_tries_it_again() {
    let mut bench = Bench::serving();
    bench.ended(1, "it died");
    let mut run = 1;
    while let Some(due) = bench.pipelines.deadline() {
        bench.now = due;
        bench.turn(Pipelines::check_deadlines);
        run += 1;
        bench.reserved(run, 8080, Ok(()));
        bench.ended(run, "it died");
    }
    let told = bench.turn(|all, turn| all.repair(command_id(2), &repair(1, None), turn));
    assert!(told.iter().any(|line| line.starts_with("c2 succeeded: repaired")), "{told:?}");
    let again = format!("reserve 8080 for run {}", run + 1);
    assert!(told.contains(&again), "{told:?}");
    bench.reserved(run + 1, 8080, Ok(()));
    bench.ended(run + 1, "it died");
    assert!(bench.view().record.serve, "a repair does not stop a model");
}

/// A second reservation of the port would be a second thing to give back, should the model be removed meanwhile.
#[test]
fn a_repair_while_the_port_is_reserved_changes_the_route_once_it_is() {
    let mut bench = Bench::with(record(1, true));
    assert_eq!(
        bench.turn(|all, turn| all.repair(command_id(2), &repair(1, None), turn)),
        [
            "write serve on 8080 generation 2",
            "c2 succeeded: repaired: 2 origins may call `tiny` on port 8080",
            "tell Starting"
        ]
    );
    let reserved = bench.reserved(1, 8080, Ok(()));
    assert_eq!(reserved, ["route 8080 to no engine, 2 origins", "start engine 1", "tell Starting"]);
    assert_eq!(bench.ready(1), ["route 8080 to engine 1, 2 origins", "tell Serving"]);

    let mut bench = Bench::with(record(1, true));
    bench.turn(|all, turn| all.repair(command_id(2), &repair(1, None), turn));
    bench.turn(|all, turn| all.uninstall(command_id(3), pipeline(1), turn));
    let outcome = bench.reserved(1, 8080, Ok(()));
    assert_eq!(outcome, ["release 8080"], "once");
}
