//! Tests which commands may run, which results the journal keeps, and how it answers redeliveries.

use link_protocol::counter::Seq;
use proptest::prelude::*;

use super::*;
use crate::tests::{
    cancel, command_id, config, deploy, envelope, model, numbers, repair, start, uninstall, update,
    update_agent,
};

#[test]
fn commands_of_one_model_run_one_after_another_in_order() {
    let mut bench = Bench::default();
    for (seq, command) in [(2, on_model(1)), (1, on_model(1)), (3, on_model(2))] {
        bench.store(seq, &command);
    }
    assert_eq!(bench.start_all(), [1, 3]);
    bench.finish(1);
    assert_eq!(bench.start_all(), [2]);
}

#[test]
fn the_control_lane_overtakes_everything() {
    let mut bench = Bench::default();
    bench.store(1, &on_model(1));
    bench.store(2, &update_agent());
    bench.store(3, &on_model(1));
    bench.store(4, &cancel(1, 1));
    assert_eq!(bench.start_all(), [1, 4]);
}

#[test]
fn the_agent_lane_waits_for_all_before_it_and_lets_none_pass() {
    let mut bench = Bench::default();
    for (seq, command) in
        [(1, on_model(1)), (2, update_agent()), (3, on_model(2)), (4, update_agent())]
    {
        bench.store(seq, &command);
    }
    assert_eq!(bench.start_all(), [1]);
    bench.finish(1);
    assert_eq!(bench.start_all(), [2]);
    bench.finish(2);
    assert_eq!(bench.start_all(), [3]);
    bench.finish(3);
    assert_eq!(bench.start_all(), [4]);
}

#[test]
fn at_most_eight_models_are_worked_on_at_a_time() {
    let mut bench = Bench::default();
    (1..=10).for_each(|number| bench.store(number, &on_model(number)));
    assert_eq!(bench.start_all(), (1..=8).collect::<Vec<_>>());
    bench.finish(3);
    assert_eq!(bench.start_all(), [9]);
}

#[test]
fn a_redelivery_is_a_duplicate_until_the_command_is_done_and_then_answered_with_its_result() {
    let mut bench = Bench::default();
    let mut again = envelope(1, &on_model(1));
    assert_eq!(bench.ledger.repeat(&again), None);
    bench.store(1, &on_model(1));
    again.attempt = 2;
    let receipt = bench.ledger.repeat(&again).unwrap();
    assert_eq!((receipt.receipt, receipt.attempt), (ReceiptKind::Duplicate, 2));
    bench.finish(1);
    let receipt = bench.ledger.repeat(&again).unwrap();
    assert_eq!(receipt.receipt, ReceiptKind::Done);
    assert_eq!(receipt.result.unwrap().output, "done");
}

#[test]
fn a_command_has_one_result() {
    let mut bench = Bench::default();
    bench.store(1, &on_model(1));
    assert!(bench.finish(1));
    bench.changes.clear();
    assert!(!bench.finish(1) && !bench.finish(7));
    assert!(bench.changes.is_empty());
}

#[test]
fn a_running_command_is_overdue_after_its_time_and_not_before() {
    let mut bench = Bench::default();
    bench.store(1, &on_model(1));
    assert_eq!(bench.ledger.deadline(), None);
    bench.now = Duration::from_secs(5);
    bench.start_all();
    let limit = bench.now + limits::EXECUTION_DEADLINE;
    assert_eq!(bench.ledger.deadline(), Some(limit));
    assert_eq!(bench.ledger.overdue(limit - Duration::from_millis(1)), None);
    assert_eq!(bench.ledger.overdue(limit), Some(command_id(1)));
}

#[test]
fn a_command_whose_engine_is_coming_has_its_time_anew_up_to_that_of_a_download() {
    let mut bench = Bench::default();
    bench.store(1, &on_model(1));
    bench.ledger.extend(command_id(1), bench.now);
    assert_eq!(bench.ledger.deadline(), None, "it does not run");
    bench.start_all();
    let minute = Duration::from_secs(60);
    bench.ledger.extend(command_id(1), minute);
    assert_eq!(bench.ledger.deadline(), Some(minute + limits::EXECUTION_DEADLINE));
    bench.ledger.extend(command_id(1), Duration::ZERO);
    assert_eq!(bench.ledger.deadline(), Some(minute + limits::EXECUTION_DEADLINE));
    bench.ledger.extend(command_id(1), limits::DEPLOY_EXECUTION_DEADLINE - minute);
    assert_eq!(bench.ledger.deadline(), Some(limits::DEPLOY_EXECUTION_DEADLINE));
    assert_eq!(bench.ledger.overdue(limits::DEPLOY_EXECUTION_DEADLINE), Some(command_id(1)));
}

#[test]
fn what_was_not_done_runs_again_after_a_restart_and_what_was_done_does_not() {
    let mut bench = Bench::default();
    (1..=3).for_each(|number| bench.store(number, &on_model(number)));
    bench.start_all();
    bench.finish(2);
    let entries = bench.ledger.entries.values().cloned().collect();
    bench.ledger = Ledger::restore(entries, bench.ledger.last_seq());
    assert_eq!((bench.start_all(), bench.ledger.last_seq()), (vec![1, 3], Seq(3)));
    let done = bench.ledger.repeat(&envelope(2, &on_model(2))).unwrap();
    assert_eq!(done.receipt, ReceiptKind::Done);
}

#[test]
fn a_command_that_was_held_back_undoes_no_newer_one() {
    let deploys = |model| Command::DeployModel(deploy(1, model));
    let repairs = Command::RepairServing(repair(1, None));
    let removes = Command::UninstallModel(uninstall(1));
    let updates = Command::UpdatePipeline(update(config(1)));
    for (newer, older, is_outdated) in [
        (deploys(1), deploys(1), true),
        (deploys(1), repairs.clone(), true),
        (removes.clone(), deploys(1), true),
        (deploys(1), removes.clone(), true),
        (updates.clone(), deploys(1), true),
        (removes, updates, true),
        (deploys(1), deploys(2), false),
        (repairs, deploys(1), false),
        (deploys(1), on_model(1), false),
    ] {
        let mut bench = Bench::default();
        bench.store(2, &newer);
        bench.start_all();
        bench.finish(2);
        bench.store(1, &older);
        let outdated = bench.ledger.replaced_by(command_id(1));
        assert_eq!(outdated.is_some(), is_outdated, "{older:?} after {newer:?}");
    }
}

#[test]
fn only_commands_that_have_not_begun_wait() {
    let mut bench = Bench::default();
    let deploys = |number| Command::DeployModel(deploy(number, 1));
    bench.store(1, &deploys(1));
    bench.store(2, &deploys(2));
    bench.start_all();
    let waiting: Vec<_> = bench.ledger.waiting().collect();
    assert_eq!(waiting, [(command_id(2), &deploys(2))]);
}

#[test]
fn the_oldest_results_are_forgotten_when_there_are_too_many() {
    let mut bench = Bench::default();
    let kept = limits::RESULTS_KEPT as u64;
    for number in 1..=kept + 2 {
        bench.store(number, &on_model(1));
        bench.start_all();
        bench.finish(number);
    }
    assert_eq!(bench.ledger.entries.len(), limits::RESULTS_KEPT);
    assert!(bench.changes.contains(&Change::ForgetCommand(command_id(2))));
    assert!(!bench.changes.contains(&Change::ForgetCommand(command_id(3))));
}

#[test]
fn a_full_journal_takes_no_more_until_something_is_done() {
    let mut bench = Bench::default();
    let full = limits::QUEUE_LIMIT as u64;
    (1..=full).for_each(|number| bench.store(number, &on_model(1)));
    let lane = Lane::Model(model(1));
    assert!(!bench.ledger.has_room(lane) && !bench.ledger.has_room(Lane::Agent));
    assert!(bench.ledger.has_room(Lane::Control), "it can be cancelled");
    bench.start_all();
    bench.finish(1);
    assert!(bench.ledger.has_room(lane));
}

#[test]
fn a_pipeline_that_is_set_up_again_starts_above_every_generation_it_had() {
    let mut bench = Bench::default();
    bench.store(3, &on_model(1));
    bench.store(4, &on_model(1));
    let [one, next] = [3, 4].map(|number| bench.ledger.first_generation(command_id(number)).0);
    assert!(one >= 1 && next > one + 900_000);
}

proptest! {
    /// For any sequence of events: commands of a model run one at a time and in order, nothing runs
    /// concurrently with an agent command, and no finished command runs again.
    #[test]
    fn order_holds_in_every_lane(steps in prop::collection::vec((0_u8..6, 1_u64..5), 0..150)) {
        let mut bench = Bench::default();
        let mut seq = 0;
        for (step, number) in steps {
            match step {
                0 | 1 => { seq += 1; bench.store(seq, &on_model(number)); }
                2 => { seq += 1; bench.store(seq, &cancel(number, number)); }
                3 => { seq += 1; bench.store(seq, &update_agent()); }
                4 => {
                    let running: Vec<_> = bench.ledger.running.keys().copied().collect();
                    if let Some(id) = running.get(number as usize % running.len().max(1)) {
                        bench.finish_id(*id);
                    }
                }
                _ => {
                    let entries = bench.ledger.entries.values().cloned().collect();
                    bench.ledger = Ledger::restore(entries, bench.ledger.last_seq());
                }
            }
            bench.start_all();
            let running: Vec<&LedgerEntry> =
                bench.ledger.running.keys().map(|id| &bench.ledger.entries[id]).collect();
            for entry in &running {
                prop_assert!(entry.result.is_none());
                let earlier = |lane: Option<Lane>| bench.ledger.pending.range(..entry.seq).any(|(_, id)| {
                    let other = &bench.ledger.entries[id];
                    other.lane != Lane::Control && lane.is_none_or(|lane| other.lane == lane)
                });
                match entry.lane {
                    Lane::Control => {}
                    Lane::Model(_) => prop_assert!(!earlier(Some(entry.lane)) && !earlier(Some(Lane::Agent))),
                    Lane::Agent => prop_assert!(!earlier(None)),
                }
            }
            let known = numbers(bench.ledger.inflight().iter().map(|entry| entry.command_id));
            let open = bench.ledger.entries.values().filter(|entry| entry.result.is_none());
            prop_assert_eq!(known, numbers(open.map(|entry| entry.command_id)));
        }
    }
}

#[derive(Default)]
struct Bench {
    ledger: Ledger,
    changes: Vec<Change>,
    now: Now,
}

impl Bench {
    fn store(&mut self, seq: u64, command: &Command) {
        let envelope = envelope(seq, command);
        let receipt = self.ledger.store(&envelope, Some(command.clone()), &mut self.changes);
        assert_eq!(receipt.receipt, ReceiptKind::Stored);
    }

    /// Starts every command that may run and returns their sequence numbers.
    fn start_all(&mut self) -> Vec<u64> {
        let next = || self.ledger.start_next(self.now).map(|(id, _)| id);
        let started: Vec<_> = std::iter::from_fn(next).collect();
        started.iter().map(|id| self.ledger.entries[id].seq.0).collect()
    }

    fn finish(&mut self, seq: u64) -> bool {
        self.finish_id(command_id(seq))
    }

    fn finish_id(&mut self, id: CommandId) -> bool {
        let status = CommandResult::Succeeded;
        self.ledger.finish(id, status, "done", &mut self.changes).is_some()
    }
}

fn on_model(number: u64) -> Command {
    Command::StartServing(start(number, None))
}
