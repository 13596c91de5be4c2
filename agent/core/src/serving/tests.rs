//! Tests the transitions of a pipeline, and which pipeline holds which port and engine.

use std::time::Duration;

use link_protocol::{counter::Generation, limits, local_api::Progress, port::Port};
use proptest::prelude::*;

use super::*;
use crate::deployment;
use crate::tests::{
    allowlist, command_id, config, deploy, file, model, pipeline, port, record, repair, start,
    stop, told, uninstall, update,
};

mod redeployment;
mod repair_during_a_start;

// Holds: S3.2-1a
#[test]
fn a_start_takes_the_port_then_the_engine_and_then_gives_it_the_route() {
    let mut bench = Bench::with(record(1, false));
    let start = bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    assert_eq!(start, ["write serve on 8080 generation 2", "reserve 8080 for run 1"]);
    assert_eq!(bench.reserved(1, 8080, Ok(())), ["start engine 1", "tell Starting"]);
    assert_eq!(
        bench.ready(1),
        ["route 8080 to engine 1, 1 origins", "c1 succeeded: serving on port 8080", "tell Serving"]
    );
}

// Holds: S1-7b
#[test]
fn a_model_without_cors_is_served_with_no_origins_and_keeps_its_allowlist() {
    let mut stored = record(1, false);
    stored.config.proxy.cors = false;
    let mut bench = Bench::with(stored);
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    bench.reserved(1, 8080, Ok(()));
    assert_eq!(bench.ready(1)[0], "route 8080 to engine 1, 0 origins");
    assert_eq!(bench.view().record.config.allowlist, allowlist(&["https://old.example"]));

    let mut wanted = config(1);
    wanted.proxy.cors = true;
    let lines = bench.turn(|all, turn| all.update(command_id(2), update(wanted), turn));
    assert_eq!(lines[1], "route 8080 to engine 1, 1 origins");
}

// Holds: S3.2-1b, S7-11
#[test]
fn a_start_on_a_port_that_is_in_use_fails_at_once_and_nothing_stays() {
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    let reason = "port 8080 is in use by nginx (process 7)";
    assert_eq!(
        bench.reserved(1, 8080, Err(reason.to_owned())),
        [
            "write rest on 8080 generation 3".to_owned(),
            format!("c1 failed: {reason}"),
            "tell NotServing".to_owned()
        ]
    );
}

// Holds: S7-10
#[test]
fn an_engine_that_cannot_start_gives_the_port_back() {
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    bench.reserved(1, 8080, Ok(()));
    assert_eq!(
        bench.ended(1, "the engine is not installed"),
        [
            "write rest on 8080 generation 3",
            "release 8080",
            "c1 failed: the engine is not installed",
            "tell NotServing"
        ]
    );
}

// Holds: S8-7
#[test]
fn an_engine_that_is_not_healthy_in_time_is_stopped_and_the_port_is_given_back() {
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    bench.reserved(1, 8080, Ok(()));
    let limit = limits::ENGINE_HEALTH_TIMEOUT;
    assert_eq!(bench.pipelines.deadline(), Some(limit));
    bench.now = limit - Duration::from_millis(1);
    assert_eq!(bench.turn(Pipelines::check_deadlines), NOTHING);
    bench.now = limit;
    let reason = "the engine was not healthy within 120 s";
    assert_eq!(
        bench.turn(Pipelines::check_deadlines),
        [
            "write rest on 8080 generation 2".to_owned(),
            "release 8080".to_owned(),
            "stop engine 1".to_owned(),
            format!("c1 failed: {reason}")
        ]
    );
    assert_eq!(bench.ready(1), NOTHING, "too late");
    assert_eq!(bench.stopped(1), ["tell NotServing"]);
    assert_eq!(bench.view().detail, Some(reason));
}

// Holds: S1-4b, S1-5, S3.2-4, S4.1-6
#[test]
fn a_repair_on_the_same_port_replaces_the_route_and_nothing_else() {
    let mut bench = Bench::serving();
    let before = bench.pipelines.all[&pipeline(1)].record.clone();
    assert_eq!(
        bench.turn(|all, turn| all.repair(command_id(2), &repair(1, None), turn)),
        [
            "write serve on 8080 generation 2",
            "route 8080 to engine 1, 2 origins",
            "c2 succeeded: repaired: 2 origins may call `tiny` on port 8080",
            "tell Serving"
        ]
    );
    let mut after = bench.pipelines.all[&pipeline(1)].record.clone();
    assert_ne!(after.config.allowlist, before.config.allowlist);
    after.config.allowlist = before.config.allowlist.clone();
    after.generation = before.generation;
    assert_eq!(after, before, "only the allowlist changes");
    assert_eq!(bench.view().engine_run, Some(Run(1)));
}

// Holds: S4.1-3
#[test]
fn a_repair_with_another_port_binds_it_first_and_then_gives_the_old_one_back() {
    let mut bench = Bench::serving();
    assert_eq!(
        bench.turn(|all, turn| all.repair(command_id(2), &repair(1, Some(9090)), turn)),
        ["reserve 9090 for run 2"]
    );
    assert_eq!(
        bench.reserved(2, 9090, Ok(())),
        [
            "write serve on 9090 generation 2",
            "route 9090 to engine 1, 2 origins",
            "release 8080",
            "c2 succeeded: repaired: 2 origins may call `tiny` on port 9090",
            "tell Serving"
        ]
    );
}

#[test]
fn a_repair_to_a_port_that_is_taken_changes_nothing() {
    let mut bench = Bench::serving();
    let before = bench.pipelines.reports();
    bench.turn(|all, turn| all.repair(command_id(2), &repair(1, Some(9090)), turn));
    let taken = bench.reserved(2, 9090, Err("port 9090 is in use".to_owned()));
    assert_eq!(taken, ["c2 failed: port 9090 is in use"]);
    assert_eq!(bench.pipelines.reports(), before);
}

#[test]
fn a_repair_of_a_model_that_does_not_serve_stores_the_allowlist_for_the_next_start() {
    let mut bench = Bench::with(record(1, false));
    let output = "stored an allowlist of 2 origins; the model is not serving";
    assert_eq!(
        bench.turn(|all, turn| all.repair(command_id(2), &repair(1, None), turn)),
        [
            "write rest on 8080 generation 2".to_owned(),
            format!("c2 succeeded: {output}"),
            "tell NotServing".to_owned()
        ]
    );
}

// Holds: S3.2-2
#[test]
fn a_stop_gives_the_port_back_and_is_done_when_the_engine_has_ended() {
    let mut bench = Bench::serving();
    assert_eq!(
        bench.turn(|all, turn| all.stop(command_id(2), stop(1).pipeline_id, turn)),
        ["write rest on 8080 generation 2", "release 8080", "stop engine 1", "tell Stopping"]
    );
    assert_eq!(bench.stopped(1), ["c2 succeeded: stopped", "tell NotServing"]);
    assert_eq!(
        bench.turn(|all, turn| all.stop(command_id(3), pipeline(1), turn)),
        ["c3 succeeded: stopped", "tell NotServing"],
        "once more"
    );
}

// Holds: S3.2-3
#[test]
fn a_model_that_serves_is_stopped_first_and_then_removed() {
    let mut bench = Bench::serving();
    assert_eq!(
        bench.turn(|all, turn| all.uninstall(command_id(2), uninstall(1).pipeline_id, turn)),
        ["write rest on 8080 generation 1", "release 8080", "stop engine 1", "tell Stopping"]
    );
    assert_eq!(bench.stopped(1), ["delete the model"]);
    assert_eq!(
        bench.deleted(Ok(())),
        ["forget the pipeline", "c2 succeeded: removed from this device", "tell Removed"]
    );
    assert_eq!(bench.pipelines.views().count(), 0);
    assert_eq!(
        bench.turn(|all, turn| all.uninstall(command_id(3), pipeline(1), turn)),
        ["c3 succeeded: the model is not on this device"]
    );
}

#[test]
fn a_model_whose_files_cannot_be_deleted_stays() {
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.uninstall(command_id(2), pipeline(1), turn));
    assert_eq!(
        bench.deleted(Err("busy".to_owned())),
        ["write rest on 8080 generation 1", "c2 failed: busy", "tell NotServing"]
    );
    let left: Vec<_> = bench.pipelines.views().map(|view| view.record.removing).collect();
    assert_eq!(left, [false]);
}

#[test]
fn an_engine_that_dies_keeps_the_port_and_the_model_is_not_serving() {
    let mut bench = Bench::serving();
    assert_eq!(
        bench.ended(1, "the engine ended (signal: 9)"),
        [
            "write serve on 8080 generation 2",
            "route 8080 to no engine, 1 origins",
            "tell NotServing"
        ]
    );
    let view = bench.view();
    let detail = "the engine ended (signal: 9); restarting in 1 s";
    assert_eq!((view.engine_run, view.detail), (None, Some(detail)));
    assert!(view.record.serve);
}

#[test]
fn an_engine_that_died_is_started_again_after_waits_that_grow_and_have_an_end() {
    let mut bench = Bench::serving();
    bench.ended(1, "it died");
    let mut waits = Vec::new();
    for run in 2..=9 {
        let until = bench.pipelines.deadline().unwrap();
        waits.push((until - bench.now).as_secs());
        bench.now = until;
        let reserved = format!("reserve 8080 for run {run}");
        assert_eq!(bench.turn(|all, turn| all.check_deadlines(turn)), [reserved]);
        bench.reserved(run, 8080, Ok(()));
        bench.ended(run, "it died");
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(bench.pipelines.deadline(), None);
    assert_eq!(bench.view().detail, Some("it died; not restarted again after 8 attempts"));
    let stopped = bench.turn(|all, turn| all.stop(command_id(2), pipeline(1), turn));
    assert_eq!(stopped[1], "release 8080", "it was ours all the time");
}

#[test]
fn a_person_whose_start_fails_gives_the_port_back() {
    let mut bench = Bench::serving();
    bench.ended(1, "it died");
    bench.turn(|all, turn| all.serve(command_id(2), &start(1, None), turn));
    bench.reserved(2, 8080, Ok(()));
    let lines = bench.ended(2, "it died again");
    assert!(lines.contains(&"release 8080".to_owned()), "{lines:?}");
    assert!(!bench.view().record.serve);
}

#[test]
fn an_engine_that_served_for_a_while_is_started_again_at_once() {
    let mut bench = Bench::serving();
    for run in 2..50 {
        bench.now += Duration::from_secs(60);
        bench.ended(run - 1, "it died");
        assert_eq!(bench.pipelines.deadline(), Some(bench.now + Duration::from_secs(1)));
        bench.now += Duration::from_secs(1);
        bench.turn(|all, turn| all.check_deadlines(turn));
        bench.reserved(run, 8080, Ok(()));
        bench.ready(run);
        assert_eq!((bench.view().state, bench.view().detail), (ModelState::Serving, None));
    }
}

#[test]
fn a_model_that_waits_to_be_started_again_can_be_stopped_repaired_and_served() {
    let died = || {
        let mut bench = Bench::serving();
        bench.ended(1, "it died");
        bench
    };
    let mut bench = died();
    let stopped = [
        "write rest on 8080 generation 3",
        "release 8080",
        "c2 succeeded: stopped",
        "tell NotServing",
    ];
    assert_eq!(bench.turn(|all, turn| all.stop(command_id(2), pipeline(1), turn)), stopped);
    assert_eq!(bench.pipelines.deadline(), None);
    let mut bench = died();
    let waits_until = bench.pipelines.deadline();
    let repaired = bench.turn(|all, turn| all.repair(command_id(2), &repair(1, None), turn));
    let wanted = ["write serve on 8080 generation 3", "route 8080 to no engine, 2 origins"];
    assert_eq!(repaired[..2], wanted, "the next start is as it was");
    assert!(repaired[2].starts_with("c2 succeeded: repaired"), "{repaired:?}");
    assert_eq!(bench.pipelines.deadline(), waits_until);
    bench.now = waits_until.unwrap();
    let again = bench.turn(|all, turn| all.check_deadlines(turn));
    assert_eq!(again.last().map(String::as_str), Some("reserve 8080 for run 3"));
    bench.ended(3, "it died again");
    assert!(bench.view().record.serve, "a repair does not stop a model");
    let mut bench = died();
    let moved = bench.turn(|all, turn| all.repair(command_id(2), &repair(1, Some(9090)), turn));
    assert_eq!(moved[1..], ["release 8080", "reserve 9090 for run 2"], "another port is wanted");
    let mut bench = died();
    let served = bench.turn(|all, turn| all.serve(command_id(2), &start(1, None), turn));
    assert_eq!(served.last().map(String::as_str), Some("reserve 8080 for run 2"));
}

#[test]
fn the_time_to_become_healthy_begins_when_the_engine_is_here() {
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    bench.reserved(1, 8080, Ok(()));
    let limit = limits::ENGINE_HEALTH_TIMEOUT;
    bench.now = limit / 2;
    let now = bench.now;
    assert_eq!(bench.pipelines.engine_coming(pipeline(1), Run(7), now), None);
    assert_eq!(bench.pipelines.deadline(), Some(limit), "another run");
    let waits = bench.pipelines.engine_coming(pipeline(1), Run(1), now);
    assert_eq!(waits, Some(command_id(1)));
    assert_eq!(bench.pipelines.deadline(), Some(limit + limit / 2));
}

#[test]
fn an_engine_that_nobody_waits_for_and_that_does_not_answer_is_started_again() {
    let mut bench = Bench::with(record(1, true));
    bench.reserved(1, 8080, Ok(()));
    bench.now += limits::ENGINE_HEALTH_TIMEOUT;
    let effects = bench.turn(|all, turn| all.check_deadlines(turn));
    assert_eq!(effects, ["release 8080", "stop engine 1", "tell Starting"]);
    assert_eq!(bench.stopped(1), ["tell NotServing"]);
    let detail = "the engine was not healthy within 120 s; restarting in 1 s";
    assert_eq!(bench.view().detail, Some(detail));
}

// Holds: S4.2-1b
#[test]
fn a_start_that_failed_leaves_no_trace_in_the_fields_of_an_explicit_start() {
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    assert!(bench.view().record.explicit);
    bench.reserved(1, 8080, Err("in use".to_owned()));
    assert!(!bench.view().record.explicit, "START_SERVING has started nothing");
    bench.turn(|all, turn| all.wish_serve(pipeline(1), turn));
    assert!(!bench.view().record.explicit, "a person started it");
}

// Holds: S3.2-1a, S3.2-2
#[test]
fn a_person_stops_and_serves_without_a_command() {
    let mut bench = Bench::serving();
    let stopped = bench.turn(|all, turn| all.wish_stop(pipeline(1), "by hand", turn));
    let expected =
        ["write rest on 8080 generation 2", "release 8080", "stop engine 1", "tell Stopping"];
    assert_eq!(stopped, expected);
    assert_eq!(bench.stopped(1), ["tell NotServing"]);
    let served = bench.turn(|all, turn| all.wish_serve(pipeline(1), turn));
    assert_eq!(served, ["write serve on 8080 generation 3", "reserve 8080 for run 2"]);
    assert!(!bench.view().record.explicit, "no START_SERVING was there");
    let refused = bench.reserved(2, 8080, Err("in use".to_owned()));
    assert_eq!(refused, ["write rest on 8080 generation 4", "tell NotServing"]);
    assert_eq!(bench.pipelines.deadline(), None, "who asked for it sees that it failed");
}

#[test]
fn a_person_ends_what_a_command_has_begun_and_the_command_says_so() {
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.serve(command_id(2), &start(1, None), turn));
    let stopped = bench.turn(|all, turn| all.wish_stop(pipeline(1), "by hand", turn));
    assert!(stopped.contains(&"c2 cancelled: by hand".to_owned()), "{stopped:?}");
    assert_eq!(bench.view().state, ModelState::NotServing);
}

// Holds: S3.4-7
#[test]
fn a_person_removes_a_model_and_the_removal_is_reported() {
    let mut bench = Bench::serving();
    bench.turn(|all, turn| all.wish_remove(pipeline(1), "by hand", turn));
    assert_eq!(bench.stopped(1), ["delete the model"]);
    let again = bench.turn(|all, turn| all.wish_remove(pipeline(1), "by hand", turn));
    assert_eq!(again, NOTHING);
    assert_eq!(bench.turn(|all, turn| all.wish_serve(pipeline(1), turn)), NOTHING);
    assert_eq!(bench.deleted(Ok(())), ["forget the pipeline", "tell Removed"]);
}

// Holds: S2.3-9b
#[test]
fn what_served_is_started_again_after_a_restart_and_what_did_not_is_not() {
    let mut turn = Turn::default();
    let records = vec![record(1, true), record(2, false)];
    let pipelines = Pipelines::restore(records, &mut turn);
    assert_eq!(told(&turn), ["reserve 8080 for run 1"]);
    assert_eq!(pipelines.views().count(), 2);
}

#[test]
fn a_removal_goes_on_after_a_restart() {
    let mut turn = Turn::default();
    let removing = PipelineRecord { removing: true, ..record(1, false) };
    let mut pipelines = Pipelines::restore(vec![removing], &mut turn);
    assert_eq!(told(&turn), ["delete the model"]);
    let mut turn = Turn::default();
    pipelines.uninstall(command_id(2), pipeline(1), &mut turn);
    assert_eq!(told(&turn), NOTHING, "the command runs again, and its work is under way");
    let mut turn = Turn::default();
    pipelines.model_deleted(pipeline(1), Ok(()), &mut turn);
    let removed = ["forget the pipeline", "c2 succeeded: removed from this device", "tell Removed"];
    assert_eq!(told(&turn), removed);
    let mut turn = Turn::default();
    pipelines.model_deleted(pipeline(1), Ok(()), &mut turn);
    assert_eq!(told(&turn), NOTHING);
}

#[test]
fn a_command_that_runs_again_after_a_restart_does_not_lose_the_port_that_the_restart_took() {
    let mut bench = Bench::with(record(1, true));
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    assert_eq!(bench.reserved(2, 8080, Ok(())), ["start engine 2", "tell Starting"]);
    assert_eq!(bench.reserved(1, 8080, Ok(())), NOTHING, "the port is the one in use");
    let other = bench.reserved(1, 9090, Ok(()));
    assert_eq!(other, ["release 9090"], "one that is not needed is given back");
}

#[test]
fn an_update_of_the_configuration_applies_the_difference_only() {
    let mut bench = Bench::serving();
    let mut wanted = config(1);
    wanted.allowlist = allowlist(&[]);
    let lines = bench.turn(|all, turn| all.update(command_id(2), update(wanted.clone()), turn));
    assert_eq!(lines[1], "route 8080 to engine 1, 0 origins");
    wanted.alias = "other".parse().unwrap();
    let lines = bench.turn(|all, turn| all.update(command_id(3), update(wanted.clone()), turn));
    let replaced = ["route 8080 to no engine, 0 origins", "stop engine 1"];
    assert_eq!(lines[1..3], replaced, "an alias is the engine's too");
    wanted.model_id = model(9);
    let lines = bench.turn(|all, turn| all.update(command_id(4), update(wanted), turn));
    let reason = "the configuration names another model than the pipeline serves";
    assert_eq!(lines, [format!("c4 rejected: {reason}")]);
}

#[test]
fn commands_for_a_model_that_is_not_there_say_so() {
    let mut bench = Bench::empty();
    let output = "c1 failed: the model is not deployed on this device";
    for lines in [
        bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn)),
        bench.turn(|all, turn| all.stop(command_id(1), pipeline(1), turn)),
        bench.turn(|all, turn| all.repair(command_id(1), &repair(1, None), turn)),
        bench.turn(|all, turn| all.update(command_id(1), update(config(1)), turn)),
    ] {
        assert_eq!(lines, [output]);
    }
}

#[test]
fn a_newer_wish_ends_a_start_but_neither_a_stop_nor_a_removal() {
    let abort = |all: &mut Pipelines, turn: &mut Turn| all.abort_start(pipeline(1), "newer", turn);
    let mut bench = Bench::with(record(1, false));
    bench.turn(|all, turn| all.serve(command_id(1), &start(1, None), turn));
    bench.reserved(1, 8080, Ok(()));
    assert_eq!(
        bench.turn(abort),
        ["write rest on 8080 generation 2", "release 8080", "stop engine 1", "c1 cancelled: newer"]
    );
    let mut bench = Bench::serving();
    assert_eq!(bench.turn(abort), NOTHING, "what serves goes on");
    bench.turn(|all, turn| all.uninstall(command_id(2), pipeline(1), turn));
    assert_eq!(bench.turn(abort), NOTHING);
    let stop = bench.turn(|all, turn| all.stop(command_id(3), pipeline(1), turn));
    assert_eq!(stop, ["c3 failed: the model is being removed"]);
    assert_eq!(bench.stopped(1), ["delete the model"]);
}

/// The backend takes a model that rests with a reason for one that its device has given up.
#[test]
fn a_model_that_is_stopped_while_it_starts_rests_without_a_reason() {
    let mut bench = Bench::with(record(1, true));
    bench.reserved(1, 8080, Ok(()));
    bench.turn(|all, turn| all.abort_start(pipeline(1), "newer", turn));
    bench.turn(|all, turn| all.stop(command_id(2), pipeline(1), turn));
    assert_eq!(bench.stopped(1), ["c2 succeeded: stopped", "tell NotServing"]);
    assert_eq!(bench.view().detail, None);
}

#[test]
fn events_of_a_run_that_is_over_change_nothing() {
    let mut bench = Bench::serving();
    for lines in [bench.ready(7), bench.ended(7, "late"), bench.stopped(7), bench.stopped(1)] {
        assert_eq!(lines, NOTHING);
    }
    assert_eq!(bench.reserved(7, 9090, Ok(())), ["release 9090"]);
    assert_eq!(bench.reserved(7, 9090, Err("late".to_owned())), NOTHING);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// For any requests and outcomes: a pipeline holds its port while it serves or loads, and from
    /// the engine's first answer for as long as the model is wanted there. It has one engine at a
    /// time, and each command gets one result.
    #[test]
    fn ports_and_engines_are_taken_and_given_back(
        steps in prop::collection::vec((0_u8..14, 0_u16..3, any::<bool>()), 0..120),
    ) {
        let mut world = World::default();
        for (step, place, good) in steps {
            world.step(step, place, good);
            world.check();
        }
    }
}

const NOTHING: [&str; 0] = [];

struct Bench {
    pipelines: Pipelines,
    now: Now,
}

impl Bench {
    fn empty() -> Self {
        Self { pipelines: Pipelines::default(), now: Duration::ZERO }
    }

    /// A bench restarted with `record` on disk.
    fn with(record: PipelineRecord) -> Self {
        let pipelines = Pipelines::restore(vec![record], &mut Turn::default());
        Self { pipelines, now: Duration::ZERO }
    }

    /// A bench whose pipeline serves from engine 1 on port 8080.
    fn serving() -> Self {
        let mut bench = Self::with(record(1, true));
        bench.reserved(1, 8080, Ok(()));
        bench.ready(1);
        bench
    }

    fn turn(&mut self, act: impl FnOnce(&mut Pipelines, &mut Turn)) -> Vec<String> {
        let mut turn = Turn { now: self.now, ..Turn::default() };
        act(&mut self.pipelines, &mut turn);
        told(&turn)
    }

    /// Carries out a deployment whose file is in place; its command has the deployment's number.
    fn configure(&mut self, deploy: DeployModel) -> Vec<String> {
        let digits = deploy.deployment_id.to_string();
        let number = digits.trim_start_matches("dep_").parse().unwrap();
        self.turn(|all, turn| {
            let completed = completed(&deploy);
            all.configure(command_id(number), deploy, Generation(1), completed, turn);
        })
    }

    fn reserved(&mut self, run: u64, number: u16, outcome: Result<(), String>) -> Vec<String> {
        self.turn(|all, turn| all.port_reserved(pipeline(1), Run(run), port(number), outcome, turn))
    }

    fn ready(&mut self, run: u64) -> Vec<String> {
        self.turn(|all, turn| all.engine_ready(pipeline(1), Run(run), turn))
    }

    fn ended(&mut self, run: u64, reason: &str) -> Vec<String> {
        self.turn(|all, turn| all.engine_ended(pipeline(1), Run(run), reason, turn))
    }

    fn stopped(&mut self, run: u64) -> Vec<String> {
        self.turn(|all, turn| all.engine_stopped(pipeline(1), Run(run), turn))
    }

    fn deleted(&mut self, outcome: Result<(), String>) -> Vec<String> {
        self.turn(|all, turn| all.model_deleted(pipeline(1), outcome, turn))
    }

    fn view(&self) -> PipelineView<'_> {
        self.pipelines.views().next().unwrap()
    }
}

fn completed(deploy: &DeployModel) -> Report {
    deployment::completed(deploy, Progress { bytes_done: 0, bytes_total: 0 })
}

/// One pipeline, its ports and its engines.
#[derive(Default)]
struct World {
    pipelines: Pipelines,
    now: Now,
    ports: Vec<Port>,
    engine: Option<(Run, bool)>,
    deleting: bool,
    /// The port on which an engine has answered, while the model is wanted there.
    answered: Option<Port>,
    commands: u64,
    waiting: Option<CommandId>,
}

impl World {
    fn step(&mut self, step: u8, place: u16, good: bool) {
        let (run, wanted) = (self.engine.map(|(run, _)| run), 8080 + place);
        let other = good.then_some(wanted);
        match (step, run) {
            (0..=5, _) if self.waiting.is_some() => {}
            (0, _) => {
                let mut deploy = deploy(1, 1);
                (deploy.serve, deploy.config.port) = (good, port(wanted));
                deploy.model = file(1, if place == 0 { 'a' } else { 'b' });
                self.command(good, |all, id, turn| {
                    let completed = completed(&deploy);
                    all.configure(id, deploy, Generation(1), completed, turn);
                });
            }
            (1, _) => self.command(good, |all, id, turn| all.serve(id, &start(1, other), turn)),
            (2, _) => self.command(good, |all, id, turn| all.repair(id, &repair(1, other), turn)),
            (3, _) => {
                let mut config = config(1);
                config.port = port(wanted);
                config.plugin = if good { "language_model" } else { "other" }.to_owned();
                self.command(place != 1, |all, id, turn| all.update(id, update(config), turn));
            }
            (4, _) => self.command(good, |all, id, turn| all.stop(id, pipeline(1), turn)),
            (5, _) => self.command(good, |all, id, turn| all.uninstall(id, pipeline(1), turn)),
            (6, Some(run)) => self.turn(good, |all, turn| all.engine_ready(pipeline(1), run, turn)),
            (7, Some(run)) if self.engine == Some((run, false)) => {
                self.engine = None;
                self.turn(good, |all, turn| all.engine_ended(pipeline(1), run, "died", turn));
            }
            (8, Some(run)) if self.engine == Some((run, true)) => {
                self.engine = None;
                self.turn(good, |all, turn| all.engine_stopped(pipeline(1), run, turn));
            }
            (9, _) if self.deleting => {
                self.deleting = false;
                let outcome = if good { Ok(()) } else { Err("busy".to_owned()) };
                self.turn(good, |all, turn| all.model_deleted(pipeline(1), outcome, turn));
            }
            (10, _) => self.turn(good, |all, turn| all.abort_start(pipeline(1), "newer", turn)),
            (11, _) => {
                self.now += Duration::from_secs(u64::from(place) * 70);
                self.turn(good, Pipelines::check_deadlines);
            }
            (12, _) => {
                if let Some(id) = self.waiting {
                    self.turn(good, |all, turn| all.time_out(id, turn));
                }
            }
            (_, _) => self.turn(good, |all, turn| {
                all.engine_ready(pipeline(1), Run(999), turn);
                all.engine_ended(pipeline(1), Run(999), "late", turn);
                all.engine_stopped(pipeline(1), Run(999), turn);
            }),
        }
    }

    fn command(&mut self, good: bool, act: impl FnOnce(&mut Pipelines, CommandId, &mut Turn)) {
        self.commands += 1;
        let id = command_id(self.commands);
        self.waiting = Some(id);
        self.turn(good, |all, turn| act(all, id, turn));
    }

    /// Carries out a turn; port reservations succeed if `free`, and their outcome is the next
    /// event.
    fn turn(&mut self, free: bool, act: impl FnOnce(&mut Pipelines, &mut Turn)) {
        let mut turn = Turn { now: self.now, ..Turn::default() };
        act(&mut self.pipelines, &mut turn);
        self.carry_out(free, turn);
        let view = self.pipelines.views().next().filter(|view| view.record.serve);
        let wanted = view.map(|view| view.record.config.port);
        if view.is_some_and(|view| view.state == ModelState::Serving) {
            self.answered = wanted;
        }
        self.answered.take_if(|port| wanted != Some(*port));
    }

    fn carry_out(&mut self, free: bool, turn: Turn) {
        for finished in turn.finished {
            assert_eq!(self.waiting.take(), Some(finished.command), "a second result");
        }
        for effect in turn.effects {
            if let Effect::ReservePort { run, route } = effect {
                let (id, port) = (route.pipeline_id, route.port);
                let outcome = if free { Ok(()) } else { Err("taken".to_owned()) };
                if free && !self.ports.contains(&port) {
                    self.ports.push(port);
                }
                let mut next = Turn { now: self.now, ..Turn::default() };
                self.pipelines.port_reserved(id, run, port, outcome, &mut next);
                self.carry_out(free, next);
            } else if let Effect::ReleasePort { port, .. } = effect {
                let place = self.ports.iter().position(|held| *held == port);
                self.ports.remove(place.expect("a port is given back that is not held"));
            } else if let Effect::StartEngine { run, .. } = effect {
                assert_eq!(self.engine.replace((run, false)), None, "a second engine");
            } else if let Effect::StopEngine { run, .. } = effect {
                let before = self.engine.replace((run, true));
                assert_eq!(before, Some((run, false)), "stopped twice, or not running");
            } else if let Effect::ReplaceRoute(route) = effect {
                assert!(self.ports.contains(&route.port), "a route on a port that is not held");
            } else if let Effect::DeleteModel { .. } = effect {
                self.deleting = true;
            }
        }
    }

    fn check(&self) {
        let view = self.pipelines.views().next();
        let run = view.and_then(|view| view.engine_run);
        assert_eq!(self.engine.map(|(run, _)| run), run, "the engine is not the one that is known");
        let serves = self.engine.is_some_and(|(_, stopping)| !stopping);
        let port = view.filter(|_| serves).map(|view| view.record.config.port).or(self.answered);
        assert_eq!(self.ports, Vec::from_iter(port), "ports that are held and that should be");
        let resting = view.is_none_or(|view| matches!(view.state, ModelState::NotServing));
        assert!(!(resting && self.waiting.is_some()), "a command waits for nothing");
    }
}
